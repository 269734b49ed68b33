#include "probes/trace/analysis/trace_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sextant::trace {
namespace {

constexpr Span kEmpty{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};

}  // namespace

void TraceBuilder::begin_process(const std::string& file, const std::string& host) {
  Process process;
  process.file = file;
  process.host = host;
  process.pid = static_cast<std::int64_t>(trace_.processes.size());
  process.is_finished = true;
  trace_.processes.push_back(std::move(process));
  devices_.clear();
  device_names_.clear();
  whole_ = kEmpty;
}

void TraceBuilder::extend(const Span& time) {
  whole_ = {std::min(whole_.start, time.start), std::max(whole_.end, time.end)};
}

void TraceBuilder::add_range(const Span& time, const std::string& name, std::int64_t thread) {
  const int process = static_cast<int>(trace_.processes.size()) - 1;
  trace_.ranges.push_back(
      {time, name_index(name), process, static_cast<std::uint32_t>(thread), RangeStyle::push_pop, false});
  extend(time);
}

void TraceBuilder::add_work(DeviceWork work, std::int64_t device, const std::string& name) {
  work.device = device_index(device);
  work.name = name_index(name);
  trace_.work.push_back(work);
  extend(work.time);
}

void TraceBuilder::end_process() {
  if (whole_.start < whole_.end) process().recorded.push_back(whole_);
  for (const auto& [number, index] : devices_) process().devices.push_back(index);
}

Trace TraceBuilder::finished() {
  Span whole = kEmpty;
  for (const Process& process : trace_.processes) {
    for (const Span& span : process.recorded)
      whole = {std::min(whole.start, span.start), std::max(whole.end, span.end)};
  }
  if (whole.start >= whole.end) whole = {};
  const auto move = [&whole](Span& span) { span = {span.start - whole.start, span.end - whole.start}; };
  for (DeviceWork& work : trace_.work) move(work.time);
  for (Range& range : trace_.ranges) move(range.time);
  for (Process& process : trace_.processes)
    std::for_each(process.recorded.begin(), process.recorded.end(), move);
  trace_.whole = {0, whole.length()};
  std::stable_sort(trace_.work.begin(), trace_.work.end(), [](const DeviceWork& a, const DeviceWork& b) {
    return a.device != b.device ? a.device < b.device : a.time.start < b.time.start;
  });
  std::stable_sort(trace_.ranges.begin(), trace_.ranges.end(),
                   [](const Range& a, const Range& b) { return a.time.start < b.time.start; });
  return std::move(trace_);
}

int TraceBuilder::device_index(std::int64_t number) {
  const auto [found, is_new] = devices_.emplace(number, static_cast<int>(trace_.devices.size()));
  if (is_new) trace_.devices.push_back({process().host, static_cast<int>(number), device_names_[number], ""});
  return found->second;
}

int TraceBuilder::name_index(const std::string& name) {
  const auto [found, is_new] = names_.emplace(name, static_cast<int>(trace_.names.size()));
  if (is_new) trace_.names.push_back(name);
  return found->second;
}

}  // namespace sextant::trace
