#include "ask/runs/log_runs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "ask/data_files.h"
#include "ask/document_source.h"
#include "ask/words/stated_gpus_text.h"
#include "calibrate/import/format_of_log.h"
#include "calibrate/import/import.h"
#include "calibrate/import/records/measured_iteration.h"
#include "calibrate/import/records/run_parts.h"
#include "core/text_lines.h"
#include "reports/import/importers.h"
#include "reports/import/launch_in_log.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline ask {
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
    } else if (workflow.mode != Mode::synchronous && !band.times_generation &&
               name.starts_with(task_names::kActorGeneration)) {
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

// A log and its format.
struct Log {
  std::string file;
  std::string format;
};

ConfigurationOptions configuration_for(const LogOptions& options, const LogTimes& times,
                                       const std::string& launch, const Log& log, const Facts& facts) {
  ConfigurationOptions configuration = options.configuration;
  configuration.from = log.format;
  configuration.files = launch.empty() ? options.configs : std::vector<std::string>{log.file};
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

std::string known_formats() {
  std::string names;
  for (const ImportFormat& format : import_formats())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

// An empty format: the log does not tell it.
Log log_in(const std::string& file, const std::string& format, std::vector<std::string>& notes) {
  if (!format.empty()) return {file, format};
  Log log{file, format_of_log(file)};
  if (!log.format.empty()) notes.push_back(file + ": read as a log of " + log.format);
  return log;
}

std::string why_no_log() {
  return "neither a runs document nor a log whose framework is recognised by its metrics; name it: " +
         known_formats();
}

// The launch of the framework in a console log that has not printed its whole configuration.
std::string launch_of(const std::string& log, const Importer* importer) {
  const std::string end = std::filesystem::path(log).extension().string();
  // Programs that read TOML files have names of two letters, and log nothing of their launch.
  if (importer != nullptr && !importer->source.toml_parts.empty()) return "";
  if (importer == nullptr || end == ".json" || end == ".jsonl" || end == ".csv" ||
      std::filesystem::is_directory(log))
    return "";
  constexpr std::size_t kBeginning = std::size_t{16} << 20;  // a launch stands above the log
  const std::string text = beginning_of_file(log, kBeginning);
  if (text.find("{'actor_rollout_ref'") != std::string::npos) return "";
  return launch_in_log(text, importer->source.programs);
}

// Options that change a configuration do nothing for a log that has brought its own along.
void require_nothing_to_change(const ConfigurationOptions& options, const std::string& file) {
  const char* option = !options.model.empty()                    ? "--model"
                       : !options.given.empty()                  ? "--set"
                       : !options.cluster.network.inside.empty() ? "--network"
                                                                 : nullptr;
  if (option != nullptr)
    throw_bad_input(std::string(option) + " changes a configuration, and none was given for " + file +
                    ": --config names the launch script or the settings of the run");
}

}  // namespace

LogRuns read_log_runs(const LogOptions& options) {
  const std::filesystem::path data = options.data.empty() ? data_folder() : std::filesystem::path(options.data);
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  const StatedGpus stated = stated_gpus_from_text(options.configuration.cluster.gpus, facts, data);
  LogRuns out;
  for (const std::string& file : options.logs) {
    const Log log = log_in(file, options.format, out.notes);
    if (log.format.empty() && options.logs.size() == 1) throw_bad_input(file + ": " + why_no_log());
    if (log.format.empty()) {
      out.imported.left_out.push_back({file, why_no_log()});
      continue;
    }
    const Importer* importer = find_importer(log.format);
    if (!options.configs.empty() && importer == nullptr)
      throw_bad_input("--config: configurations of " + log.format + " are not read");
    const std::string launch = options.configs.empty() ? launch_of(file, importer) : "";
    if (launch.empty() && options.configs.empty()) {
      require_nothing_to_change(options.configuration, file);
      append(import_runs(log.format, {file}, facts, stated), out.imported);
      continue;
    }
    for (const LogTimes& times : import_times(log.format, {file}, stated))
      add_configured(times, configuration_for(options, times, launch, log, facts), out);
  }
  return out;
}

namespace {

bool is_runs_document(const std::string& source) {
  if (is_document_text(source)) return true;
  if (std::filesystem::is_directory(source)) return false;
  constexpr std::size_t kBeginning = std::size_t{1} << 20;
  return beginning_of_file(source, kBeginning).find("\"sextant.runs/") != std::string::npos;
}

// JSON that is no log is read as a document, whose reader says what is wrong with it.
bool is_read_as_document(const std::string& source) {
  return is_runs_document(source) ||
         (std::filesystem::path(source).extension() == ".json" && format_of_log(source).empty());
}

}  // namespace

LogRuns read_runs(const LogOptions& options) {
  if (!options.format.empty()) return read_log_runs(options);
  if (options.logs.size() > 1 && std::any_of(options.logs.begin(), options.logs.end(), is_runs_document))
    throw_bad_input("one runs document at a time; several files are logs");
  if (options.logs.size() != 1 || !is_read_as_document(options.logs.front())) return read_log_runs(options);
  if (!options.configs.empty() || !options.configuration.cluster.gpus.empty())
    throw_bad_input("--config and --gpus: a runs document has plans and clusters of its own");
  LogRuns out;
  out.imported.runs = document_of<Runs>(options.logs.front());
  return out;
}

std::vector<std::string> left_out_lines(const Imported& imported) {
  std::vector<std::string> lines;
  for (const LeftOut& record : imported.left_out)
    lines.push_back("left out " + record.record + ": " + record.reason);
  return lines;
}

}  // namespace sextant::inline ask
