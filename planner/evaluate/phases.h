// An iteration composed of its tasks' times, given which of them share devices: the closed form of
// costmodel/iteration.h, for candidates (evaluator.h) and for estimates of plans (sha_ea/cost_estimate.h). Seconds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/weight_transfers.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

[[nodiscard]] constexpr std::size_t index_of(TaskKind kind) { return static_cast<std::size_t>(kind); }

class Phases {
 public:
  static constexpr std::size_t kKinds = 3;  // kinds of tasks
  using Times = std::array<double, kKinds>;
  using Overlaps = std::span<const std::uint8_t>;  // by task, then task; not zero: they share a device

  // The workflow must outlive the object. eta: the coefficient of Phi.
  Phases(const Workflow& workflow, double eta);

  // Phi over the tasks of one kind: none depends on another's result, so each starts when all earlier tasks on
  // its devices have ended.
  [[nodiscard]] double phase_s(TaskKind kind, Overlaps overlaps, std::span<const double> times_s) const;

  // The iteration without weight sync from the times of all phases, by kind.
  [[nodiscard]] double closed_form_s(const Times& phases_s, Overlaps overlaps) const {
    return work(phases_s, overlaps).total_s;
  }

  // The same with the transfers of weights, of which longer trainings on other devices hide a part.
  [[nodiscard]] double with_transfers_s(const Times& phases_s, Overlaps overlaps,
                                        std::span<const double> times_s,
                                        const std::vector<WeightTransfer<double>>& transfers) const;

 private:
  [[nodiscard]] Work<double> work(const Times& phases_s, Overlaps overlaps) const;

  const Workflow& workflow_;
  double eta_;
  std::array<std::vector<std::size_t>, kKinds> tasks_of_kind_;
  int generation_ = -1;  // of the actor; -1 without weight sync
};

}  // namespace sextant::inline planner
