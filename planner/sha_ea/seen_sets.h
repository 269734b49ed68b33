// The device sets that a search has costed for each task, with their options: the choices of a chain over whole
// plans (recombination.h).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "planner/search/chain.h"

namespace sextant::inline planner {

class SeenSets {
 public:
  explicit SeenSets(int tasks) : sets_(static_cast<std::size_t>(tasks)) {}

  // options must stay valid. Further sets are ignored once a limit of bytes is reached.
  void add(int task, const std::vector<std::uint16_t>& devices, const std::vector<Option>& options);

  [[nodiscard]] std::size_t count(std::size_t task) const { return sets_[task].size(); }

  // Sorted by the sets' devices. below_s: only options below this time; valid as long as this object.
  [[nodiscard]] std::vector<TaskChoice> of(int task, double below_s) const;

 private:
  using Sets = std::map<std::vector<std::uint16_t>, const std::vector<Option>*>;
  std::vector<Sets> sets_;  // by task
  std::size_t bytes_ = 0;
};

}  // namespace sextant::inline planner
