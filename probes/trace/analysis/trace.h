// The recorded data of all processes, on one clock.
//
// Times are nanoseconds from Trace::origin on the host's clock. Processes of one host share its monotonic clock
// exactly; hosts are aligned by their real time, as accurately as NTP keeps it.
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
  int device = 0;  // index into Trace::devices
  std::uint32_t stream = 0;
  int name = -1;  // index into Trace::names; -1: none
  std::uint64_t bytes = 0;
};

struct Range {
  Span time;
  int name = -1;
  int process = 0;
  std::uint32_t thread = 0;  // the one that began it
  RangeStyle style = RangeStyle::push_pop;
  bool is_cut = false;  // its end was not recorded: it ends with the last one of its process
};

struct Process {
  std::string file;
  std::string host;
  std::int64_t pid = 0;
  std::optional<int> rank;
  std::string command;
  std::string cupti;           // its version and origin
  std::string stopped;         // why recording ended before the process did; empty: it did not
  std::string device_trouble;  // why there are no kernels; empty: no problem
  bool is_finished = false;    // the process ended by itself and wrote everything
  std::vector<Span> recorded;  // when device activity was recorded
  std::vector<int> devices;    // indices into Trace::devices
  std::uint64_t lost_chunks = 0;
  std::uint64_t damaged_bytes = 0;
  std::uint64_t dropped_records = 0;  // records of device activity
  std::uint64_t dropped_ranges = 0;
  std::uint64_t unmatched_ends = 0;  // ends of ranges whose beginning is lost
  double overhead_s = 0;             // as CUPTI reports it
};

struct Device {
  std::string host;
  int index = 0;  // in the process that used it first
  std::string name;
  std::string uuid;  // empty: not reported; then host and index identify devices
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

// Accepts any content: unreadable parts are counted in their process. Files without a valid chunk make no
// process.
[[nodiscard]] Trace merge_traces(const std::vector<TraceFileText>& files);

// Loads all files of a folder. Throws Error(bad_input) if it has none.
[[nodiscard]] Trace load_traces(const std::filesystem::path& folder);

}  // namespace sextant::trace
