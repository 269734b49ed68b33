// Splits the time of each device: by task, and into compute, attention, communication, copy and idle.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "probes/trace/analysis/kernel_names.h"
#include "probes/trace/analysis/phases.h"
#include "probes/trace/analysis/trace.h"

namespace sextant::trace {

// Seconds of one device while a task ran. The first seven sum to the time in which device activity was
// recorded. If several kinds of work run at once, the time counts for the first of: attention, GEMM, graph,
// other compute, communication, copy. So communication that overlaps with compute adds nothing here, and is
// reported as hidden.
struct Split {
  double attention_s = 0;
  double gemm_s = 0;
  double graph_s = 0;  // CUDA graphs recorded as a whole: compute that was not distinguished
  double other_s = 0;
  double exposed_communication_s = 0;
  double copy_s = 0;
  double idle_s = 0;
  double hidden_communication_s = 0;  // overlapped with compute: part of the above

  [[nodiscard]] double compute_s() const { return attention_s + gemm_s + graph_s + other_s; }
  [[nodiscard]] double busy_s() const { return compute_s() + exposed_communication_s + copy_s; }
  [[nodiscard]] double recorded_s() const { return busy_s() + idle_s; }
  Split& operator+=(const Split& more);
};

// The name for the time of iterations that no task's range covers.
inline constexpr const char* kBetweenTasks = "between tasks";

struct TaskSplit {
  std::map<std::string, Split> tasks;  // by task, over all devices
  std::vector<Split> devices;          // all tasks, by position in Trace::devices
};

// `within` are disjoint spans in order. A moment of a device belongs to the innermost phase of a process that
// uses this device, else (a driver without devices marks the phases) to the phase that began last in any
// process.
[[nodiscard]] TaskSplit split_time(const Trace& trace, const Phases& phases, const std::vector<Span>& within,
                                   const std::vector<WorkClass>& class_of_name);

[[nodiscard]] WorkClass class_of(const DeviceWork& work, const std::vector<WorkClass>& class_of_name);

}  // namespace sextant::trace
