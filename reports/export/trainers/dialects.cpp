#include "reports/export/trainers/dialects.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "core/units.h"
#include "sextant/error.h"

namespace sextant {
namespace {

constexpr std::string_view kPlanComment = "# Plan: ";
constexpr std::string_view kPoolComment = "#   pool ";

std::string line(const std::string& text) { return "# " + as_comment(text) + "\n"; }

// "node-0[0-7] node-1[0-7]": the GPUs of a pool, by node.
std::string gpus_by_node(const GpuPool& pool, const Cluster& cluster) {
  std::string out;
  for (std::size_t first = 0; first < pool.devices.size();) {
    std::size_t end = first + 1;
    const auto is_next = [&] {
      return end < pool.devices.size() && pool.devices[end].value == pool.devices[end - 1].value + 1 &&
             cluster.node_of(pool.devices[end]) == cluster.node_of(pool.devices[first]);
    };
    while (is_next()) ++end;
    const std::string name = cluster.device_name(pool.devices[first]);
    const std::size_t slash = name.rfind('/');
    const std::string number = name.substr(slash + 1);
    const std::string last = cluster.device_name(pool.devices[end - 1]).substr(slash + 1);
    out += " " + as_comment(name.substr(0, slash)) + "[" + number + (last == number ? "" : "-" + last) + "]";
    first = end;
  }
  return out;
}

std::string pool_comment(const GpuPool& pool, const Cluster& cluster) {
  return std::string(kPoolComment) + pool.name + ", " + std::to_string(pool.nodes) + " x " +
         std::to_string(pool.gpus_per_node) + " GPUs:" + gpus_by_node(pool, cluster) + "\n";
}

int number_in(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// The reverse of pool_comment.
GpuPool parse_pool(std::string_view text, const Cluster& cluster) {
  std::map<std::string, int> first_device;
  int count = 0;
  for (const Node& node : cluster.nodes()) {
    first_device[as_comment(node.name)] = count;
    count += node.devices;
  }
  GpuPool pool;
  const std::size_t comma = text.find(", "), colon = text.find(" GPUs:");
  if (comma == std::string_view::npos || colon == std::string_view::npos)
    throw_bad_input("a pool without GPUs");
  pool.name = text.substr(0, comma);
  const std::string_view size = text.substr(comma + 2, colon - comma - 2);
  pool.nodes = number_in(size);
  pool.gpus_per_node = number_in(size.substr(size.find("x ") + 2));
  std::string_view rest = text.substr(colon + 6);
  while (!rest.empty()) {
    const std::size_t open = rest.find('['), close = rest.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const auto node = first_device.find(std::string(rest.substr(1, open - 1)));
    if (node == first_device.end())
      throw_bad_input("the cluster has no node \"" + std::string(rest.substr(1, open - 1)) + "\"");
    const std::string_view range = rest.substr(open + 1, close - open - 1);
    const std::size_t dash = range.find('-');
    const int first = number_in(range);
    const int last = dash == std::string_view::npos ? first : number_in(range.substr(dash + 1));
    for (int number = first; number <= last; ++number) pool.devices.push_back(DeviceId{node->second + number});
    rest.remove_prefix(close + 1);
  }
  if (static_cast<int>(pool.devices.size()) != pool.gpus())
    throw_bad_input("pool " + pool.name + ": wrong number");
  return pool;
}

std::vector<std::string_view> lines_after(std::string_view script, std::string_view prefix) {
  std::vector<std::string_view> out;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size());
    if (script.substr(0, prefix.size()) == prefix)
      out.push_back(script.substr(prefix.size(), end - prefix.size()));
    script.remove_prefix(std::min(end + 1, script.size()));
  }
  return out;
}

std::string variables_text(const std::vector<ShellVariable>& variables) {
  std::string out;
  for (const ShellVariable& one : variables) {
    out += line(one.name + ": " + one.meaning);
    out += one.fallback.empty() ? ": \"${" + one.name + ":?set it first: see the comment above this line}\"\n"
                                : ": \"${" + one.name + ":=" + one.fallback + "}\"\n";
  }
  return out;
}

std::string arguments_text(const TrainerScript& script, SettingForm form) {
  if (form == SettingForm::hydra) return hydra_arguments(script.settings);
  if (form == SettingForm::flags) return flag_arguments(script.settings);
  TrainerSettings shell;
  for (const TrainerSetting& one : script.settings.all()) {
    if (one.is_shell) shell.set_shell(one.key, one.value.get<std::string>());
  }
  return "cat > \"$CONFIG\" <<'YAML'\n" + yaml_text(script.settings) + "YAML\n\n" + hydra_arguments(shell);
}

std::string head_text(const Plan& plan, const TrainerConfig& config, const TrainerProblem& problem,
                      const ExportedPlan& exported) {
  std::string out = "#!/usr/bin/env bash\n" + line("Written by sextant export for " + problem.profile.name +
                                                   ", version " + problem.profile.version + ".");
  out += std::string(kPlanComment) + as_comment(config.plan) + "\n#\n# GPUs that the plan was made for:\n";
  for (const GpuPool& pool : config.pools) out += pool_comment(pool, problem.cluster);
  out += "#\n# Tasks:\n";
  for (const auto& [name, task] : exported.plan.tasks) out += line("  " + name + " " + describe(task));
  if (!exported.unsaid.empty()) {
    out += "#\n# Not as the plan has it, because the framework cannot:\n";
    for (const std::string& sentence : exported.unsaid) out += line("  - " + sentence);
  }
  if (!exported.notes.empty()) {
    out += "#\n# Notes:\n";
    for (const std::string& sentence : exported.notes) out += line("  - " + sentence);
  }
  static_cast<void>(plan);
  return out;
}

// The sentences about what the dialect cannot say, each with the seconds that it adds to an iteration.
std::vector<std::string> with_costs(const Plan& plan, const std::vector<Unsaid>& unsaid, const PlanTime& time) {
  std::vector<std::string> out;
  // Seconds of an iteration; negative if nobody can say.
  const auto seconds_of = [&](const Plan& of) { return time == nullptr ? -1.0 : time(of).value_or(-1.0); };
  double before_s = seconds_of(plan);
  for (const Unsaid& one : unsaid) {
    const double after_s = seconds_of(one.plan);
    std::string cost;
    if (before_s >= 0 && after_s >= 0) {
      const double change_s = after_s - before_s;
      constexpr double kNegligible = 5e-4;  // of an iteration
      cost = std::abs(change_s) < kNegligible * before_s ? " (no change in time)"
             : change_s > 0 ? " (costs " + format_seconds(change_s) + " an iteration)"
                            : " (saves " + format_seconds(-change_s) + " an iteration)";
    }
    out.push_back(one.sentence + cost);
    if (after_s >= 0) before_s = after_s;
  }
  return out;
}

std::vector<std::string> placement_notes(const TrainerConfig& config, const Cluster& cluster) {
  std::vector<std::string> notes;
  std::size_t used = 0;
  bool is_mixed = false, is_part = false;
  for (const GpuPool& pool : config.pools) {
    used += pool.devices.size();
    std::map<NodeId, int> by_node;
    for (const DeviceId device : pool.devices) {
      ++by_node[cluster.node_of(device)];
      is_mixed = is_mixed || cluster.type_name(device) != cluster.type_name(pool.devices.front());
    }
    for (const auto& [node, count] : by_node) is_part = is_part || count != pool.gpus_per_node;
  }
  if (is_mixed)
    notes.emplace_back("A pool has GPUs of several types, which the framework does not distinguish.");
  if (is_part)
    notes.emplace_back(
        "Nodes give unequal numbers of GPUs, so a pool is stated in parts of equal size: more than "
        "one part may lie on a node.");
  if (used < static_cast<std::size_t>(cluster.device_count()) || config.pools.size() > 1)
    notes.emplace_back(
        "The framework takes any free GPUs: start Ray on the GPUs above alone "
        "(CUDA_VISIBLE_DEVICES). It chooses which of them a pool gets.");
  return notes;
}

}  // namespace

std::span<const Dialect> dialect_table() {
  static const std::array kTable{verl_fsdp_dialect(),
                                 verl_megatron_dialect(),
                                 nemo_rl_dtensor_dialect(),
                                 nemo_rl_megatron_dialect(),
                                 openrlhf_dialect(),
                                 areal_dialect(),
                                 slime_dialect()};
  return kTable;
}

const Dialect* find_dialect(std::string_view profile) {
  const std::span<const Dialect> table = dialect_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Dialect& one) { return one.profile == profile; });
  return found == table.end() ? nullptr : &*found;
}

const FrameworkProfile& profile_for(const Plan& plan, const Workflow& workflow,
                                    const std::vector<const FrameworkProfile*>& profiles) {
  SEXTANT_CHECK(!profiles.empty());
  const auto has_all = [&](const FrameworkProfile* profile) {
    return std::all_of(workflow.tasks.begin(), workflow.tasks.end(), [&](const Task& task) {
      if (task.kind != TaskKind::training) return true;
      const TaskPlan& planned = plan.tasks.at(task.name);
      const bool has_experts =
          planned.execution.expert_parallel == 1 || profile->option_names.contains("training.expert_parallel");
      return has_experts && missing_degrees(planned, task.kind, *profile).empty();
    });
  };
  // The framework's two trainers are told apart by their sharding where both have the degrees.
  const auto shards_alike = [&](const FrameworkProfile* profile) {
    return has_all(profile) && std::all_of(workflow.tasks.begin(), workflow.tasks.end(), [&](const Task& task) {
             return task.kind != TaskKind::training ||
                    (plan.tasks.at(task.name).execution.zero_stage >= 3) ==
                        (default_options(*profile, task.kind).execution.zero_stage >= 3);
           });
  };
  const auto best = std::find_if(profiles.begin(), profiles.end(), shards_alike);
  if (best != profiles.end()) return **best;
  const auto some = std::find_if(profiles.begin(), profiles.end(), has_all);
  return some == profiles.end() ? *profiles.front() : **some;
}

ExportedPlan export_plan(const Plan& plan, const TrainerProblem& problem, const Dialect& dialect,
                         const PlanTime& time) {
  NearestPlan nearest =
      nearest_plan(plan, problem.workflow, problem.cluster, problem.profile, dialect.rules(problem.profile));
  ExportedPlan out;
  out.plan = nearest.plan;
  out.refusal = nearest.refusal;
  if (!out.refusal.empty()) return out;
  const TrainerConfig config = trainer_config_of(nearest.plan, problem.workflow, problem.cluster);
  out.refusal = dialect.refusal(config, problem);
  if (!out.refusal.empty()) return out;
  TrainerScript script = dialect.write(config, problem);
  out.unsaid = with_costs(plan, nearest.unsaid, time);
  out.notes = placement_notes(config, problem.cluster);
  out.notes.insert(out.notes.end(), script.notes.begin(), script.notes.end());
  out.text = head_text(plan, config, problem, out) + "set -euo pipefail\n\n" +
             variables_text(script.variables) + "\n" + arguments_text(script, dialect.form) + "\n" +
             script.command + " \"${arguments[@]}\" \"$@\"\n";
  return out;
}

TrainerSettings read_settings(std::string_view script, const Dialect& dialect) {
  if (dialect.form == SettingForm::hydra) return read_hydra(script);
  return dialect.form == SettingForm::flags ? read_flags(script) : read_yaml(script);
}

namespace {

Plan plan_in_pools(const TrainerSettings& settings, TrainerConfig config, const TrainerProblem& problem,
                   const Dialect& dialect) {
  for (const Task& task : problem.workflow.tasks)
    config.tasks[task.name].options = default_options(problem.profile, task.kind);
  dialect.read(settings, problem, config);
  return plan_of(config, problem.workflow, problem.profile);
}

}  // namespace

Plan plan_of_settings(const TrainerSettings& settings, const std::string& name, const TrainerProblem& problem,
                      const Dialect& dialect) {
  TrainerConfig config;
  config.plan = name;
  return plan_in_pools(settings, std::move(config), problem, dialect);
}

Plan read_exported(std::string_view script, const TrainerProblem& problem, const Dialect& dialect) {
  TrainerConfig config;
  for (const std::string_view name : lines_after(script, kPlanComment)) config.plan = name;
  for (const std::string_view pool : lines_after(script, kPoolComment))
    config.pools.push_back(parse_pool(pool, problem.cluster));
  return plan_in_pools(read_settings(script, dialect), std::move(config), problem, dialect);
}

}  // namespace sextant
