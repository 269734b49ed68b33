// The data that tasks of an iteration pass on. It is small, a number per token, so every rank has all of it.
#pragma once

#include <span>
#include <vector>

#include "probes/proxy/model/batch.h"
#include "probes/proxy/workload.h"

namespace sextant::proxy {

// The function of a task. An inference task on a model with a value head is the critic if the workflow trains
// that model, else a reward model; one with a vocabulary head is a reference.
enum class Role { generation, reward, reference, critic, training };
[[nodiscard]] Role role_of(const Workflow& workflow, const Task& task);

// Arrays by token start at Workload::offset of each sequence; entries of prompt tokens stay 0 in all but
// `tokens`. A log-probability or value at a token belongs to that token given those before it.
struct Rollout {
  explicit Rollout(const Workload& workload);

  unsigned seed = 0;  // for the prompts and for each response's first token
  std::vector<int> tokens;
  std::vector<float> sampled;            // response tokens that this rank generated; 0 for others
  std::vector<float> log_probabilities;  // from the reference
  std::vector<float> values;             // from the critic
  std::vector<float> rewards;            // by sequence, from the reward model
  std::vector<float> advantages;         // by sequence
  std::vector<float> returns;            // by sequence, the critic's target
};

// Clears results and draws new prompts (uniform tokens below `vocabulary`), the same within a group and on all
// ranks.
void start_rollout(const Workflow& workflow, const Workload& workload, unsigned seed, Rollout& rollout);

// Draws random responses, for a workflow without generation.
void make_up_responses(const Workflow& workflow, const Workload& workload, Rollout& rollout);

// Returns the tokens of one sequence.
[[nodiscard]] std::span<const int> tokens_of(const Workload& workload, const Rollout& rollout, int sequence);

// Packs the sequences of the range, whole or only their prompts.
void pack_sequences(const Workload& workload, const Rollout& rollout, Range range, PackedBatch& batch);
void pack_prompts(const Workload& workload, const Rollout& rollout, Range range, PackedBatch& batch);

// Computes advantages and returns from rewards; the same arithmetic on all ranks. Without a reward model the
// reward is a rule: the fraction of even tokens in the response. The reference's weighted mean log-probability
// is added. GRPO normalises within each prompt's group, others subtract the critic's mean value.
void compute_advantages(const Workflow& workflow, const Workload& workload, Rollout& rollout);

}  // namespace sextant::proxy
