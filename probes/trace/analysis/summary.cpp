#include "probes/trace/analysis/summary.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"
#include "core/units.h"

namespace sextant::trace {
namespace {

constexpr std::size_t kMaxKernels = 20;

std::vector<WorkClass> classes_of(const Trace& trace, const KernelNames& names) {
  std::vector<WorkClass> classes;
  for (const std::string& name : trace.names) classes.push_back(names.class_of(name));
  return classes;
}

std::vector<KernelTotal> largest_kernels(const Trace& trace, const std::vector<WorkClass>& classes) {
  std::vector<KernelTotal> of_name(trace.names.size());
  for (const DeviceWork& work : trace.work) {
    if (work.kind != RecordKind::kernel || work.name < 0) continue;
    KernelTotal& total = of_name[static_cast<std::size_t>(work.name)];
    ++total.count;
    total.total_s += static_cast<double>(work.time.length()) / kNanoseconds;
  }
  for (std::size_t i = 0; i < of_name.size(); ++i) {
    of_name[i].name = trace.names[i];
    of_name[i].work_class = classes[i];
  }
  std::erase_if(of_name, [](const KernelTotal& total) { return total.count == 0; });
  std::sort(of_name.begin(), of_name.end(),
            [](const KernelTotal& a, const KernelTotal& b) { return a.total_s > b.total_s; });
  if (of_name.size() > kMaxKernels) of_name.resize(kMaxKernels);
  return of_name;
}

const char* name_of(CopyKind kind) {
  static constexpr std::array<const char*, 6> kCopyNames{"unknown",       "host_to_device",  "device_to_host",
                                                         "within_device", "between_devices", "host"};
  return kCopyNames[static_cast<std::size_t>(kind)];
}

void take_iterations(const Phases& phases, int skip, TraceSummary& summary, std::vector<Span>& kept) {
  const auto count = static_cast<int>(phases.iterations.size());
  const int first = std::clamp(skip, 0, std::max(0, count - 1));
  for (int i = 0; i < count; ++i) {
    const Iteration& iteration = phases.iterations[static_cast<std::size_t>(i)];
    const double length_s = static_cast<double>(iteration.time.length()) / kNanoseconds;
    if (i < first) {
      summary.skipped_iteration_s.push_back(length_s);
      continue;
    }
    summary.iteration_s.push_back(length_s);
    for (const auto& [task, time_s] : iteration.tasks_s) summary.tasks_s[task].push_back(time_s);
    kept.push_back(iteration.time);
  }
}

// The recorded fraction of the processes that used a device.
double fraction_recorded(const Trace& trace, const std::vector<Span>& within) {
  std::int64_t recorded = 0, whole = 0;
  for (const Process& process : trace.processes) {
    if (process.devices.empty() || process.recorded.empty()) continue;
    for (const Span& span : within) {
      recorded += union_length(process.recorded, span);
      whole += span.length();
    }
  }
  return whole > 0 ? static_cast<double>(recorded) / static_cast<double>(whole) : 1.0;
}

Json to_json(const Split& split) {
  return {{"attention_s", split.attention_s},
          {"gemm_s", split.gemm_s},
          {"graph_s", split.graph_s},
          {"other_s", split.other_s},
          {"exposed_communication_s", split.exposed_communication_s},
          {"copy_s", split.copy_s},
          {"idle_s", split.idle_s},
          {"hidden_communication_s", split.hidden_communication_s}};
}

Json to_json(const Process& process) {
  Json json = {{"host", process.host}, {"pid", process.pid}};
  if (process.rank) json["rank"] = *process.rank;
  json["command"] = process.command;
  if (!process.cupti.empty()) json["cupti"] = process.cupti;
  json["finished"] = process.is_finished;
  if (!process.stopped.empty()) json["stopped"] = process.stopped;
  if (!process.device_trouble.empty()) json["device_trouble"] = process.device_trouble;
  json["windows"] = process.recorded.size();
  json["dropped_records"] = process.dropped_records;
  json["dropped_ranges"] = process.dropped_ranges;
  json["lost_chunks"] = process.lost_chunks;
  json["damaged_bytes"] = process.damaged_bytes;
  json["unmatched_ends"] = process.unmatched_ends;
  json["cupti_overhead_s"] = process.overhead_s;
  return json;
}

std::string label(const Process& process) {
  return "process " + std::to_string(process.pid) + (process.host.empty() ? "" : " on " + process.host);
}

}  // namespace

TraceSummary summarise(const Trace& trace, const TaskRanges& mapping, const KernelNames& names, int skip) {
  const std::vector<WorkClass> classes = classes_of(trace, names);
  const Phases phases = find_phases(trace, mapping);
  TraceSummary summary;
  std::vector<Span> kept;
  take_iterations(phases, skip, summary, kept);
  summary.iterations_are = kept.empty() ? "no whole iteration was found" : phases.how;
  if (kept.empty()) kept.push_back(trace.whole);
  summary.split = split_time(trace, phases, kept, classes);
  summary.recorded_fraction = fraction_recorded(trace, kept);
  summary.kernels = largest_kernels(trace, classes);
  for (const DeviceWork& work : trace.work) {
    if (work.kind == RecordKind::copy)
      summary.copied_bytes[name_of(work.copy)] += static_cast<double>(work.bytes);
  }
  summary.device_records = trace.work.size();
  summary.range_count = trace.ranges.size();
  summary.devices = trace.devices;
  summary.processes = trace.processes;
  summary.unmapped_ranges = phases.unmapped;
  return summary;
}

std::vector<std::string> TraceSummary::remarks() const {
  std::vector<std::string> all;
  for (const Process& process : processes) {
    const std::string who = label(process);
    if (!process.is_finished && process.stopped.empty()) {
      all.push_back(who + " did not end by itself: what it did last is missing");
    }
    if (!process.stopped.empty()) all.push_back("recording of " + who + " ended early: " + process.stopped);
    if (!process.device_trouble.empty()) all.push_back(who + ": " + process.device_trouble);
    if (process.dropped_records + process.dropped_ranges > 0) {
      all.push_back(who + " dropped " + std::to_string(process.dropped_records) +
                    " records of device activity and " + std::to_string(process.dropped_ranges) + " ranges");
    }
    if (process.lost_chunks + process.damaged_bytes > 0) {
      all.push_back("the file of " + who + " lacks " + std::to_string(process.lost_chunks) +
                    " chunks and has " + std::to_string(process.damaged_bytes) + " bytes that do not read");
    }
  }
  constexpr double kWhole = 0.995;
  const bool has_windows = std::any_of(processes.begin(), processes.end(),
                                       [](const Process& process) { return process.recorded.size() > 1; });
  if (has_windows && recorded_fraction < kWhole) {
    all.push_back("device activity was recorded " + format_percent(recorded_fraction) +
                  " of the time, in windows: shares are of that time, kernels and bytes those in it "
                  "(--every-kernel records all)");
  }
  if (tasks_s.empty() && !unmapped_ranges.empty()) {
    std::string names;
    for (const std::string& name : unmapped_ranges) names += (names.empty() ? "" : ", ") + name;
    all.push_back("no range has a task: say which is which with --tasks. The longest are: " + names);
  }
  return all;
}

Json TraceSummary::to_json() const {
  Json tasks = Json::object();
  for (const auto& [task, times_s] : tasks_s) tasks[task] = times_s;
  Json splits = Json::object();
  for (const auto& [task, time] : split.tasks) splits[task] = trace::to_json(time);
  Json of_devices = Json::array();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    of_devices.push_back({{"host", devices[i].host},
                          {"index", devices[i].index},
                          {"name", devices[i].name},
                          {"uuid", devices[i].uuid},
                          {"split", trace::to_json(split.devices[i])}});
  }
  Json totals = Json::array();
  for (const KernelTotal& kernel : kernels) {
    totals.push_back({{"name", kernel.name},
                      {"class", trace::name_of(kernel.work_class)},
                      {"count", kernel.count},
                      {"total_s", kernel.total_s}});
  }
  Json all = Json::array();
  for (const Process& process : processes) all.push_back(trace::to_json(process));
  return {{"iterations_are", iterations_are},
          {"iteration_s", iteration_s},
          {"skipped_iteration_s", skipped_iteration_s},
          {"tasks_s", std::move(tasks)},
          {"split_by_task", std::move(splits)},
          {"devices", std::move(of_devices)},
          {"kernels", std::move(totals)},
          {"copied_bytes", copied_bytes},
          {"recorded_fraction", recorded_fraction},
          {"device_records", device_records},
          {"ranges", range_count},
          {"unmapped_ranges", unmapped_ranges},
          {"processes", std::move(all)},
          {"remarks", remarks()}};
}

}  // namespace sextant::trace
