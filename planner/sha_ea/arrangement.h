// Levels 1 to 3 of HetRL's search (section 3.2) as one value: the device sets of tasks, which may share
// devices. Levels 4 and 5 are solved at once: every task takes the fastest of its options with which all fit.
// The actor's two tasks may use slower options if that makes weight transfer between them faster.
#pragma once

#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/cost_estimate.h"
#include "planner/sha_ea/device_sets.h"
#include "planner/sha_ea/packing.h"
#include "planner/sha_ea/seen_sets.h"

namespace sextant::inline planner {

class Arranger {
 public:
  enum class Packing { fast, best };  // packing.h, best_packing.h
  explicit Arranger(SearchRun& run, Packing packing = Packing::fast);

  // Costs a plan with these device sets and notes it in the run; the evaluator's current candidate is the plan.
  // sharing: sets of the run's unpinned tasks; pinned tasks stay on their devices, and no unit of `classes`
  // mixes these with others. Returns false if a task has no shape for its number of devices, or, without
  // costing, if to_beat is not null and the plan is unlikely to beat it (cost_estimate.h).
  [[nodiscard]] bool arrange(const std::vector<UnitClass>& classes, const DeviceSets& sharing, Scored& scored,
                             const Score* to_beat = nullptr);

  // From now on plans with a somewhat worse estimate are costed too.
  void look_closer() { prospects_.lower_threshold(); }

  // The device sets that were costed for every task, here or by searches that share options with this one.
  [[nodiscard]] const SeenSets& seen();

  // Number of units on which pinned tasks run.
  [[nodiscard]] int pinned_units(const std::vector<UnitClass>& classes) const;

  using Devices = std::vector<std::uint16_t>;
  // Devices by task of the workflow.
  [[nodiscard]] std::vector<Devices> devices_of_tasks(const std::vector<UnitClass>& classes,
                                                      const DeviceSets& sharing) const;

 private:
  [[nodiscard]] std::vector<Corner> corners_of(const std::vector<UnitClass>& classes,
                                               const DeviceSets& sharing) const;
  [[nodiscard]] bool may_beat(const Score& score, const std::vector<Devices>& devices) const;
  void add_pinned(const std::vector<std::uint16_t>& unit, std::vector<std::size_t>& tasks) const;
  void choose_for_sync(const OptionLists& options, const ChosenOptions& chosen,
                       const std::vector<Devices>& devices, Scored& scored);

  SearchRun& run_;
  Packing packing_;
  SeenSets seen_;
  CostEstimate prospects_;
  std::vector<std::size_t> synchronized_;  // tasks
};

}  // namespace sextant::inline planner
