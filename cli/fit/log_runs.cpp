#include "cli/fit/log_runs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "ask/data_files.h"
#include "ask/words/stated_gpus_text.h"
#include "calibrate/import/import.h"
#include "calibrate/import/records/measured_iteration.h"
#include "calibrate/import/records/run_parts.h"
#include "cli/shared/command.h"
#include "reports/import/importers.h"
#include "reports/import/launch_in_log.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

// The parts of a timer that the workflow has, joined; empty: none.
std::string known_timer(const std::string& timer, const Workflow& workflow) {
  std::string out;
  for (const std::string& part : parts_of_timer(timer)) {
    if (part == kWeightSync || workflow.has_task(part)) out += (out.empty() ? "" : "+") + part;
  }
  return out;
}

void set_timers(const LogBand& band, const Workflow& workflow, Run& run) {
  for (const auto& [timer, samples] : band.timers) {
    const std::string name = known_timer(timer, workflow);
    if (name.empty()) {
      add_note(run.notes, "dropped", "The time of " + timer + ", because the configuration has no such task.");
    } else if (workflow.mode != Mode::synchronous && name.starts_with(task_names::kActorGeneration)) {
      run.waits[task_names::kActorGeneration].samples_s = samples;
    } else {
      run.tasks[name].samples_s = samples;
    }
  }
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "; ") + line;
  return out;
}

Run run_of(const LogBand& band, const ConfiguredRun& configured) {
  Run run;
  run.name = band.name;
  run.source = RunSource::import;
  const std::string& coefficients = configured.profile.coefficients;
  run.framework = coefficients == "*" ? configured.profile.name : coefficients;
  run.iteration.samples_s = band.iteration_s;
  run.notes = band.notes;
  if (!configured.defaults.empty()) run.notes["defaults"] = joined_lines(configured.defaults);
  if (!configured.assumed.empty()) run.notes["assumed"] = joined_lines(configured.assumed);
  set_timers(band, configured.workflow, run);
  return run;
}

// "2x8xH100", or only what is known of it.
std::string gpus_text(const StatedGpus& gpus, const Facts& facts) {
  const GpuInText found = facts.gpu_in(gpus.gpu);
  if (!found.failure_reason.empty()) throw_bad_input(found.failure_reason + "; --gpus names them");
  if (!gpus.gpus) return found.name;
  const bool is_even = gpus.gpus_per_node > 0 && *gpus.gpus % gpus.gpus_per_node == 0;
  const std::string count =
      is_even ? std::to_string(*gpus.gpus / gpus.gpus_per_node) + "x" + std::to_string(gpus.gpus_per_node)
              : std::to_string(*gpus.gpus);
  return count + "x" + found.name;
}

ConfigurationOptions configuration_for(const LogOptions& options, const LogTimes& times,
                                       const std::string& launch, const std::string& log, const Facts& facts) {
  ConfigurationOptions configuration = options.configuration;
  configuration.from = options.format;
  configuration.files = launch.empty() ? options.configs : std::vector<std::string>{log};
  configuration.launch = launch;
  const bool names_gpus = !configuration.cluster.gpus.empty() || !configuration.cluster_document.empty();
  if (!names_gpus && !times.gpus.gpu.empty()) configuration.cluster.gpus = gpus_text(times.gpus, facts);
  return configuration;
}

void add_notes(const std::vector<std::string>& notes, LogRuns& out) {
  for (const std::string& note : notes) {
    if (std::find(out.notes.begin(), out.notes.end(), note) == out.notes.end()) out.notes.push_back(note);
  }
}

void add_configured(const LogTimes& times, const ConfigurationOptions& configuration, LogRuns& out) {
  Imported& imported = out.imported;
  imported.left_out.insert(imported.left_out.end(), times.left_out.begin(), times.left_out.end());
  for (const LogBand& band : times.bands) {
    ConfiguredRun configured = read_configured_run(configuration, &band);
    configured.workflow.rule_reward_s_per_sequence = band.reward_s / configured.workflow.sequences();
    add_notes(configured.warnings, out);
    try {
      add_run(imported.runs, run_of(band, configured), configured.cluster, configured.workflow,
              configured.plan);
    } catch (const Error& error) {
      imported.left_out.push_back({band.name, std::string("its plan cannot be run: ") + error.what()});
    }
  }
}

void append(Imported more, Imported& all) {
  for (const Run& run : more.runs.runs) {
    try {
      add_run(all.runs, run, more.runs.cluster_of(run), more.runs.workflow_of(run), more.runs.plan_of(run));
    } catch (const Error& error) {  // its name is taken
      all.left_out.push_back({run.name, error.what()});
    }
  }
  all.left_out.insert(all.left_out.end(), more.left_out.begin(), more.left_out.end());
}

// The launch of the framework in a console log that has not printed its whole configuration.
std::string launch_of(const std::string& log, const Importer* importer) {
  const std::string end = std::filesystem::path(log).extension().string();
  if (importer == nullptr || end == ".json" || end == ".jsonl" || end == ".csv") return "";
  const std::string text = read_text_file(log);
  if (text.find("{'actor_rollout_ref'") != std::string::npos) return "";
  return launch_in_log(text, importer->source.programs);
}

}  // namespace

LogRuns read_log_runs(const LogOptions& options) {
  const std::filesystem::path data = options.data.empty() ? data_folder() : std::filesystem::path(options.data);
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  const StatedGpus stated = stated_gpus_from_text(options.configuration.cluster.gpus, facts, data);
  const Importer* importer = find_importer(options.format);
  if (!options.configs.empty() && importer == nullptr)
    throw_bad_input("--config: configurations of " + options.format + " are not read");
  LogRuns out;
  for (const std::string& log : options.logs) {
    const std::string launch = options.configs.empty() ? launch_of(log, importer) : "";
    if (launch.empty() && options.configs.empty()) {
      append(import_runs(options.format, {log}, facts, stated), out.imported);
      continue;
    }
    for (const LogTimes& times : import_times(options.format, {log}, stated))
      add_configured(times, configuration_for(options, times, launch, log, facts), out);
  }
  return out;
}

}  // namespace sextant::cli
