#include "probes/proxy/rollout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace sextant::proxy {
namespace {

constexpr float kReferenceWeight = 0.05F;
constexpr float kMinDeviation = 1e-4F;  // of a group whose rewards are all equal

float rule_reward(std::span<const int> response) {
  const auto even = std::count_if(response.begin(), response.end(), [](int token) { return token % 2 == 0; });
  return static_cast<float>(even) / static_cast<float>(response.size());
}

float mean_of(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0F) / static_cast<float>(values.size());
}

void normalise(std::span<float> group) {
  const float mean = mean_of(group);
  float squares = 0;
  for (float& value : group) {
    value -= mean;
    squares += value * value;
  }
  const float deviation = std::sqrt(squares / static_cast<float>(group.size()));
  for (float& value : group) value /= deviation + kMinDeviation;
}

bool has_reward_model(const Workflow& workflow) {
  return std::any_of(workflow.tasks.begin(), workflow.tasks.end(),
                     [&](const Task& task) { return role_of(workflow, task) == Role::reward; });
}

// Tokens that every model knows; the one that generates has the smallest vocabulary (checks.h).
int vocabulary_of(const Workflow& workflow) {
  int minimum = workflow.model_of(workflow.tasks.front()).vocabulary;
  for (const Task& task : workflow.tasks) minimum = std::min(minimum, workflow.model_of(task).vocabulary);
  return minimum;
}

}  // namespace

Role role_of(const Workflow& workflow, const Task& task) {
  if (task.kind == TaskKind::generation) return Role::generation;
  if (task.kind == TaskKind::training) return Role::training;
  if (!workflow.model_of(task).value_head) return Role::reference;
  const bool is_trained = std::any_of(workflow.tasks.begin(), workflow.tasks.end(), [&](const Task& other) {
    return other.kind == TaskKind::training && other.model == task.model;
  });
  return is_trained ? Role::critic : Role::reward;
}

Rollout::Rollout(const Workload& workload)
    : tokens(workload.tokens()),
      sampled(workload.tokens()),
      log_probabilities(workload.tokens()),
      values(workload.tokens()),
      rewards(static_cast<std::size_t>(workload.sequences())),
      advantages(rewards.size()),
      returns(rewards.size()) {}

void start_rollout(const Workflow& workflow, const Workload& workload, unsigned seed, Rollout& rollout) {
  rollout.seed = seed;
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> token(0, vocabulary_of(workflow) - 1);
  const int group = workflow.responses_per_prompt;
  for (int i = 0; i < workload.sequences(); ++i) {
    int* to = rollout.tokens.data() + workload.offset(i);
    if (i % group == 0) {
      std::generate_n(to, workload.prompt(i), [&] { return token(random); });
    } else {
      std::copy_n(rollout.tokens.data() + workload.offset(i - 1), workload.prompt(i), to);
    }
  }
  for (auto* array : {&rollout.sampled, &rollout.log_probabilities, &rollout.values, &rollout.rewards}) {
    std::fill(array->begin(), array->end(), 0.0F);
  }
}

void make_up_responses(const Workflow& workflow, const Workload& workload, Rollout& rollout) {
  std::mt19937_64 random(~static_cast<std::uint64_t>(rollout.seed));
  std::uniform_int_distribution<int> token(0, vocabulary_of(workflow) - 1);
  for (int i = 0; i < workload.sequences(); ++i) {
    std::generate_n(rollout.tokens.data() + workload.offset(i) + workload.prompt(i), workload.response(i),
                    [&] { return token(random); });
  }
}

std::span<const int> tokens_of(const Workload& workload, const Rollout& rollout, int sequence) {
  return std::span(rollout.tokens)
      .subspan(workload.offset(sequence), static_cast<std::size_t>(workload.length(sequence)));
}

void pack_sequences(const Workload& workload, const Rollout& rollout, Range range, PackedBatch& batch) {
  batch.clear();
  for (int i = range.begin; i < range.end; ++i) batch.append(tokens_of(workload, rollout, i));
}

void pack_prompts(const Workload& workload, const Rollout& rollout, Range range, PackedBatch& batch) {
  batch.clear();
  for (int i = range.begin; i < range.end; ++i) {
    batch.append(tokens_of(workload, rollout, i).first(static_cast<std::size_t>(workload.prompt(i))));
  }
}

void compute_advantages(const Workflow& workflow, const Workload& workload, Rollout& rollout) {
  const bool is_rule_based = !has_reward_model(workflow);
  for (int i = 0; i < workload.sequences(); ++i) {
    const auto sequence = static_cast<std::size_t>(i);
    const std::size_t first = workload.offset(i) + static_cast<std::size_t>(workload.prompt(i));
    const auto length = static_cast<std::size_t>(workload.response(i));
    const auto response = [&](auto& array) { return std::span(array).subspan(first, length); };
    const float reward = is_rule_based ? rule_reward(response(rollout.tokens)) : rollout.rewards[sequence];
    rollout.returns[sequence] = reward + kReferenceWeight * mean_of(response(rollout.log_probabilities));
    rollout.advantages[sequence] = rollout.returns[sequence] - mean_of(response(rollout.values));
  }
  if (workflow.algorithm != Algorithm::grpo) return;
  const auto group = static_cast<std::size_t>(workflow.responses_per_prompt);
  for (std::size_t begin = 0; begin < rollout.advantages.size(); begin += group) {
    normalise(std::span(rollout.advantages).subspan(begin, group));
  }
}

}  // namespace sextant::proxy
