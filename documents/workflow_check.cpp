// Which workflows sextant/workflow.h refuses.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/json_value.h"
#include "core/text.h"
#include "sextant/error.h"
#include "sextant/workflow.h"

namespace sextant {
namespace {

std::string task_path(std::size_t task) { return "/tasks/" + std::to_string(task); }

void check_staleness(const Workflow& workflow) {
  const std::string mode = " in mode " + std::string(name_of(workflow.mode)) + ", got ";
  const auto expect = [&](double expected) {
    if (workflow.staleness == expected) return;
    throw_bad_input("/staleness: expected " + Json(expected).dump() + mode + Json(workflow.staleness).dump());
  };
  if (workflow.mode == Mode::synchronous) expect(0);
  if (workflow.mode == Mode::one_step_off) expect(1);
  if (workflow.mode != Mode::asynchronous && workflow.streamed_parts > 1) {
    throw_bad_input("/streamed_parts: expected 1" + mode + std::to_string(workflow.streamed_parts));
  }
}

// Unique names, known models, and `after` that looks back only: so the graph has no cycle.
void check_graph(const Workflow& workflow) {
  if (workflow.tasks.empty()) throw_bad_input("/tasks: expected at least one task");
  std::set<std::string> earlier;
  for (std::size_t i = 0; i < workflow.tasks.size(); ++i) {
    const Task& task = workflow.tasks[i];
    if (earlier.contains(task.name)) {
      throw_bad_input(task_path(i) + "/name: another task is named " + in_quotes(task.name) + " too");
    }
    if (!workflow.models.contains(task.model)) {
      throw_bad_input(task_path(i) + "/model: unknown model " + in_quotes(task.model));
    }
    for (std::size_t k = 0; k < task.after.size(); ++k) {
      if (!earlier.contains(task.after[k])) {
        throw_bad_input(task_path(i) + "/after/" + std::to_string(k) +
                        ": expected the name of an earlier task, got " + in_quotes(task.after[k]));
      }
    }
    earlier.insert(task.name);
  }
}

void check_actor_tasks(const Workflow& workflow) {
  for (const TaskKind kind : {TaskKind::generation, TaskKind::training}) {
    const auto count = std::count_if(workflow.tasks.begin(), workflow.tasks.end(), [kind](const Task& task) {
      return task.kind == kind && task.model == "actor";
    });
    const bool lacks = count == 0 && workflow.algorithm == Algorithm::custom;
    if (count != 1 && !lacks) {
      throw_bad_input("/tasks: expected exactly one " + std::string(name_of(kind)) +
                      " task on the model \"actor\", got " + std::to_string(count));
    }
  }
}

// old_log_prob is of the actor by its meaning; the other tasks may use any model that plays their part.
bool has_standard_tasks(const Workflow& workflow, const std::vector<Task>& standard) {
  return workflow.tasks.size() == standard.size() &&
         std::all_of(standard.begin(), standard.end(), [&workflow](const Task& task) {
           if (!workflow.has_task(task.name)) return false;
           const Task& own = workflow.task(task.name);
           return own.kind == task.kind && (own.name != task_names::kOldLogProb || own.model == task.model);
         });
}

std::string names_of(const std::vector<Task>& tasks) {
  std::string names;
  for (const Task& task : tasks) {
    names += (names.empty() ? "" : ", ") + task.name;
  }
  return names;
}

// The closed forms of the model know the tasks of the two algorithms by name.
void check_standard_names(const Workflow& workflow) {
  constexpr const char* kOptional =
      "reference_inference may be left out and old_log_prob, inference of the actor, added; for another graph "
      "use the algorithm \"custom\"";
  const GraphOptions options = graph_options_of(workflow);
  constexpr const char* kRule = " (without reward_inference if a rule gives the reward); ";
  if (workflow.algorithm == Algorithm::ppo && !has_standard_tasks(workflow, ppo_tasks(options)) &&
      !has_standard_tasks(workflow, ppo_tasks(options, false))) {
    throw_bad_input("/tasks: expected the tasks of ppo: " + names_of(ppo_tasks()) + kRule + kOptional);
  }
  if (workflow.algorithm == Algorithm::grpo && !has_standard_tasks(workflow, grpo_tasks(false, options)) &&
      !has_standard_tasks(workflow, grpo_tasks(true, options))) {
    throw_bad_input("/tasks: expected the tasks of grpo: " + names_of(grpo_tasks(true)) + kRule + kOptional);
  }
}

void check_value_heads(const Workflow& workflow) {
  for (const char* role : {"critic", "reward"}) {
    const auto found = workflow.models.find(role);
    if (found != workflow.models.end() && !found->second.value_head) {
      throw_bad_input(std::string("/models/") + role + "/value_head: expected true, a " + role +
                      " model returns one number per token");
    }
  }
}

void check_batch(const Workflow& workflow) {
  if (workflow.mini_batches > workflow.sequences()) {
    throw_bad_input("/mini_batches: expected at most the " + std::to_string(workflow.sequences()) +
                    " sequences of a global batch, got " + std::to_string(workflow.mini_batches));
  }
}

void check_lengths(const Workflow& workflow) {
  if (!(workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens() > 0)) {
    throw_bad_input("/prompt_tokens: expected sequences with at least one token");
  }
  const bool generates = std::any_of(workflow.tasks.begin(), workflow.tasks.end(),
                                     [](const Task& task) { return task.kind == TaskKind::generation; });
  for (const auto& [member, lengths] : {std::pair("/prompt_tokens", &workflow.prompt_tokens),
                                        std::pair("/response_tokens", &workflow.response_tokens)}) {
    if (generates && lengths->max_tokens() < 1)
      throw_bad_input(std::string(member) + ": expected at least one token because a task generates");
  }
}

void check_reward(const Workflow& workflow) {
  const bool has_model = std::any_of(workflow.tasks.begin(), workflow.tasks.end(),
                                     [](const Task& task) { return task.model == "reward"; });
  if (has_model && workflow.rule_reward_s_per_sequence > 0) {
    throw_bad_input("/rule_reward_s_per_sequence: expected 0 because a reward model gives the reward");
  }
}

void check_rollout(const Workflow& workflow) {
  const RolloutRules& rollout = workflow.rollout;
  const auto fail = [](const std::string& member, const std::string& message) {
    throw_bad_input("/rollout/" + member + ": " + message);
  };
  const double ready =
      rollout.kept_fraction * (rollout.started_prompts > 0 ? rollout.started_prompts : workflow.prompts);
  constexpr double kRounding = 1e-9;  // relative
  if (rollout.unfinished == Unfinished::discarded && ready < workflow.prompts * (1 - kRounding))
    fail("started_prompts",
         "the kept fraction of these is smaller than the prompts of a batch: start more prompts, or wait for "
         "further rounds");
  if (rollout.is_interrupted && workflow.mode != Mode::asynchronous)
    fail("interrupted", "only allowed in asynchronous mode, where new weights meet running generation");
  if (rollout.batches_in_flight > 0 && workflow.mode != Mode::asynchronous)
    fail("batches_in_flight", "only allowed in asynchronous mode");
  const bool has_environment = workflow.turns > 1 && workflow.environment_s_per_turn > 0;
  if (!has_environment && (rollout.environments > 0 || rollout.environment_deviation_s_per_turn > 0))
    fail("environments", "needs turns > 1 and environment_s_per_turn > 0");
  if (rollout.has_rewards_beside && workflow.rule_reward_s_per_sequence <= 0)
    fail("rewards_beside_generation", "needs rule_reward_s_per_sequence, the time of a reward");
  if (rollout.reward_workers > 1 && workflow.rule_reward_s_per_sequence <= 0)
    fail("reward_workers", "needs rule_reward_s_per_sequence, the time of a reward");
}

}  // namespace

std::vector<std::string> Workflow::context_warnings() const {
  const auto whole = [](double tokens) { return std::to_string(static_cast<long long>(std::ceil(tokens))); };
  const double observed = (turns - 1) * observation_tokens_per_turn;
  const double longest = prompt_tokens.max_tokens() + response_tokens.max_tokens() + observed;
  std::vector<std::string> warnings;
  std::set<std::string> named;
  for (const auto& [role, model] : models) {
    if (model.context_tokens == 0 || longest <= model.context_tokens || !named.insert(model.name).second)
      continue;
    warnings.push_back("a prompt of " + whole(prompt_tokens.max_tokens()) + " and a response of " +
                       whole(response_tokens.max_tokens()) +
                       (observed > 0 ? " tokens, with observations of " + whole(observed) : "") +
                       " tokens make " + whole(longest) + "; " + model.name + " takes " +
                       std::to_string(model.context_tokens) +
                       " (max_position_embeddings, with rope scaling), and engines refuse longer sequences.");
  }
  return warnings;
}

void Workflow::check() const {
  check_staleness(*this);
  check_graph(*this);
  check_actor_tasks(*this);
  check_standard_names(*this);
  check_value_heads(*this);
  check_batch(*this);
  check_lengths(*this);
  check_reward(*this);
  check_rollout(*this);
}

}  // namespace sextant
