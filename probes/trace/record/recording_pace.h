// Decides when device activity is recorded: always, in fixed windows, or within a budget of slowdown.
//
// CUPTI's record of a kernel costs time on the thread that launches it; a program that only waits for its own
// launches is slowed by all of it. A budget keeps the cost below a share of the time: recording makes a debt,
// time repays it, and while the debt is too large nothing is recorded. If the device is the bottleneck,
// launches are few, there is no debt and everything is recorded.
#pragma once

#include <cstdint>

#include "probes/trace/record/settings.h"

namespace sextant::trace {

// Records of device activity by their cost.
struct DeviceCounts {
  std::uint64_t launches = 0;  // one per kernel, copy, set or graph that the host launched
  std::uint64_t nodes = 0;     // further kernels of a graph's launch

  DeviceCounts& operator+=(const DeviceCounts& more) {
    launches += more.launches;
    nodes += more.nodes;
    return *this;
  }
};

// Seconds that tracing costs, rounded from measurements with CUPTI 13.0. On an H100, with a program that was
// not kept: a launch 1.2 to 1.6 us from C++ and 1.2 to 4.5 us from PyTorch, a node of a graph 0.2 to 0.5 us. On
// two H200 machines (data/measured/h200/trace/overhead.json): a launch while only graphs are recorded 0.5 us,
// and 2 us on one of them.
namespace tracing_cost {
inline constexpr double kLaunch_s = 3e-6;
inline constexpr double kNode_s = 0.4e-6;
inline constexpr double kPausedLaunch_s = 0.5e-6;
}  // namespace tracing_cost

class RecordingPace {
 public:
  explicit RecordingPace(const Settings& settings);

  // False: device activity is always recorded.
  [[nodiscard]] bool has_pauses() const { return has_windows() || max_slowdown_ > 0; }
  // Adds the records since the last call.
  void add(const DeviceCounts& counts);
  // Whether to record from `now_s` on (seconds, any origin). Times do not decrease.
  [[nodiscard]] bool records_at(double now_s);

 private:
  [[nodiscard]] bool has_windows() const { return window_s_ > 0 && every_s_ > window_s_; }
  [[nodiscard]] bool keeps_budget(double now_s);
  void begin_window(double now_s);

  double window_s_;
  double every_s_;
  double max_slowdown_;
  double began_s_ = -1;  // -1: before the first call
  double now_s_ = 0;
  bool is_recording_ = true;
  double debt_s_ = 0;
  double credit_s_ = 0;         // must be repaid in advance before the next window begins
  double window_began_s_ = 0;   // of the current window, or the last one
  double window_length_s_ = 0;  // of the last window
  std::uint64_t window_launches_ = 0;
  std::uint64_t windows_ = 0;  // windows begun
};

}  // namespace sextant::trace
