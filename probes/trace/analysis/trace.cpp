#include "probes/trace/analysis/trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "core/document.h"
#include "core/error.h"
#include "core/json_value.h"
#include "core/text.h"
#include "probes/trace/analysis/clocks.h"
#include "probes/trace/record/chunk_reader.h"

namespace sextant::trace {
namespace {

constexpr double kNanoseconds = 1e9;

class Names {
 public:
  explicit Names(std::vector<std::string>& all) : all_(all) {}
  int place_of(std::string_view name) {
    if (name.empty()) return -1;
    const auto [found, is_new] = place_of_.try_emplace(std::string(name), static_cast<int>(all_.size()));
    if (is_new) all_.push_back(valid_utf8(std::string(name)));
    return found->second;
  }

 private:
  std::vector<std::string>& all_;
  std::unordered_map<std::string, int> place_of_;
};

struct DeviceFacts {
  std::string name, uuid;
};

// One file, before its times are on the common clock.
struct ReadProcess {
  Process process;
  ReadChunks chunks;
  ProcessClocks clocks;
  std::map<int, DeviceFacts> devices;  // by the process's own number
};

// ---- what a file says about its process ----

std::string text_of(const Json& json, const char* member) {
  return json.contains(member) && json[member].is_string() ? json[member].get<std::string>() : "";
}

std::int64_t integer_of(const Json& json, const char* member, std::int64_t otherwise) {
  return json.contains(member) && json[member].is_number_integer() ? json[member].get<std::int64_t>()
                                                                   : otherwise;
}

void take_process(const Json& json, Process& process) {
  process.host = text_of(json, "host");
  process.pid = integer_of(json, "pid", 0);
  process.command = text_of(json, "command");
  const std::int64_t rank = integer_of(json, "rank", -1);
  if (rank >= 0 && rank <= std::numeric_limits<int>::max()) process.rank = static_cast<int>(rank);
}

void take_status(const Json& json, ReadProcess& read) {
  if (json.contains("cupti")) read.process.cupti = text_of(json, "cupti");
  if (json.contains("stopped")) read.process.stopped = text_of(json, "stopped");
  if (json.contains("finished")) read.process.is_finished = true;
  if (!json.contains("device")) return;
  if (json["device"].is_string()) {
    read.process.device_trouble = text_of(json, "device");
  } else {
    const std::int64_t index = integer_of(json, "device", -1);
    if (index >= 0) read.devices[static_cast<int>(index)] = {text_of(json, "name"), text_of(json, "uuid")};
  }
}

// A text that is no JSON object counts as damage: its checksum was right, so a program wrote it so.
void take_texts(ReadProcess& read) {
  for (const TextChunk& chunk : read.chunks.texts) {
    try {
      const Json json = parse_json(chunk.text);
      if (!json.is_object()) continue;
      if (chunk.type == ChunkType::process) take_process(json, read.process);
      if (chunk.type == ChunkType::status) take_status(json, read);
    } catch (const Error&) {
      read.process.damaged_bytes += chunk.text.size();
    }
  }
}

ReadProcess read_process(const TraceFileText& file) {
  ReadProcess read;
  read.process.file = file.first;
  read.chunks = read_chunks(file.second);
  read.process.lost_chunks = read.chunks.lost_chunks;
  read.process.damaged_bytes = read.chunks.damaged_bytes;
  take_texts(read);
  for (const NamedRecord& named : read.chunks.records) {
    if (named.record.kind == RecordKind::clocks) read.clocks.add(named.record);
  }
  read.clocks.sort();
  return read;
}

// ---- one clock ----

// Real minus monotonic time by host: the median over its processes, so that these agree with each other
// exactly.
std::map<std::string, std::int64_t> offsets_of(const std::vector<ReadProcess>& all) {
  std::map<std::string, std::vector<std::int64_t>> of_host;
  for (const ReadProcess& read : all) {
    if (const auto offset = read.clocks.real_offset()) of_host[read.process.host].push_back(*offset);
  }
  std::map<std::string, std::int64_t> offsets;
  for (auto& [host, values] : of_host) {
    std::sort(values.begin(), values.end());
    offsets[host] = values[values.size() / 2];
  }
  return offsets;
}

// ---- records ----

class Merger {
 public:
  explicit Merger(Trace& trace) : trace_(trace), names_(trace.names) {}

  void add(ReadProcess&& read, std::int64_t real_offset) {
    process_ = static_cast<int>(trace_.processes.size());
    read_ = &read;
    real_offset_ = real_offset;
    device_of_.clear();
    open_.clear();
    last_ = std::numeric_limits<std::int64_t>::min();
    const std::size_t first_range = trace_.ranges.size(), first_work = trace_.work.size();
    for (const NamedRecord& named : read.chunks.records) take(named);
    finish_ranges(first_range);
    note_silence(std::span(trace_.work).subspan(first_work), std::span(trace_.ranges).subspan(first_range),
                 read.process);
    finish_windows(read.process);
    for (const auto& [index, device] : device_of_) read.process.devices.push_back(device);
    trace_.processes.push_back(std::move(read.process));
  }

 private:
  [[nodiscard]] std::int64_t host_time(std::uint64_t monotonic) const {
    return static_cast<std::int64_t>(monotonic + static_cast<std::uint64_t>(real_offset_));
  }
  [[nodiscard]] std::int64_t device_time(std::uint64_t cupti) const {
    return host_time(static_cast<std::uint64_t>(read_->clocks.monotonic_of(cupti, real_offset_)));
  }

  void take(const NamedRecord& named) {
    const Record& record = named.record;
    Process& process = read_->process;
    switch (record.kind) {
      case RecordKind::kernel:
      case RecordKind::copy:
      case RecordKind::set:
      case RecordKind::graph:
        take_work(named);
        break;
      case RecordKind::range_begin:
        begin_range(named);
        break;
      case RecordKind::range_end:
        end_range(record);
        break;
      case RecordKind::overhead:
        if (record.end < record.start) break;
        process.overhead_s += static_cast<double>(record.end - record.start) / kNanoseconds;
        break;
      case RecordKind::recording:
        take_window(record, process);
        break;
      case RecordKind::dropped:
        process.dropped_records += record.value;
        break;
      case RecordKind::dropped_ranges:
        process.dropped_ranges += record.value;
        break;
      default:
        break;
    }
  }

  void saw(std::int64_t time) { last_ = std::max(last_, time); }

  void take_work(const NamedRecord& named) {
    const Record& record = named.record;
    DeviceWork work;
    work.time = {device_time(record.start), device_time(record.end)};
    if (work.time.end < work.time.start || !is_plausible(work.time.start) || !is_plausible(work.time.end))
      return;
    work.kind = record.kind;
    if (record.kind == RecordKind::copy && record.detail <= static_cast<std::uint8_t>(CopyKind::host)) {
      work.copy = static_cast<CopyKind>(record.detail);
    }
    work.device = device_of(record.device);
    work.stream = record.stream;
    work.name = names_.place_of(named.name);
    if (record.kind == RecordKind::copy || record.kind == RecordKind::set) work.bytes = record.value;
    saw(work.time.end);
    trace_.work.push_back(work);
  }

  int device_of(int index) {
    const auto known = device_of_.find(index);
    if (known != device_of_.end()) return known->second;
    Device device{read_->process.host, index, "", ""};
    if (const auto facts = read_->devices.find(index); facts != read_->devices.end()) {
      device.name = facts->second.name;
      device.uuid = facts->second.uuid;
    }
    int place = 0;
    for (const Device& other : trace_.devices) {
      const bool is_same =
          other.host == device.host && (device.uuid.empty() ? other.index == index : other.uuid == device.uuid);
      if (is_same) break;
      ++place;
    }
    if (place == static_cast<int>(trace_.devices.size())) trace_.devices.push_back(std::move(device));
    return device_of_[index] = place;
  }

  void begin_range(const NamedRecord& named) {
    Range range;
    range.time.start = host_time(named.record.start);
    range.time.end = range.time.start;
    if (!is_plausible(range.time.start)) return;
    range.name = names_.place_of(named.name);
    range.process = process_;
    range.thread = named.record.stream;
    range.is_cut = true;
    saw(range.time.start);
    open_[named.record.value] = trace_.ranges.size();
    trace_.ranges.push_back(range);
  }

  void end_range(const Record& record) {
    const auto found = open_.find(record.value);
    if (found == open_.end()) {
      ++read_->process.unmatched_ends;
      return;
    }
    Range& range = trace_.ranges[found->second];
    if (!is_plausible(host_time(record.start))) return;
    range.time.end = std::max(range.time.start, host_time(record.start));
    range.is_cut = false;
    saw(range.time.end);
    open_.erase(found);
  }

  void finish_ranges(std::size_t first) {
    for (std::size_t i = first; i < trace_.ranges.size(); ++i) {
      Range& range = trace_.ranges[i];
      if (range.is_cut) range.time.end = std::max(range.time.start, last_);
    }
  }

  void take_window(const Record& record, Process& process) const {
    const std::int64_t time = host_time(record.start);
    if (!is_plausible(time)) return;
    const bool is_open = !process.recorded.empty() && process.recorded.back().end == kOpen;
    if (record.value != 0 && !is_open) process.recorded.push_back({time, kOpen});
    if (record.value == 0 && is_open)
      process.recorded.back().end = std::max(time, process.recorded.back().start);
  }

  void finish_windows(Process& process) const {
    if (!process.recorded.empty() && process.recorded.back().end == kOpen) {
      process.recorded.back().end = std::max(last_, process.recorded.back().start);
    }
  }

  // Ranges that held device work come again, and no work does: another tool has put its callbacks in the place
  // of the tracer's. That is no idle time: the time of recording ends with the last work.
  static void note_silence(std::span<const DeviceWork> works, std::span<const Range> ranges, Process& process) {
    constexpr int kTellingRepeats = 2;  // behind the last work; one may be the program's end
    if (works.empty()) return;
    std::vector<std::int64_t> starts;
    std::int64_t last = works.front().time.end;
    for (const DeviceWork& work : works) {
      starts.push_back(work.time.start);
      last = std::max(last, work.time.end);
    }
    std::sort(starts.begin(), starts.end());
    std::map<int, int> repeats;
    std::set<int> held_work;
    for (const Range& range : ranges) {
      const auto first = std::lower_bound(starts.begin(), starts.end(), range.time.start);
      if (first != starts.end() && *first < range.time.end) held_work.insert(range.name);
      if (range.time.start > last && !range.is_cut) ++repeats[range.name];
    }
    const bool is_silent = std::any_of(repeats.begin(), repeats.end(), [&](const auto& repeat) {
      return repeat.second >= kTellingRepeats && held_work.contains(repeat.first);
    });
    if (!is_silent || process.recorded.empty()) return;
    if (process.recorded.back().start > last || process.recorded.back().end < last)
      return;  // it was switched off
    process.recorded.back().end = last;
    process.device_trouble =
        "phases go on without kernels: another tool has taken CUPTI over (PyTorch's profiler does), later ones "
        "are "
        "missing";
  }

  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  Trace& trace_;
  Names names_;
  ReadProcess* read_ = nullptr;
  int process_ = 0;
  std::int64_t real_offset_ = 0;
  std::int64_t last_ = 0;
  std::map<int, int> device_of_;
  std::unordered_map<std::uint64_t, std::size_t> open_;  // ranges by their id
};

// ---- the whole ----

template <typename Move>
void for_each_span(Trace& trace, const Move& move) {
  for (DeviceWork& work : trace.work) move(work.time);
  for (Range& range : trace.ranges) move(range.time);
  for (Process& process : trace.processes) {
    for (Span& span : process.recorded) move(span);
  }
}

// Moves the origin to the first thing that happened.
void set_origin(Trace& trace) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const DeviceWork& work : trace.work)
    first = std::min(first, work.time.start), last = std::max(last, work.time.end);
  for (const Range& range : trace.ranges)
    first = std::min(first, range.time.start), last = std::max(last, range.time.end);
  if (first > last) return;
  const auto from_first = [first](std::int64_t time) { return time - first; };
  for_each_span(trace, [&](Span& span) { span = {from_first(span.start), from_first(span.end)}; });
  trace.whole = {0, from_first(last)};
  trace.origin_s = static_cast<double>(first) / kNanoseconds;
}

}  // namespace

Trace merge_traces(const std::vector<TraceFileText>& files) {
  std::vector<ReadProcess> all;
  for (const TraceFileText& file : files) {
    ReadProcess read = read_process(file);
    if (!read.chunks.texts.empty() || !read.chunks.records.empty()) all.push_back(std::move(read));
  }
  const std::map<std::string, std::int64_t> offsets = offsets_of(all);
  Trace trace;
  Merger merger(trace);
  for (ReadProcess& read : all) {
    const auto offset = offsets.find(read.process.host);
    merger.add(std::move(read), offset == offsets.end() ? 0 : offset->second);
  }
  set_origin(trace);
  std::stable_sort(trace.work.begin(), trace.work.end(), [](const DeviceWork& a, const DeviceWork& b) {
    return a.device != b.device ? a.device < b.device : a.time.start < b.time.start;
  });
  std::stable_sort(trace.ranges.begin(), trace.ranges.end(),
                   [](const Range& a, const Range& b) { return a.time.start < b.time.start; });
  return trace;
}

Trace load_traces(const std::filesystem::path& folder) {
  std::vector<TraceFileText> files;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
    if (entry.path().extension() == kFileEnding) {
      files.emplace_back(entry.path().filename().string(), read_text_file(entry.path()));
    }
  }
  if (fault) throw_bad_input(folder.string() + ": " + fault.message());
  if (files.empty()) {
    throw_bad_input(
        folder.string() +
        ": no process recorded anything: it must use CUDA or NVTX, and get this program's environment "
        "(Ray's workers get theirs from runtime_env)");
  }
  std::sort(files.begin(), files.end());
  return merge_traces(files);
}

}  // namespace sextant::trace
