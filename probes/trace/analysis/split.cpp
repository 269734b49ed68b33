#include "probes/trace/analysis/split.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sextant::trace {
namespace {

// The begin or the end of an activity on one device.
struct Event {
  enum class What : std::uint8_t { work, phase, recording, within };
  std::int64_t time = 0;
  What what = What::work;
  bool begins = false;
  int which = 0;  // WorkClass, or place in Phases::all
};

using SplitEvents = std::vector<Event>;

void add(SplitEvents& events, Span span, Event::What what, int which) {
  if (span.end <= span.start) return;
  events.push_back({span.start, what, true, which});
  events.push_back({span.end, what, false, which});
}

bool uses(const Process& process, int device) {
  return std::find(process.devices.begin(), process.devices.end(), device) != process.devices.end();
}

// The state of one device while time is swept over it.
class Sweep {
 public:
  Sweep(const Trace& trace, const Phases& phases, int device) : phases_(phases) {
    for (const Process& process : trace.processes) is_own_.push_back(uses(process, device));
  }

  void apply(const Event& event) {
    const int step = event.begins ? 1 : -1;
    switch (event.what) {
      case Event::What::work:
        running_[static_cast<std::size_t>(event.which)] += step;
        break;
      case Event::What::recording:
        recording_ += step;
        break;
      case Event::What::within:
        within_ += step;
        break;
      case Event::What::phase:
        apply_phase(event.which, event.begins);
        break;
    }
  }
  [[nodiscard]] bool counts() const { return recording_ > 0 && within_ > 0; }
  [[nodiscard]] int task() const {
    if (!own_.empty()) return phases_.all[own_.rbegin()->second].task;
    if (!others_.empty()) return phases_.all[others_.rbegin()->second].task;
    return -1;
  }
  void add_to(Split& split, double time_s) const {
    const bool computes = is_running(WorkClass::attention) || is_running(WorkClass::gemm) ||
                          is_running(WorkClass::graph) || is_running(WorkClass::other);
    if (computes && is_running(WorkClass::communication)) split.hidden_communication_s += time_s;
    if (is_running(WorkClass::attention)) {
      split.attention_s += time_s;
    } else if (is_running(WorkClass::gemm)) {
      split.gemm_s += time_s;
    } else if (is_running(WorkClass::graph)) {
      split.graph_s += time_s;
    } else if (is_running(WorkClass::other)) {
      split.other_s += time_s;
    } else if (is_running(WorkClass::communication)) {
      split.exposed_communication_s += time_s;
    } else if (is_running(WorkClass::copy)) {
      split.copy_s += time_s;
    } else {
      split.idle_s += time_s;
    }
  }

 private:
  void apply_phase(int which, bool begins) {
    const auto place = static_cast<std::size_t>(which);
    const Phase& phase = phases_.all[place];
    auto& set = is_own_[static_cast<std::size_t>(phase.process)] ? own_ : others_;
    const std::pair key{phase.time.start, place};
    if (begins) {
      set.insert(key);
    } else {
      set.erase(key);
    }
  }
  [[nodiscard]] bool is_running(WorkClass what) const { return running_[static_cast<std::size_t>(what)] > 0; }

  const Phases& phases_;
  std::vector<bool> is_own_;  // by process
  std::array<int, kWorkClassCount> running_{};
  int recording_ = 0;
  int within_ = 0;
  // Running phases by start: the last is the innermost.
  std::set<std::pair<std::int64_t, std::size_t>> own_, others_;
};

// Host copies run on no device.
bool is_on_device(const DeviceWork& work) {
  return work.kind != RecordKind::copy || work.copy != CopyKind::host;
}

// Kernels launched before a later window began are not in it, and may have kept the device busy for a while:
// such a window counts from its first work on, or from when the launches that can wait have surely run.
Span counted(const Trace& trace, int device, Span window) {
  constexpr std::int64_t kDrained_ns = 100'000'000;
  const auto first = std::lower_bound(trace.work.begin(), trace.work.end(), std::pair(device, window.start),
                                      [](const DeviceWork& work, const std::pair<int, std::int64_t>& key) {
                                        return std::pair(work.device, work.time.start) < key;
                                      });
  const bool has_work = first != trace.work.end() && first->device == device;
  const std::int64_t drained = window.start + kDrained_ns;
  window.start = std::min(has_work ? std::min(first->time.start, drained) : drained, window.end);
  return window;
}

SplitEvents events_of(const Trace& trace, const Phases& phases, const std::vector<Span>& within, int device,
                      const std::vector<WorkClass>& class_of_name) {
  SplitEvents events;
  const auto first = std::lower_bound(trace.work.begin(), trace.work.end(), device,
                                      [](const DeviceWork& work, int d) { return work.device < d; });
  for (auto work = first; work != trace.work.end() && work->device == device; ++work) {
    if (is_on_device(*work)) {
      add(events, work->time, Event::What::work, static_cast<int>(class_of(*work, class_of_name)));
    }
  }
  for (const Process& process : trace.processes) {
    if (!uses(process, device)) continue;
    // Without a word about it, from the first to the last.
    if (process.recorded.empty()) add(events, trace.whole, Event::What::recording, 0);
    for (const Span& span : process.recorded) {
      const bool is_first = &span == &process.recorded.front();
      add(events, is_first ? span : counted(trace, device, span), Event::What::recording, 0);
    }
  }
  for (const Span& span : within) add(events, span, Event::What::within, 0);
  for (std::size_t i = 0; i < phases.all.size(); ++i) {
    add(events, phases.all[i].time, Event::What::phase, static_cast<int>(i));
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  return events;
}

}  // namespace

Split& Split::operator+=(const Split& more) {
  attention_s += more.attention_s;
  gemm_s += more.gemm_s;
  graph_s += more.graph_s;
  other_s += more.other_s;
  exposed_communication_s += more.exposed_communication_s;
  copy_s += more.copy_s;
  idle_s += more.idle_s;
  hidden_communication_s += more.hidden_communication_s;
  return *this;
}

WorkClass class_of(const DeviceWork& work, const std::vector<WorkClass>& class_of_name) {
  if (work.kind == RecordKind::graph) return WorkClass::graph;
  if (work.kind != RecordKind::kernel) return WorkClass::copy;
  return work.name < 0 ? WorkClass::other : class_of_name[static_cast<std::size_t>(work.name)];
}

TaskSplit split_time(const Trace& trace, const Phases& phases, const std::vector<Span>& within,
                     const std::vector<WorkClass>& class_of_name) {
  TaskSplit result;
  std::vector<Split> of_task(phases.tasks.size() + 1);  // the last: between tasks
  for (int device = 0; device < static_cast<int>(trace.devices.size()); ++device) {
    const SplitEvents events = events_of(trace, phases, within, device, class_of_name);
    Sweep sweep(trace, phases, device);
    Split whole;
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
      sweep.apply(events[i]);
      const std::int64_t length = events[i + 1].time - events[i].time;
      if (length <= 0 || !sweep.counts()) continue;
      const double time_s = static_cast<double>(length) / kNanoseconds;
      const int task = sweep.task();
      sweep.add_to(task < 0 ? of_task.back() : of_task[static_cast<std::size_t>(task)], time_s);
      sweep.add_to(whole, time_s);
    }
    result.devices.push_back(whole);
  }
  for (std::size_t i = 0; i < of_task.size(); ++i) {
    if (of_task[i].recorded_s() <= 0) continue;
    result.tasks[i < phases.tasks.size() ? phases.tasks[i] : kBetweenTasks] += of_task[i];
  }
  return result;
}

}  // namespace sextant::trace
