#include "probes/proxy/checks.h"

#include <algorithm>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::proxy {
namespace {

std::string number(int value) { return std::to_string(value); }

void check_model(const std::string& key, const Model& model, int actor_vocabulary) {
  const std::string what = "the proxy cannot run model '" + key + "': ";
  if (model.experts) throw_bad_input(what + "it has experts; the proxy computes only dense layers");
  if (model.latent_attention || model.linear_attention || model.attention_gate || model.sliding_window > 0 ||
      !model.gated_mlp || model.mlp_layers > 0) {
    throw_bad_input(what +
                    "it has latent or linear attention, a gate of attention, a sliding window, an MLP "
                    "without a gate or layers without one; the proxy computes "
                    "only standard attention and gated layers");
  }
  if (model.vocabulary < 1) throw_bad_input(what + "its vocabulary is 0, but the proxy needs tokens");
  if (model.vocabulary < actor_vocabulary) {
    throw_bad_input(what + "its vocabulary of " + number(model.vocabulary) + " is smaller than the actor's " +
                    number(actor_vocabulary) + ", whose tokens it must read");
  }
  if (model.head_dim % 2 != 0) {
    throw_bad_input(what + "rotary positions need an even head_dim, got " + number(model.head_dim));
  }
  if (model.heads % model.kv_heads != 0) {
    throw_bad_input(what + number(model.heads) + " heads are not a multiple of " + number(model.kv_heads) +
                    " KV heads");
  }
}

void check_model_fits(const std::string& key, const Model& model, const EngineLimits& limits) {
  const std::string what = "the proxy " + limits.computes + " cannot run model '" + key + "': ";
  if (model.value_head && !limits.value_heads) throw_bad_input(what + "it has a value head");
  for (const int size : {model.hidden, model.intermediate, model.vocabulary}) {
    if (size % limits.channel_multiple == 0) continue;
    throw_bad_input(what + "hidden, intermediate and vocabulary must be multiples of " +
                    number(limits.channel_multiple) + ", got " + number(size));
  }
  const auto& dims = limits.head_dims;
  if (!dims.empty() && std::find(dims.begin(), dims.end(), model.head_dim) == dims.end()) {
    std::string known;
    for (const int dim : dims) known += (known.empty() ? "" : " or ") + number(dim);
    throw_bad_input(what + "its head_dim is " + number(model.head_dim) + ", not " + known);
  }
  const int group = model.heads / model.kv_heads;
  if (limits.max_heads_per_kv_head > 0 && group > limits.max_heads_per_kv_head) {
    throw_bad_input(what + number(group) + " heads share a KV head, at most " +
                    number(limits.max_heads_per_kv_head) + " can");
  }
}

void check_vocabulary(const std::string& task, const Model& model, const TaskPlan& plan) {
  for (const Replica& replica : plan.replicas) {
    for (const Stage& stage : replica.stages) {
      if (model.vocabulary % stage.width() == 0) continue;
      throw_bad_input("task '" + task + "': tensor parallelism " + number(stage.width()) +
                      " does not divide its model's vocabulary of " + number(model.vocabulary) +
                      ", but the proxy splits embedding and head evenly");
    }
  }
}

void check_execution(const std::string& task, const TaskPlan& plan, TaskKind kind, const EngineLimits& limits) {
  if (plan.recompute == Recompute::selective) {
    throw_bad_input("task '" + task + "': the proxy supports full or no recomputation, not selective");
  }
  if (deals_by_length(plan)) {
    throw_bad_input("task '" + task + "': the proxy does not support length_rank");
  }
  // Sequences are always packed.
  Execution left = plan.execution;
  left.packed = false;
  if (limits.cuda_graphs && kind == TaskKind::generation) left.cuda_graphs = false;
  const Json unknown = left.to_json();
  if (!unknown.empty()) {
    throw_bad_input("task '" + task + "': the proxy " + limits.computes +
                    " does not run the execution option " + unknown.items().begin().key());
  }
}

// Each rank of a tensor-parallel group computes with its part of the channels and of the vocabulary.
void check_parts(const std::string& task, const Model& model, const TaskPlan& plan,
                 const EngineLimits& limits) {
  for (const Replica& replica : plan.replicas) {
    for (const Stage& stage : replica.stages) {
      for (const int size : {model.intermediate, model.vocabulary}) {
        if (size / stage.width() % limits.channel_multiple == 0) continue;
        throw_bad_input("task '" + task + "': tensor parallelism " + number(stage.width()) +
                        " leaves each device " + number(size / stage.width()) + " of " + number(size) +
                        " channels or tokens, and the proxy " + limits.computes + " needs multiples of " +
                        number(limits.channel_multiple));
      }
    }
  }
}

void check_devices(const std::string& task, const TaskPlan& plan, int ranks) {
  const int last = plan.devices().rbegin()->value;
  if (last < ranks) return;
  throw_bad_input("task '" + task + "' uses device " + number(last) + " but there are " + number(ranks) +
                  " ranks (device d is rank d): start it with mpirun -n " + number(last + 1) + " or more");
}

void check_replicas_alike(const std::string& task, const TaskPlan& plan) {
  const Replica& first = plan.replicas.front();
  for (const Replica& replica : plan.replicas) {
    const bool alike = std::equal(replica.stages.begin(), replica.stages.end(), first.stages.begin(),
                                  first.stages.end(), [](const Stage& a, const Stage& b) {
                                    return a.layers == b.layers && a.devices.size() == b.devices.size();
                                  });
    if (!alike) {
      throw_bad_input("the replicas of training task '" + task +
                      "' differ in stage layers or tensor parallelism, so their gradients have different "
                      "shards, which the proxy cannot sum");
    }
  }
}

void check_overlap(const Workflow& workflow, const Plan& plan) {
  if (workflow.mode == Mode::synchronous) return;
  const std::string& generation = workflow.actor_generation().name;
  const std::set<DeviceId> generates = plan.tasks.at(generation).devices();
  for (const Task& task : workflow.tasks) {
    if (task.name == generation) continue;
    for (const DeviceId device : plan.tasks.at(task.name).devices()) {
      if (generates.contains(device)) {
        throw_bad_input("workflow '" + workflow.name + "' is " + std::string(name_of(workflow.mode)) +
                        " but device " + number(device.value) + " generates and runs '" + task.name +
                        "': the proxy overlaps generation only with tasks on other devices");
      }
    }
  }
}

}  // namespace

void check_workflow(const Workflow& workflow, const EngineLimits& limits) {
  if (workflow.precision != limits.precision) {
    throw_bad_input("the proxy computes " + limits.computes + ": set the workflow's precision to " +
                    std::string(name_of(limits.precision)) + ", not " +
                    std::string(name_of(workflow.precision)));
  }
  if (workflow.rule_reward_s_per_sequence != 0) {
    throw_bad_input("the proxy has no program for a rule-based reward: set rule_reward_s_per_sequence to 0");
  }
  const auto generations = std::count_if(workflow.tasks.begin(), workflow.tasks.end(),
                                         [](const Task& task) { return task.kind == TaskKind::generation; });
  if (generations > 1) throw_bad_input("the proxy runs workflows with one generation task");
  if (generations == 0 && workflow.mode != Mode::synchronous) {
    throw_bad_input("this mode overlaps generation with other tasks, but the workflow has no generation");
  }
  if (workflow.algorithm != Algorithm::custom && !workflow.has_weight_sync()) {
    throw_bad_input("the proxy runs whole iterations, which need generation and training of the actor");
  }
  if (workflow.turns != 1) throw_bad_input("the proxy runs rollouts of one turn");
  if (workflow.rollout != RolloutRules{})
    throw_bad_input(
        "the proxy does not support \"rollout\": it starts all prompts of a batch together and trains on all "
        "of them");
  int vocabulary = 0;  // of what is read: the model's that generates
  for (const Task& task : workflow.tasks) {
    if (task.kind != TaskKind::generation) continue;
    const Model& actor = workflow.model_of(task);
    if (actor.value_head) throw_bad_input("the model that generates must not have a value head");
    vocabulary = actor.vocabulary;
  }
  for (const Task& task : workflow.tasks) {
    check_model(task.model, workflow.model_of(task), vocabulary);
    check_model_fits(task.model, workflow.model_of(task), limits);
  }
  const double longest = workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens();
  if (limits.token_limit > 0 && longest > limits.token_limit) {
    throw_bad_input("the proxy " + limits.computes + " runs sequences of at most " +
                    number(limits.token_limit) + " tokens, got " + number(static_cast<int>(longest)));
  }
  if (workflow.mini_batches > workflow.sequences()) {
    throw_bad_input(number(workflow.mini_batches) + " mini-batches for " + number(workflow.sequences()) +
                    " sequences: expected at most one per sequence");
  }
}

void check_runnable(const Workflow& workflow, const Plan& plan, int ranks, const EngineLimits& limits) {
  for (const Task& task : workflow.tasks) {
    const TaskPlan& task_plan = plan.tasks.at(task.name);
    check_execution(task.name, task_plan, task.kind, limits);
    check_devices(task.name, task_plan, ranks);
    check_vocabulary(task.name, workflow.model_of(task), task_plan);
    check_parts(task.name, workflow.model_of(task), task_plan, limits);
    if (task.kind == TaskKind::training) check_replicas_alike(task.name, task_plan);
  }
  check_overlap(workflow, plan);
}

}  // namespace sextant::proxy
