// Candidates without thought: for searches that start anywhere, and the one that never learns.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "planner/search/search_run.h"

namespace sextant {

class RandomCandidates {
 public:
  // The run must outlive it.
  explicit RandomCandidates(SearchRun& run);

  // A task that has no layout on any number of devices; null where every task has one.
  [[nodiscard]] const Task* task_without_shapes();

  // So many devices, drawn evenly of the numbers for which the task has shapes; one of these shapes; devices
  // side by side as often as anywhere. A task that is pinned on its devices, in any order, or as its layout
  // says. Every task must have shapes.
  [[nodiscard]] Placement placement(int task, std::mt19937_64& random);
  [[nodiscard]] Candidate candidate(std::mt19937_64& random);

 private:
  [[nodiscard]] Placement pinned_placement(int task, const SearchRun::Pinned& pinned, std::mt19937_64& random);
  [[nodiscard]] const std::vector<int>& shapes_on(int task, int devices);

  SearchRun& run_;
  ShapeLimits limits_;
  std::vector<std::uint16_t> devices_;                         // of the cluster, in an order that draws change
  std::vector<std::map<int, std::vector<int>>> known_shapes_;  // by task, then number of devices
};

}  // namespace sextant
