// The sets of devices that a search has looked at for each task, with their options: what a chain over whole
// plans draws from (recombination.h).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "planner/search/chain.h"

namespace sextant {

class SeenSets {
 public:
  explicit SeenSets(int tasks) : sets_(static_cast<std::size_t>(tasks)) {}

  // options must stay where they are. Nothing is added once the sets are many (a bounded number of bytes).
  void add(int task, const std::vector<std::uint16_t>& devices, const std::vector<Option>& options);

  [[nodiscard]] std::size_t count(std::size_t task) const { return sets_[task].size(); }

  // In the order of the sets' devices. below_s: only those that take the task less; valid as long as this.
  [[nodiscard]] std::vector<TaskChoice> of(int task, double below_s) const;

 private:
  using Sets = std::map<std::vector<std::uint16_t>, const std::vector<Option>*>;
  std::vector<Sets> sets_;  // by task
  std::size_t bytes_ = 0;
};

}  // namespace sextant
