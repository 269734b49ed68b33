#include "calibrate/import/verl/verl_source.h"

#include <algorithm>

#include "calibrate/import/verl/collection.h"
#include "calibrate/import/verl/event_file.h"
#include "calibrate/import/verl/verl_setup.h"
#include "calibrate/import/verl/verl_timers.h"
#include "core/in_file.h"
#include "core/json_value.h"
#include "core/text_lines.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

namespace fs = std::filesystem;
using namespace verl_timers;

constexpr int kMaxGpus = 65536;  // a slip of the pen must not fill the memory

void read_setup(const fs::path& file, VerlSource& source) {
  const std::string text = read_text_file(file);
  in_file(file, [&] {
    const Json json = parse_json(text);
    const JsonView view(json);
    view.allow_only({"gpu", "gpus", "gpus_per_node", "source", "config", "prompt_tokens", "response_tokens"});
    take_hardware(view, source);
    if (const auto tokens = view.optional("prompt_tokens")) source.prompt_tokens = tokens->positive();
    if (const auto tokens = view.optional("response_tokens")) source.response_tokens = tokens->positive();
    if (const auto cited = view.optional("source")) source.notes["source"] = cited->text();
    if (const auto config = view.optional("config")) flatten_config(config->json(), "", source.config);
  });
}

VerlLog read_lines(const fs::path& file, std::unique_ptr<LogReader> reader) {
  for_each_line(file, [&reader](std::string_view line) { reader->take_line(line); });
  return reader->finish();
}

VerlLog read_tables(const std::vector<fs::path>& files, VerlSource& source) {
  MetricTables tables;
  for (const fs::path& file : files) in_file(file, [&] { tables.add(read_text_file(file)); });
  for (const std::string& other : tables.other_runs())
    source.odd_steps.push_back(
        {source.name + ", " + other, "the table has several runs, and the first is read"});
  return tables.finish();
}

// The steps of a log by the form that its suffix names. Console logs and lines of JSON may be larger than the memory.
VerlLog log_of(const fs::path& file, const DriverDialect* dialect, VerlSource& source) {
  constexpr std::size_t kBeginning = 64;
  if (fs::is_directory(file)) return read_tables(tables_in(file), source);
  if (is_event_file(beginning_of_file(file, kBeginning))) return parse_event_file(read_text_file(file));
  if (file.extension() == ".jsonl") return read_lines(file, metric_lines_reader());
  if (file.extension() == ".csv") {
    source.is_table = true;
    return read_tables({file}, source);
  }
  if (dialect != nullptr) {
    if (VerlLog log = read_lines(file, driver_console_reader()); !log.steps.empty()) return log;
  }
  return read_lines(file, verl_console_reader());
}

// The stem of a file's name; a folder's whole name, also where its path ends with a slash.
std::string name_of_log(const fs::path& file) {
  if (!fs::is_directory(file)) return file.stem().string();
  return (file.has_filename() ? file : file.parent_path()).filename().string();
}

VerlSource read_log(const fs::path& file, const DriverDialect* dialect) {
  VerlSource source;
  source.name = name_of_log(file);
  source.log = log_of(file, dialect, source);
  source.config = source.log.config;
  return source;
}

std::vector<VerlSource> read_json(const fs::path& file, const std::string& text, const DriverDialect* dialect) {
  const std::string name = file.stem().string();
  return in_file(file, [&] {
    const Json json = parse_json(text);
    if (json.is_object() && json.contains("log_history") && json["log_history"].is_array()) {
      VerlSource source;
      source.name = name;
      source.log = parse_trainer_state(json);
      return std::vector<VerlSource>{source};
    }
    return read_collection(JsonView(json), name, dialect == nullptr ? "verl" : std::string(dialect->name));
  });
}

void take_stated(const StatedGpus& stated, VerlSource& source) {
  if (!stated.gpu.empty()) source.gpu = stated.gpu;
  if (stated.gpus) source.gpus = stated.gpus;
  if (stated.gpus_per_node > 0) source.gpus_per_node = stated.gpus_per_node;
}

void take_stated(const std::optional<double>& tokens, std::string_view metric, VerlLog& log) {
  if (!tokens) return;
  for (VerlStep& step : log.steps) step.metrics.add(metric, *tokens);
}

void complete_gpus(const VerlConfig& config, VerlSource& source) {
  const std::optional<int> per_node = config.count("trainer.n_gpus_per_node");
  if (per_node && source.gpus_per_node == 0) source.gpus_per_node = *per_node;
  if (!source.gpus && per_node) {
    const double gpus = 1.0 * *per_node * config.count("trainer.nnodes").value_or(1);
    if (gpus <= kMaxGpus) source.gpus = static_cast<int>(gpus);
  }
}

}  // namespace

std::vector<fs::path> tables_in(const fs::path& folder) {
  std::vector<fs::path> tables;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") tables.push_back(entry.path());
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

void take_hardware(const JsonView& view, VerlSource& source) {
  if (const auto gpu = view.optional("gpu")) source.gpu = gpu->text();
  if (const auto gpus = view.optional("gpus"); gpus && !gpus->json().is_null()) {
    source.gpus = static_cast<int>(gpus->integer(1, kMaxGpus));
  }
  if (const auto per_node = view.optional("gpus_per_node")) {
    source.gpus_per_node = static_cast<int>(per_node->integer(1, kMaxGpus));
  }
}

std::vector<VerlSource> read_verl_sources(const fs::path& file, const DriverDialect* dialect,
                                          const StatedGpus& stated) {
  std::vector<VerlSource> sources;
  if (file.extension() == ".json") {
    sources = read_json(file, read_text_file(file), dialect);
  } else {
    sources.push_back(read_log(file, dialect));
  }
  const fs::path setup = file.string() + ".setup.json";
  const bool has_setup = fs::exists(setup);
  for (VerlSource& source : sources) {
    if (has_setup) read_setup(setup, source);
    take_stated(stated, source);
    source.is_asynchronous = source.is_asynchronous || (dialect != nullptr && dialect->is_asynchronous);
    if (dialect != nullptr) {
      translate_steps(*dialect, source.log, source.prompt_tokens);
      translate_options(*dialect, source.config);
    }
    use_usual_names(source.log);
    take_stated(source.prompt_tokens, "prompt_length/mean", source.log);
    take_stated(source.response_tokens, "response_length/mean", source.log);
    complete_gpus(VerlConfig(source.config), source);
  }
  return sources;
}

}  // namespace sextant::inline calibrate
