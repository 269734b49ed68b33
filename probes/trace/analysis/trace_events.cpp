#include "probes/trace/analysis/trace_events.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "core/json_value.h"

namespace sextant::trace {
namespace {

constexpr double kMicrosecond = 1e3;     // in nanoseconds
constexpr int kFirstDevice = 1'000'000;  // as "pid": no process has so large a number here

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string microseconds(std::int64_t time) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(time) / kMicrosecond);
  return text;
}

class Events {
 public:
  void name(const char* what, int pid, std::uint32_t tid, const std::string& name) {
    begin();
    text_ += std::string(R"({"name":")") + what + R"(","ph":"M","pid":)" + std::to_string(pid) + R"(,"tid":)" +
             std::to_string(tid) + R"(,"args":{"name":)" + quoted(name) + "}}";
  }
  void span(const std::string& quoted_name, const char* category, Span time, int pid, std::uint32_t tid) {
    begin();
    text_ += R"({"name":)" + quoted_name + R"(,"cat":")" + category + R"(","ph":"X","ts":)" +
             microseconds(time.start) + R"(,"dur":)" + microseconds(time.length()) + R"(,"pid":)" +
             std::to_string(pid) + R"(,"tid":)" + std::to_string(tid) + "}";
  }
  // A span on a separate track, for spans that need not nest in a row.
  void async_span(const std::string& quoted_name, const char* category, Span time, int pid, std::uint32_t tid) {
    const std::string id = std::to_string(++last_id_);
    for (const auto& [phase, at] : {std::pair{'b', time.start}, {'e', time.end}}) {
      begin();
      text_ += R"({"name":)" + quoted_name + R"(,"cat":")" + category + R"(","ph":")" + phase + R"(","id":")" +
               id + R"(","ts":)" + microseconds(at) + R"(,"pid":)" + std::to_string(pid) + R"(,"tid":)" +
               std::to_string(tid) + "}";
    }
  }
  [[nodiscard]] std::string finish() {
    return "{\"traceEvents\":[\n" + text_ + "\n],\"displayTimeUnit\":\"ms\"}\n";
  }

 private:
  void begin() {
    if (!text_.empty()) text_ += ",\n";
  }
  std::string text_;
  std::uint64_t last_id_ = 0;
};

// Viewers draw what nests on a row and lose what crosses. Which spans may share a row, asked in order of
// `comes_before`.
class Rows {
 public:
  bool nests(int pid, std::uint32_t tid, Span time) {
    std::vector<std::int64_t>& open = ends_[{pid, tid}];
    while (!open.empty() && open.back() <= time.start) open.pop_back();
    if (!open.empty() && time.end > open.back()) return false;
    open.push_back(time.end);
    return true;
  }

 private:
  std::map<std::pair<int, std::uint32_t>, std::vector<std::int64_t>> ends_;
};

bool comes_before(Span a, Span b) { return std::pair(a.start, -a.end) < std::pair(b.start, -b.end); }

// Started ranges need not nest, nor do those of two domains, nor those whose end is lost.
void add_ranges(const Trace& trace, const std::vector<std::string>& names, Events& events) {
  std::vector<const Range*> ordered;
  for (const Range& range : trace.ranges) ordered.push_back(&range);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Range* a, const Range* b) { return comes_before(a->time, b->time); });
  std::set<std::pair<int, std::uint32_t>> named;
  Rows rows;
  for (const Range* range : ordered) {
    const int pid = range->process;
    if (named.insert({pid, range->thread}).second) {
      events.name("thread_name", pid, range->thread, "thread " + std::to_string(range->thread));
    }
    if (range->name < 0) continue;
    const std::string& name = names[static_cast<std::size_t>(range->name)];
    if (range->style == RangeStyle::push_pop && rows.nests(pid, range->thread, range->time)) {
      events.span(name, "range", range->time, pid, range->thread);
    } else {
      events.async_span(name, "range", range->time, pid, range->thread);
    }
  }
}

const char* kind_of(const DeviceWork& work) {
  switch (work.kind) {
    case RecordKind::graph:
      return "graph";
    case RecordKind::copy:
      return "copy";
    case RecordKind::set:
      return "set";
    default:
      return "kernel";
  }
}

std::string label(const DeviceWork& work, const std::vector<std::string>& names) {
  return work.name >= 0 ? names[static_cast<std::size_t>(work.name)] : '"' + std::string(kind_of(work)) + '"';
}

// From when on device activity is shown.
std::int64_t shown_from(const Trace& trace, std::size_t maximum) {
  if (trace.work.size() <= maximum) return trace.whole.start;
  std::vector<std::int64_t> starts;
  for (const DeviceWork& work : trace.work) starts.push_back(work.time.start);
  const std::size_t first = std::min(starts.size() / 2, starts.size() - maximum);
  std::nth_element(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(first), starts.end());
  return starts[first];
}

void add_work(const Trace& trace, const std::vector<std::string>& names, std::size_t maximum, Events& events) {
  const std::int64_t from = shown_from(trace, maximum);
  std::vector<const DeviceWork*> shown;
  for (const DeviceWork& work : trace.work) {
    if (work.time.start >= from) shown.push_back(&work);
  }
  std::sort(shown.begin(), shown.end(),
            [](const DeviceWork* a, const DeviceWork* b) { return comes_before(a->time, b->time); });
  if (shown.size() > maximum) shown.resize(maximum);
  std::set<std::pair<int, std::uint32_t>> named;
  Rows rows;
  for (const DeviceWork* work : shown) {
    const int pid = kFirstDevice + work->device;
    if (named.insert({pid, work->stream}).second) {
      events.name("thread_name", pid, work->stream, "stream " + std::to_string(work->stream));
    }
    // A kernel may begin before the one ahead of it on its stream has ended (programmatic dependent launch).
    if (rows.nests(pid, work->stream, work->time)) {
      events.span(label(*work, names), kind_of(*work), work->time, pid, work->stream);
    } else {
      events.async_span(label(*work, names), kind_of(*work), work->time, pid, work->stream);
    }
  }
}

}  // namespace

std::string trace_events(const Trace& trace, std::size_t max_events) {
  std::vector<std::string> names;
  for (const std::string& name : trace.names) names.push_back(quoted(name));
  Events events;
  for (std::size_t i = 0; i < trace.processes.size(); ++i) {
    const Process& process = trace.processes[i];
    const std::string rank = process.rank ? "rank " + std::to_string(*process.rank) + ", " : "";
    events.name("process_name", static_cast<int>(i), 0,
                rank + process.host + " " + std::to_string(process.pid));
  }
  for (std::size_t i = 0; i < trace.devices.size(); ++i) {
    const Device& device = trace.devices[i];
    events.name("process_name", kFirstDevice + static_cast<int>(i), 0,
                device.host + " device " + std::to_string(device.index) + " " + device.name);
  }
  add_ranges(trace, names, events);
  add_work(trace, names, max_events, events);
  return events.finish();
}

}  // namespace sextant::trace
