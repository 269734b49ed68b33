#include "planner/evaluate/phases.h"

#include <algorithm>

#include "costmodel/iteration.h"

namespace sextant::inline planner {
namespace {

// The ends of some tasks, by position in `tasks`.
class Ends {
 public:
  explicit Ends(std::size_t tasks) : many_s_(tasks > kFewTasks ? tasks : 0) {}
  double& operator[](std::size_t t) { return many_s_.empty() ? few_s_[t] : many_s_[t]; }

  // Ends of tasks none of which depends on another's result: each starts when all earlier tasks on its devices
  // have ended. Returns the last of them.
  double simulate(const std::vector<std::size_t>& tasks, Phases::Overlaps overlaps,
                  std::span<const double> times_s) {
    double makespan = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const Phases::Overlaps overlap = overlaps.subspan(tasks[t] * times_s.size(), times_s.size());
      double start_s = 0;
      for (std::size_t e = 0; e < t; ++e) {
        if (start_s < (*this)[e] && overlap[tasks[e]] != 0) start_s = (*this)[e];
      }
      (*this)[t] = start_s + times_s[tasks[t]];
      makespan = std::max(makespan, (*this)[t]);
    }
    return makespan;
  }

 private:
  static constexpr std::size_t kFewTasks = 32;  // enough for all graphs except custom ones
  std::array<double, kFewTasks> few_s_;         // NOLINT: simulate() sets those that are read
  std::vector<double> many_s_;
};

}  // namespace

Phases::Phases(const Workflow& workflow, double eta) : workflow_(workflow), eta_(eta) {
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t)
    tasks_of_kind_[index_of(workflow.tasks[t].kind)].push_back(t);
  if (workflow.has_weight_sync())
    generation_ = static_cast<int>(&workflow.actor_generation() - workflow.tasks.data());
}

double Phases::phase_s(TaskKind kind, Overlaps overlaps, std::span<const double> times_s) const {
  const std::vector<std::size_t>& tasks = tasks_of_kind_[index_of(kind)];
  double sum = 0;
  for (const std::size_t t : tasks) sum += times_s[t];
  const double makespan = Ends(tasks.size()).simulate(tasks, overlaps, times_s);
  return makespan + (1.0 - eta_) * (sum - makespan);
}

Work<double> Phases::work(const Times& phases_s, Overlaps overlaps) const {
  const double generation = phases_s[index_of(TaskKind::generation)];
  const double rest = phases_s[index_of(TaskKind::inference)] + phases_s[index_of(TaskKind::training)];
  bool is_apart = workflow_.mode != Mode::synchronous && generation_ >= 0;
  const std::size_t tasks = workflow_.tasks.size();
  const auto generating = static_cast<std::size_t>(generation_);
  for (std::size_t t = 0; is_apart && t < tasks; ++t)
    is_apart = t == generating || overlaps[generating * tasks + t] == 0;
  return work_of_sides(workflow_, generation, rest, is_apart);
}

double Phases::with_transfers_s(const Times& phases_s, Overlaps overlaps, std::span<const double> times_s,
                                const std::vector<WeightTransfer<double>>& transfers) const {
  const Work<double> all = work(phases_s, overlaps);
  const std::vector<std::size_t>& trainings = tasks_of_kind_[index_of(TaskKind::training)];
  if (trainings.size() < 2) return all.total_s + longest_s(transfers);
  const std::size_t tasks = times_s.size();
  // Trainings that all share devices run one after the other: no transfer begins before the last has ended.
  bool is_any_apart = all.beside_s > 0;
  for (std::size_t a = 0; a < trainings.size() && !is_any_apart; ++a) {
    for (std::size_t b = 0; b < a; ++b)
      is_any_apart = is_any_apart || overlaps[trainings[a] * tasks + trainings[b]] == 0;
  }
  if (!is_any_apart) return all.total_s + longest_s(transfers);
  Ends ends_s(trainings.size());
  const double end_s = ends_s.simulate(trainings, overlaps, times_s);
  const auto idle_s = [&](std::size_t k) {
    const WeightUse& use = transfers[k].use;
    double free_s = 0;
    for (std::size_t t = 0; t < trainings.size(); ++t) {
      const Overlaps overlap = overlaps.subspan(trainings[t] * tasks, tasks);
      const bool waits = trainings[t] == use.trained || overlap[use.trained] != 0 || overlap[use.used] != 0;
      if (waits) free_s = std::max(free_s, ends_s[t]);
    }
    return end_s - free_s;
  };
  return all.total_s + longest_s(transfers) - hidden_s(workflow_, all, transfers, eta_, idle_s);
}

}  // namespace sextant::inline planner
