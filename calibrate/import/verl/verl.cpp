#include "calibrate/import/verl/verl.h"

#include <utility>

#include "calibrate/import/records/measured_iteration.h"
#include "calibrate/import/verl/step_bands.h"
#include "calibrate/import/verl/verl_setup.h"
#include "calibrate/import/verl/verl_source.h"
#include "calibrate/import/verl/verl_timers.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

namespace fs = std::filesystem;
using namespace verl_timers;

// ---- runs ----

void set_lengths(const VerlConfig& config, const LogBand& band, MeasuredIteration& iteration) {
  iteration.prompt_tokens =
      prompt_lengths(band.lengths, config.count("data.max_prompt_length").value_or(0), iteration.notes);
  const double sequences = 1.0 * iteration.prompts * iteration.responses_per_prompt;
  iteration.response_tokens =
      response_lengths(band.lengths, sequences, *config.count("data.max_response_length"));
}

MeasuredIteration iteration_of(const VerlSource& source, const Facts& facts, const LogBand& band) {
  MeasuredIteration iteration;
  iteration.name = band.name;
  iteration.gpu = facts.gpu(facts.gpu_in(source.gpu).name);
  iteration.gpus = *source.gpus;
  iteration.gpus_per_node = source.gpus_per_node;
  iteration.notes = band.notes;
  iteration.notes["gpu"] = source.gpu;
  iteration.iteration_s = band.iteration_s;
  iteration.timers = band.timers;
  return iteration;
}

void add_band(const VerlSource& source, const Facts& facts, const LogBand& band, const DriverDialect* dialect,
              Imported& imported) {
  const VerlConfig config(source.config);
  MeasuredIteration iteration = iteration_of(source, facts, band);
  const std::string model = verl_model(config);
  iteration.notes["model"] = model;
  for (const char* role : {"actor", "critic", "reference"}) iteration.models[role] = facts.model(model);
  const VerlTasks tasks = named_tasks(source.log.steps, dialect);
  if (const std::string reason = apply_config(config, tasks, iteration); !reason.empty()) {
    imported.left_out.push_back({band.name, reason});
    return;
  }
  if (source.has_first_engine) iteration.framework += kFirstEngine;
  if (dialect != nullptr) iteration.framework = dialect->name;
  set_lengths(config, band, iteration);
  iteration.rule_reward_s_per_sequence =
      band.reward_s / (1.0 * iteration.prompts * iteration.responses_per_prompt);
  add_measured_iteration(imported, std::move(iteration));
}

// ---- what is missing ----

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

bool says_nothing(const std::string& gpu) {
  return gpu.empty() || gpu.starts_with("not stated") || gpu.starts_with("unknown");
}

// Everything that is missing at once, in one sentence.
std::string lacking_facts(const VerlSource& source, const Facts& facts, const DriverDialect* dialect) {
  const std::string gpu_failure = source.gpu.empty() ? "" : facts.gpu_in(source.gpu).failure_reason;
  const bool has_gpu = gpu_failure.empty() && !source.gpu.empty();
  std::vector<std::string> lacking;
  if (!has_gpu && says_nothing(source.gpu)) lacking.emplace_back("the GPU");
  if (!source.gpus) lacking.emplace_back("the number of GPUs");
  const bool lacks_gpus = !lacking.empty();
  const VerlConfig config(source.config);
  const std::vector<std::string> of_config = what_lacks(config, source.gpus);
  lacking.insert(lacking.end(), of_config.begin(), of_config.end());
  const std::vector<std::string> of_log = lacking_metrics(source.log, dialect);
  std::string reason;
  const auto add = [&](const std::string& sentence) { reason += (reason.empty() ? "" : "; ") + sentence; };
  if (!lacking.empty()) {
    const std::string hint = lacks_gpus ? " (--gpus adds GPUs" : " (";
    const std::string both = lacks_gpus && !of_config.empty() ? ", " : "";
    add("not stated: " + joined(lacking) + hint + both +
        (of_config.empty() ? ")" : "--config the configuration)"));
  }
  if (!has_gpu && !says_nothing(source.gpu)) add(gpu_failure);
  if (!of_log.empty()) add("no step has " + joined(of_log));
  const std::string model = verl_model(config);
  if (!model.empty() && !facts.has_model(model)) add(facts.why_no_model(model));
  return reason;
}

std::string reason_against(const VerlSource& source, const Facts& facts, const DriverDialect* dialect) {
  if (!source.obstacle.empty()) return source.obstacle;
  if (source.log.steps.empty())
    return source.summaries > 0 ? "it has only values over several steps, and none by step"
                                : "it has no values by step";
  if (source.is_asynchronous || is_asynchronous(source.log.steps)) {
    return "an asynchronous trainer's log: its gen is a wait, and it does not say which GPUs generate";
  }
  if (std::string lacking = lacking_facts(source, facts, dialect); !lacking.empty()) return lacking;
  if (usable_steps(source.log, dialect).empty()) {
    return "no step has the times of generation, training and the whole with a mean response length";
  }
  return "";
}

void add_log(const VerlSource& source, const Facts& facts, const DriverDialect* dialect, Imported& imported) {
  if (const std::string reason = reason_against(source, facts, dialect); !reason.empty()) {
    imported.left_out.push_back({source.name, reason});
    return;
  }
  const StepBands bands = step_bands(source, dialect);
  imported.left_out.insert(imported.left_out.end(), bands.left_out.begin(), bands.left_out.end());
  for (const LogBand& band : bands.bands) {
    try {
      add_band(source, facts, band, dialect, imported);
    } catch (const Error& error) {  // numbers that no run can have
      imported.left_out.push_back({band.name, error.what()});
    }
  }
}

// The times alone; what lacks the plan is no reason against them.
LogTimes times_of(const VerlSource& source, const DriverDialect* dialect) {
  LogTimes times;
  times.name = source.name;
  times.left_out = source.odd_steps;
  times.gpus = {source.gpu, source.gpus, source.gpus_per_node};
  times.is_asynchronous = source.is_asynchronous || is_asynchronous(source.log.steps);
  std::string reason = source.obstacle;
  if (reason.empty() && source.log.steps.empty()) reason = "it has no values by step";
  const std::vector<std::string> lacking = lacking_metrics(source.log, dialect);
  if (reason.empty() && !lacking.empty()) {
    reason = "no step has " + joined(lacking);
    if (lacking.size() == 1 && lacking.front().ends_with("length"))
      reason += "; a file with the log's name and .setup.json may state it: {\"response_tokens\": 900}";
    if (lacking.size() > 1 && source.is_table)
      reason +=
          "; where each table has one metric, put all of them into a folder, and name the folder as the log";
  }
  if (reason.empty() && usable_steps(source.log, dialect).empty())
    reason = "no step has all of its times and a mean response length";
  if (!reason.empty()) {
    times.left_out.push_back({source.name, reason});
    return times;
  }
  StepBands bands = step_bands(source, dialect);
  times.bands = std::move(bands.bands);
  times.left_out.insert(times.left_out.end(), bands.left_out.begin(), bands.left_out.end());
  return times;
}

}  // namespace

namespace {

Imported read_logs(const std::vector<fs::path>& files, const Facts& facts, const DriverDialect* dialect,
                   const StatedGpus& stated) {
  Imported imported;
  for (const fs::path& file : files) {
    for (const VerlSource& source : read_verl_sources(file, dialect, stated)) {
      imported.left_out.insert(imported.left_out.end(), source.odd_steps.begin(), source.odd_steps.end());
      add_log(source, facts, dialect, imported);
    }
  }
  return imported;
}

}  // namespace

Imported read_verl(const std::vector<fs::path>& files, const Facts& facts, const StatedGpus& stated) {
  return read_logs(files, facts, nullptr, stated);
}

Imported read_driver_logs(const std::vector<fs::path>& files, const Facts& facts, const DriverDialect& dialect,
                          const StatedGpus& stated) {
  return read_logs(files, facts, &dialect, stated);
}

std::vector<LogTimes> read_log_times(const std::vector<fs::path>& files, const DriverDialect* dialect,
                                     const StatedGpus& stated) {
  std::vector<LogTimes> out;
  for (const fs::path& file : files) {
    for (const VerlSource& source : read_verl_sources(file, dialect, stated))
      out.push_back(times_of(source, dialect));
  }
  return out;
}

}  // namespace sextant::inline calibrate
