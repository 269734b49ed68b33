// The settings that `sextant trace` passes to the processes it starts, through the environment so that they
// reach their children too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sextant::trace {

struct Settings {
  std::string folder;                                // folder of the files
  double max_seconds = 0;                            // of recording, from a process's first; 0: no limit
  std::uint64_t max_steps = 0;                       // 0: no limit
  std::string step_range;                            // its occurrences are steps; empty: any outermost range
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  // on disk, per process
  std::uint64_t max_range_bytes = std::uint64_t{64} << 20;  // ranges in memory that are not yet on disk
  std::uint64_t max_waiting_buffers = 256;  // CUPTI's, half a GiB, if the disk is slower than the device
  double flush_s = 0.5;                     // maximum age of data that is not on disk
  double max_slowdown = 0;                  // share of the time that recording may cost; 0: no limit
  double window_s = 0;                      // device activity is recorded for this time ...
  double every_s = 0;                       // ... in every period of this length; 0: always
  bool graph_nodes = false;                 // kernels inside CUDA graphs one by one
  bool device = true;                       // false: ranges only
  std::string cupti;                        // this libcupti and no other; empty: look for one
};

// Names of the environment variables that `sextant trace` sets.
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

// Returns this process's settings; nullopt if it is not traced. A value that is not a number counts as absent.
[[nodiscard]] std::optional<Settings> settings_from_environment();

}  // namespace sextant::trace
