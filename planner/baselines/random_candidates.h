// Random candidates, for random search and for the start of other searches.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "planner/search/search_run.h"

namespace sextant::inline planner {

class RandomCandidates {
 public:
  // The run must outlive the object.
  explicit RandomCandidates(SearchRun& run);

  // A task that has no layout on any number of devices; null if every task has one.
  [[nodiscard]] const Task* task_without_shapes();

  // A random placement: a number of devices, uniform over the numbers for which the task has shapes; one of
  // these shapes; adjacent devices in half of the cases, any devices otherwise. A pinned task stays on its
  // devices, in random order or in that of its pinned layout. Every task must have shapes.
  [[nodiscard]] Placement placement(int task, std::mt19937_64& random);
  [[nodiscard]] Candidate candidate(std::mt19937_64& random);

 private:
  [[nodiscard]] Placement pinned_placement(int task, const SearchRun::Pinned& pinned, std::mt19937_64& random);
  [[nodiscard]] const std::vector<int>& shapes_on(int task, int devices);

  SearchRun& run_;
  ShapeLimits limits_;
  std::vector<std::uint16_t> devices_;                         // of the cluster, permuted by draws
  std::vector<std::map<int, std::vector<int>>> known_shapes_;  // by task, then number of devices
};

}  // namespace sextant::inline planner
