#include "calibrate/import/verl/verl.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "calibrate/import/records/measured_iteration.h"
#include "calibrate/import/verl/verl_setup.h"
#include "calibrate/import/verl/verl_source.h"
#include "calibrate/import/verl/verl_timers.h"
#include "core/json_value.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using namespace verl_timers;

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

// Groups of steps by mean response length, shortest first; none is empty.
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
  const double max_prompt = config.count("data.max_prompt_length").value_or(0);
  iteration.prompt_tokens =
      max_prompt > prompt ? lengths_with_mean(prompt, kUsualSigma, max_prompt) : fixed_length(prompt);
  const double maximum = *config.count("data.max_response_length");
  const double response = std::min(mean(values_of(steps, kResponse)), maximum);
  const std::vector<double> longest = values_of(steps, "response_length/max");
  const double sequences = 1.0 * iteration.prompts * iteration.responses_per_prompt;
  // A longest response that the limit cuts says nothing about the others.
  const double of_longest = longest.empty() ? maximum : mean(longest);
  constexpr double kNearTheLimit = 0.98;
  iteration.response_tokens = of_longest < kNearTheLimit * maximum
                                  ? lengths_with_longest(response, of_longest, sequences, maximum)
                                  : lengths_with_mean(response, kUsualSigma, maximum);
}

// Phases miss the step by less than this where its contents are understood.
constexpr double kTolerance = 0.03;

// Timers by phase, of the framework that wrote the log.
std::map<std::string, std::string> named_timers(const std::vector<VerlStep>& steps,
                                                const DriverDialect* dialect) {
  return dialect == nullptr ? timers_of(steps) : dialect->timers;
}

VerlTasks named_tasks(const std::vector<VerlStep>& steps, const DriverDialect* dialect) {
  VerlTasks tasks = tasks_of(steps);
  if (dialect == nullptr) return tasks;
  for (const auto& [phase, timer] : dialect->timers) {
    const std::vector<std::string> parts = parts_of_timer(timer);
    const bool has_reference =
        std::find(parts.begin(), parts.end(), task_names::kReferenceInference) != parts.end();
    if (has_reference && parts.size() > 1 && !values_of(steps, kSeconds + phase).empty())
      tasks.has_reference = true;
  }
  return tasks;
}

void note_phases(const std::vector<VerlStep>& steps, const DriverDialect* dialect,
                 MeasuredIteration& iteration) {
  std::set<std::string> others;
  int missed = 0;
  const std::map<std::string, std::string> timers = named_timers(steps, dialect);
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

void set_times(const std::vector<VerlStep>& steps, const DriverDialect* dialect, MeasuredIteration& iteration) {
  for (const VerlStep& step : steps) iteration.iteration_s.push_back(iteration_s(step));
  for (const auto& [phase, timer] : named_timers(steps, dialect)) {
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

MeasuredIteration iteration_of(const VerlSource& source, const Facts& facts,
                               const std::vector<VerlStep>& steps) {
  MeasuredIteration iteration;
  iteration.gpu = facts.gpu(facts.gpu_in(source.gpu).name);
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

void add_band(const VerlSource& source, const Facts& facts, const std::vector<VerlStep>& steps,
              const std::string& name, const DriverDialect* dialect, Imported& imported) {
  const VerlConfig config(source.config);
  MeasuredIteration iteration = iteration_of(source, facts, steps);
  iteration.name = name;
  const std::string model = verl_model(config);
  iteration.notes["model"] = model;
  for (const char* role : {"actor", "critic", "reference"}) iteration.models[role] = facts.model(model);
  const VerlTasks tasks = named_tasks(steps, dialect);
  if (const std::string reason = apply_config(config, tasks, iteration); !reason.empty()) {
    imported.left_out.push_back({name, reason});
    return;
  }
  if (source.has_first_engine) iteration.framework += kFirstEngine;
  if (dialect != nullptr) iteration.framework = dialect->name;
  set_lengths(config, steps, iteration);
  set_times(steps, dialect, iteration);
  note_phases(steps, dialect, iteration);
  add_measured_iteration(imported, std::move(iteration));
}

// ---- what is missing ----

std::string reason_against(const VerlSource& source, const Facts& facts) {
  if (source.log.steps.empty()) return "it has no values by step";
  if (is_asynchronous(source.log.steps)) {
    return "an asynchronous trainer's log: its gen is a wait, and it does not say which GPUs generate";
  }
  if (source.gpu.empty()) return "not stated: the GPU, which a side file may add";
  if (std::string failure_reason = facts.gpu_in(source.gpu).failure_reason; !failure_reason.empty())
    return failure_reason;
  if (!source.gpus) return "not stated: the number of GPUs, which a side file may add";
  const VerlConfig config(source.config);
  if (std::string lacking = what_lacks(config); !lacking.empty()) return lacking;
  if (!facts.has_model(verl_model(config))) return facts.why_no_model(verl_model(config));
  if (usable_steps(source.log).empty()) {
    return "no step has the times of generation, training and the whole with a mean response length";
  }
  return "";
}

void add_log(const VerlSource& source, const Facts& facts, const DriverDialect* dialect, Imported& imported) {
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
      try {
        add_band(source, facts, band, name, dialect, imported);
      } catch (const Error& error) {  // numbers that no run can have
        imported.left_out.push_back({name, error.what()});
      }
    }
  }
}

}  // namespace

namespace {

Imported read_logs(const std::vector<fs::path>& files, const Facts& facts, const DriverDialect* dialect) {
  Imported imported;
  for (const fs::path& file : files) {
    const VerlSource source = read_verl_source(file, dialect);
    imported.left_out.insert(imported.left_out.end(), source.odd_steps.begin(), source.odd_steps.end());
    add_log(source, facts, dialect, imported);
  }
  return imported;
}

}  // namespace

Imported read_verl(const std::vector<fs::path>& files, const Facts& facts) {
  return read_logs(files, facts, nullptr);
}

Imported read_driver_logs(const std::vector<fs::path>& files, const Facts& facts,
                          const DriverDialect& dialect) {
  return read_logs(files, facts, &dialect);
}

}  // namespace sextant
