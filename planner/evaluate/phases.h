// An iteration of its tasks' times where it is known which of them share devices: the closed form of
// costmodel/iteration.h without weight sync, for candidates (evaluator.h) and for what is not one yet
// (sha_ea/prospects.h). Seconds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sextant/workflow.h"

namespace sextant {

[[nodiscard]] constexpr std::size_t index_of(TaskKind kind) { return static_cast<std::size_t>(kind); }

class Phases {
 public:
  static constexpr std::size_t kKinds = 3;  // of tasks
  using Times = std::array<double, kKinds>;
  using Overlaps = std::span<const std::uint8_t>;  // by task, then task; not zero: they share a device

  // The workflow must outlive it. eta: of Phi.
  Phases(const Workflow& workflow, double eta);

  // Phi over the tasks of one kind: none waits for another's result, so each starts when those before it on its
  // devices have ended.
  [[nodiscard]] double phase_s(TaskKind kind, Overlaps overlaps, std::span<const double> times_s) const;

  // Of all phases, by kind.
  [[nodiscard]] double closed_form_s(const Times& phases_s, Overlaps overlaps) const;

 private:
  const Workflow& workflow_;
  double eta_;
  std::array<std::vector<std::size_t>, kKinds> tasks_of_kind_;
  int generation_ = -1;  // the actor's; -1 where there is no weight sync
};

}  // namespace sextant
