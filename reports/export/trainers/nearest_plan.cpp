#include "reports/export/trainers/nearest_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "core/json_value.h"
#include "documents/semantics.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/replica_shape.h"
#include "reports/export/trainers/trainer_config.h"

namespace sextant::inline reports {
namespace {

// Members of an execution that belong to the layout of a task.
constexpr std::array<std::string_view, 5> kLayoutOptions{
    "context_parallel", "expert_parallel", "expert_tensor_parallel", "sequence_parallel", "virtual_stages"};

bool is_layout_option(std::string_view member) {
  return std::find(kLayoutOptions.begin(), kLayoutOptions.end(), member) != kLayoutOptions.end();
}

std::string list_of(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return out;
}

class Nearest {
 public:
  Nearest(const Plan& plan, const Workflow& workflow, const Cluster& cluster, const FrameworkProfile& profile,
          const DialectRules& rules)
      : workflow_(workflow), cluster_(cluster), profile_(profile), rules_(rules) {
    out_.plan = plan;
    for (auto& [name, task] : out_.plan.tasks) task.unstated = {};
  }

  NearestPlan find() {
    refuse_degrees();
    if (!out_.refusal.empty()) return out_;
    take_weight_sync();
    share_equally();
    give_one_shape();
    allow_stages();
    unite_devices();
    if (!out_.refusal.empty()) return out_;
    drop_options();
    if (!out_.refusal.empty()) return out_;
    follow_layouts();
    shard_evenly();
    if (rules_.holds_longest_sequence) hold_longest_sequence();
    if (rules_.settle != nullptr) {
      const std::string sentence = rules_.settle(out_.plan, workflow_, profile_);
      if (!sentence.empty()) note(sentence);
    }
    order_devices();
    return out_;
  }

 private:
  TaskPlan& planned(const std::string& name) { return out_.plan.tasks.at(name); }
  const TaskProfile& profile_of(const Task& task) const { return task_profile(profile_, task.kind); }
  void note(const std::string& sentence) { out_.unsaid.push_back({sentence, out_.plan}); }

  // Calls change(task), which returns whether it changed the plan, and notes the names of the changed tasks.
  void for_tasks(const std::string& sentence, const std::function<bool(const Task&)>& change) {
    std::vector<std::string> changed;
    for (const Task& task : workflow_.tasks) {
      if (change(task)) changed.push_back(task.name);
    }
    if (!changed.empty()) note(list_of(changed) + ": " + sentence);
  }

  // Gives a task new replicas of one shape on these devices.
  void lay_out(const Task& task, const std::vector<DeviceId>& devices, const ReplicaShape& shape,
               const std::vector<int>& layers) {
    TaskPlan& plan = planned(task.name);
    if (shape.width % plan.execution.context_parallel != 0) plan.execution.context_parallel = 1;
    plan.replicas = replicas_on(devices, layers, shape.width, has_stages_outermost(profile_, task.kind));
  }

  void refuse_degrees() {
    for (const Task& task : workflow_.tasks) {
      if (task.kind != TaskKind::training) continue;
      const std::string missing = missing_degrees(planned(task.name), task.kind, profile_);
      if (missing.empty()) continue;
      out_.refusal = profile_.name + " cannot say the layout of " + task.name + ": it has no " + missing;
      return;
    }
  }

  void take_weight_sync() {
    if (!workflow_.has_weight_sync() || out_.plan.weight_sync == profile_.weight_sync) {
      out_.plan.weight_sync = profile_.weight_sync;
      return;
    }
    out_.plan.weight_sync = profile_.weight_sync;
    note("The method of weight synchronization is the framework's own");
  }

  void share_equally() {
    // A whole number of sequences each is as equal as it can be.
    const double rounding = 1.0 / workflow_.sequences();
    for_tasks("all replicas get equal parts of the batch", [&](const Task& task) {
      TaskPlan& plan = planned(task.name);
      const double share = 1.0 / plan.data_parallel();
      bool is_changed = false;
      for (Replica& replica : plan.replicas) {
        is_changed = is_changed || std::abs(replica.batch_share - share) > rounding || replica.length_rank != 0;
        replica.batch_share = share;
        replica.length_rank = 0;
      }
      return is_changed;
    });
  }

  void give_one_shape() {
    for_tasks("all replicas get the same number of GPUs and stages", [&](const Task& task) {
      TaskPlan& plan = planned(task.name);
      const auto same = [&](const Replica& replica) {
        const Replica& first = plan.replicas.front();
        const int width = first.stages.front().width();
        return replica.pipeline_parallel() == first.pipeline_parallel() &&
               std::all_of(replica.stages.begin(), replica.stages.end(),
                           [&](const Stage& stage) { return stage.width() == width; });
      };
      const bool is_too_deep = !missing_degrees(plan, task.kind, profile_).empty();
      if (std::all_of(plan.replicas.begin(), plan.replicas.end(), same) && !is_too_deep) return false;
      const std::set<DeviceId> devices = plan.devices();
      ReplicaShape shape =
          common_shape(plan, static_cast<int>(devices.size()), profile_of(task).max_pipeline_parallel);
      const int max_width = profile_of(task).max_tensor_parallel * plan.execution.context_parallel;
      if (max_width > 0 && shape.width > max_width && shape.width % max_width == 0) shape.width = max_width;
      const auto like = std::find_if(plan.replicas.begin(), plan.replicas.end(), [&](const Replica& replica) {
        return replica.pipeline_parallel() == shape.stages;
      });
      const int total = layers_of(plan.replicas.front());
      std::vector<int> layers = even_stages(total, shape.stages);
      if (like != plan.replicas.end()) {
        for (int i = 0; i < shape.stages; ++i)
          layers[static_cast<std::size_t>(i)] = like->stages[static_cast<std::size_t>(i)].layers;
      }
      lay_out(task, {devices.begin(), devices.end()}, shape, layers);
      return true;
    });
  }

  void allow_stages() {
    for_tasks("stages get the layers that the framework can give them", [&](const Task& task) {
      TaskPlan& plan = planned(task.name);
      const std::vector<Replica> before = plan.replicas;
      std::vector<int> layers;
      for (const Stage& stage : plan.replicas.front().stages) layers.push_back(stage.layers);
      const std::vector<std::string>& equal = profile_.equal_stages;
      const bool must_be_equal = profile_of(task).stages == StageRule::even ||
                                 std::find(equal.begin(), equal.end(), task.name) != equal.end();
      if (must_be_equal && is_uneven(task.name)) {
        const std::set<DeviceId> devices = plan.devices();
        const int total = layers_of(plan.replicas.front()), stages = static_cast<int>(layers.size());
        const bool is_multiple = total % stages == 0;
        const ReplicaShape shape{is_multiple ? stages : 1, plan.replicas.front().stages.front().width()};
        lay_out(task, {devices.begin(), devices.end()}, shape, even_stages(total, shape.stages));
        return true;
      }
      layers = allowed_stages(layers, profile_of(task).stages);
      for (Replica& replica : plan.replicas) {
        for (std::size_t stage = 0; stage < layers.size(); ++stage)
          replica.stages[stage].layers = layers[stage];
      }
      return plan.replicas != before;
    });
  }

  // Tasks that the framework runs on the same GPUs, or that share some GPUs: in one set.
  [[nodiscard]] std::vector<std::set<std::string>> task_sets() const {
    std::vector<std::set<std::string>> sets;
    for (const Task& task : workflow_.tasks) sets.push_back({task.name});
    const auto same = profile_.same_devices.find(workflow_.mode);
    const auto is_joined = [&](const std::string& a, const std::string& b) {
      if (same != profile_.same_devices.end()) {
        for (const std::vector<std::string>& set : same->second) {
          if (std::count(set.begin(), set.end(), a) + std::count(set.begin(), set.end(), b) == 2) return true;
        }
      }
      if (rules_.lists_devices) return false;
      const std::set<DeviceId> of_a = out_.plan.tasks.at(a).devices(), of_b = out_.plan.tasks.at(b).devices();
      return std::any_of(of_a.begin(), of_a.end(), [&](DeviceId device) { return of_b.contains(device); });
    };
    for (const Task& a : workflow_.tasks) {
      for (const Task& b : workflow_.tasks) {
        if (&a == &b || !is_joined(a.name, b.name)) continue;
        const auto with = [&](const std::string& name) {
          return std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.contains(name); });
        };
        const auto first = with(a.name), second = with(b.name);
        if (first == second) continue;
        first->insert(second->begin(), second->end());
        sets.erase(second);
      }
    }
    return sets;
  }

  void unite_devices() {
    const std::vector<std::set<std::string>> sets = task_sets();
    if (const auto apart = profile_.apart_devices.find(workflow_.mode); apart != profile_.apart_devices.end()) {
      for (const std::vector<std::string>& names : apart->second) {
        for (const std::set<std::string>& set : sets) {
          if (std::count_if(names.begin(), names.end(), [&](const auto& name) { return set.contains(name); }) <
              2)
            continue;
          out_.refusal = profile_.name + " runs " + list_of(names) + " on GPUs of their own in " +
                         std::string(name_of(workflow_.mode)) + " mode, and the plan lets them share some";
          return;
        }
      }
    }
    for_tasks("runs on all GPUs of the tasks that it shares a pool with", [&](const Task& task) {
      std::set<DeviceId> united;
      for (const std::set<std::string>& set : sets) {
        if (!set.contains(task.name)) continue;
        for (const std::string& name : set) united.merge(devices_before(name));
      }
      TaskPlan& plan = planned(task.name);
      if (plan.devices() == united) return false;
      const ReplicaShape shape = common_shape(plan, static_cast<int>(united.size()), 0);
      std::vector<int> layers;
      for (const Stage& stage : plan.replicas.front().stages) layers.push_back(stage.layers);
      if (static_cast<int>(layers.size()) != shape.stages)
        layers = even_stages(layers_of(plan.replicas.front()), shape.stages);
      lay_out(task, {united.begin(), united.end()}, shape, layers);
      return true;
    });
  }

  // The devices of a task before any was moved.
  std::set<DeviceId> devices_before(const std::string& name) {
    const auto found = first_devices_.find(name);
    if (found != first_devices_.end()) return found->second;
    for (const auto& [task, plan] : out_.plan.tasks) first_devices_.emplace(task, plan.devices());
    return first_devices_.at(name);
  }

  [[nodiscard]] bool is_uneven(const std::string& task) const {
    const std::vector<Stage>& stages = out_.plan.tasks.at(task).replicas.front().stages;
    return std::any_of(stages.begin(), stages.end(),
                       [&](const Stage& stage) { return stage.layers != stages.front().layers; });
  }

  // The tasks of a rule that the workflow has, in the order of the rule.
  [[nodiscard]] std::vector<std::string> present(const std::vector<std::string>& names) const {
    std::vector<std::string> tasks;
    std::copy_if(names.begin(), names.end(), std::back_inserter(tasks),
                 [&](const std::string& name) { return workflow_.has_task(name); });
    return tasks;
  }

  void follow_layouts() {
    for (const std::vector<std::string>& names : profile_.same_layout) {
      const std::vector<std::string> tasks = present(names);
      for (std::size_t i = 1; i < tasks.size(); ++i) follow(tasks[i], tasks.front());
    }
  }

  // Returns true if two layouts are equal except for the numbers of their replicas.
  [[nodiscard]] static bool is_renumbered(const std::vector<Replica>& a, const std::vector<Replica>& b) {
    return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
  }

  void follow(const std::string& name, const std::string& model) {
    TaskPlan& plan = planned(name);
    const TaskPlan before = plan;
    const TaskPlan& wanted = planned(model);
    plan.replicas = wanted.replicas;
    plan.execution.context_parallel = wanted.execution.context_parallel;
    plan.execution.expert_parallel = wanted.execution.expert_parallel;
    plan.execution.expert_tensor_parallel = wanted.execution.expert_tensor_parallel;
    plan.execution.sequence_parallel = wanted.execution.sequence_parallel;
    TaskPlan compared = plan;
    if (is_renumbered(plan.replicas, before.replicas)) compared.replicas = before.replicas;
    if (!(compared == before)) note(name + ": has the layout of " + model);
  }

  // New layouts may have a number of devices that the groups of a hybrid sharding do not divide, or that is one group.
  void shard_evenly() {
    for_tasks("its states are sharded over all GPUs that hold them", [&](const Task& task) {
      TaskPlan& plan = planned(task.name);
      int& over = plan.execution.sharded_over;
      const int devices = plan.data_parallel() * plan.execution.context_parallel;
      if (over == 0 || (over < devices && devices % over == 0)) return false;
      over = 0;
      return true;
    });
  }

  void order_devices() {
    const char* sentence =
        "replicas take their GPUs in the order in which the cluster lists the nodes, so some have other GPUs "
        "than "
        "in the plan";
    for_tasks(sentence, [&](const Task& task) {
      TaskPlan& plan = planned(task.name);
      const std::vector<Replica> before = plan.replicas;
      const std::set<DeviceId> devices = plan.devices();
      std::vector<int> layers;
      for (const Stage& stage : plan.replicas.front().stages) layers.push_back(stage.layers);
      plan.replicas =
          replicas_on({devices.begin(), devices.end()}, layers, plan.replicas.front().stages.front().width(),
                      has_stages_outermost(profile_, task.kind));
      return !is_renumbered(plan.replicas, before);
    });
  }

  [[nodiscard]] bool has_option(TaskKind kind, const std::string& member) const {
    const std::string name = std::string(name_of(kind)) + "." + member;
    return profile_.option_names.contains(name) ||
           std::find(rules_.more_options.begin(), rules_.more_options.end(), name) != rules_.more_options.end();
  }

  void drop_options() {
    settle_offloading();
    for (const Task& task : workflow_.tasks) {
      settle_batches(task);
      drop_options_of(task);
    }
    for (const CommonOptions& fixed : profile_.default_options) {
      for (const std::string& name : present(fixed.tasks)) {
        const TaskPlan usual = default_options(profile_, workflow_.task(name).kind);
        take_options(name, fixed.options, usual, "as the framework has it by default");
      }
    }
    for (const CommonOptions& common : profile_.common_options) {
      const std::vector<std::string> tasks = present(common.tasks);
      for (std::size_t i = 1; i < tasks.size() && out_.refusal.empty(); ++i)
        take_options(tasks[i], common.options, planned(tasks.front()), "that of " + tasks.front());
    }
  }

  // Weights leave GPUs that generation and training share, or stay, as the framework has it. The engine sleeps by
  // the rule of the mode instead if there is one (settle_batches).
  void settle_offloading() {
    if (!workflow_.has_task(task_names::kActorGeneration) || !workflow_.has_task(task_names::kActorTraining))
      return;
    const bool shares =
        planned(task_names::kActorGeneration).devices() == planned(task_names::kActorTraining).devices();
    for (const auto& [name, rule] : profile_.offload_when_shared) {
      const std::optional<bool> asked = asked_offload(rule, shares);
      if (!asked || !workflow_.has_task(name) || planned(name).execution.offload_weights == *asked) continue;
      const bool is_engine = workflow_.task(name).kind == TaskKind::generation;
      if (is_engine && profile_.engine_sleeps.contains(workflow_.mode)) continue;
      planned(name).execution.offload_weights = *asked;
      note(name +
           (*asked ? ": its weights leave the GPUs while other tasks run" : ": its weights stay on its GPUs"));
    }
  }

  // Gives a task options of another plan.
  void take_options(const std::string& name, const std::vector<std::string>& options, const TaskPlan& from,
                    const std::string& source) {
    TaskPlan& plan = planned(name);
    const Json wanted = from.execution.to_json();
    Json execution = plan.execution.to_json();
    std::vector<std::string> changed;
    for (const std::string& option : options) {
      if (option_of(plan, option) == option_of(from, option)) continue;
      changed.push_back(option == "zero_stage_3" ? "zero_stage" : option);
      if (option == "recompute") {
        plan.recompute = from.recompute;
      } else if (option == "micro_batch_sequences") {
        plan.micro_batch_sequences = from.micro_batch_sequences;
      } else if (option == "zero_stage_3" && from.execution.zero_stage != 3) {
        const int usual = default_options(profile_, workflow_.task(name).kind).execution.zero_stage;
        execution["zero_stage"] = usual == 3 ? from.execution.zero_stage : usual;
      } else {
        const std::string member = option == "zero_stage_3" ? "zero_stage" : option;
        execution.erase(member);
        if (wanted.contains(member)) execution[member] = wanted[member];
      }
    }
    if (changed.empty()) return;
    const Execution parsed = Execution::parse(JsonView(execution, ""));
    const int parts = parsed.context_parallel;
    const bool is_split_otherwise = parts != plan.execution.context_parallel;
    const int tensor = plan.tensor_parallel(plan.replicas.front().stages.front());
    plan.execution = parsed;
    if (parsed.micro_batch_tokens > 0)
      plan.micro_batch_sequences = default_options(profile_, workflow_.task(name).kind).micro_batch_sequences;
    if (is_split_otherwise && !split_sequences(name, tensor)) return;
    note(name + ": " + list_of(changed) + (changed.size() == 1 ? " is " : " are ") + source);
  }

  // Gives a task replicas for its context parallelism. Returns false if that is refused.
  bool split_sequences(const std::string& name, int tensor) {
    TaskPlan& plan = planned(name);
    const int parts = plan.execution.context_parallel;
    const std::set<DeviceId> devices = plan.devices();
    const ReplicaShape shape{plan.replicas.front().pipeline_parallel(), tensor * parts};
    if (static_cast<int>(devices.size()) % shape.devices() != 0) {
      out_.refusal = profile_.name + " splits the sequences of all tasks in " + std::to_string(parts) +
                     " parts, and the GPUs of " + name + " are no multiple of that";
      return false;
    }
    std::vector<int> layers;
    for (const Stage& stage : plan.replicas.front().stages) layers.push_back(stage.layers);
    lay_out(workflow_.task(name), {devices.begin(), devices.end()}, shape, layers);
    return true;
  }

  // Values without an effect, and values that mean the same.
  void settle_batches(const Task& task) {
    TaskPlan& plan = planned(task.name);
    const TaskPlan usual = default_options(profile_, task.kind);
    if (plan.tensor_parallel(plan.replicas.front().stages.front()) == 1)
      plan.execution.sequence_parallel = usual.execution.sequence_parallel;
    if (plan.execution.expert_tensor_parallel == 0 && usual.execution.expert_tensor_parallel > 0)
      plan.execution.expert_tensor_parallel = plan.tensor_parallel(plan.replicas.front().stages.front());
    if (task.kind == TaskKind::generation) {
      plan.recompute = Recompute::none;
      plan.micro_batch_sequences = usual.micro_batch_sequences;
      const std::vector<int> sequences = replica_sequences(plan, workflow_.sequences());
      if (plan.decode_batch_sequences == 0)  // no limit
        plan.decode_batch_sequences = *std::max_element(sequences.begin(), sequences.end());
      if (!has_option(task.kind, "decode_batch_sequences"))
        plan.decode_batch_sequences = usual.decode_batch_sequences;
      give_cache(task, plan);
      if (plan.execution.prefill_chunk_tokens == 0 && usual.execution.prefill_chunk_tokens > 0) {
        plan.execution.prefill_chunk_tokens = usual.execution.prefill_chunk_tokens;
        note(task.name + ": prompts pass in chunks of " + std::to_string(usual.execution.prefill_chunk_tokens) +
             " tokens");
      }
      const auto sleeps = profile_.engine_sleeps.find(workflow_.mode);
      if (sleeps != profile_.engine_sleeps.end() && plan.execution.offload_weights != sleeps->second) {
        plan.execution.offload_weights = sleeps->second;
        note(task.name + (sleeps->second ? ": the engine leaves its GPUs while other tasks run"
                                         : ": the engine never leaves its GPUs"));
      }
      return;
    }
    plan.decode_batch_sequences = 0;
    if (task.kind == TaskKind::inference) {
      plan.recompute = Recompute::none;
      constexpr int kShardsWeights = 3;  // the lower stages are about gradients and optimizer states
      if (plan.execution.zero_stage < kShardsWeights && usual.execution.zero_stage < kShardsWeights)
        plan.execution.zero_stage = usual.execution.zero_stage;
    }
    if (plan.execution.micro_batch_tokens > 0) plan.micro_batch_sequences = usual.micro_batch_sequences;
  }

  // An engine has a KV cache of a stated size.
  void give_cache(const Task& task, TaskPlan& plan) {
    if (plan.execution.kv_cache_bytes > 0 || profile_of(task).kv_memory_fractions.empty()) return;
    const std::set<DeviceId> devices = plan.devices();
    plan.execution.kv_cache_bytes = profile_of(task).kv_memory_fractions.front() *
                                    smallest_memory_bytes({devices.begin(), devices.end()}, cluster_);
    note(task.name + ": the KV cache has a stated size, the framework's default");
  }

  // A budget of tokens is of a device, or of a context-parallel group (documents/semantics.h).
  void convert_budget(const Task& task) {
    Execution& execution = planned(task.name).execution;
    const std::string wanted = default_options(profile_, task.kind).execution.semantics;
    const bool is_of_group = semantics_of(execution.semantics).budgets_whole_sequences;
    const bool becomes_of_group = semantics_of(wanted).budgets_whole_sequences;
    if (is_of_group == becomes_of_group || execution.micro_batch_tokens == 0) return;
    execution.micro_batch_tokens = becomes_of_group ? execution.micro_batch_tokens * execution.context_parallel
                                                    : execution.micro_batch_tokens / execution.context_parallel;
    execution.semantics = wanted;
  }

  // Plans count with the mean length where sequences are packed, frameworks with the longest one.
  void hold_longest_sequence() {
    const int longest = max_prompt_tokens(workflow_) + max_response_tokens(workflow_);
    for_tasks("the budget of a micro-batch holds the longest sequence, which is " + std::to_string(longest) +
                  " tokens",
              [&](const Task& task) {
                Execution& execution = planned(task.name).execution;
                if (task.kind == TaskKind::generation || execution.micro_batch_tokens == 0) return false;
                const int parts = semantics_of(execution.semantics).budgets_whole_sequences
                                      ? 1
                                      : std::max(1, execution.context_parallel);
                const int needed = (longest + parts - 1) / parts;
                if (execution.micro_batch_tokens >= needed) return false;
                execution.micro_batch_tokens = needed;
                return true;
              });
  }

  void drop_options_of(const Task& task) {
    convert_budget(task);
    TaskPlan& plan = planned(task.name);
    const Json usual = default_options(profile_, task.kind).execution.to_json();
    Json options = plan.execution.to_json();
    std::set<std::string> members;
    for (const auto& [member, value] : options.items()) members.insert(member);
    for (const auto& [member, value] : usual.items()) members.insert(member);
    std::vector<std::string> dropped;
    for (const std::string& member : members) {
      if (has_option(task.kind, member) || (is_layout_option(member) && is_follower(task.name))) continue;
      if (member == "kv_cache_bytes" && has_option(task.kind, "kv_memory_fraction")) continue;
      if (options.value(member, Json()) == usual.value(member, Json())) continue;
      dropped.push_back(member);
      options.erase(member);
      if (usual.contains(member)) options[member] = usual[member];
    }
    if (task.kind == TaskKind::training && plan.recompute == Recompute::selective &&
        profile_.option_names.contains("training.recompute") && !says_selective()) {
      plan.recompute = Recompute::full;
      dropped.emplace_back("selective recomputation");
    }
    if (dropped.empty()) return;
    plan.execution = Execution::parse(JsonView(options, ""));
    if (plan.execution.micro_batch_tokens > 0)
      plan.micro_batch_sequences = default_options(profile_, task.kind).micro_batch_sequences;
    note(task.name + ": " + list_of(dropped) +
         (dropped.size() == 1 ? " is as the framework has it by default"
                              : " are as the framework has them by default"));
  }

  [[nodiscard]] bool is_follower(const std::string& task) const {
    return std::any_of(profile_.same_layout.begin(), profile_.same_layout.end(), [&](const auto& names) {
      const std::vector<std::string> tasks = present(names);
      return std::find(tasks.begin(), tasks.end(), task) != tasks.end() && tasks.front() != task;
    });
  }

  // Options whose name ends in "granularity" take Megatron's words; others are switches.
  [[nodiscard]] bool says_selective() const {
    return profile_.option_names.at("training.recompute").find("granularity") != std::string::npos;
  }

  const Workflow& workflow_;
  const Cluster& cluster_;
  const FrameworkProfile& profile_;
  const DialectRules& rules_;
  NearestPlan out_;
  std::map<std::string, std::set<DeviceId>> first_devices_;
};

}  // namespace

std::string missing_degrees(const TaskPlan& task, TaskKind kind, const FrameworkProfile& profile) {
  const TaskProfile& limits = task_profile(profile, kind);
  int stages = 1, tensor = 1;
  for (const Replica& replica : task.replicas) {
    stages = std::max(stages, replica.pipeline_parallel());
    for (const Stage& stage : replica.stages) tensor = std::max(tensor, task.tensor_parallel(stage));
  }
  if (limits.max_pipeline_parallel > 0 && stages > limits.max_pipeline_parallel)
    return "pipeline parallelism (the plan has " + std::to_string(stages) + " stages)";
  if (limits.max_tensor_parallel > 0 && tensor > limits.max_tensor_parallel)
    return "tensor parallelism (the plan has " + std::to_string(tensor) + " GPUs)";
  return "";
}

NearestPlan nearest_plan(const Plan& plan, const Workflow& workflow, const Cluster& cluster,
                         const FrameworkProfile& profile, const DialectRules& rules) {
  return Nearest(plan, workflow, cluster, profile, rules).find();
}

}  // namespace sextant::inline reports
