#include "calibrate/import/verl.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "calibrate/import/measured_iteration.h"
#include "calibrate/import/verl_log.h"
#include "calibrate/import/verl_setup.h"
#include "core/document.h"
#include "core/error.h"
#include "core/statistics.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// A log with all that is known about it.
struct Source {
  std::string name;  // of its runs
  VerlLog log;       // its configuration is in `config`
  std::map<std::string, Json> config;
  std::string gpu;  // empty: not stated
  std::optional<int> gpus;
  int gpus_per_node = 0;  // 0: not stated
  bool has_first_engine = false;
  std::map<std::string, std::string> notes;
};

constexpr int kMostGpus = 65536;  // a slip of the pen must not fill the memory

// ---- side file ----

void take_hardware(const JsonView& view, Source& source) {
  if (const auto gpu = view.optional("gpu")) source.gpu = gpu->text();
  if (const auto gpus = view.optional("gpus"); gpus && !gpus->json().is_null()) {
    source.gpus = static_cast<int>(gpus->integer(1, kMostGpus));
  }
  if (const auto per_node = view.optional("gpus_per_node")) {
    source.gpus_per_node = static_cast<int>(per_node->integer(1, kMostGpus));
  }
}

void read_setup(const fs::path& file, Source& source) {
  const std::string text = read_text_file(file);
  within(file.string(), [&] {
    const Json json = parse_json(text);
    const JsonView view(json);
    view.allow_only({"gpu", "gpus", "gpus_per_node", "source", "config"});
    take_hardware(view, source);
    if (const auto cited = view.optional("source")) source.notes["source"] = cited->text();
    if (const auto config = view.optional("config")) flatten_config(config->json(), "", source.config);
  });
}

// ---- collections of numbers ----

// A value may be null: the step has none.
void take_value(const JsonView& value, const std::string& key, VerlStep& step) {
  if (!value.json().is_null()) step.metrics[key] = value.number();
}

// {"step": [1, 2], "timing_s/gen": [16.2, null]}
void parse_columns(const JsonView& view, VerlLog& log) {
  for (const JsonView& number : view.required("step").items()) log.steps.push_back({number.count(), false, {}});
  for (const auto& [key, column] : view.members()) {
    if (key == "step") continue;
    const std::vector<JsonView> values = column.items();
    if (values.size() != log.steps.size()) column.fail("expected a value for each step");
    for (std::size_t i = 0; i < values.size(); ++i) take_value(values[i], key, log.steps[i]);
  }
}

// [{"step": 1, "metrics": {"timing_s/gen": 16.2}}]
void parse_rows(const JsonView& view, VerlLog& log) {
  for (const JsonView& row : view.items()) {
    row.allow_only({"step", "metrics"});
    VerlStep step{row.required("step").count(), false, {}};
    for (const auto& [key, value] : row.required("metrics").members()) take_value(value, key, step);
    log.steps.push_back(std::move(step));
  }
}

void parse_steps(const JsonView& view, VerlLog& log) {
  view.json().is_array() ? parse_rows(view, log) : parse_columns(view, log);
  // An excerpt does not begin where the process did.
  if (!log.steps.empty() && log.steps.front().number <= 1) log.steps.front().is_first_of_process = true;
}

// verl 0.1 to 0.4 drive the first generation of vLLM.
bool is_before_05(std::string_view version) {
  return version.starts_with("0.") && version.size() > 2 && version[2] >= '1' && version[2] <= '4';
}

void take_texts(const JsonView& view, const std::string& note, Source& source) {
  for (const auto& [key, value] : view.members()) {
    if (value.json().is_string()) add_note(source.notes, note, key + ": " + value.text() + ".");
  }
}

Source parse_collection(const JsonView& view, const std::string& name) {
  view.allow_only({"kind", "framework", "source", "hardware", "config_stated", "config_inferred", "semantics",
                   "steps_in_log", "summary_after_first_step", "per_step", "per_step_first_120", "derived",
                   "precision_of_values", "runs", "rows", "tables"});
  Source source;
  source.name = name;
  take_texts(view.required("source"), "source", source);
  if (const auto framework = view.optional("framework")) {
    take_texts(*framework, "version", source);
    if (const auto version = framework->optional("version"))
      source.has_first_engine = is_before_05(version->text());
  }
  if (const auto semantics = view.optional("semantics")) take_texts(*semantics, "remarks", source);
  const JsonView hardware = view.required("hardware");
  take_hardware(hardware, source);
  if (const auto how = hardware.optional("gpu_is")) source.notes["gpu is"] = how->text();
  if (const auto config = view.optional("config_stated")) flatten_config(config->json(), "", source.config);
  for (const std::string_view member : {"per_step", "per_step_first_120"}) {
    if (const auto steps = view.optional(member)) parse_steps(*steps, source.log);
  }
  return source;
}

Source read_source(const fs::path& file) {
  const std::string text = read_text_file(file);
  const std::string name = file.stem().string();
  if (file.extension() == ".json") {
    return within(file.string(), [&] {
      const Json json = parse_json(text);
      return parse_collection(JsonView(json), name);
    });
  }
  Source source;
  source.name = name;
  source.log = file.extension() == ".jsonl" ? parse_verl_jsonl(text) : parse_verl_console(text);
  source.config = source.log.config;
  const fs::path setup = file.string() + ".setup.json";
  if (fs::exists(setup)) read_setup(setup, source);
  return source;
}

// ---- timers ----

const std::string kSeconds = "timing_s/";

bool any_step_has(const std::vector<VerlStep>& steps, const std::string& key) {
  return std::any_of(steps.begin(), steps.end(), [&key](const VerlStep& step) { return step.has(key); });
}

// What only the asynchronous trainers print. Their `gen` is a wait.
bool is_asynchronous(const std::vector<VerlStep>& steps) {
  for (const char* key : {"wait_prev_gen", "generate_async", "sync_rollout_weights", "wait_for_enough_samples",
                          "timing_s/param_sync", "switch_wait", "switch_to_rollout", "switch_to_trainer"}) {
    if (any_step_has(steps, kSeconds + key)) return true;
  }
  return any_step_has(steps, "fully_async/trainer/idle_ratio");
}

// Parts of other timers, the whole, and what is not a time at all.
bool is_phase(const std::string& phase) {
  static const std::set<std::string> kOthers{
      "step",    "testing",       "save_checkpoint", "generate_sequences",
      "reshard", "start_profile", "stop_profile",    "dump_rollout_generations"};
  return phase.find('/') == std::string::npos && !kOthers.contains(phase);
}

double phases_s(const VerlStep& step) {
  double sum = 0;
  for (const auto& [key, value] : step.metrics) {
    if (key.starts_with(kSeconds) && is_phase(key.substr(kSeconds.size()))) sum += value;
  }
  return sum;
}

double value_or_zero(const VerlStep& step, const std::string& key) {
  return step.has(key) ? step.at(key) : 0.0;
}

// Phases miss the step by less than this where its contents are understood.
constexpr double kTolerance = 0.03;

// Of training alone. Up to 0.5.0 the step holds validation and saving, later ones do not, and the log does not
// say which it is: the phases do.
double iteration_s(const VerlStep& step) {
  const double whole_s = step.at(kSeconds + "step");
  const double beside_s =
      value_or_zero(step, kSeconds + "testing") + value_or_zero(step, kSeconds + "save_checkpoint");
  const double sum_s = phases_s(step);
  const bool holds_them = std::abs(whole_s - sum_s - beside_s) < std::abs(whole_s - sum_s);
  return holds_them ? whole_s - beside_s : whole_s;
}

// What verl calls generation: with the weights' way to the engine while that has no timer of its own, and with
// the log-probabilities in the first version.
std::string generation_timer(const std::vector<VerlStep>& steps) {
  std::string name = task_names::kActorGeneration;
  if (!any_step_has(steps, kSeconds + "old_log_prob")) name += std::string("+") + kOldLogProb;
  if (!any_step_has(steps, kSeconds + "update_weights")) name += std::string("+") + kWeightSync;
  return name;
}

std::map<std::string, std::string> timers_of(const std::vector<VerlStep>& steps) {
  std::map<std::string, std::string> timers{{"gen", generation_timer(steps)},
                                            {"old_log_prob", kOldLogProb},
                                            {"ref", task_names::kReferenceInference},
                                            {"values", task_names::kCriticInference},
                                            {"update_critic", task_names::kCriticTraining},
                                            {"update_actor", task_names::kActorTraining},
                                            {"update_weights", kWeightSync}};
  if (!any_step_has(steps, kSeconds + "update_weights")) timers["reshard"] = kWeightSync;
  return timers;
}

VerlTasks tasks_of(const std::vector<VerlStep>& steps) {
  return {any_step_has(steps, kSeconds + "ref"),
          any_step_has(steps, kSeconds + "values") || any_step_has(steps, kSeconds + "update_critic")};
}

// ---- bands ----

constexpr const char* kResponse = "response_length/mean";
constexpr double kWidestBand = 1.2;
constexpr std::size_t kFewSteps = 3;

// Steps that can be samples: lengths and times of training and generation are there.
std::vector<VerlStep> usable_steps(const VerlLog& log) {
  std::vector<VerlStep> usable;
  for (const VerlStep& step : log.steps) {
    const auto is_positive = [&step](const std::string& key) { return step.has(key) && step.at(key) > 0; };
    if (is_positive(kResponse) && is_positive(kSeconds + "step") && is_positive(kSeconds + "gen") &&
        is_positive(kSeconds + "update_actor") && iteration_s(step) > 0) {
      usable.push_back(step);
    }
  }
  const auto warms_up = [](const VerlStep& step) { return step.is_first_of_process; };
  if (!std::all_of(usable.begin(), usable.end(), warms_up)) std::erase_if(usable, warms_up);
  return usable;
}

// By mean response length, shortest first; none is empty.
std::vector<std::vector<VerlStep>> bands_of(const std::vector<VerlStep>& steps) {
  const auto by_length = [](const VerlStep& a, const VerlStep& b) { return a.at(kResponse) < b.at(kResponse); };
  const auto [shortest, longest] = std::minmax_element(steps.begin(), steps.end(), by_length);
  const double low = std::log(shortest->at(kResponse));
  const double range = std::log(longest->at(kResponse)) - low;
  const auto count = static_cast<std::size_t>(std::clamp(std::ceil(range / std::log(kWidestBand)), 1.0, 64.0));
  std::vector<std::vector<VerlStep>> bands(count);
  for (const VerlStep& step : steps) {
    const double place = range > 0 ? (std::log(step.at(kResponse)) - low) / range : 0.0;
    const auto band = static_cast<std::size_t>(place * static_cast<double>(count));
    bands[std::min(band, count - 1)].push_back(step);
  }
  std::erase_if(bands, [](const std::vector<VerlStep>& band) { return band.empty(); });
  return bands;
}

std::vector<double> values_of(const std::vector<VerlStep>& steps, const std::string& key) {
  std::vector<double> values;
  for (const VerlStep& step : steps) {
    if (step.has(key)) values.push_back(step.at(key));
  }
  return values;
}

// ---- runs ----

void set_lengths(const VerlConfig& config, const std::vector<VerlStep>& steps, MeasuredIteration& iteration) {
  constexpr double kAssumedPrompt = 120;  // the prompts of mathematical data sets have 82 to 157
  const std::vector<double> prompts = values_of(steps, "prompt_length/mean");
  if (prompts.empty()) add_note(iteration.notes, "left unsaid", "The mean prompt length: 120 tokens.");
  const double prompt = prompts.empty() ? kAssumedPrompt : std::max(1.0, mean(prompts));
  const double most_prompt = config.count("data.max_prompt_length").value_or(0);
  iteration.prompt_tokens =
      most_prompt > prompt ? lengths_with_mean(prompt, kUsualSigma, most_prompt) : fixed_length(prompt);
  const double most = *config.count("data.max_response_length");
  const double response = std::min(mean(values_of(steps, kResponse)), most);
  const std::vector<double> longest = values_of(steps, "response_length/max");
  const double sequences = 1.0 * iteration.prompts * iteration.responses_per_prompt;
  // Where the limit cuts the longest response, it says nothing about the others.
  const double of_longest = longest.empty() ? most : mean(longest);
  constexpr double kNearTheLimit = 0.98;
  iteration.response_tokens = of_longest < kNearTheLimit * most
                                  ? lengths_with_longest(response, of_longest, sequences, most)
                                  : lengths_with_mean(response, kUsualSigma, most);
}

void note_phases(const std::vector<VerlStep>& steps, MeasuredIteration& iteration) {
  std::set<std::string> others;
  int missed = 0;
  const std::map<std::string, std::string> timers = timers_of(steps);
  for (const VerlStep& step : steps) {
    if (std::abs(iteration_s(step) - phases_s(step)) > kTolerance * iteration_s(step)) ++missed;
    for (const auto& [key, value] : step.metrics) {
      const std::string phase = key.starts_with(kSeconds) ? key.substr(kSeconds.size()) : "";
      if (!phase.empty() && is_phase(phase) && !timers.contains(phase)) others.insert(phase);
    }
  }
  for (const std::string& phase : others) {
    const double typical_s = median(values_of(steps, kSeconds + phase));
    add_note(iteration.notes, "other times", phase + " " + Json(typical_s).dump() + " s.");
  }
  if (missed > 0) {
    add_note(iteration.notes, "warnings",
             "The phases of " + std::to_string(missed) + " of " + std::to_string(steps.size()) +
                 " steps miss the step by more than 3 %.");
  }
}

void set_times(const std::vector<VerlStep>& steps, MeasuredIteration& iteration) {
  for (const VerlStep& step : steps) iteration.iteration_s.push_back(iteration_s(step));
  for (const auto& [phase, timer] : timers_of(steps)) {
    std::vector<double> samples = values_of(steps, kSeconds + phase);
    std::erase_if(samples, [](double sample) { return !(sample > 0); });
    if (!samples.empty()) iteration.timers[timer] = std::move(samples);
  }
  const std::vector<double> rewards = values_of(steps, kSeconds + "reward");
  if (!rewards.empty()) {
    const double sequences = 1.0 * iteration.prompts * iteration.responses_per_prompt;
    iteration.rule_reward_s_per_sequence = std::max(0.0, mean(rewards)) / sequences;
  }
}

std::string length_range(const std::vector<VerlStep>& steps) {
  const std::vector<double> lengths = values_of(steps, kResponse);
  const auto [low, high] = std::minmax_element(lengths.begin(), lengths.end());
  return std::to_string(std::lround(*low)) + " to " + std::to_string(std::lround(*high)) + " tokens";
}

MeasuredIteration iteration_of(const Source& source, const Facts& facts, const std::vector<VerlStep>& steps) {
  MeasuredIteration iteration;
  iteration.source = RunSource::import;
  iteration.gpu = facts.gpu(source.gpu);
  iteration.gpus = *source.gpus;
  iteration.gpus_per_node = source.gpus_per_node;
  iteration.notes = source.notes;
  iteration.notes["gpu"] = source.gpu;
  iteration.notes["steps"] =
      std::to_string(steps.size()) + " with mean responses of " + length_range(steps) + ".";
  if (source.log.restarts > 0) {
    iteration.notes["restarts"] = std::to_string(source.log.restarts);
  }
  return iteration;
}

void add_band(const Source& source, const Facts& facts, const std::vector<VerlStep>& steps,
              const std::string& name, Imported& imported) {
  const VerlConfig config(source.config);
  MeasuredIteration iteration = iteration_of(source, facts, steps);
  iteration.name = name;
  const std::string model = verl_model(config);
  iteration.notes["model"] = model;
  for (const char* role : {"actor", "critic", "reference"}) iteration.models[role] = facts.model(model);
  const VerlTasks tasks = tasks_of(steps);
  if (const std::string reason = apply_config(config, tasks, iteration); !reason.empty()) {
    imported.left_out.push_back({name, reason});
    return;
  }
  if (source.has_first_engine) iteration.framework += kFirstEngine;
  set_lengths(config, steps, iteration);
  set_times(steps, iteration);
  note_phases(steps, iteration);
  add_measured_iteration(imported, std::move(iteration));
}

// ---- what is missing ----

void complete_gpus(const VerlConfig& config, Source& source) {
  const std::optional<int> per_node = config.count("trainer.n_gpus_per_node");
  if (per_node && source.gpus_per_node == 0) source.gpus_per_node = *per_node;
  if (!source.gpus && per_node) {
    const double gpus = 1.0 * *per_node * config.count("trainer.nnodes").value_or(1);
    if (gpus <= kMostGpus) source.gpus = static_cast<int>(gpus);
  }
}

std::string reason_against(const Source& source, const Facts& facts) {
  if (source.log.steps.empty()) return "it has no values by step";
  if (is_asynchronous(source.log.steps)) {
    return "an asynchronous trainer's log: its gen is a wait, and it does not say which GPUs generate";
  }
  if (source.gpu.empty()) return "not stated: the GPU, which a side file may add";
  if (!facts.has_gpu(source.gpu)) return facts.why_no_gpu(source.gpu);
  if (!source.gpus) return "not stated: the number of GPUs, which a side file may add";
  const VerlConfig config(source.config);
  if (std::string lacking = what_lacks(config); !lacking.empty()) return lacking;
  if (!facts.has_model(verl_model(config))) return facts.why_no_model(verl_model(config));
  if (usable_steps(source.log).empty()) {
    return "no step has the times of generation, training and the whole with a mean response length";
  }
  return "";
}

void add_log(Source source, const Facts& facts, Imported& imported) {
  complete_gpus(VerlConfig(source.config), source);
  if (const std::string reason = reason_against(source, facts); !reason.empty()) {
    imported.left_out.push_back({source.name, reason});
    return;
  }
  const std::vector<std::vector<VerlStep>> bands = bands_of(usable_steps(source.log));
  const bool any_has_enough = std::any_of(
      bands.begin(), bands.end(), [](const std::vector<VerlStep>& band) { return band.size() >= kFewSteps; });
  for (const std::vector<VerlStep>& band : bands) {
    const std::string name =
        bands.size() == 1 ? source.name : source.name + ", responses of " + length_range(band);
    if (any_has_enough && band.size() < kFewSteps) {
      imported.left_out.push_back({name, "fewer than three steps have such responses"});
    } else {
      add_band(source, facts, band, name, imported);
    }
  }
}

}  // namespace

Imported read_verl(const std::vector<fs::path>& files, const Facts& facts) {
  Imported imported;
  for (const fs::path& file : files) add_log(read_source(file), facts, imported);
  return imported;
}

}  // namespace sextant
