// Finds when which task ran, and where iterations begin and end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/trace/analysis/task_ranges.h"
#include "probes/trace/analysis/trace.h"

namespace sextant::trace {

// A range that represents a task.
struct Phase {
  Span time;
  int task = 0;  // index into Phases::tasks
  int process = 0;
  bool is_cut = false;
};

struct Iteration {
  Span time;
  std::map<std::string, double> tasks_s;  // the union of the task's phases, over all processes
};

struct Phases {
  std::vector<std::string> tasks;
  std::vector<Phase> all;  // by start
  std::vector<Iteration> iterations;
  std::string how;                    // the source of the boundaries, one sentence
  std::vector<std::string> unmapped;  // outermost ranges without a task, the longest first, at most ten
};

// Iterations are the ranges that the mapping names as such. If there are none, one begins whenever the first
// task that ran runs again after another task; the last one then has no end and is left out, and so is an
// iteration that a killed process did not finish.
[[nodiscard]] Phases find_phases(const Trace& trace, const TaskRanges& mapping);

// Returns the length of the union of spans, cut to `within`.
[[nodiscard]] std::int64_t union_length(std::vector<Span> spans, Span within);

}  // namespace sextant::trace
