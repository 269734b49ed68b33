#include "calibrate/import/published.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "calibrate/import/measured_iteration.h"
#include "calibrate/import/published_layout.h"
#include "calibrate/import/published_record.h"
#include "core/document.h"
#include "core/error.h"

namespace sextant {
namespace {

// Where a page does not say how long answers are: its training times at two fifths of the GPUs' peak rate
// correspond to 900 to 1600 tokens a sequence. The fit moves it, by what its prior allows.
constexpr double kAssumedResponseTokens = 1200;
constexpr double kResponseDeviation = 0.3;
// The prompts of the mathematical data sets have 82 to 157 tokens in the mean where records state it.
constexpr double kAssumedPromptTokens = 120;

// ---- what is missing ----

// verl divides by these peaks for its MFU; a peak names a class of GPU, of which the usual one is taken.
const char* gpu_of_peak(double tflops) {
  constexpr double kA100 = 312, kH100 = 989, kL20 = 119.5;
  if (tflops == kA100) return "A100";
  if (tflops == kH100) return "H100";
  if (tflops == kL20) return "L20";
  return "";
}

std::string gpu_name(const PublishedRecord& record) {
  if (record.gpu) return *record.gpu;
  return record.peak_tflops ? gpu_of_peak(*record.peak_tflops) : "";
}

// ReaL's base setting says 512 sequences for 16 GPUs, its rule of weak scaling 4096 for 128; with 512 there
// training would run at 3 % of the GPUs' rate. Elsewhere several batches are a page that contradicts its
// recipe.
std::optional<int> sequences_of(const PublishedRecord& record) {
  if (record.sequences) return record.sequences;
  if (record.prompts && record.responses_per_prompt) return *record.prompts * *record.responses_per_prompt;
  if (record.sequence_candidates.empty() || record.framework != "ReaL") return std::nullopt;
  return *std::max_element(record.sequence_candidates.begin(), record.sequence_candidates.end());
}

bool says_plan_is_missing(const PublishedRecord& record) {
  return std::any_of(record.missing.begin(), record.missing.end(),
                     [](const std::string& what) { return what == "plan" || what.starts_with("plan "); });
}

std::string listed(const std::vector<std::string>& things) {
  std::string out;
  for (const std::string& thing : things) out += (out.empty() ? "" : ", ") + thing;
  return out;
}

std::string what_is_missing(const PublishedRecord& record) {
  std::vector<std::string> missing;
  if (gpu_name(record).empty()) missing.emplace_back("the GPU");
  if (!record.gpus) missing.emplace_back("the number of GPUs");
  if (!record.models.contains("actor")) missing.emplace_back("the model");
  if (!sequences_of(record)) {
    missing.emplace_back(record.sequence_candidates.empty() ? "the batch" : "which of two batches");
  }
  if (says_plan_is_missing(record) || !has_training_layout(record)) missing.emplace_back("the plan");
  if (!record.iteration_s && record.tasks_s.empty()) missing.emplace_back("the time of an iteration");
  return missing.empty() ? "" : "not stated: " + listed(missing);
}

std::string unknown_fact(const PublishedRecord& record, const Facts& facts) {
  if (const std::string gpu = gpu_name(record); !gpu.empty() && !facts.has_gpu(gpu)) {
    return facts.why_no_gpu(gpu);
  }
  for (const auto& [role, model] : record.models) {
    if (!facts.has_model(model)) return facts.why_no_model(model);
  }
  return "";
}

bool starts_with_times(const std::vector<double>& times, const std::vector<double>& beginning) {
  return !beginning.empty() && times.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), times.begin());
}

// A table that averages another window of one run prints the same wall times for its first steps.
std::string same_run(const PublishedRecord& record, const std::vector<PublishedRecord>& records) {
  for (const PublishedRecord& earlier : records) {
    if (&earlier == &record) return "";
    if (starts_with_times(earlier.cumulative_s, record.cumulative_s)) return earlier.id;
  }
  return "";
}

std::string reason_against(const PublishedRecord& record, const std::vector<PublishedRecord>& records,
                           const Facts& facts) {
  if (!record.repeated_in.empty()) return "the whole log of this run is in " + record.repeated_in;
  if (std::string reason = unknown_fact(record, facts); !reason.empty()) return reason;
  if (std::string reason = what_is_missing(record); !reason.empty()) return reason;
  if (record.synchrony == "async" && record.staleness_threshold == 0.0) {
    return "it streams samples into training within one iteration, which no mode of a workflow does";
  }
  if (const std::string other = same_run(record, records); !other.empty()) {
    return "the same run as " + other + ": their wall times after the same steps are equal";
  }
  return "";
}

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

// NeMo RL's trajectories may be one step old (max_trajectory_age_steps: 1), but its recipes for performance keep
// generating through weight updates (grpo.async_grpo.in_flight_weight_updates: true, for instance in
// examples/configs/recipes/llm/performance/grpo-qwen3-235b-32n8g-async-1off.yaml of NVIDIA-NeMo/RL): no batch is
// waited for, as verl's one-step-off trainer does.
Mode mode_of(const PublishedRecord& record) {
  if (record.synchrony == "sync") return Mode::synchronous;
  if (record.synchrony == "one_step_off" && record.framework.starts_with("NeMo RL")) return Mode::asynchronous;
  if (record.synchrony == "one_step_off") return Mode::one_step_off;
  if (record.synchrony == "async") return Mode::asynchronous;
  throw_bad_input("record \"" + record.id + "\": unknown synchrony \"" + record.synchrony + "\"");
}

// A threshold is a share of a batch that may be older by one iteration.
int staleness_of(const PublishedRecord& record, Mode mode) {
  if (mode == Mode::synchronous) return 0;
  if (mode == Mode::one_step_off) return 1;
  const double stated = std::max(record.staleness_steps.value_or(0), record.staleness_threshold.value_or(0));
  constexpr double kMost = 1000;
  return static_cast<int>(std::clamp(std::ceil(stated), 1.0, kMost));
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
  iteration.response_tokens = lengths_with_mean(response, kUsualSigma, longest_response(record, prompt));
  if (!record.response_tokens_mean) assume_response(record, iteration);
  add_note(
      iteration.notes, "left unsaid",
      "The distribution of response lengths: log-normal, deviation of the logarithm 0.6, cut at the limit.");
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

// ---- times ----

// The timer of an entry of tasks_s as Run::tasks names it; empty for what is not the time of a task.
std::string timer_name(const std::string& entry, const PublishedRecord& record) {
  const bool is_synchronous = mode_of(record) == Mode::synchronous;
  // verl up to 0.7: the engine wakes up and takes the weights inside the timer of generation.
  const bool syncs_inside = record.framework.starts_with("verl") && is_synchronous;
  if (entry == "actor_gen") return syncs_inside ? "actor_generation+weight_sync" : "actor_generation";
  // A part of actor_gen, the mean over workers, which is all there is where generation runs beside training.
  if (entry == "generate_sequences") return is_synchronous ? "" : "actor_generation";
  if (entry == "old_logp_inf") return kOldLogProb;
  if (entry == "ref_inf") return task_names::kReferenceInference;
  if (entry == "reward_inf") return record.models.contains("reward") ? task_names::kRewardInference : "";
  if (entry == "critic_inf") return task_names::kCriticInference;
  if (entry == "actor_train") return task_names::kActorTraining;
  if (entry == "critic_train") return task_names::kCriticTraining;
  if (entry == "weight_sync") return kWeightSync;
  if (entry == "logprob_inf" || entry == "policy_and_ref_forward") return "old_log_prob+reference_inference";
  if (entry == "training") return "actor_training+critic_training";
  if (entry == "actor_gen_and_inference") {
    return "actor_generation+reward_inference+old_log_prob+reference_inference+critic_inference";
  }
  return "";
}

// What a trainer that does not wait for generation does comes one after another, so its parts cannot be more
// than the whole. 3 %: as far as the phases of synchronous logs miss their step.
bool trainer_contradicts(const PublishedRecord& record) {
  if (mode_of(record) == Mode::synchronous || !record.iteration_s) return false;
  double sum_s = 0;
  for (const auto& [entry, time_s] : record.tasks_s) {
    if (entry != "generate_sequences") sum_s += time_s;
  }
  constexpr double kTolerance = 0.03;
  return sum_s > (1 + kTolerance) * *record.iteration_s;
}

// A time that one source prints for one layout and workload in several rows was measured once.
class Repetitions {
 public:
  // Whether the time was there before; from now on it is.
  bool take(const PublishedRecord& record, const std::string& entry, double time_s) {
    const auto layout = record.plan.find(entry);
    if (layout == record.plan.end()) return false;
    const std::string source = record.source.substr(0, record.source.find(','));
    return !seen_
                .insert(source + "\n" + entry + "\n" + layout->second.text + "\n" + record.workload_text +
                        "\n" + Json(time_s).dump())
                .second;
  }

 private:
  std::set<std::string> seen_;
};

void set_task_times(const PublishedRecord& record, Repetitions& repetitions, MeasuredIteration& iteration) {
  if (trainer_contradicts(record)) {
    add_note(iteration.notes, "dropped",
             "The times of tasks, because the trainer's parts sum to more than its iteration.");
    return;
  }
  for (const auto& [entry, time_s] : record.tasks_s) {
    const std::string timer = timer_name(entry, record);
    if (timer.empty()) {
      add_note(iteration.notes, "other times", entry + " " + Json(time_s).dump() + " s.");
    } else if (repetitions.take(record, entry, time_s)) {
      add_note(iteration.notes, "dropped", "The time of " + timer + ": printed for another row before.");
    } else {
      iteration.timers[timer] = {time_s};
    }
  }
}

// Samples take the place of their mean.
void set_samples(const PublishedRecord& record, MeasuredIteration& iteration) {
  if (record.iteration_s) iteration.iteration_s = {*record.iteration_s};
  std::vector<double> iterations;
  std::map<std::string, std::vector<double>> timers;
  for (const PublishedSample& sample : record.samples) {
    if (sample.iteration_s) iterations.push_back(*sample.iteration_s);
    for (const auto& [entry, time_s] : sample.tasks_s) {
      if (const std::string timer = timer_name(entry, record); !timer.empty()) timers[timer].push_back(time_s);
    }
  }
  if (!iterations.empty()) iteration.iteration_s = iterations;
  for (auto& [timer, samples] : timers) {
    if (iteration.timers.contains(timer)) iteration.timers[timer] = samples;
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
    try {
      const Json json = parse_json(text);
      add_records(JsonView(json), facts, imported);
    } catch (const Error& error) {
      throw Error(error.kind(), file.string() + ": " + error.what());
    }
  }
  return imported;
}

}  // namespace sextant
