#include "reports/sections/answer.h"

#include <algorithm>
#include <map>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/vega_lite.h"
#include "reports/content/names.h"

namespace sextant::inline reports {
namespace {

// Beside the colours of tasks (charts/vega_lite.h).
constexpr const char* kBetweenTasks = "#8A8A8A";
constexpr const char* kWeights = "#B8A500";
constexpr const char* kData = "#7A5230";
constexpr const char* kRewards = "#B3DE69";
constexpr const char* kWorkingMemory = "#56B4E9";
constexpr const char* kResidentMemory = "#0072B2";

std::map<std::string, std::string> colours_of(const std::vector<std::string>& tasks) {
  std::vector<std::string> shown;
  for (const std::string& task : tasks) shown.push_back(shown_name(task));
  const Json scale = charts::task_colour_scale(shown);
  std::map<std::string, std::string> colours;
  for (std::size_t t = 0; t < tasks.size(); ++t) colours[tasks[t]] = scale["range"][t].get<std::string>();
  return colours;
}

std::size_t devices_used(const Plan& plan) {
  std::set<DeviceId> used;
  for (const auto& [name, task] : plan.tasks) used.merge(task.devices());
  return used.size();
}

// ---- who does what on which machine ----

// A machine without its name. Equal ones are drawn once.
struct MachineKey {
  std::string type, place;
  std::vector<std::vector<std::string>> tasks;  // by device
  bool operator==(const MachineKey&) const = default;
};

struct EqualMachines {
  MachineKey key;
  std::vector<std::string> names;
};

std::vector<EqualMachines> equal_machines(const Cluster& cluster, const Plan& plan,
                                          const std::vector<std::string>& tasks) {
  std::vector<std::set<DeviceId>> devices;
  for (const std::string& task : tasks) devices.push_back(plan.tasks.at(task).devices());
  const bool has_zones = !cluster.has_uniform_links();
  std::vector<EqualMachines> all;
  int next = 0;
  for (const Node& node : cluster.nodes()) {
    MachineKey key{node.device_type, has_zones ? node.region + "/" + node.zone : "", {}};
    for (int d = 0; d < node.devices; ++d, ++next) {
      key.tasks.emplace_back();
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        if (devices[t].contains(DeviceId{next})) key.tasks.back().push_back(tasks[t]);
      }
    }
    auto equal = std::find_if(all.begin(), all.end(), [&](const EqualMachines& one) { return one.key == key; });
    if (equal == all.end()) equal = all.insert(all.end(), {std::move(key), {}});
    equal->names.push_back(node.name);
  }
  return all;
}

std::string names_of(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  return names.front() + (names.size() == 2 ? " and " : " to ") + names.back();
}

// Without its devices, which the map shows.
std::string layout_of(const TaskPlan& task) {
  const std::string text = describe(task);
  return text.substr(0, text.find(" on "));
}

MachineMap machine_map(const ReportInput& input) {
  constexpr std::size_t kMaxBoxes = 48;
  const Plan& plan = input.plan->content;
  const std::vector<std::string> tasks = tasks_of(plan.tasks);
  std::map<std::string, std::string> colours = colours_of(tasks);
  MachineMap map{
      "layout",
      "Machines of equal type, place and tasks share a box; a square is a GPU with the colours of its tasks.",
      {},
      {}};
  for (const std::string& task : tasks)
    map.tasks.push_back({shown_name(task), Cell(layout_of(plan.tasks.at(task))), 0, colours.at(task)});
  if (!input.cluster) {
    map.caption = "The layout of each task. The machines are drawn if the report gets the cluster document.";
    return map;
  }
  const std::vector<EqualMachines> machines = equal_machines(input.cluster->content, plan, tasks);
  std::size_t left_out = 0;
  for (const EqualMachines& equal : machines) {
    if (map.machines.size() == kMaxBoxes) {
      left_out += equal.names.size();
      continue;
    }
    const std::string count = equal.names.size() > 1 ? std::to_string(equal.names.size()) + " x " : "";
    Machines box{
        names_of(equal.names), count + std::to_string(equal.key.tasks.size()) + " " + equal.key.type, {}};
    bool is_idle = true;
    for (const std::vector<std::string>& of_device : equal.key.tasks) {
      box.colours.emplace_back();
      for (const std::string& task : of_device) box.colours.back().push_back(colours.at(task));
      is_idle = is_idle && of_device.empty();
    }
    if (is_idle) box.detail += ", idle";
    map.machines.push_back(std::move(box));
  }
  if (left_out > 0) map.caption += " " + std::to_string(left_out) + " more machines are not drawn.";
  return map;
}

// ---- where the time goes ----

BarList time_bar(const Prediction& prediction) {
  const std::vector<std::string> tasks = tasks_of(prediction.tasks);
  std::map<std::string, std::string> colours = colours_of(tasks);
  Bar bar{"One iteration", {}, format_seconds(prediction.iteration_s)};
  double left_s = prediction.iteration_s;
  const auto add = [&](const std::string& label, double seconds, const std::string& colour) {
    if (seconds <= 0) return;
    bar.parts.push_back(
        {label,
         {format_seconds(seconds) + ", " + format_percent(seconds / prediction.iteration_s, 0), seconds},
         seconds,
         colour});
    left_s -= seconds;
  };
  for (const std::string& task : tasks)
    add(shown_name(task), prediction.tasks.at(task).exposed_s, colours.at(task));
  add("weight sync", prediction.weight_sync_s - prediction.weight_sync_hidden_s, kWeights);
  add("data between tasks", prediction.data_s, kData);
  add("rewards by rule", prediction.rule_reward_s, kRewards);
  add("controller", prediction.controller_s, kBetweenTasks);
  // Tasks that run at the same time add nothing alone.
  constexpr double kVisible = 0.005;
  if (left_s > kVisible * prediction.iteration_s) add("tasks at the same time", left_s, "#C9CDD3");
  return {"time",
          "Time that each part adds to the iteration: what overlaps a longer task adds nothing.",
          {std::move(bar)},
          true};
}

// ---- whether it fits ----

BarList memory_bars(const Prediction& prediction, const Cluster* cluster) {
  BarList list{"memory",
               "Memory of the fullest GPU of each type: the states of all tasks, then the largest working set "
               "of one. The "
               "red mark is the capacity, the thin line the 90 % interval.",
               {}};
  std::map<std::string, std::pair<const DeviceMemory*, int>> fullest;  // by type, with the number of GPUs
  for (const DeviceMemory& memory : prediction.memory) {
    const bool is_known = cluster != nullptr && cluster->contains(memory.device);
    auto& [most, count] = fullest[is_known ? cluster->type_name(memory.device) : std::string("GPU")];
    ++count;
    if (most == nullptr ||
        memory.needed_bytes() / memory.capacity_bytes > most->needed_bytes() / most->capacity_bytes)
      most = &memory;
  }
  for (const auto& [type, entry] : fullest) {
    const DeviceMemory& memory = *entry.first;
    Bar bar{type + " (" + std::to_string(entry.second) + " used)",
            {{"resident", bytes_cell(memory.resident_bytes), memory.resident_bytes, kResidentMemory},
             {"working", bytes_cell(memory.working_bytes), memory.working_bytes, kWorkingMemory}},
            format_bytes(memory.needed_bytes()) + " of " + format_bytes(memory.capacity_bytes) + ", " +
                describe_fit(memory.fits(), memory.trust),
            memory.capacity_bytes};
    if (memory.trust) {
      bar.low = memory.trust->needed_bytes.low;
      bar.high = memory.trust->needed_bytes.high;
    }
    list.bars.push_back(std::move(bar));
  }
  return list;
}

// ---- the sentence ----

// "The longest task is actor generation with 37 % of the time, 94 % of it decode."
std::string longest_text(const Prediction& prediction) {
  const auto longest =
      std::max_element(prediction.tasks.begin(), prediction.tasks.end(),
                       [](const auto& a, const auto& b) { return a.second.time_s < b.second.time_s; });
  if (longest == prediction.tasks.end()) return "";
  const auto& [name, task] = *longest;
  std::string text = "The longest task is " + shown_name(name) + " with " +
                     format_percent(task.time_s / prediction.iteration_s, 0) + " of the time";
  const auto term = std::max_element(task.terms_s.begin(), task.terms_s.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (term != task.terms_s.end() && task.time_s > 0)
    text += ", " + format_percent(term->second / task.time_s, 0) + " of it " + shown_name(name_of(term->first));
  // The model says more of the bottleneck after its first clause.
  const std::size_t more = prediction.bottleneck.find("; ");
  return text + (more == std::string::npos ? "" : prediction.bottleneck.substr(more)) + ".";
}

// ---- what it beats, and how far to trust it ----

std::string shown_times(double ratio) { return format_number(ratio) + " times"; }

std::string alternatives_text(const Explanation& explanation) {
  constexpr std::size_t kNamed = 3;
  constexpr double kAlike = 0.005;  // of a ratio
  std::string text;
  std::size_t named = 0;
  for (const Alternative& other : explanation.alternatives) {
    if (other.outcome != PlanOutcome::found || other.is_same || named == kNamed) continue;
    ++named;
    text += (text.empty() ? "Alternatives: " : "; ") + other.name + " ";
    if (std::abs(other.ratio - 1) < kAlike) {
      text += "is as good";
      continue;
    }
    if (other.ratio < 1) {
      text +=
          "found a better plan, " + shown_times(other.ratio) + " this one: a longer search is worth its time";
      continue;
    }
    text += "needs " + shown_times(other.ratio) + " as much";
    if (other.chance)
      text += " (" + format_percent(other.chance->probability, 0) + " sure that the plan is better)";
  }
  return text.empty() ? "" : text + ".";
}

std::string trust_text(const ReportInput& input) {
  const Prediction& prediction = input.prediction->content;
  std::vector<std::string> far;
  std::optional<double> farthest;  // steps from the nearest run
  for (const std::string& task : tasks_of(prediction.tasks)) {
    const std::optional<Familiarity>& familiarity = prediction.tasks.at(task).familiarity;
    if (!familiarity) continue;
    farthest = std::max(farthest.value_or(0), familiarity->distance);
    if (familiarity->extrapolating()) far.push_back(shown_name(task));
  }
  std::string text;
  if (!far.empty()) {
    text = "Trust: no run like " + shown_list(far) + " was measured, so that the prediction extrapolates.";
  } else if (farthest) {
    text = "Trust: all tasks are within the range of the runs of the fit; the nearest are at most " +
           format_number(*farthest) + (*farthest == 1 ? " step" : " steps") + " away.";
  }
  if (input.coefficients && input.coefficients->content.fit && input.coefficients->content.fit->held_out) {
    const HeldOutSummary& held_out = *input.coefficients->content.fit->held_out;
    text += (text.empty() ? "Trust: " : " ") + std::string("Iterations that a fit had not seen were off by ") +
            format_percent(held_out.iteration_mape) + " on average.";
  }
  return text;
}

}  // namespace

bool has_answer(const ReportInput& input) { return input.plan && input.prediction; }

LeadText answer_verdict(const ReportInput& input) {
  const Prediction& prediction = input.prediction->content;
  std::string text = "An iteration" + (prediction.workflow.empty() ? "" : " of " + prediction.workflow) +
                     " takes " + format_seconds(prediction.iteration_s);
  if (prediction.iteration_interval_s)
    text += " (90 %: " + shown_interval(*prediction.iteration_interval_s) + ")";
  const std::size_t used = devices_used(input.plan->content);
  text += " on " + std::to_string(used);
  if (input.cluster && used < static_cast<std::size_t>(input.cluster->content.device_count()))
    text += " of " + std::to_string(input.cluster->content.device_count());
  text += used == 1 ? " device" : " devices";
  if (!prediction.fits()) text += ", but it does not fit into their memory";
  return {text + ". " + longest_text(prediction)};
}

std::vector<Block> answer_blocks(const ReportInput& input) {
  const Prediction& prediction = input.prediction->content;
  std::vector<Block> blocks{machine_map(input), time_bar(prediction)};
  const Cluster* cluster = input.cluster ? &input.cluster->content : nullptr;
  if (!prediction.memory.empty()) blocks.emplace_back(memory_bars(prediction, cluster));
  if (input.explanation) {
    if (std::string text = alternatives_text(input.explanation->content); !text.empty())
      blocks.emplace_back(Text{std::move(text)});
  } else if (input.search && !input.search->content.message.empty()) {
    blocks.emplace_back(Text{as_sentence(input.search->content.message)});
  }
  if (input.search) {
    for (const std::string& sentence : input.search->content.standing)
      blocks.emplace_back(Text{as_sentence(sentence)});
  }
  if (std::string text = trust_text(input); !text.empty()) blocks.emplace_back(Text{std::move(text)});
  return blocks;
}

}  // namespace sextant::inline reports
