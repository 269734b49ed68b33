// An optimistic estimate of plans with device sets that were not all costed yet, so that a local search can
// skip plans that are unlikely to be better. An addition of Sextant.
//
// A task on a new set is assumed to be as efficient as on its best set so far: the estimate is the
// minimum of time x rate over the costed sets, divided by the set's rate, for arithmetic and for memory
// bandwidth, whichever is longer. That is no bound: a set may suit a task better than all before. So the
// estimate is multiplied by a factor below 1, which decreases during the search. Phases are combined as
// in the model (evaluate/phases.h), without weight synchronization and without the fixed costs of a
// plan.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

class CostEstimate {
 public:
  using Devices = std::vector<std::uint16_t>;

  // evaluator: for the same request. Both must outlive the object.
  CostEstimate(const PlanRequest& request, const Evaluator& evaluator);

  // Records the time of a task's fastest option on a set of devices.
  void learn(std::size_t task, const Devices& devices, double time_s);

  // Estimated time of a task on devices, in seconds; nullopt if the task was not costed on any set.
  [[nodiscard]] std::optional<double> time_s(std::size_t task, const Devices& devices) const;

  // Lowers the estimates of time_s() by a tenth from now on.
  void lower_threshold() { part_ *= kPart; }

  // Lower estimate of the loss (sextant/objective.h) of a plan whose tasks take these times, by task, on these
  // devices.
  [[nodiscard]] double loss(const std::vector<Devices>& devices, const std::vector<double>& times_s) const;

 private:
  using Rates = std::array<double, 2>;           // FLOP and bytes a second, summed over devices
  using DeviceSet = std::vector<std::uint64_t>;  // device_words.h

  [[nodiscard]] Rates rates_of(const Devices& devices) const;
  [[nodiscard]] std::vector<DeviceSet> sets_of(const std::vector<Devices>& devices) const;
  [[nodiscard]] double iteration_s(const std::vector<DeviceSet>& sets,
                                   const std::vector<double>& times_s) const;
  [[nodiscard]] Rented rented(const std::vector<DeviceSet>& sets) const;

  static constexpr double kPart = 0.9;

  const PlanRequest& request_;
  const Evaluator& evaluator_;
  double part_ = kPart;
  std::vector<Rates> rates_;     // by device
  std::vector<Rates> min_work_;  // minimum of time x rate, by task
};

}  // namespace sextant::inline planner
