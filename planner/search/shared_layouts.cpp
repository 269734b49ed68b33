#include "planner/search/shared_layouts.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace sextant::inline planner {
namespace {

SharedLayout layout_of(const Shape& shape, const Execution& execution, std::vector<std::uint16_t> devices) {
  return {std::move(devices),
          shape.layers,
          shape.tensor_parallel,
          shape.data_parallel(),
          execution.context_parallel,
          execution.expert_parallel,
          execution.expert_tensor_parallel};
}

// The time of a task and of what its layout adds to the synchronization of weights.
double with_weights_s(const Option& option) { return option.value.time_s + option.weights_together_s; }

}  // namespace

LayoutsOfSet::LayoutsOfSet(const PlanRequest& request, SearchTables& tables, TaskNumbers tasks)
    : request_(request), evaluator_(tables.evaluator), options_(tables.options), tasks_(std::move(tasks)) {}

std::optional<Candidate> LayoutsOfSet::best(const Candidate& candidate, const Filter& filter) {
  if (!promising_) promising_ = promising(candidate);
  std::optional<Candidate> best;
  Score best_score;
  std::size_t tried = 0;
  for (const SharedLayout& layout : *promising_) {
    const Placements placements = placements_of_all(layout, filter);
    if (placements.empty()) continue;
    if (++tried > max_layouts() && best && best_score.fits()) break;
    const Score score = choose(placements, candidate);
    if (best && !score.is_better_than(best_score)) continue;
    best = evaluator_.current();
    best_score = score;
  }
  return best;
}

std::optional<Candidate> LayoutsOfSet::leanest(const Candidate& candidate, const Filter& filter) {
  if (!promising_) promising_ = promising(candidate);
  std::optional<Candidate> best;
  double min_bytes = std::numeric_limits<double>::infinity();
  for (const SharedLayout& layout : *promising_) {
    const Placements placements = placements_of_all(layout, filter);
    if (placements.empty()) continue;
    Candidate with = candidate;
    double bytes = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Timed& leanest = leanest_of(placements[i]);
      with.tasks[tasks_[i]] = leanest.placement;
      bytes += leanest.bytes;
    }
    if (bytes >= min_bytes) continue;
    min_bytes = bytes;
    best = std::move(with);
  }
  return best;
}

const LayoutsOfSet::Timed& LayoutsOfSet::leanest_of(const std::vector<const Timed*>& placements) {
  return **std::min_element(placements.begin(), placements.end(),
                            [](const Timed* a, const Timed* b) { return a->bytes < b->bytes; });
}

LayoutsOfSet::Placements LayoutsOfSet::placements_of_all(const SharedLayout& layout, const Filter& filter) {
  Placements placements;
  for (const std::size_t task : tasks_) {
    placements.push_back(placements_of(task, layout, filter));
    if (placements.back().empty()) return {};
  }
  return placements;
}

// Unless none of so many fits. Fewer on large clusters, whose layouts take long to cost.
std::size_t LayoutsOfSet::max_layouts() const {
  constexpr int kMaximum = 24, kMinimum = 3, kDevices = 512;
  const int devices = std::max(1, request_.cluster.device_count());
  return static_cast<std::size_t>(std::clamp(kMaximum * kDevices / devices, kMinimum, kMaximum));
}

// The layouts that some task of the set would choose alone, and those of the candidate; those first in which the
// tasks may be fastest.
std::vector<SharedLayout> LayoutsOfSet::promising(const Candidate& candidate) {
  std::vector<std::uint16_t> devices = candidate.tasks[tasks_.front()].devices;
  std::sort(devices.begin(), devices.end());
  // A vector has an entry for each task of the set: the fastest time of the task, or with this layout.
  std::map<SharedLayout, std::vector<double>> times_s;
  std::vector<double> fastest_s;
  for (const std::size_t task : tasks_) {
    const std::vector<Option>& options = options_.of(static_cast<int>(task), devices);
    double shortest_s = options.empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const Option& option : options) shortest_s = std::min(shortest_s, with_weights_s(option));
    fastest_s.push_back(shortest_s);
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const int t = static_cast<int>(tasks_[i]);
    std::set<SharedLayout> seen;
    const auto add = [&](int shape, std::vector<std::uint16_t> on, double time_s) {
      const Shape& of = evaluator_.shapes(t).at(shape);
      SharedLayout layout = layout_of(of, evaluator_.execution(t, of), std::move(on));
      double& known_s = times_s.try_emplace(layout, fastest_s).first->second[i];
      const bool is_first = seen.insert(std::move(layout)).second;
      known_s = is_first ? time_s : std::min(known_s, time_s);
    };
    for (const Option& option : options_.of(t, devices)) {
      const Shape& shape = evaluator_.shapes(t).at(option.shape);
      add(option.shape, placed(shape, option.shape, option.order, devices).devices, with_weights_s(option));
    }
    const Placement& own = candidate.tasks[tasks_[i]];
    if (std::is_permutation(own.devices.begin(), own.devices.end(), devices.begin(), devices.end()))
      add(own.shape, own.devices, fastest_s[i]);
  }
  std::vector<std::pair<double, const SharedLayout*>> sorted;
  for (const auto& [layout, seconds] : times_s)
    sorted.emplace_back(std::accumulate(seconds.begin(), seconds.end(), 0.0), &layout);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SharedLayout> layouts;
  for (const auto& [seconds, layout] : sorted) layouts.push_back(*layout);
  return layouts;
}

// The placements of a task that have this layout.
std::vector<LayoutsOfSet::Timed>& LayoutsOfSet::all_placements(std::size_t task, const SharedLayout& layout) {
  const auto [entry, is_new] = known_.try_emplace({task, layout});
  if (!is_new) return entry->second;
  const int t = static_cast<int>(task);
  const auto [shapes, is_first] = shapes_.try_emplace(task);
  if (is_first)
    shapes->second = shapes_of(request_.workflow.tasks[task], request_.workflow,
                               static_cast<int>(layout.devices.size()), shape_limits_of(request_));
  for (const Shape& shape : shapes->second) {
    if (layout_of(shape, evaluator_.execution(t, shape), layout.devices) != layout) continue;
    entry->second.push_back({Placement{evaluator_.shapes(t).add(shape), layout.devices}});
  }
  return entry->second;
}

// The placements that pass the filter, fastest first.
std::vector<const LayoutsOfSet::Timed*> LayoutsOfSet::placements_of(std::size_t task,
                                                                    const SharedLayout& layout,
                                                                    const Filter& filter) {
  std::vector<const Timed*> passed;
  for (Timed& timed : all_placements(task, layout)) {
    if (!filter(task, timed.placement.shape)) continue;
    if (!timed.time_s) {
      const TaskValue value = evaluator_.value_of(static_cast<int>(task), timed.placement);
      timed.time_s = value.time_s;
      timed.bytes = value.max_resident_bytes + value.max_working_bytes;
    }
    passed.push_back(&timed);
  }
  std::stable_sort(passed.begin(), passed.end(),
                   [](const Timed* a, const Timed* b) { return *a->time_s < *b->time_s; });
  return passed;
}

// Makes the candidate with these placements of the set current, each task with the one that fits best: from the fastest
// of each, or if that does not fit, from the leanest.
Score LayoutsOfSet::choose(const Placements& placements, const Candidate& candidate) {
  Candidate fastest = candidate, leanest = candidate;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    fastest.tasks[tasks_[i]] = placements[i].front()->placement;
    leanest.tasks[tasks_[i]] = leanest_of(placements[i]).placement;
  }
  const Score from_fastest = improve(placements, fastest);
  if (from_fastest.fits()) return from_fastest;
  const Candidate found = evaluator_.current();
  const Score from_leanest = improve(placements, leanest);
  return from_leanest.is_better_than(from_fastest) ? from_leanest : evaluator_.evaluate(found);
}

Score LayoutsOfSet::improve(const Placements& placements, const Candidate& start) {
  Score score = evaluator_.evaluate(start);
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      for (const Timed* timed : placements[i]) {
        evaluator_.replace_task(static_cast<int>(tasks_[i]), timed->placement);
        const Score tried = evaluator_.score();
        if (tried.is_better_than(score, SearchRun::kRounding)) {
          evaluator_.keep();
          score = tried;
        } else {
          evaluator_.undo();
        }
      }
    }
  }
  return score;
}

}  // namespace sextant::inline planner
