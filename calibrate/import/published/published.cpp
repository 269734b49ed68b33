#include "calibrate/import/published/published.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/import/published/published_framework.h"
#include "calibrate/import/published/published_layout.h"
#include "calibrate/import/published/published_reasons.h"
#include "calibrate/import/published/published_record.h"
#include "calibrate/import/published/published_times.h"
#include "calibrate/import/records/in_file.h"
#include "calibrate/import/records/measured_iteration.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// The mean response length if a page does not state it: its training times at two fifths of the GPUs' peak rate
// correspond to 900 to 1600 tokens per sequence. The fit moves the value within its prior.
constexpr double kAssumedResponseTokens = 1200;
constexpr double kResponseDeviation = 0.3;
// The prompts of the mathematical data sets have 82 to 157 tokens in the mean where records state it.
constexpr double kAssumedPromptTokens = 120;

// ---- framework ----

struct NamedFramework {
  std::string_view prefix;  // of the record's framework
  const char* name;
};

constexpr std::array<NamedFramework, 12> kFrameworks{{
    {"ReaL", "real"},
    {"NeMo RL", "nemo-rl"},
    {"NeMo-Aligner", "nemo-aligner"},
    {"RLinf", "rlinf"},
    {"OpenRLHF", "openrlhf"},
    {"DeepSpeed-Chat", "deepspeed-chat"},
    {"DSChat", "deepspeed-chat"},
    {"AReaL-Hex", "areal-hex"},
    {"AReaL", "areal"},
    {"SkyRL", "skyrl"},
    {"miles", "miles"},
    {"WEAVE", "weave"},
}};

// verl of 2024 and of the first half of 2025, whose engine is the first generation of vLLM.
bool has_first_engine(std::string_view framework) {
  return framework.ends_with("2024)") || framework.ends_with("July 2025)");
}

std::string framework_of(const PublishedRecord& record) {
  if (record.framework.starts_with("verl")) {
    const std::string trainer = shards_whole_model(record) ? "verl-fsdp" : "verl-megatron";
    return trainer + (has_first_engine(record.framework) ? kFirstEngine : "");
  }
  for (const NamedFramework& known : kFrameworks) {
    if (record.framework.starts_with(known.prefix)) return known.name;
  }
  throw_bad_input("record \"" + record.id + "\": unknown framework \"" + record.framework + "\"");
}

// ---- workload ----

// NeMo RL's trajectories may be one step old (max_trajectory_age_steps: 1), but its recipes for performance
// keep generating through weight updates (grpo.async_grpo.in_flight_weight_updates: true, for instance in
// examples/configs/recipes/llm/performance/grpo-qwen3-235b-32n8g-async-1off.yaml of NVIDIA-NeMo/RL): no batch
// is waited for, as verl's one-step-off trainer does.
Mode mode_of(const PublishedRecord& record) {
  if (record.synchrony == "sync") return Mode::synchronous;
  if (record.synchrony == "one_step_off" && record.framework.starts_with("NeMo RL")) return Mode::asynchronous;
  if (record.synchrony == "one_step_off") return Mode::one_step_off;
  if (record.synchrony == "async") return Mode::asynchronous;
  throw_bad_input("record \"" + record.id + "\": unknown synchrony \"" + record.synchrony + "\"");
}

// Steps that a batch may be old, or the share of a batch (threshold) that may be older by one. The age of a
// trajectory that nobody states is one.
double staleness_of(const PublishedRecord& record, Mode mode) {
  if (mode == Mode::synchronous) return 0;
  if (mode == Mode::one_step_off) return 1;
  if (record.staleness_threshold) return *record.staleness_threshold;
  constexpr double kMaximum = 1000;
  return std::clamp(record.staleness_steps.value_or(1), 1.0, kMaximum);
}

// verl's fully asynchronous trainer takes require_batches mini-batches at once, and syncs weights after
// trigger_parameter_sync_step of these: what its records call a step (docs/advance/fully_async.md of
// volcengine/verl).
int streamed_parts_of(const PublishedRecord& record, Mode mode) {
  if (mode != Mode::asynchronous) return 1;
  if (record.parts_of_step) return *record.parts_of_step;
  if (!record.required_mini_batches || !record.prompts || !record.minibatch_prompts) return 1;
  return std::max(1, *record.prompts / (*record.required_mini_batches * *record.minibatch_prompts));
}

// If generation has separate GPUs, verl and NeMo RL (from 0.4 on, in packs of tensors) join them with the
// trainers in one NCCL group and send every tensor whole around it (verl/experimental/one_step_off_policy and
// fully_async_policy of volcengine/verl; nemo_rl/utils/packed_tensor.py of NVIDIA-NeMo/RL); OpenRLHF joins its
// first trainer with the engines.
WeightSyncMethod weight_sync_of(const PublishedRecord& record) {
  const bool broadcasts = is_verl(record) || is_nemo_rl(record) || record.framework.starts_with("OpenRLHF");
  return broadcasts ? WeightSyncMethod::broadcast : WeightSyncMethod::shortest;
}

void set_batch(const PublishedRecord& record, MeasuredIteration& iteration) {
  const int sequences = *sequences_of(record);
  if (record.prompts && record.responses_per_prompt &&
      *record.prompts * *record.responses_per_prompt == sequences) {
    iteration.prompts = *record.prompts;
    iteration.responses_per_prompt = *record.responses_per_prompt;
  } else {
    iteration.prompts = sequences;
    add_note(iteration.notes, "left unsaid",
             "Responses per prompt: every sequence has a prompt of its own here.");
  }
  if (!record.sequence_candidates.empty()) {
    add_note(iteration.notes, "left unsaid",
             "Which of two batches: the one of the weak-scaling rule, " + std::to_string(sequences) + ".");
  }
  iteration.mini_batches = record.minibatches.value_or(1);
  if (record.minibatches) return;
  if (record.prompts && record.minibatch_prompts) {
    iteration.mini_batches = std::max(1, *record.prompts / *record.minibatch_prompts);
  } else {
    add_note(iteration.notes, "left unsaid", "Mini-batches: one.");
  }
}

double longest_response(const PublishedRecord& record, double prompt_tokens) {
  if (record.max_response_tokens) return *record.max_response_tokens;
  if (record.max_total_tokens) return *record.max_total_tokens - prompt_tokens;
  constexpr double kTimesTheMean = 8;
  return kTimesTheMean * record.response_tokens_mean.value_or(kAssumedResponseTokens);
}

// Answers' limit is set where some run into it: at least the longest of the batch does, which takes wider
// lengths the farther the limit is from the mean.
Lengths response_lengths(const PublishedRecord& record, double mean, double longest) {
  Lengths usual = lengths_with_mean(mean, kUsualSigma, longest);
  if (!record.max_response_tokens && !record.max_total_tokens) return usual;
  constexpr double kAtTheLimit = 0.95;
  const double sequences = *sequences_of(record);
  if (usual.longest_of(sequences) >= kAtTheLimit * longest) return usual;
  return lengths_with_longest(mean, kAtTheLimit * longest, sequences, longest);
}

void assume_response(const PublishedRecord& record, MeasuredIteration& iteration) {
  const std::string data = record.dataset.empty() ? "" : ", " + record.dataset;
  const std::string group = record.models.at("actor") + data + ", at most " +
                            std::to_string(std::lround(longest_response(record, kAssumedPromptTokens)));
  iteration.unstated.push_back({UnstatedQuantity::response_tokens, group, kResponseDeviation});
  add_note(iteration.notes, "left unsaid", "The mean response length: 1200 tokens to begin with.");
}

void set_lengths(const PublishedRecord& record, MeasuredIteration& iteration) {
  if (record.prompt_tokens && record.response_tokens) {
    iteration.prompt_tokens = fixed_length(*record.prompt_tokens);
    iteration.response_tokens = fixed_length(*record.response_tokens);
    return;
  }
  if (record.has_totals_only()) {
    const double mean = *record.total_tokens_mean;
    iteration.prompt_tokens = lengths_with_mean(mean, kUsualSigma, record.max_total_tokens.value_or(4 * mean));
    iteration.response_tokens = fixed_length(0);
    add_note(iteration.notes, "left unsaid", "How much of a sequence is prompt: it is taken whole.");
    return;
  }
  const double prompt = record.prompt_tokens_mean.value_or(kAssumedPromptTokens);
  if (!record.prompt_tokens_mean) {
    add_note(iteration.notes, "left unsaid",
             "The mean prompt length: 120 tokens, as mathematical data sets have.");
  }
  iteration.prompt_tokens = record.max_prompt_tokens
                                ? lengths_with_mean(prompt, kUsualSigma, *record.max_prompt_tokens)
                                : fixed_length(prompt);
  const double response = record.response_tokens_mean.value_or(kAssumedResponseTokens);
  iteration.response_tokens = response_lengths(record, response, longest_response(record, prompt));
  if (!record.response_tokens_mean) assume_response(record, iteration);
  add_note(
      iteration.notes, "left unsaid",
      "The distribution of response lengths: log-normal, deviation of the logarithm 0.6 or so much that the "
      "longest of a batch is at the limit, cut there.");
}

void set_recompute(const PublishedRecord& record, MeasuredIteration& iteration) {
  if (!record.partial_recompute.empty()) {
    add_note(iteration.notes, "remarks",
             "Activations of " + record.partial_recompute + " are computed again; taken as all of them.");
  } else if (!record.recompute) {
    constexpr double kDeviation = 0.5;
    iteration.unstated.push_back({UnstatedQuantity::recompute, iteration.framework, kDeviation});
    add_note(iteration.notes, "left unsaid", "Whether activations are computed again.");
  }
}

// ---- runs ----

void set_notes(const PublishedRecord& record, MeasuredIteration& iteration) {
  iteration.notes["source"] = record.source;
  iteration.notes["grade"] = record.grade;
  iteration.notes["model"] = record.models.at("actor");
  iteration.notes["gpu"] = gpu_name(record);
  iteration.notes["version"] = record.framework;
  if (!record.remarks.empty()) add_note(iteration.notes, "remarks", record.remarks);
  if (!record.missing.empty())
    add_note(iteration.notes, "left unsaid", "By the record: " + listed(record.missing) + ".");
  if (!record.gpu) {
    add_note(iteration.notes, "left unsaid",
             "The GPU: of the class by which its framework divides for the MFU.");
  }
  add_note(iteration.notes, "left unsaid", "The spread.");
}

// Without layouts and times.
MeasuredIteration iteration_of(const PublishedRecord& record, const Facts& facts) {
  MeasuredIteration iteration;
  iteration.name = record.id;
  iteration.framework = framework_of(record);
  iteration.gpu = facts.gpu(gpu_name(record));
  iteration.gpus = *record.gpus;
  iteration.gpus_per_node = record.gpus_per_node.value_or(0);
  for (const auto& [role, model] : record.models) iteration.models[role] = facts.model(model);
  iteration.mode = mode_of(record);
  iteration.staleness = staleness_of(record, iteration.mode);
  iteration.streamed_parts = streamed_parts_of(record, iteration.mode);
  iteration.weight_sync = weight_sync_of(record);
  set_notes(record, iteration);
  set_batch(record, iteration);
  set_lengths(record, iteration);
  set_recompute(record, iteration);
  return iteration;
}

void add_record(const PublishedRecord& record, const Facts& facts, Repetitions& repetitions,
                Imported& imported) {
  MeasuredIteration iteration = iteration_of(record, facts);
  if (const std::string reason = set_layouts(record, iteration); !reason.empty()) {
    imported.left_out.push_back({record.id, reason});
    return;
  }
  set_task_times(record, repetitions, iteration);
  set_samples(record, iteration);
  add_measured_iteration(imported, std::move(iteration));
}

void add_records(const JsonView& view, const Facts& facts, Imported& imported) {
  const std::vector<PublishedRecord> records = parse_published_records(view);
  Repetitions repetitions;
  for (const PublishedRecord& record : records) {
    if (const std::string reason = reason_against(record, records, facts); !reason.empty()) {
      imported.left_out.push_back({record.id, reason});
    } else {
      add_record(record, facts, repetitions, imported);
    }
  }
}

}  // namespace

Imported read_published(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  Imported imported;
  for (const std::filesystem::path& file : files) {
    const std::string text = read_text_file(file);
    in_file(file, [&] {
      const Json json = parse_json(text);
      add_records(JsonView(json), facts, imported);
    });
  }
  return imported;
}

}  // namespace sextant
