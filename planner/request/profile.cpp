#include "sextant/profile_space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "core/text.h"
#include "documents/semantics.h"
#include "sextant/error.h"

namespace sextant {
namespace {

template <typename T>
void add_new(std::vector<T>& values, const T& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

// Removes the options for experts for models without experts.
Execution for_model(Execution execution, const Model& model) {
  if (model.experts) return execution;
  execution.expert_parallel = 1;
  execution.expert_tensor_parallel = 0;
  execution.fused_experts = execution.fused_dispatch = execution.overlap_dispatch = false;
  execution.expert_precision.reset();
  execution.expert_weight_precision.reset();
  return execution;
}

// In fp8 engines keep keys and values in bf16 unless they are told otherwise (vLLM's and SGLang's kv_cache_dtype is "auto"),
// and trainers their weights (Megatron has them in fp8 with --fp8-param-gather alone).
Execution for_precision(Execution execution, TaskKind kind, const Workflow& workflow) {
  if (execution.precision.value_or(workflow.precision) != Precision::fp8) return execution;
  std::optional<Precision>& kept =
      kind == TaskKind::generation ? execution.cache_precision : execution.weight_precision;
  if (!kept) kept = Precision::bf16;
  return execution;
}

// Parts of the memory of every device type of the cluster; sizes that are near each other are one.
std::vector<double> cache_sizes(const TaskProfile& profile, const Cluster& cluster) {
  std::set<double> memories;
  for (const Node& node : cluster.nodes())
    memories.insert(cluster.device_types().at(node.device_type).memory_bytes.value);
  std::vector<double> sizes;
  for (const double fraction : profile.kv_memory_fractions) {
    for (const double memory : memories) {
      constexpr double kAlike = 0.1, kStep = 1e6;
      const double bytes = std::floor(fraction * memory / kStep) * kStep;
      const bool is_new = std::none_of(sizes.begin(), sizes.end(), [&](double other) {
        return std::abs(other - bytes) < kAlike * std::min(other, bytes);
      });
      if (is_new && bytes > 0) sizes.push_back(bytes);
    }
  }
  return sizes;
}

// The smallest token budget of the profile, or 0.
int smallest_budget(const TaskProfile& profile) {
  int smallest = 0;
  for (const Execution& execution : profile.executions) {
    const int budget = execution.micro_batch_tokens;
    if (budget > 0 && (smallest == 0 || budget < smallest)) smallest = budget;
  }
  return smallest;
}

// The execution with a token budget that holds the longest sequence: its own, or the next multiple of 512.
Execution with_room(Execution execution, const Workflow& workflow) {
  if (execution.micro_batch_tokens <= 0 || execution.micro_batches > 0) return execution;
  constexpr double kStep = 512, kMaximum = std::numeric_limits<int>::max();
  const double longest = workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens() +
                         (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const bool is_whole = semantics_of(execution.semantics).budgets_whole_sequences;
  const double needed = std::ceil(longest / (is_whole ? 1 : execution.context_parallel) / kStep) * kStep;
  if (!execution.pads_to_longest() && needed > execution.micro_batch_tokens && needed < kMaximum)
    execution.micro_batch_tokens = static_cast<int>(needed);
  return execution;
}

// Adds executions with smaller token budgets: all halves down to a sequence, or only the last of them where
// there are many executions already.
void add_smaller_budgets(const Workflow& workflow, int smallest, std::vector<Execution>& executions) {
  constexpr std::size_t kMany = 48;
  const std::vector<Execution> stated = executions;
  for (const Execution& execution : stated) {
    if (execution.micro_batch_tokens == 0 || execution.micro_batch_tokens != smallest) continue;
    std::vector<int> budgets = smaller_token_budgets(execution, workflow);
    if (stated.size() > kMany && budgets.size() > 1) budgets = {budgets.back()};
    for (const int budget : budgets) {
      Execution smaller = execution;
      smaller.micro_batch_tokens = budget;
      add_new(executions, smaller);
    }
  }
}

TaskChoices choices_of(const TaskProfile& profile, const Task& task, const Workflow& workflow,
                       const Cluster& cluster) {
  TaskChoices choices;
  choices.executions.clear();
  const bool generates = task.kind == TaskKind::generation;
  std::vector<double> caches = generates ? cache_sizes(profile, cluster) : std::vector<double>{};
  if (caches.empty()) caches = {0};
  for (const Execution& stated : profile.executions) {
    Execution execution = for_precision(for_model(stated, workflow.model_of(task)), task.kind, workflow);
    if (generates && workflow.responses_per_prompt == 1) execution.shared_prompts = false;
    // Engines with expert parallelism keep their experts whole.
    if (generates && execution.expert_parallel > 1) execution.expert_tensor_parallel = 1;
    if (!generates) execution = with_room(execution, workflow);
    if (!can_execute(execution, task, workflow, cluster)) continue;
    for (const double cache : caches) {
      execution.kv_cache_bytes = cache;
      add_new(choices.executions, execution);
    }
  }
  if (!generates) add_smaller_budgets(workflow, smallest_budget(profile), choices.executions);
  if (task.kind == TaskKind::training) choices.recompute = profile.recompute;
  if (generates) choices.decode_batch_sequences = profile.decode_batch_sequences;
  choices.micro_batch_sequences = profile.micro_batch_sequences;
  return choices;
}

// Leaves the executions whose engine sleeps as the framework has it in this mode. Sleeping needs the rate of
// the host: if a cluster does not say it, the engine is planned as one that stays on its devices.
void keep_sleep_of_mode(const FrameworkProfile& profile, Mode mode, TaskChoices& choices) {
  const auto sleeps = profile.engine_sleeps.find(mode);
  if (sleeps == profile.engine_sleeps.end()) return;
  std::vector<Execution> kept;
  for (const Execution& execution : choices.executions) {
    if (execution.offload_weights == sleeps->second) kept.push_back(execution);
  }
  if (!kept.empty()) choices.executions = std::move(kept);
}

// Leaves the executions of engines that hold all experts on the devices of each replica.
void keep_whole_engines(const FrameworkProfile& profile, Mode mode, TaskChoices& choices) {
  choices.stages_hold_experts = profile.has_whole_engines_with_stages;
  if (!profile.modes_with_whole_engines.contains(mode)) return;
  std::erase_if(choices.executions, [](const Execution& execution) { return execution.expert_parallel > 1; });
}

// Leaves the executions of a task whose options have the default value, where the framework has no option.
void keep_defaults(const FrameworkProfile& profile, const Task& task, TaskChoices& choices) {
  const auto options_of = [](const Execution& execution) {
    TaskPlan plan;
    plan.execution = execution;
    return plan;
  };
  for (const CommonOptions& fixed : profile.default_options) {
    if (std::find(fixed.tasks.begin(), fixed.tasks.end(), task.name) == fixed.tasks.end()) continue;
    for (const std::string& option : fixed.options) {
      const std::string usual = option_of(options_of(choices.executions.front()), option);
      std::erase_if(choices.executions, [&](const Execution& execution) {
        return option_of(options_of(execution), option) != usual;
      });
    }
  }
}

void append_name(std::string_view name, std::string& all) {
  all += (all.empty() ? "" : ", ") + std::string(name);
}

std::string joined_modes(const FrameworkProfile& profile) {
  std::string all;
  for (const auto& [mode, sets] : profile.same_devices) append_name(name_of(mode), all);
  return all;
}

std::string joined_algorithms(const FrameworkProfile& profile) {
  std::string all;
  for (const Algorithm algorithm : profile.algorithms) append_name(name_of(algorithm), all);
  return all;
}

// Each task of a set with its first, or with every other one.
TaskPairs pairs_of(const std::vector<std::vector<std::string>>& sets, const Workflow& workflow, bool every) {
  TaskPairs pairs;
  for (const std::vector<std::string>& names : sets) {
    std::vector<std::size_t> tasks;
    for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
      if (std::find(names.begin(), names.end(), workflow.tasks[t].name) != names.end()) tasks.push_back(t);
    }
    for (std::size_t i = 1; i < tasks.size(); ++i) {
      for (std::size_t j = 0; j < (every ? i : 1); ++j) pairs.emplace_back(tasks[j], tasks[i]);
    }
  }
  return pairs;
}

std::vector<std::size_t> numbers_of(const std::vector<std::string>& names, const Workflow& workflow) {
  std::vector<std::size_t> tasks;
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    if (std::find(names.begin(), names.end(), workflow.tasks[t].name) != names.end()) tasks.push_back(t);
  }
  return tasks;
}

// The pairs of all tasks: those of two tasks of one set in `within`, all others in `all_or_within`. Pairs that run
// on disjoint devices in every case are in neither.
void add_sharing_within(const FrameworkProfile& profile, const Workflow& workflow, DeviceRules& rules) {
  if (profile.shares_all_or_within.empty()) return;
  rules.within = pairs_of(profile.shares_all_or_within, workflow, true);
  std::vector<std::string> all;
  for (const Task& task : workflow.tasks) all.push_back(task.name);
  for (const auto& pair : pairs_of({all}, workflow, true)) {
    const auto has = [&](const TaskPairs& pairs) {
      return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
    };
    if (!has(rules.within) && !has(rules.apart)) rules.all_or_within.push_back(pair);
  }
}

EngineRules engine_rules_of(const FrameworkProfile& profile, const Workflow& workflow) {
  EngineRules rules{pairs_of(profile.same_layout, workflow, false)};
  for (const CommonOptions& common : profile.common_options) {
    std::vector<std::size_t> tasks = numbers_of(common.tasks, workflow);
    if (tasks.size() > 1) rules.common_options.push_back({std::move(tasks), common.options});
  }
  const bool has_both =
      workflow.has_task(task_names::kActorGeneration) && workflow.has_task(task_names::kActorTraining);
  if (!has_both) return rules;
  rules.generation = numbers_of({task_names::kActorGeneration}, workflow).front();
  rules.training = numbers_of({task_names::kActorTraining}, workflow).front();
  for (const auto& [name, rule] : profile.offload_when_shared) {
    for (const std::size_t task : numbers_of({name}, workflow)) rules.offload_when_shared[task] = rule;
  }
  return rules;
}

DeviceRules rules_of(const FrameworkProfile& profile, const Workflow& workflow) {
  if (const std::string reason = why_not_offered(profile, workflow); !reason.empty())
    throw_bad_input(reason + (profile.same_devices.contains(workflow.mode)
                                  ? "; --any-layout plans it anyway"
                                  : "; give --mode, or plan it anyway with --any-layout"));
  const auto same = profile.same_devices.find(workflow.mode);
  const auto apart = profile.apart_devices.find(workflow.mode);
  DeviceRules rules{pairs_of(same->second, workflow, false), {}};
  if (profile.shares_all_or_none) {
    std::vector<std::string> all;
    for (const Task& task : workflow.tasks) all.push_back(task.name);
    rules.all_or_none = pairs_of({all}, workflow, true);
  }
  if (apart != profile.apart_devices.end()) rules.apart = pairs_of(apart->second, workflow, true);
  add_sharing_within(profile, workflow, rules);
  return rules;
}

}  // namespace

std::string why_not_offered(const FrameworkProfile& profile, const Workflow& workflow) {
  const std::string framework = "framework " + profile.name + " " + profile.version;
  if (!profile.offers(workflow))
    return framework + " (as described by its profile) does not run algorithm " +
           in_quotes(std::string(name_of(workflow.algorithm))) + "; it offers " + joined_algorithms(profile);
  if (!profile.same_devices.contains(workflow.mode))
    return framework + " has no mode " + in_quotes(std::string(name_of(workflow.mode))) + "; it offers " +
           joined_modes(profile);
  for (const auto& [kind, of_kind] : profile.tasks) {
    if (of_kind.precisions.empty() || of_kind.precisions.contains(workflow.precision)) continue;
    std::string known;
    for (const Precision precision : of_kind.precisions) append_name(name_of(precision), known);
    return framework + " (as described by its profile) has no " + std::string(name_of(kind)) + " in " +
           std::string(name_of(workflow.precision)) + "; it computes in " + known;
  }
  return "";
}

namespace {

// The first of the usual precisions in which all devices compute; empty if there is none.
std::string common_precision(const Cluster& cluster) {
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp32}) {
    const auto& types = cluster.device_types();
    if (std::all_of(types.begin(), types.end(),
                    [&](const auto& type) { return type.second.flop_per_s.contains(precision); }))
      return std::string(name_of(precision));
  }
  return "";
}

// The first device type that has no arithmetic in this precision; empty if all have.
std::string missing_rate(Precision precision, const Cluster& cluster) {
  for (const auto& [name, type] : cluster.device_types()) {
    if (type.flop_per_s.contains(precision)) continue;
    std::string known;
    for (const auto& [other, rate] : type.flop_per_s) append_name(name_of(other), known);
    const std::string common = common_precision(cluster);
    return ": " + name + " has no " + std::string(name_of(precision)) + " (it has " + known + "); " +
           (common.empty() ? "leave these devices out"
                           : "compute in " + common + " (--precision " + common +
                                 ", or \"precision\" in a workflow document), or leave these devices out");
  }
  return "";
}

}  // namespace

ProfiledSpace space_of(const FrameworkProfile& profile, const Workflow& workflow, const Cluster& cluster,
                       LayoutRules rules) {
  ProfiledSpace space;
  if (rules == LayoutRules::as_framework) {
    space.device_rules = rules_of(profile, workflow);
    space.engine_rules = engine_rules_of(profile, workflow);
  }
  for (const Task& task : workflow.tasks) {
    const auto of_kind = profile.tasks.find(task.kind);
    const TaskProfile& of_task = of_kind == profile.tasks.end() ? TaskProfile{} : of_kind->second;
    TaskChoices& choices = space.choices.emplace_back(choices_of(of_task, task, workflow, cluster));
    if (choices.executions.empty())
      throw_bad_input("framework " + profile.name + ": no way to execute task " + task.name +
                      " can run on the devices of cluster " + cluster.name() +
                      missing_rate(workflow.precision, cluster));
    if (rules == LayoutRules::any) continue;
    if (task.kind == TaskKind::generation) {
      keep_sleep_of_mode(profile, workflow.mode, choices);
      keep_whole_engines(profile, workflow.mode, choices);
    }
    keep_defaults(profile, task, choices);
    choices.max_tensor_parallel = of_task.max_tensor_parallel;
    choices.max_pipeline_parallel = of_task.max_pipeline_parallel;
    choices.has_even_batch = of_task.has_even_batch;
    const bool has_equal_stages = std::find(profile.equal_stages.begin(), profile.equal_stages.end(),
                                            task.name) != profile.equal_stages.end();
    choices.stages = has_equal_stages ? StageRule::even : of_task.stages;
    if (profile.has_stages_outermost)
      choices.rank_order =
          task.kind == TaskKind::generation ? RankOrder::replicas_outermost : RankOrder::stages_outermost;
  }
  return space;
}

void take_profile(const FrameworkProfile& profile, LayoutRules rules, PlanRequest& request) {
  ProfiledSpace space = space_of(profile, request.workflow, request.cluster, rules);
  request.choices = std::move(space.choices);
  request.device_rules = std::move(space.device_rules);
  request.engine_rules = std::move(space.engine_rules);
  request.weight_sync = profile.weight_sync;
  request.bounds_every_execution = true;
  const bool is_even = std::any_of(
      request.choices.begin(), request.choices.end(),
      [](const TaskChoices& choices) { return choices.has_even_batch || choices.stages != StageRule::any; });
  if (is_even) request.limits.balances_load = false;
}

void add_execution(std::vector<TaskChoices>& choices, const Workflow& workflow, const std::string& task,
                   const TaskPlan& plan) {
  choices.resize(workflow.tasks.size());
  const auto at = static_cast<std::size_t>(&workflow.task(task) - workflow.tasks.data());
  add_new(choices[at].executions, plan.execution);
}

}  // namespace sextant
