// A compact summary of a trace: iterations, tasks, device time, the kernels with the largest times, and
// losses.
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

  std::string iterations_are;                          // source of the boundaries
  std::vector<double> iteration_s;                     // kept iterations
  std::vector<double> skipped_iteration_s;             // warm-up
  std::map<std::string, std::vector<double>> tasks_s;  // by task, one value per kept iteration that has it
  TaskSplit split;                                     // over the kept iterations, else over the whole trace
  std::vector<KernelTotal> kernels;                    // the twenty with the largest times in the whole trace
  std::map<std::string, double> copied_bytes;          // by direction
  double recorded_fraction = 1;                        // part of `split`'s time with recorded device activity
  std::uint64_t device_records = 0;                    // kernels, graphs, copies and sets
  std::uint64_t range_count = 0;
  std::vector<Device> devices;
  std::vector<Process> processes;
  std::vector<std::string> unmapped_ranges;

  // Returns remarks for readers: killed processes, lost records, missing kernels with the reason.
  [[nodiscard]] std::vector<std::string> remarks() const;
  [[nodiscard]] Json to_json() const;
};

// `skip`: iterations at the start that warm up; at least one is kept.
[[nodiscard]] TraceSummary summarise(const Trace& trace, const TaskRanges& mapping, const KernelNames& names,
                                     int skip);

}  // namespace sextant::trace
