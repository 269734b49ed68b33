// How good a plan could be with sets of devices of which some were not costed yet, so that a climb need not
// cost what is not going to be better. Ours.
//
// A task that has not been costed on a set takes what its work would if it got the most out of the set that it
// got out of any set so far: the least of time x rate over the sets that it was costed on, over the set's rate,
// both of arithmetic and of reading memory, whichever is longer. That is no bound: a set may suit a task better
// than all before. So a part of it is asked for, and a smaller one the longer the search has gone on. Phases
// are put together as the model does (evaluate/phases.h), without weight synchronization and without what a
// plan pays once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "sextant/planner.h"

namespace sextant {

class CostEstimate {
 public:
  using Devices = std::vector<std::uint16_t>;

  // evaluator: of the same request. Both must outlive it.
  CostEstimate(const PlanRequest& request, const Evaluator& evaluator);

  // A task's fastest option on a set of devices takes so long.
  void learn(std::size_t task, const Devices& devices, double time_s);

  // Of a task on devices, seconds; nothing where it was not costed anywhere.
  [[nodiscard]] std::optional<double> time_s(std::size_t task, const Devices& devices) const;

  // From now on a tenth less is asked for.
  void lower_threshold() { part_ *= kPart; }

  // The loss (sextant/objective.h) of a plan of which every task takes so long, by task, on these devices, or
  // less than that.
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
  std::vector<Rates> min_work_;  // by task: time x rate
};

}  // namespace sextant
