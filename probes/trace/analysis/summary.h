// What a trace says, small enough to keep: iterations, tasks, where device time went, the kernels that took
// most, and what was lost.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/trace/analysis/kernel_names.h"
#include "probes/trace/analysis/phases.h"
#include "probes/trace/analysis/split.h"
#include "probes/trace/analysis/task_ranges.h"
#include "probes/trace/analysis/trace.h"
#include "sextant/document.h"
#include "sextant/json.h"

namespace sextant::trace {

struct KernelTotal {
  std::string name;
  WorkClass work_class = WorkClass::other;
  std::uint64_t count = 0;
  double total_s = 0;
};

struct TraceSummary {
  static constexpr std::string_view kKind = "trace_summary";
  static constexpr SchemaVersion kVersion{1, 0};

  std::string iterations_are;                          // what the boundaries are from
  std::vector<double> iteration_s;                     // of those that are kept
  std::vector<double> skipped_iteration_s;             // warm-up
  std::map<std::string, std::vector<double>> tasks_s;  // by task, a value for each kept iteration that has it
  TaskSplit split;                                     // over the kept iterations, else over the whole trace
  std::vector<KernelTotal> kernels;                    // the twenty that took most, of the whole trace
  std::map<std::string, double> copied_bytes;          // by direction
  double recorded_fraction = 1;                        // of `split`'s time: when device activity was recorded
  std::uint64_t device_records = 0;                    // kernels, graphs, copies and sets
  std::uint64_t range_count = 0;
  std::vector<Device> devices;
  std::vector<Process> processes;
  std::vector<std::string> unmapped_ranges;

  // What a reader of the figures should know: processes that were killed, lost records, no kernels and why.
  [[nodiscard]] std::vector<std::string> remarks() const;
  [[nodiscard]] Json to_json() const;
};

// `skip`: iterations at the start that warm up; at least one is kept.
[[nodiscard]] TraceSummary summarise(const Trace& trace, const TaskRanges& mapping, const KernelNames& names,
                                     int skip);

}  // namespace sextant::trace
