#include "costmodel/problem/work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "costmodel/problem/symmetry.h"
#include "documents/padded_lengths.h"
#include "documents/semantics.h"

namespace sextant::inline costmodel {
namespace {

// Tokens that a micro-batch may hold, where the plan says.
double token_budget(const TaskWork& work) {
  const double stated = work.execution().micro_batch_tokens;
  return semantics_of(work.execution().semantics).budgets_whole_sequences
             ? stated
             : stated * work.execution().context_parallel;
}

// Pipeline micro-batches that a framework makes of one, a stage; 0: it does not cut them.
int pipeline_split(const TaskWork& work) {
  const Semantics& semantics = semantics_of(work.execution().semantics);
  return work.kind() == TaskKind::training ? semantics.training_split_per_stage
                                           : semantics.forward_split_per_stage;
}

// Micro-batches that pass through a pipeline stage while one mini-batch (or a whole batch) is worked off.
double micro_batches_of(const TaskWork& work, double sequences, double sequence_tokens, int stages) {
  const Execution& execution = work.execution();
  double count = 0;
  if (execution.micro_batches > 0) {
    count = execution.micro_batches;
  } else if (execution.micro_batch_tokens > 0) {
    count = std::max(1.0, std::ceil(sequences * sequence_tokens / token_budget(work)));
  } else {
    count = std::ceil(sequences / work.plan->micro_batch_sequences);
  }
  const int split = pipeline_split(work);
  if (split > 0) count *= split * stages;
  return count;
}

// The largest micro-batch: stated numbers of micro-batches are split evenly, stated sizes are filled.
double largest_micro_batch(const TaskWork& work, double sequences, double sequence_tokens, int stages) {
  const Execution& execution = work.execution();
  double largest = std::min<double>(sequences, work.plan->micro_batch_sequences);
  if (execution.micro_batches > 0) {
    largest = std::ceil(sequences / execution.micro_batches);
  } else if (execution.micro_batch_tokens > 0) {
    largest = std::min(sequences, token_budget(work) / sequence_tokens);
  }
  const int split = pipeline_split(work);
  return split > 0 ? largest / (split * stages) : largest;
}

// Pipelines that one mini-batch (or a whole batch) is worked off in: a framework that cuts each of its
// micro-batches fills and drains the pipeline for each.
double flushes_of(const TaskWork& work) {
  return pipeline_split(work) > 0 ? std::max(1, work.execution().micro_batches) : 1;
}

// Prompt tokens that a sequence keeps: those of one prompt once, where its responses share them.
double cached_prompt_tokens(const TaskWork& work, const Workflow& workflow) {
  return work.execution().shared_prompts ? work.prompt_tokens / workflow.responses_per_prompt
                                         : work.prompt_tokens;
}

// Tokens of a sequence in the mean once places are refilled one by one: long responses hold theirs for longer,
// so that one met at random has E[X^2] / 2 E[X] behind it (renewal theory).
double refilled_tokens(const TaskWork& work, const Workflow& workflow, const Lengths& response) {
  const double mean = response.mean_tokens();
  const double behind = mean > 0 ? 0.5 * response.mean_square_tokens() / mean : 0.0;
  return cached_prompt_tokens(work, workflow) + behind + 0.5 * work.observed_tokens;
}

// Returns how many sequences the KV cache of a replica holds, that of its fullest stage; infinite without a size.
double sequences_in_cache(const TaskWork& work, const Replica& replica, double tokens) {
  if (work.execution().kv_cache_bytes <= 0) return std::numeric_limits<double>::infinity();
  double sequences = std::numeric_limits<double>::infinity();
  for (const Stage& stage : replica.stages) {
    const double elements =
        tokens * stage.layers * work.model->kv_cache_elements_per_token() / cache_split(work, stage);
    const double state_bytes =
        stage.layers * work.model->sequence_state_bytes() / work.plan->tensor_parallel(stage);
    sequences =
        std::min(sequences, work.execution().kv_cache_bytes / (elements * work.cache_bytes + state_bytes));
  }
  return std::max(1.0, sequences);
}

// Returns the size of the decode batch that the plan allows, out of `sequences`.
double allowed_decode_batch(const TaskWork& work, const Replica& replica, double sequences) {
  if (work.plan->decode_batch_sequences > 0)
    return std::min<double>(work.plan->decode_batch_sequences, sequences);
  if (work.execution().micro_batches <= 0) return sequences;
  return std::max(
      1.0, sequences / micro_batches_of(work, sequences, work.sequence_tokens(), replica.pipeline_parallel()));
}

// Sets the decode batch and the number of batches that are in the pipeline together, and returns the sequences of
// all of them. A token of a sequence needs all stages one after another, so stages are busy all the time only
// with a batch each; the batches share the KV cache. An engine that refills places splits its places into a
// batch for each stage. Otherwise the sequences come in batches of the size that the plan allows, as many at
// once as the cache holds.
double set_decode_batches(const TaskWork& work, const Replica& replica, const Workflow& workflow,
                          const Lengths& response, double sequences, ReplicaWork& share) {
  const double stages = replica.pipeline_parallel();
  const double allowed = allowed_decode_batch(work, replica, sequences);
  if (work.execution().continuous_batching) {
    const double places =
        std::min(allowed, sequences_in_cache(work, replica, refilled_tokens(work, workflow, response)));
    share.decode_batches = std::clamp(places, 1.0, stages);
    share.decode_together = places / share.decode_batches;
    return places;
  }
  const double held = std::min(sequences, sequences_in_cache(work, replica, work.sequence_tokens()));
  share.decode_together = std::min(allowed, held);
  share.decode_batches = std::clamp(held / share.decode_together, 1.0, stages);
  return share.decoding_sequences();
}

// Each round of a batch by itself (rollout.h): n sequences of it here, `all` in all replicas.
void plan_decoding(const TaskWork& work, const Replica& plan, const Workflow& workflow,
                   const RolloutBatch& batch, ReplicaWork& replica) {
  const Execution& execution = work.execution();
  const double rounds = batch.rounds, all = workflow.sequences() * batch.generated / rounds;
  const double n = replica.sequences * batch.generated / rounds;
  const bool never_drains = work.batches_under_way > 0;
  const bool refills =
      never_drains || (workflow.rollout.unfinished == Unfinished::resumed && batch.unfinished() > 0);
  const double ahead = never_drains ? work.batches_under_way : 1.0;
  const double in_flight = refills ? std::max(n * ahead, replica.sequences * batch.started) : n;
  const Lengths& response = batch.response_tokens(workflow);
  const double at_once = set_decode_batches(work, plan, workflow, response, in_flight, replica);
  const double c = replica.decode_together;
  const double waves = std::max(1.0, n / c);
  if (!execution.packed && !execution.continuous_batching) {
    replica.decode_steps = rounds * response.max_tokens() * waves;
    replica.decode_tokens = rounds * response.max_tokens() * n;
    replica.decode_context_tokens =
        rounds * n * response.max_tokens() *
        (work.prompt_tokens + 0.5 * (response.max_tokens() + 1.0 + work.observed_tokens));
    replica.cached_tokens = at_once * work.sequence_tokens();
    return;
  }
  const double mean = response.mean_tokens();
  if (refills) {
    replica.decode_steps = rounds * n * mean / c;
  } else if (execution.continuous_batching) {
    // The last places drain with their longest response; the longest of all takes its time wherever it is.
    const double last = response.longest_of(std::max(1.0, at_once * all / n));
    const double tokens_in_turn =
        std::max((n - at_once) * mean / at_once + last, response.longest_of(std::max(1.0, all)));
    replica.decode_steps = rounds * replica.decode_batches * tokens_in_turn;
  } else {
    const double last = response.longest_of(std::max(1.0, c * all / n));
    replica.decode_steps = rounds * ((waves - 1) * response.longest_of(std::max(1.0, c)) + last);
  }
  replica.decode_tokens = rounds * n * mean;
  replica.decode_context_tokens =
      rounds * n *
      ((work.prompt_tokens + 0.5 * work.observed_tokens) * mean + 0.5 * (response.mean_square_tokens() + mean));
  const bool is_refilled = execution.continuous_batching && (n > at_once || refills);
  replica.cached_tokens =
      at_once * (is_refilled ? refilled_tokens(work, workflow, response)
                             : response.max_live(cached_prompt_tokens(work, workflow) + work.observed_tokens));
}

// Tokens of a sequence that pass through the layers at the start of its further turns: what the tools returned,
// and where no prefix cache has kept it all that came before.
double returning_tokens(const TaskWork& work) {
  if (work.turns <= 1) return 0;
  if (work.execution().shared_prompts) return work.observed_tokens;
  const double of_turn = work.response_tokens / work.turns + work.observed_tokens / (work.turns - 1.0);
  return (work.turns - 1.0) * (work.prompt_tokens + 0.5 * work.turns * of_turn);
}

// Sequences that new weights stop, or the end of a batch: what they have passes the layers again.
double stopped_sequences(const TaskWork& work, const Workflow& workflow, const RolloutBatch& batch,
                         const ReplicaWork& replica) {
  if (workflow.rollout.is_interrupted && work.batches_under_way > 0) return replica.decoding_sequences();
  const bool is_resumed = workflow.rollout.unfinished == Unfinished::resumed;
  return is_resumed ? std::min(replica.decoding_sequences(), replica.sequences * batch.unfinished()) : 0;
}

void plan_prefill(const TaskWork& work, const Workflow& workflow, const RolloutBatch& batch,
                  ReplicaWork& replica) {
  const Execution& execution = work.execution();
  const double generated = replica.sequences * batch.generated;
  replica.prefill_sequences = generated;
  if (execution.shared_prompts) {
    replica.prefill_sequences = std::max(1.0, generated / workflow.responses_per_prompt);
  }
  if (work.turns > 1) replica.prefill_sequences += generated * returning_tokens(work) / work.prompt_tokens;
  if (work.prompt_tokens > 0)
    replica.prefill_sequences += stopped_sequences(work, workflow, batch, replica) *
                                 refilled_tokens(work, workflow, batch.response_tokens(workflow)) /
                                 work.prompt_tokens;
  if (execution.prefill_chunk_tokens > 0) {
    const double tokens = replica.prefill_sequences * work.prompt_tokens;
    replica.prefill_passes = std::max(1.0, std::ceil(tokens / execution.prefill_chunk_tokens));
  } else {
    replica.prefill_passes = replica.micro_batches;
  }
}

// An engine with a chunk size has no micro-batches: whatever the plan says about them, layers are passed a
// chunk at a time.
void pass_in_chunks(ReplicaWork& replica) {
  replica.micro_batches = replica.prefill_passes;
  replica.micro_batch_sequences = replica.sequences / replica.prefill_passes;
  replica.largest_micro_batch_sequences = std::ceil(replica.micro_batch_sequences);
}

// The shares of each replica of a task.
struct Shares {
  std::vector<int> sequences;
  std::vector<SequenceRange> ranges;              // in the batch by length; none where it is not dealt so
  const SortedLengths* sorted = nullptr;          // where there are ranges
  std::shared_ptr<const SortedLengths> computed;  // for this look alone
};

Shares shares_of(const TaskPlan& plan, const Workflow& workflow, const SortedLengths* sorted) {
  Shares shares{replica_sequences(plan, workflow.sequences()), {}, sorted, nullptr};
  if (!deals_by_length(plan)) return shares;
  shares.ranges = length_ranges(plan, shares.sequences);
  if (sorted == nullptr) {
    shares.computed = std::make_shared<const SortedLengths>(workflow);
    shares.sorted = shares.computed.get();
  }
  return shares;
}

bool pads_to_longest(const TaskWork& work) {
  return work.kind() != TaskKind::generation && work.execution().pads_to_longest();
}

// Sequences of a micro-batch that is filled up to its budget of tokens and padded to its longest sequence.
double filled_and_padded(const TaskWork& work, const Workflow& workflow, double sequences) {
  const double budget = token_budget(work);
  double low = 1, high = std::max(1.0, sequences);
  if (high * longest_among(workflow, high).all() <= budget) return high;
  constexpr int kHalvings = 16;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (middle * longest_among(workflow, middle).all() <= budget ? low : high) = middle;
  }
  return low;
}

// Sequences that are padded together: those of a replica, or those of a micro-batch, of which there are
// `in_mini_batch` at most.
double padded_together(const TaskWork& work, const Workflow& workflow, double sequences, double in_mini_batch) {
  const Execution& execution = work.execution();
  if (execution.padding != Padding::micro_batch) return sequences;
  if (execution.micro_batches > 0) return std::max(1.0, in_mini_batch / execution.micro_batches);
  if (execution.micro_batch_tokens > 0) return filled_and_padded(work, workflow, in_mini_batch);
  return in_mini_batch / std::ceil(in_mini_batch / work.plan->micro_batch_sequences);
}

// Attention is quadratic in the padded length. A batch of one sequence is not padded: then it is as in packed
// batches, whose root mean square is a lower bound for all.
double padded_attention_tokens(const Workflow& workflow, double padded) {
  const Lengths &prompt = workflow.prompt_tokens, &response = workflow.response_tokens;
  const double mean = prompt.mean_tokens(),
               observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const double square = prompt.mean_square_tokens() + 2 * mean * response.mean_tokens() +
                        response.mean_square_tokens() +
                        observed * (2 * (mean + response.mean_tokens()) + observed);
  return std::max(padded, std::sqrt(square));
}

// A replica that gets sequences by length pads to the longest of its range.
void pad_to_longest_of_range(const SortedLengths& sorted, const SequenceRange& range, double longest,
                             ReplicaWork& replica) {
  const double of_range = std::min(longest, sorted.longest(range.last));
  replica.sequence_tokens = std::max(of_range, sorted.mean_tokens(range.first, range.last));
  replica.attention_tokens =
      std::max(replica.sequence_tokens, std::sqrt(sorted.mean_square_tokens(range.first, range.last)));
  replica.slowest_tokens = replica.sequence_tokens;
  replica.memory_tokens = of_range;
}

void pad_to_longest(const TaskWork& work, const Workflow& workflow, const Shares& shares, std::size_t number,
                    ReplicaWork& replica) {
  if (!shares.ranges.empty()) {
    pad_to_longest_of_range(*shares.sorted, shares.ranges[number], longest_of_iteration(workflow), replica);
    return;
  }
  const double together =
      padded_together(work, workflow, replica.sequences, replica.sequences / work.mini_batches);
  replica.sequence_tokens = longest_among(workflow, together).all();
  replica.slowest_tokens = longest_among(workflow, together * workflow.sequences() / replica.sequences).all();
  replica.memory_tokens = longest_of_iteration(workflow);
  replica.attention_tokens = padded_attention_tokens(workflow, replica.sequence_tokens);
}

void set_own_lengths(const TaskWork& work, const Workflow& workflow, const Shares& shares, std::size_t number,
                     ReplicaWork& replica) {
  if (pads_to_longest(work)) {
    pad_to_longest(work, workflow, shares, number, replica);
    return;
  }
  replica.sequence_tokens = replica.memory_tokens = replica.slowest_tokens = work.sequence_tokens();
  replica.attention_tokens = work.attention_tokens;
  if (shares.ranges.empty()) return;
  const SequenceRange& range = shares.ranges[number];
  if (work.execution().packed) {
    replica.sequence_tokens = shares.sorted->mean_tokens(range.first, range.last);
    replica.attention_tokens = std::sqrt(shares.sorted->mean_square_tokens(range.first, range.last));
  } else {
    replica.sequence_tokens = replica.attention_tokens = shares.sorted->longest(range.last);
  }
  replica.memory_tokens = replica.slowest_tokens = replica.sequence_tokens;
}

ReplicaWork replica_work(const TaskWork& work, const Replica& plan, const Workflow& workflow,
                         const Shares& shares, std::size_t number) {
  ReplicaWork replica;
  replica.sequences = shares.sequences[number];
  set_own_lengths(work, workflow, shares, number, replica);
  const double in_mini_batch = replica.sequences / work.mini_batches;
  replica.micro_batches = work.mini_batches * micro_batches_of(work, in_mini_batch, replica.sequence_tokens,
                                                               plan.pipeline_parallel());
  replica.flushes = work.mini_batches * flushes_of(work);
  replica.micro_batch_sequences = replica.sequences / replica.micro_batches;
  replica.mini_batch_sequences = std::ceil(in_mini_batch);
  replica.largest_micro_batch_sequences =
      largest_micro_batch(work, replica.mini_batch_sequences, replica.memory_tokens, plan.pipeline_parallel());
  if (work.kind() == TaskKind::generation) {
    const RolloutBatch batch = rollout_batch(workflow);
    plan_decoding(work, plan, workflow, batch, replica);
    plan_prefill(work, workflow, batch, replica);
    if (work.execution().prefill_chunk_tokens > 0) pass_in_chunks(replica);
  }
  return replica;
}

void set_lengths(const Workflow& workflow, TaskWork& work) {
  const Lengths& prompt = workflow.prompt_tokens;
  const Lengths& response = workflow.response_tokens;
  work.observed_tokens = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  if (pads_to_longest(work)) {
    const double sequences = static_cast<double>(workflow.sequences()) / work.plan->data_parallel();
    const PaddedLengths padded =
        longest_among(workflow, padded_together(work, workflow, sequences, sequences / work.mini_batches));
    work.prompt_tokens = work.prompt_attention_tokens = padded.prompt;
    work.response_tokens = padded.response;
    work.attention_tokens = padded_attention_tokens(workflow, padded.all());
    return;
  }
  if (!work.execution().packed) {
    work.prompt_tokens = prompt.max_tokens();
    work.response_tokens = response.max_tokens();
    work.attention_tokens = work.sequence_tokens();
    work.prompt_attention_tokens = work.prompt_tokens;
    return;
  }
  work.prompt_tokens = prompt.mean_tokens();
  work.response_tokens = response.mean_tokens();
  const double observed = work.observed_tokens;
  work.attention_tokens = std::sqrt(
      prompt.mean_square_tokens() + 2 * work.prompt_tokens * work.response_tokens +
      response.mean_square_tokens() + observed * (2 * (work.prompt_tokens + work.response_tokens) + observed));
  work.prompt_attention_tokens = std::sqrt(prompt.mean_square_tokens());
}

// The longest chain of a sequence: of n independent sums of t waits with mean m and deviation d about
// t m + sqrt(2 t ln n) d (the largest of n normal numbers), and its reward if it is computed beside generation. And what
// all of them take in the environments, and with the workers of rewards, that there are.
void set_environments(const Workflow& workflow, TaskWork& work) {
  const double waits = workflow.turns - 1;
  const RolloutRules& rollout = workflow.rollout;
  const double reward_s = rollout.has_rewards_beside ? workflow.rule_reward_s_per_sequence : 0;
  if (waits <= 0 && reward_s == 0) return;
  const RolloutBatch batch = rollout_batch(workflow);
  const double together = std::max(1.0, workflow.sequences() * batch.started);
  work.environment_s =
      batch.rounds *
      (waits * workflow.environment_s_per_turn +
       std::sqrt(2 * waits * std::log(together)) * rollout.environment_deviation_s_per_turn + reward_s);
  const double generated = workflow.sequences() * batch.generated;
  if (rollout.environments > 0)
    work.environments_s = generated * waits * workflow.environment_s_per_turn / rollout.environments;
  work.environments_s = std::max(work.environments_s, generated * reward_s / rollout.reward_workers);
}

void set_precisions(const Workflow& workflow, TaskWork& work) {
  const Execution& execution = work.execution();
  work.precision = execution.precision.value_or(workflow.precision);
  // Eight-bit and narrower formats are for the operands of GEMMs; activations travel in 16 bits.
  work.element_bytes = std::max(bytes_per_element(work.precision), bytes_per_element(Precision::bf16));
  if (bytes_per_element(workflow.precision) > work.element_bytes) {
    work.element_bytes = bytes_per_element(workflow.precision);
  }
  work.weight_bytes = bytes_per_element(execution.weight_precision.value_or(work.precision));
  work.expert_precision = execution.expert_precision.value_or(work.precision);
  const std::optional<Precision> stored_experts =
      execution.expert_weight_precision ? execution.expert_weight_precision : execution.expert_precision;
  work.expert_weight_bytes = stored_experts ? bytes_per_element(*stored_experts) : work.weight_bytes;
  work.cache_bytes = bytes_per_element(execution.cache_precision.value_or(workflow.precision));
  work.gradient_bytes =
      execution.gradient_precision ? bytes_per_element(*execution.gradient_precision) : work.element_bytes;
}

}  // namespace

double expert_width(const Execution& execution, double tensor_parallel) {
  const double inside =
      execution.expert_tensor_parallel > 0 ? execution.expert_tensor_parallel : tensor_parallel;
  return execution.expert_parallel * inside;
}

double expert_share_read(const TaskWork& task, double tensor_parallel, double tokens) {
  const double width = expert_width(task.execution(), tensor_parallel);
  const double touched = task.model->touched_experts(tokens * width / tensor_parallel);
  return touched / (task.model->experts->count * width);
}

double cache_split(const TaskWork& task, const Stage& stage) {
  const double contexts = task.execution().context_parallel;
  if (task.model->latent_attention) return contexts;
  return std::min(task.plan->tensor_parallel(stage), task.model->kv_heads) * contexts;
}

double slice_parameters(const Model& model, int layers, bool is_first, bool is_last) {
  double count = layers * model.layer_parameters();
  if (is_first) count += model.embedding_parameters();
  const bool head_is_embedding = model.tied_embeddings && !model.value_head && is_first;
  if (is_last && !head_is_embedding) count += model.head_parameters();
  return count;
}

namespace {

// Asynchronous generation goes on with the next batches while the last responses of one are still on their way,
// as far as it may work ahead: as many as the workflow says, or as the allowed age of responses. 0: it does not.
double batches_under_way(const TaskWork& work, const Workflow& workflow) {
  const bool never_drains =
      workflow.mode == Mode::asynchronous && workflow.staleness > 0 && work.execution().continuous_batching;
  if (!never_drains) return 0;
  const double stated = workflow.rollout.batches_in_flight;
  if (stated > 0 && stated <= 1) return 0;  // the next batch waits for new weights
  return stated > 0 ? stated : std::max(1.0, workflow.staleness);
}

// The part of the work that does not depend on replicas.
TaskWork work_without_replicas(const Task& task, const TaskPlan& plan, const Workflow& workflow) {
  TaskWork work;
  work.task = &task;
  work.plan = &plan;
  work.model = &workflow.model_of(task);
  work.mini_batches = task.kind == TaskKind::training ? workflow.mini_batches : 1;
  if (task.kind == TaskKind::generation) {
    work.turns = workflow.turns;
    work.batches_under_way = batches_under_way(work, workflow);
    set_environments(workflow, work);
  }
  set_lengths(workflow, work);
  set_precisions(workflow, work);
  return work;
}

// Stages of the same numbers of layers and devices, which may be other ones.
bool have_same_stages(const Replica& a, const Replica& b) {
  return std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const Stage& one, const Stage& other) {
                      return one.layers == other.layers && one.width() == other.width();
                    });
}

}  // namespace

TaskWork work_of_first_replica(const Task& task, const TaskPlan& plan, const Workflow& workflow,
                               const Cluster& cluster, const SortedLengths* sorted) {
  TaskWork work = work_without_replicas(task, plan, workflow);
  const Replica& first = plan.replicas.front();
  const Shares shares = shares_of(plan, workflow, sorted);
  work.replicas.assign(plan.replicas.size(), replica_work(work, first, workflow, shares, 0));
  work.classes = {{0, 1}};
  work.kinds.push_back(device_kinds(first, cluster));
  return work;
}

TaskWork work_of(const Task& task, const TaskPlan& plan, const Workflow& workflow, const Cluster& cluster,
                 const SortedLengths* sorted) {
  TaskWork work = work_without_replicas(task, plan, workflow);
  const Shares shares = shares_of(plan, workflow, sorted);
  for (std::size_t i = 0; i < shares.sequences.size(); ++i) {
    // Uniform plans give the same work to most replicas.
    const bool same = i > 0 && shares.sequences[i] == shares.sequences[i - 1] &&
                      plan.replicas[i].length_rank == plan.replicas[i - 1].length_rank &&
                      have_same_stages(plan.replicas[i], plan.replicas[i - 1]);
    work.replicas.push_back(same ? work.replicas.back()
                                 : replica_work(work, plan.replicas[i], workflow, shares, i));
  }
  work.devices = plan.devices();
  work.classes = replica_classes(plan, work.replicas, cluster);
  for (const ReplicaClass& of_class : work.classes) {
    work.kinds.push_back(device_kinds(plan.replicas[static_cast<std::size_t>(of_class.replica)], cluster));
  }
  const bool sharded_inference = task.kind == TaskKind::inference && plan.execution.zero_stage == 3;
  if (task.kind == TaskKind::training || sharded_inference) {
    set_gradient_groups(plan, cluster, work);
  }
  return work;
}

std::vector<TaskWork> works_of(const Workflow& workflow, const Plan& plan, const Cluster& cluster) {
  std::vector<TaskWork> works;
  for (const Task& task : workflow.tasks) {
    works.push_back(work_of(task, plan.tasks.at(task.name), workflow, cluster));
  }
  return works;
}

double carried_sequences(const TaskWork& generation, const Workflow& workflow) {
  const RolloutBatch batch = rollout_batch(workflow);
  if (generation.batches_under_way == 0)
    return workflow.rollout.unfinished == Unfinished::resumed ? batch.unfinished() / batch.generated : 0;
  double live = 0;
  for (const ReplicaWork& replica : generation.replicas)
    live += replica.live_sequences() * replica.decode_batches;
  return live / (workflow.sequences() * batch.generated);
}

}  // namespace sextant::inline costmodel
