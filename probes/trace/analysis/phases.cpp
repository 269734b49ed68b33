#include "probes/trace/analysis/phases.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sextant::trace {
namespace {

// Maps each name once: a trace has few names and many ranges.
class Mapped {
 public:
  Mapped(const Trace& trace, const TaskRanges& mapping, Phases& phases) {
    std::map<std::string, int> place_of;
    for (const std::string& name : trace.names) {
      is_iteration_.push_back(mapping.is_iteration(name));
      const auto task = mapping.task_of(name);
      if (!task) {
        task_.push_back(-1);
        continue;
      }
      const auto [found, is_new] = place_of.try_emplace(*task, static_cast<int>(phases.tasks.size()));
      if (is_new) phases.tasks.push_back(*task);
      task_.push_back(found->second);
    }
  }
  [[nodiscard]] int task(int name) const { return name < 0 ? -1 : task_[static_cast<std::size_t>(name)]; }
  [[nodiscard]] bool is_iteration(int name) const {
    return name >= 0 && is_iteration_[static_cast<std::size_t>(name)];
  }

 private:
  std::vector<int> task_;
  std::vector<bool> is_iteration_;
};

std::vector<Span> marked_iterations(const Trace& trace, const Mapped& mapped) {
  std::vector<Span> spans;
  for (const Range& range : trace.ranges) {
    if (!mapped.is_iteration(range.name) || range.is_cut) continue;
    // Every worker may mark the iteration, and a range of the same name may lie inside: the first and outer
    // counts.
    if (!spans.empty() && range.time.start < spans.back().end) continue;
    spans.push_back(range.time);
  }
  return spans;
}

// Phases that are not tasks of the workflow run between tasks, and begin no iteration.
std::vector<Span> repeated_iterations(const std::vector<Phase>& phases) {
  std::vector<Span> spans;
  std::optional<std::int64_t> began;
  bool others_ran = false;
  for (const Phase& phase : phases) {
    if (phase.task != phases.front().task) {
      others_ran = true;
    } else if (!began || others_ran) {
      if (began) spans.push_back({*began, phase.time.start});
      began = phase.time.start;
      others_ran = false;
    }
  }
  return spans;
}

void drop_unfinished(const std::vector<Phase>& phases, std::vector<Span>& spans) {
  for (const Phase& phase : phases) {
    if (!phase.is_cut) continue;
    std::erase_if(spans,
                  [&](const Span& span) { return phase.time.start < span.end && phase.time.end > span.start; });
  }
}

void time_tasks(const Phases& phases, Iteration& iteration) {
  std::map<int, std::vector<Span>> of_task;
  for (const Phase& phase : phases.all) {
    if (phase.time.start >= iteration.time.end) break;
    if (phase.time.end > iteration.time.start) of_task[phase.task].push_back(phase.time);
  }
  for (auto& [task, spans] : of_task) {
    iteration.tasks_s[phases.tasks[static_cast<std::size_t>(task)]] =
        static_cast<double>(union_length(std::move(spans), iteration.time)) / kNanoseconds;
  }
}

std::vector<std::string> longest_unmapped(const Trace& trace, const Mapped& mapped) {
  constexpr std::size_t kMaximum = 10;
  std::map<int, std::int64_t> total;
  std::map<std::pair<int, std::uint32_t>, std::int64_t> covered;  // until when a thread is inside a range
  for (const Range& range : trace.ranges) {
    std::int64_t& until = covered[{range.process, range.thread}];
    const bool is_outermost = range.time.start >= until;
    if (mapped.is_iteration(range.name)) continue;  // what lies inside is what counts
    until = std::max(until, range.time.end);
    if (is_outermost && range.name >= 0 && mapped.task(range.name) < 0)
      total[range.name] += range.time.length();
  }
  std::vector<std::pair<std::int64_t, int>> order;
  order.reserve(total.size());
  for (const auto& [name, length] : total) order.emplace_back(-length, name);
  std::sort(order.begin(), order.end());
  std::vector<std::string> names;
  for (const auto& [length, name] : order) {
    if (names.size() < kMaximum) names.push_back(trace.names[static_cast<std::size_t>(name)]);
  }
  return names;
}

}  // namespace

std::int64_t union_length(std::vector<Span> spans, Span within) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::int64_t total = 0, until = within.start;
  for (const Span& span : spans) {
    const std::int64_t from = std::max(span.start, until), to = std::min(span.end, within.end);
    if (to <= from) continue;
    total += to - from;
    until = to;
  }
  return total;
}

Phases find_phases(const Trace& trace, const TaskRanges& mapping) {
  Phases phases;
  const Mapped mapped(trace, mapping, phases);
  for (const Range& range : trace.ranges) {
    const int task = mapped.task(range.name);
    if (task >= 0) phases.all.push_back({range.time, task, range.process, range.is_cut});
  }
  std::vector<Span> spans = marked_iterations(trace, mapped);
  phases.how = "ranges that mark iterations";
  if (spans.empty() && !phases.all.empty()) {
    spans = repeated_iterations(phases.all);
    phases.how = "from each " + phases.tasks[static_cast<std::size_t>(phases.all.front().task)] +
                 " to the next, the last left out";
  }
  drop_unfinished(phases.all, spans);
  for (const Span& span : spans) {
    phases.iterations.push_back({span, {}});
    time_tasks(phases, phases.iterations.back());
  }
  phases.unmapped = longest_unmapped(trace, mapped);
  return phases;
}

}  // namespace sextant::trace
