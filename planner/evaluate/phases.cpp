#include "planner/evaluate/phases.h"

#include <algorithm>

#include "costmodel/iteration.h"

namespace sextant {
namespace {}  // namespace

Phases::Phases(const Workflow& workflow, double eta) : workflow_(workflow), eta_(eta) {
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t)
    tasks_of_kind_[index_of(workflow.tasks[t].kind)].push_back(t);
  if (workflow.has_weight_sync())
    generation_ = static_cast<int>(&workflow.actor_generation() - workflow.tasks.data());
}

double Phases::phase_s(TaskKind kind, Overlaps overlaps, std::span<const double> times_s) const {
  constexpr std::size_t kFewTasks = 32;  // enough for all graphs except custom ones
  std::array<double, kFewTasks> few_s;   // NOLINT: entries before `t` are set
  const std::vector<std::size_t>& tasks = tasks_of_kind_[index_of(kind)];
  std::vector<double> many_s(tasks.size() > kFewTasks ? tasks.size() : 0);
  const std::span<double> end_s = many_s.empty() ? std::span<double>(few_s) : std::span<double>(many_s);
  double sum = 0, makespan = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Overlaps overlap = overlaps.subspan(tasks[t] * times_s.size(), times_s.size());
    double start_s = 0;
    for (std::size_t e = 0; e < t; ++e) {
      if (start_s < end_s[e] && overlap[tasks[e]] != 0) start_s = end_s[e];
    }
    const double time_s = times_s[tasks[t]];
    end_s[t] = start_s + time_s;
    makespan = std::max(makespan, end_s[t]);
    sum += time_s;
  }
  return makespan + (1.0 - eta_) * (sum - makespan);
}

double Phases::closed_form_s(const Times& phases_s, Overlaps overlaps) const {
  const double generation = phases_s[index_of(TaskKind::generation)];
  const double rest = phases_s[index_of(TaskKind::inference)] + phases_s[index_of(TaskKind::training)];
  if (workflow_.mode == Mode::synchronous || generation_ < 0) return generation + rest;
  const std::size_t tasks = workflow_.tasks.size();
  const auto generating = static_cast<std::size_t>(generation_);
  for (std::size_t t = 0; t < tasks; ++t) {
    if (t != generating && overlaps[generating * tasks + t] != 0) return generation + rest;
  }
  return streamed_s(workflow_, generation, rest);
}

}  // namespace sextant
