// What was recorded, of all processes, on one clock.
//
// Times are nanoseconds from Trace::origin on the host's clock. Processes of one host share its monotonic clock
// exactly; hosts are brought together by their real time, as well as that is kept (NTP).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probes/trace/record/record.h"

namespace sextant::trace {

inline constexpr double kNanoseconds = 1e9;  // in a second

struct Span {
  std::int64_t start = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t length() const { return end - start; }
  friend bool operator==(const Span&, const Span&) = default;
};

struct DeviceWork {
  Span time;
  RecordKind kind = RecordKind::kernel;  // kernel, copy, set or graph
  CopyKind copy = CopyKind::unknown;
  int device = 0;  // into Trace::devices
  std::uint32_t stream = 0;
  int name = -1;  // into Trace::names; -1: none
  std::uint64_t bytes = 0;
};

struct Range {
  Span time;
  int name = -1;
  int process = 0;
  std::uint32_t thread = 0;  // that began it
  RangeStyle style = RangeStyle::push_pop;
  bool is_cut = false;  // its end was not recorded: it ends with the last of its process
};

struct Process {
  std::string file;
  std::string host;
  std::int64_t pid = 0;
  std::optional<int> rank;
  std::string command;
  std::string cupti;           // its version and where it is from
  std::string stopped;         // why recording ended before the process did; empty: it did not
  std::string device_trouble;  // why there are no kernels; empty: nothing was in the way
  bool is_finished = false;    // the process ended by itself and wrote everything
  std::vector<Span> recorded;  // when device activity was recorded
  std::vector<int> devices;    // into Trace::devices
  std::uint64_t lost_chunks = 0;
  std::uint64_t damaged_bytes = 0;
  std::uint64_t dropped_records = 0;  // of device activity
  std::uint64_t dropped_ranges = 0;
  std::uint64_t unmatched_ends = 0;  // of ranges whose beginning is lost
  double overhead_s = 0;             // that CUPTI reports of itself
};

struct Device {
  std::string host;
  int index = 0;  // in the process that saw it first
  std::string name;
  std::string uuid;  // empty: the driver did not say; then host and index tell devices apart
};

struct Trace {
  std::vector<std::string> names;
  std::vector<Process> processes;
  std::vector<Device> devices;
  std::vector<DeviceWork> work;  // by device, then start
  std::vector<Range> ranges;     // by start
  Span whole;                    // from the first to the last
  double origin_s = 0;           // real time of 0, seconds since 1970
};

// One process's file: its name for messages, and its bytes.
using TraceFileText = std::pair<std::string, std::string>;

// Whatever is in the files: what does not read is counted in the process it belongs to. Files without a sound
// chunk make no process.
[[nodiscard]] Trace merge_traces(const std::vector<TraceFileText>& files);

// All files of a folder. Error(bad_input) when it has none.
[[nodiscard]] Trace load_traces(const std::filesystem::path& folder);

}  // namespace sextant::trace
