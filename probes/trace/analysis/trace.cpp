#include "probes/trace/analysis/trace.h"

#include <algorithm>
#include <limits>
#include <map>

#include "probes/trace/analysis/merger.h"
#include "probes/trace/analysis/read_process.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::trace {
namespace {

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
    throw_bad_input(folder.string() +
                    ": no process recorded anything: processes must use CUDA or NVTX and inherit the "
                    "environment (Ray workers: set runtime_env)");
  }
  std::sort(files.begin(), files.end());
  return merge_traces(files);
}

}  // namespace sextant::trace
