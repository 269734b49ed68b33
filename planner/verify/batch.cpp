#include "planner/verify/batch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "documents/semantics.h"

namespace sextant::inline planner {
namespace {

const Semantics& meaning_of(const PlannedTask& task) { return semantics_of(task.execution().semantics); }

double micro_batch_count(const PlannedTask& task, const Replica& replica, double sequences) {
  if (task.execution().micro_batches > 0) return task.execution().micro_batches;
  if (task.execution().micro_batch_tokens > 0) {
    const double filled = std::ceil(sequences * own_tokens(task, replica) / token_budget(task));
    return filled < 1 ? 1 : filled;
  }
  return std::ceil(sequences / task.plan.micro_batch_sequences);
}

// Numbers of sequences for each one that is trained.
struct RoundSizes {
  double in_round = 1;
  double started = 1;
};

RoundSizes round_sizes(const Workflow& workflow) {
  const RolloutRules& rollout = workflow.rollout;
  RoundSizes sizes;
  if (rollout.started_prompts > 0)
    sizes.started = static_cast<double>(rollout.started_prompts) / workflow.prompts;
  sizes.in_round = rollout.unfinished == Unfinished::resumed ? 1 / rollout.kept_fraction : sizes.started;
  return sizes;
}

// Rollouts that go on in the next iteration.
bool goes_on(const PlannedTask& task) {
  const RoundSizes sizes = round_sizes(task.workflow);
  return task.workflow.rollout.unfinished == Unfinished::resumed && sizes.started > sizes.in_round;
}

// Asynchronous engines begin the next batches before the last responses of one are there.
bool works_ahead(const PlannedTask& task) {
  return task.workflow.mode == Mode::asynchronous && task.workflow.staleness > 0 &&
         task.execution().continuous_batching;
}

double prompt_kept(const PlannedTask& task) {
  const double prompt = sequence_tokens(task).prompt;
  return task.execution().shared_prompts ? prompt / task.workflow.responses_per_prompt : prompt;
}

// A response seen at a random time in a place that is always refilled has E[X^2] / 2 E[X] tokens (renewal
// theory), and half of the tokens that tools return.
double tokens_met(const PlannedTask& task) {
  const RolloutBatch batch = rollout_batch(task.workflow);
  const Lengths& response = batch.response_tokens(task.workflow);
  const double mean = response.mean_tokens();
  const double made = mean > 0 ? response.mean_square_tokens() / (2 * mean) : 0;
  return prompt_kept(task) + made + sequence_tokens(task).observed / 2;
}

// Sequences that the plan lets decode together, before the KV cache is looked at.
double stated_places(const PlannedTask& task, const Replica& replica, double sequences) {
  if (task.plan.decode_batch_sequences > 0) {
    return std::min(sequences, static_cast<double>(task.plan.decode_batch_sequences));
  }
  if (task.execution().micro_batches > 0) {
    return std::max(1.0, sequences / micro_batches(task, replica, sequences).passes());
  }
  return sequences;
}

// Sequences that fit a KV cache of stated size, which is that of each device.
double held_in_cache(const PlannedTask& task, const Replica& replica) {
  const double tokens = task.execution().continuous_batching ? tokens_met(task) : sequence_tokens(task).all();
  double largest = 0;  // of one sequence
  for (const Stage& stage : replica.stages) largest = std::max(largest, cache_bytes(task, stage, tokens, 1));
  return std::max(1.0, task.execution().kv_cache_bytes / largest);
}

double places_of(const PlannedTask& task, const Replica& replica, double sequences) {
  const double places = stated_places(task, replica, sequences);
  if (task.execution().kv_cache_bytes == 0) return places;
  return std::min(places, held_in_cache(task, replica));
}

// A sequence's mean share of the most tokens that a wave keeps at once.
double tokens_cached(const PlannedTask& task, double waves) {
  const Execution& execution = task.execution();
  if (!execution.packed && !execution.continuous_batching) return sequence_tokens(task).all();
  if (execution.continuous_batching && (waves > 1 || works_ahead(task) || goes_on(task)))
    return tokens_met(task);
  const RolloutBatch batch = rollout_batch(task.workflow);
  return batch.response_tokens(task.workflow).max_live(prompt_kept(task) + sequence_tokens(task).observed);
}

// Sequences of each replica.
std::vector<int> shared_out(const PlannedTask& task) {
  constexpr double kRounding = 1e-6;  // a third of three is one
  const int all = task.workflow.prompts * task.workflow.responses_per_prompt;
  double shares = 0;
  for (const Replica& replica : task.plan.replicas) shares += replica.batch_share;
  std::vector<int> sequences;
  std::vector<double> remainder;
  int left = all;
  for (const Replica& replica : task.plan.replicas) {
    const double exact = replica.batch_share / shares * all;
    sequences.push_back(std::min(left, static_cast<int>(std::floor(exact + kRounding))));
    remainder.push_back(exact - sequences.back());
    left -= sequences.back();
  }
  std::vector<std::size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  for (std::size_t next = 0; left > 0 && !order.empty(); --left, ++next)
    ++sequences[order[next % order.size()]];
  return sequences;
}

// Replicas of one rank have the next longer sequences of the batch after those of all lower ranks.
std::map<int, double> tokens_of_length(const PlannedTask& task, const std::vector<int>& sequences) {
  std::map<int, int> count;
  for (std::size_t i = 0; i < sequences.size(); ++i) count[task.plan.replicas[i].length_rank] += sequences[i];
  const int all = task.workflow.prompts * task.workflow.responses_per_prompt;
  std::map<int, double> tokens;
  int shorter = 0;
  for (const auto& [rank, alike] : count) {
    if (alike == all || alike == 0) {
      tokens[rank] = sequence_tokens(task).all();
    } else if (!task.execution().packed) {
      tokens[rank] = task.sorted->longest(shorter + alike);
      if (task.execution().pads_to_longest())
        tokens[rank] = std::min(tokens[rank], sequence_tokens(task).all());
    } else {
      tokens[rank] = task.sorted->tokens(shorter, shorter + alike) / alike;
    }
    shorter += alike;
  }
  return tokens;
}

}  // namespace

SequenceTokens sequence_tokens(const PlannedTask& task) {
  const Workflow& workflow = task.workflow;
  SequenceTokens tokens;
  tokens.observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const bool packed = task.execution().packed;
  if (!task.is_generation() && task.execution().pads_to_longest()) {
    const Lengths &prompt = workflow.prompt_tokens, &response = workflow.response_tokens;
    tokens.prompt = std::max(prompt.mean_tokens(), prompt.longest_of(workflow.prompts));
    tokens.response = std::max(response.mean_tokens(),
                               response.longest_of(1.0 * workflow.prompts * workflow.responses_per_prompt));
    return tokens;
  }
  tokens.prompt = packed ? workflow.prompt_tokens.mean_tokens() : workflow.prompt_tokens.max_tokens();
  tokens.response = packed ? workflow.response_tokens.mean_tokens() : workflow.response_tokens.max_tokens();
  return tokens;
}

double own_tokens(const PlannedTask& task, const Replica& replica) {
  return task.batch.tokens_of_length.at(replica.length_rank);
}

double token_budget(const PlannedTask& task) {
  const double stated = task.execution().micro_batch_tokens;
  return meaning_of(task).budgets_whole_sequences ? stated : stated * task.execution().context_parallel;
}

TaskBatch batch_of(const PlannedTask& task) {
  TaskBatch batch;
  batch.sequences = shared_out(task);
  batch.tokens_of_length = tokens_of_length(task, batch.sequences);
  return batch;
}

MicroBatches micro_batches(const PlannedTask& task, const Replica& replica, double sequences) {
  MicroBatches batches;
  batches.sequences = sequences;
  batches.count = micro_batch_count(task, replica, sequences);
  const int split =
      task.is_training() ? meaning_of(task).training_split_per_stage : meaning_of(task).forward_split_per_stage;
  if (split > 0) batches.pieces = split * static_cast<double>(replica.stages.size());
  const double whole = std::ceil(sequences);
  double largest = std::min(whole, static_cast<double>(task.plan.micro_batch_sequences));
  if (task.execution().micro_batch_tokens > 0) {
    largest = std::min(whole, token_budget(task) / own_tokens(task, replica));
  }
  if (task.execution().micro_batches > 0) largest = std::ceil(whole / batches.count);
  batches.largest_sequences = largest / batches.pieces;
  return batches;
}

DecodeBatch decode_batch(const PlannedTask& task, const Replica& replica, double sequences) {
  DecodeBatch batch;
  const RoundSizes sizes = round_sizes(task.workflow);
  const double in_round = sequences * sizes.in_round;
  double on_their_way = in_round;
  if (works_ahead(task)) on_their_way *= std::max(1.0, task.workflow.staleness);
  if (works_ahead(task) || goes_on(task)) on_their_way = std::max(on_their_way, sequences * sizes.started);
  const double places = places_of(task, replica, on_their_way),
               stages = static_cast<double>(replica.stages.size());
  const double tokens = tokens_cached(task, std::max(1.0, in_round / places));
  if (task.execution().continuous_batching) {
    batch.step_sequences = places / std::max(1.0, std::min(places, stages));
    batch.cached_sequences = places;
    batch.cached_tokens = places * tokens;
    return batch;
  }
  double at_once = on_their_way;
  if (task.execution().kv_cache_bytes > 0) at_once = std::min(at_once, held_in_cache(task, replica));
  batch.step_sequences = places;
  batch.cached_sequences = places * std::max(1.0, std::min(at_once / places, stages));
  batch.cached_tokens = batch.cached_sequences * tokens;
  return batch;
}

double cache_bytes(const PlannedTask& task, const Stage& stage, double tokens, double sequences) {
  const Model& model = task.model();
  const int contexts = task.execution().context_parallel;
  const int tensor_parallel = stage.width() / contexts;
  double elements = 0;  // of one token in one layer on one device
  if (model.latent_attention) {
    elements = model.latent_attention->kv_rank + model.latent_attention->rope_dim;
  } else {
    const double heads =
        tensor_parallel >= model.kv_heads ? 1.0 : static_cast<double>(model.kv_heads) / tensor_parallel;
    elements = 2 * heads * model.head_dim;
  }
  double states = 0;
  const int others = model.mlp_layers + (model.linear_attention ? model.linear_attention->layers : 0);
  elements *= 1 - static_cast<double>(others) / model.layers;
  if (const auto& linear = model.linear_attention) {
    const double values = static_cast<double>(linear->value_heads) * linear->value_dim;
    const double matrices = values * linear->key_dim,
                 last_tokens = (2.0 * linear->key_heads * linear->key_dim + values) * (linear->convolution - 1);
    states =
        sequences * stage.layers * linear->layers / model.layers *
        (bytes_per_element(Precision::fp32) * matrices + bytes_per_element(Precision::bf16) * last_tokens) /
        tensor_parallel;
  }
  const Precision format =
      task.execution().cache_precision ? *task.execution().cache_precision : task.workflow.precision;
  return tokens / contexts * stage.layers * elements * bytes_per_element(format) + states;
}

}  // namespace sextant::inline planner
