// When which task ran, and where iterations begin and end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/trace/analysis/task_ranges.h"
#include "probes/trace/analysis/trace.h"

namespace sextant::trace {

// A range that stands for a task.
struct Phase {
  Span time;
  int task = 0;  // into Phases::tasks
  int process = 0;
  bool is_cut = false;
};

struct Iteration {
  Span time;
  std::map<std::string, double> tasks_s;  // the union of the task's phases, of all processes
};

struct Phases {
  std::vector<std::string> tasks;
  std::vector<Phase> all;  // by start
  std::vector<Iteration> iterations;
  std::string how;                    // what the boundaries are from, one sentence
  std::vector<std::string> unmapped;  // outermost ranges without a task, the longest first, at most ten
};

// Iterations are the ranges that the mapping calls so. Where there are none, one begins with the first task
// that ran, whenever that runs again after another task; the last has no end then and is left out, as is what a
// killed process did not finish.
[[nodiscard]] Phases find_phases(const Trace& trace, const TaskRanges& mapping);

// Length of the union of spans, cut to `within`.
[[nodiscard]] std::int64_t union_length(std::vector<Span> spans, Span within);

}  // namespace sextant::trace
