#include "reports/export/trainers/dialects.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/units.h"
#include "reports/export/trainers/script_comments.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

std::string line(const std::string& text) { return "# " + as_comment(text) + "\n"; }

std::string arguments_text(const TrainerScript& script, SettingForm form) {
  if (form == SettingForm::hydra) return hydra_arguments(script.settings);
  if (form == SettingForm::flags) return flag_arguments(script.settings);
  TrainerSettings shell;
  for (const TrainerSetting& one : script.settings.all()) {
    if (one.is_shell) shell.set_shell(one.key, one.value.get<std::string>());
  }
  return "cat > \"$CONFIG\" <<'YAML'\n" + yaml_text(script.settings) + "YAML\n\n" + hydra_arguments(shell);
}

std::string head_text(const TrainerConfig& config, const TrainerProblem& problem,
                      const ExportedPlan& exported) {
  std::string out = "#!/usr/bin/env bash\n" + line("Written by sextant export for " + problem.profile.name +
                                                   ", version " + problem.profile.version + ".");
  out += pools_comments(config, problem.cluster) + "#\n# Tasks:\n";
  for (const auto& [name, task] : exported.plan.tasks) out += line("  " + name + " " + describe(task));
  if (!exported.unsaid.empty()) {
    out += "#\n# Not as the plan has it, because the framework cannot:\n";
    for (const std::string& sentence : exported.unsaid) out += line("  - " + sentence);
  }
  if (!exported.notes.empty()) {
    out += "#\n# Notes:\n";
    for (const std::string& sentence : exported.notes) out += line("  - " + sentence);
  }
  return out;
}

bool has_several_types(const TrainerConfig& config, const Cluster& cluster) {
  std::set<std::string> types;
  for (const GpuPool& pool : config.pools) {
    for (const DeviceId device : pool.devices) types.insert(cluster.type_name(device));
  }
  return types.size() > 1;
}

std::vector<std::string> placement_notes(const TrainerConfig& config, const Cluster& cluster,
                                         bool lists_devices) {
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
  if (lists_devices) return notes;
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

std::string variables_text(const std::vector<ShellVariable>& variables) {
  std::string out;
  for (const ShellVariable& one : variables) {
    out += line(one.name + ": " + one.meaning);
    out += one.fallback.empty() ? ": \"${" + one.name + ":?set it first: see the comment above this line}\"\n"
                                : ": \"${" + one.name + ":=" + one.fallback + "}\"\n";
  }
  return out;
}

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

std::span<const Dialect> dialect_table() {
  static const std::array kTable{verl_fsdp_dialect(),
                                 verl_megatron_dialect(),
                                 nemo_rl_dtensor_dialect(),
                                 nemo_rl_megatron_dialect(),
                                 openrlhf_dialect(),
                                 areal_dialect(),
                                 areal_megatron_dialect(),
                                 slime_dialect(),
                                 miles_dialect(),
                                 roll_dialect(),
                                 trl_dialect(),
                                 skyrl_dialect(),
                                 skyrl_megatron_dialect()};
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
  const bool lists_devices = dialect.rules(problem.profile).lists_devices;
  out.chooses_types = !lists_devices && has_several_types(config, problem.cluster);
  out.notes = placement_notes(config, problem.cluster, lists_devices);
  out.notes.insert(out.notes.end(), script.notes.begin(), script.notes.end());
  out.leaves_precision = problem.workflow.precision != Precision::bf16 && !script.states_precision;
  if (out.leaves_precision)
    out.notes.push_back("The workflow computes in " + std::string(name_of(problem.workflow.precision)) +
                        ", which the script does not say: set it in the configuration of " +
                        problem.profile.family + ".");
  out.text = head_text(config, problem, out) + "set -euo pipefail\n\n" + variables_text(script.variables) +
             "\n" + arguments_text(script, dialect.form) + "\n" + script.command +
             " \"${arguments[@]}\" \"$@\"\n";
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
                      const Dialect& dialect, const std::vector<GpuPool>& pools) {
  TrainerConfig config;
  config.plan = name;
  config.pools = pools;
  return plan_in_pools(settings, std::move(config), problem, dialect);
}

Plan read_exported(std::string_view script, const TrainerProblem& problem, const Dialect& dialect) {
  const ScriptComments comments = read_comments(script);
  return plan_of_settings(read_settings(script, dialect), comments.plan, problem, dialect,
                          pools_of(comments, problem.cluster));
}

}  // namespace sextant::inline reports
