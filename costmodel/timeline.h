// Event simulation of a task graph on overlapping device sets (ReaL, Algorithm 1): a task starts when its
// parents have ended and all its devices are free.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "sextant/error.h"
#include "sextant/ids.h"

namespace sextant::inline costmodel {

// T is double for planning and ceres::Jet for exact derivatives. `devices` must outlive the simulation.
template <typename T>
struct TimedTask {
  T duration_s = T(0.0);
  const std::set<DeviceId>* devices = nullptr;
  std::vector<int> after;  // positions of parents
};

template <typename T>
struct TimedSpan {
  T start_s = T(0.0);
  T end_s = T(0.0);
  T ready_s = T(0.0);  // when its parents have ended; the start, unless its devices are busy
};

[[nodiscard]] bool share_a_device(const std::set<DeviceId>& a, const std::set<DeviceId>& b);

// Returns the task that became ready first among those whose parents have ended; ties go to the earlier one.
template <typename T>
[[nodiscard]] std::size_t next_ready(const std::vector<int>& waiting_for, const std::vector<T>& ready_s) {
  std::size_t next = waiting_for.size();
  for (std::size_t t = 0; t < waiting_for.size(); ++t) {
    if (waiting_for[t] == 0 && (next == waiting_for.size() || ready_s[t] < ready_s[next])) next = t;
  }
  return next;
}

// Returns spans by task. Ready tasks are taken in the order of their ready time, then of their position, as in
// the algorithm's priority queue. The graph must be acyclic.
template <typename T>
[[nodiscard]] std::vector<TimedSpan<T>> simulate_timeline(const std::vector<TimedTask<T>>& tasks) {
  const std::size_t n = tasks.size();
  std::vector<TimedSpan<T>> spans(n);
  std::vector<int> waiting_for(n);
  std::vector<T> ready_s(n, T(0.0));
  std::vector<std::size_t> done;
  for (std::size_t t = 0; t < n; ++t) waiting_for[t] = static_cast<int>(tasks[t].after.size());
  while (done.size() < n) {
    const std::size_t next = next_ready(waiting_for, ready_s);
    SEXTANT_CHECK(next < n);
    T start = ready_s[next];
    // A device is free when the last of its tasks has ended.
    for (const std::size_t earlier : done) {
      const bool waits =
          start < spans[earlier].end_s && share_a_device(*tasks[earlier].devices, *tasks[next].devices);
      if (waits) start = spans[earlier].end_s;
    }
    spans[next] = {start, start + tasks[next].duration_s, ready_s[next]};
    waiting_for[next] = -1;
    done.push_back(next);
    for (std::size_t t = 0; t < n; ++t) {
      const auto& after = tasks[t].after;
      if (std::find(after.begin(), after.end(), static_cast<int>(next)) == after.end()) continue;
      --waiting_for[t];
      if (ready_s[t] < spans[next].end_s) ready_s[t] = spans[next].end_s;
    }
  }
  return spans;
}

// End of the last span; zero for none.
template <typename T>
[[nodiscard]] T makespan_s(const std::vector<TimedSpan<T>>& spans) {
  T end(0.0);
  for (const TimedSpan<T>& span : spans) {
    if (end < span.end_s) end = span.end_s;
  }
  return end;
}

}  // namespace sextant::inline costmodel
