#include "costmodel/timeline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"

namespace sextant {

std::vector<TimelineSpan> simulate_timeline(const std::vector<TimelineTask>& tasks) {
  const std::size_t n = tasks.size();
  std::vector<TimelineSpan> spans(n);
  std::vector<int> waiting_for(n, 0);
  std::vector<std::vector<std::size_t>> children(n);
  std::vector<double> ready_s(n, 0);
  std::set<std::pair<double, std::size_t>> ready;  // by ready time, then position
  std::map<DeviceId, double> free_s;
  for (std::size_t t = 0; t < n; ++t) {
    waiting_for[t] = static_cast<int>(tasks[t].after.size());
    for (const int parent : tasks[t].after) children[static_cast<std::size_t>(parent)].push_back(t);
    if (tasks[t].after.empty()) ready.insert({0.0, t});
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const auto [when, t] = *ready.begin();
    ready.erase(ready.begin());
    ++done;
    double start = when;
    for (const DeviceId device : tasks[t].devices) start = std::max(start, free_s[device]);
    spans[t] = {start, start + tasks[t].duration_s};
    for (const DeviceId device : tasks[t].devices) free_s[device] = spans[t].end_s;
    for (const std::size_t child : children[t]) {
      ready_s[child] = std::max(ready_s[child], spans[t].end_s);
      if (--waiting_for[child] == 0) ready.insert({ready_s[child], child});
    }
  }
  SEXTANT_CHECK(done == n);
  return spans;
}

double makespan_s(const std::vector<TimelineSpan>& spans) {
  double end = 0;
  for (const TimelineSpan& span : spans) end = std::max(end, span.end_s);
  return end;
}

}  // namespace sextant
