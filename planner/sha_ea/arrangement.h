// Levels 1 to 3 of HetRL's search (section 3.2) as one value: which tasks share devices, and which devices.
// Levels 4 and 5 below it are solved at once: every task takes the fastest of its options with which all fit;
// the actor's, between which weights go, may take slower ones between which they go faster.
#pragma once

#include <vector>

#include "planner/search/search_run.h"
#include "planner/sha_ea/cost_estimate.h"
#include "planner/sha_ea/device_sets.h"
#include "planner/sha_ea/packing.h"
#include "planner/sha_ea/seen_sets.h"

namespace sextant {

class Arranger {
 public:
  explicit Arranger(SearchRun& run);

  // sharing: of the run's dealt tasks; those that are pinned are on their devices, which units of `classes`
  // must not mix with others. to_beat: null, or what it must be better than to be of use. Nothing where a task
  // has no shape for its set's number of devices, or where it has no prospect of that (cost_estimate.h) and is not
  // costed at all. The candidate is the evaluator's current one, and noted by the run.
  [[nodiscard]] bool arrange(const std::vector<UnitClass>& classes, const DeviceSets& sharing, Scored& scored,
                             const Score* to_beat = nullptr);

  // From now on what has somewhat worse prospects is costed too.
  void look_closer() { prospects_.lower_threshold(); }

  // For every task the sets that were asked about, here or by searches that share their options with this one.
  [[nodiscard]] const SeenSets& seen();

  // On which pinned tasks run.
  [[nodiscard]] int pinned_units(const std::vector<UnitClass>& classes) const;

  using Devices = std::vector<std::uint16_t>;
  // By task of the workflow.
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
  SeenSets seen_;
  CostEstimate prospects_;
  std::vector<std::size_t> synchronized_;  // tasks
};

}  // namespace sextant
