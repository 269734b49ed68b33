// What flows between the tasks of an iteration. Small: a number a token, so every rank has all of it.
#pragma once

#include <span>
#include <vector>

#include "probes/proxy/model/batch.h"
#include "probes/proxy/workload.h"

namespace sextant::proxy {

// What a task contributes. An inference task on a model with a value head is the critic when the workflow
// trains that model, else a reward model; one with a vocabulary head is a reference.
enum class Role { generation, reward, reference, critic, training };
[[nodiscard]] Role role_of(const Workflow& workflow, const Task& task);

// Arrays by token start at Workload::offset of each sequence; entries of prompt tokens stay 0 in all but
// `tokens`. A log-probability or value at a token belongs to that token given those before it.
struct Rollout {
  explicit Rollout(const Workload& workload);

  unsigned seed = 0;  // of the prompts and of each response's first token
  std::vector<int> tokens;
  std::vector<float> sampled;            // response tokens that this rank generated, 0 elsewhere
  std::vector<float> log_probabilities;  // of the reference
  std::vector<float> values;             // of the critic
  std::vector<float> rewards;            // by sequence, of the reward model
  std::vector<float> advantages;         // by sequence
  std::vector<float> returns;            // by sequence, the critic's goal
};

// Forgets results and draws new prompts (uniform tokens below `vocabulary`), the same within a group and on
// all ranks.
void start_rollout(const Workflow& workflow, const Workload& workload, unsigned seed, Rollout& rollout);

// Random responses, for a workflow that generates none.
void make_up_responses(const Workflow& workflow, const Workload& workload, Rollout& rollout);

// Tokens of one sequence.
[[nodiscard]] std::span<const int> tokens_of(const Workload& workload, const Rollout& rollout, int sequence);

// The sequences of the range, whole or their prompts only.
void pack_sequences(const Workload& workload, const Rollout& rollout, Range range, PackedBatch& batch);
void pack_prompts(const Workload& workload, const Rollout& rollout, Range range, PackedBatch& batch);

// Rewards to advantages and returns; the same arithmetic on all ranks. Without a reward model the reward is
// a rule: the fraction of even tokens in the response. The reference pulls by its mean log-probability.
// GRPO normalises within each prompt's group, others subtract the critic's mean value.
void compute_advantages(const Workflow& workflow, const Workload& workload, Rollout& rollout);

}  // namespace sextant::proxy
