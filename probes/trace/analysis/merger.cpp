#include "probes/trace/analysis/merger.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace sextant::trace {
namespace {

// Ranges that held device work come again, and no work does: another tool has put its callbacks in the place
// of the tracer's, or the process was killed with the last buffer. That is no idle time: the time of recording
// ends with the last work.
void note_silence(std::span<const DeviceWork> works, std::span<const Range> ranges, Process& process) {
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
    const bool was_recorded = !process.recorded.empty() && range.time.end <= process.recorded.back().end;
    if (range.time.start > last && was_recorded && !range.is_cut) ++repeats[range.name];
  }
  const bool is_silent = std::any_of(repeats.begin(), repeats.end(), [&](const auto& repeat) {
    return repeat.second >= kTellingRepeats && held_work.contains(repeat.first);
  });
  if (!is_silent || process.recorded.empty()) return;
  if (process.recorded.back().start > last || process.recorded.back().end < last)
    return;  // it was switched off
  process.recorded.back().end = last;
  if (!process.is_finished) return;  // what is missing is the last buffer
  process.device_trouble =
      "phases go on without kernels: another tool has taken CUPTI over (PyTorch's profiler does), later ones "
      "are "
      "missing";
}

}  // namespace

void Merger::add(ReadProcess&& read, std::int64_t real_offset) {
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

std::int64_t Merger::host_time(std::uint64_t monotonic) const {
  return static_cast<std::int64_t>(monotonic + static_cast<std::uint64_t>(real_offset_));
}
std::int64_t Merger::device_time(std::uint64_t cupti) const {
  return host_time(static_cast<std::uint64_t>(read_->clocks.monotonic_of(cupti, real_offset_)));
}

void Merger::take(const NamedRecord& named) {
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

void Merger::take_work(const NamedRecord& named) {
  const Record& record = named.record;
  DeviceWork work;
  work.time = {device_time(record.start), device_time(record.end)};
  if (work.time.end < work.time.start || !is_plausible(work.time.start) || !is_plausible(work.time.end)) return;
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

int Merger::device_of(int index) {
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

void Merger::begin_range(const NamedRecord& named) {
  Range range;
  range.time.start = host_time(named.record.start);
  range.time.end = range.time.start;
  if (!is_plausible(range.time.start)) return;
  range.name = names_.place_of(named.name);
  range.process = process_;
  range.thread = named.record.stream;
  constexpr auto kStarted = static_cast<std::uint8_t>(RangeStyle::start_end);
  range.style = named.record.detail == kStarted ? RangeStyle::start_end : RangeStyle::push_pop;
  range.is_cut = true;
  saw(range.time.start);
  open_[named.record.value] = trace_.ranges.size();
  trace_.ranges.push_back(range);
}

void Merger::end_range(const Record& record) {
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

void Merger::finish_ranges(std::size_t first) {
  for (std::size_t i = first; i < trace_.ranges.size(); ++i) {
    Range& range = trace_.ranges[i];
    if (range.is_cut) range.time.end = std::max(range.time.start, last_);
  }
}

void Merger::take_window(const Record& record, Process& process) const {
  const std::int64_t time = host_time(record.start);
  if (!is_plausible(time)) return;
  const bool is_open = !process.recorded.empty() && process.recorded.back().end == kOpen;
  if (record.value != 0 && !is_open) process.recorded.push_back({time, kOpen});
  if (record.value == 0 && is_open) process.recorded.back().end = std::max(time, process.recorded.back().start);
}

void Merger::finish_windows(Process& process) const {
  if (!process.recorded.empty() && process.recorded.back().end == kOpen) {
    process.recorded.back().end = std::max(last_, process.recorded.back().start);
  }
}

}  // namespace sextant::trace
