// What `sextant trace` asks of the processes it starts, handed down through the environment so that it reaches
// their children too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sextant::trace {

struct Settings {
  std::string folder;                                // where files are written
  double max_seconds = 0;                            // of recording, from a process's first; 0: no bound
  std::uint64_t max_steps = 0;                       // 0: no bound
  std::string step_range;                            // whose occurrences are steps; empty: any outermost range
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  // on disk, a process
  std::uint64_t max_range_bytes = std::uint64_t{64} << 20;  // of ranges in memory, on their way to the disk
  std::uint64_t max_waiting_buffers = 256;  // CUPTI's, half a GiB, when the disk is slower than the device
  double flush_s = 0.5;                     // how old what is not on disk can be
  double max_slowdown = 0;                  // recording may cost so much of the time; 0: no bound
  double window_s = 0;                      // device activity is recorded so long ...
  double every_s = 0;                       // ... out of every so long; 0: always
  bool graph_nodes = false;                 // kernels inside CUDA graphs one by one
  bool device = true;                       // false: ranges only
  std::string cupti;                        // this libcupti and no other; empty: look for one
};

// Names of the variables, by what `sextant trace` sets.
namespace setting_names {
inline constexpr const char* kFolder = "SEXTANT_TRACE_FOLDER";
inline constexpr const char* kSeconds = "SEXTANT_TRACE_SECONDS";
inline constexpr const char* kSteps = "SEXTANT_TRACE_STEPS";
inline constexpr const char* kStepRange = "SEXTANT_TRACE_STEP_RANGE";
inline constexpr const char* kBytes = "SEXTANT_TRACE_BYTES";
inline constexpr const char* kRangeBytes = "SEXTANT_TRACE_RANGE_BYTES";
inline constexpr const char* kWaitingBuffers = "SEXTANT_TRACE_WAITING_BUFFERS";
inline constexpr const char* kFlush = "SEXTANT_TRACE_FLUSH_SECONDS";
inline constexpr const char* kSlowdown = "SEXTANT_TRACE_MOST_SLOWDOWN";
inline constexpr const char* kWindow = "SEXTANT_TRACE_WINDOW_SECONDS";
inline constexpr const char* kEvery = "SEXTANT_TRACE_EVERY_SECONDS";
inline constexpr const char* kGraphNodes = "SEXTANT_TRACE_GRAPH_NODES";
inline constexpr const char* kDevice = "SEXTANT_TRACE_DEVICE";
inline constexpr const char* kCupti = "SEXTANT_TRACE_CUPTI";
}  // namespace setting_names

// Of this process; nothing when it is not being traced. A value that is no number counts as not given.
[[nodiscard]] std::optional<Settings> settings_from_environment();

}  // namespace sextant::trace
