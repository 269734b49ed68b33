#include "calibrate/import/verl/verl_source.h"

#include <utility>

#include "calibrate/import/records/measured_iteration.h"
#include "calibrate/import/verl/verl_setup.h"
#include "core/in_file.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxGpus = 65536;  // a slip of the pen must not fill the memory

void take_hardware(const JsonView& view, VerlSource& source) {
  if (const auto gpu = view.optional("gpu")) source.gpu = gpu->text();
  if (const auto gpus = view.optional("gpus"); gpus && !gpus->json().is_null()) {
    source.gpus = static_cast<int>(gpus->integer(1, kMaxGpus));
  }
  if (const auto per_node = view.optional("gpus_per_node")) {
    source.gpus_per_node = static_cast<int>(per_node->integer(1, kMaxGpus));
  }
}

void read_setup(const fs::path& file, VerlSource& source) {
  const std::string text = read_text_file(file);
  in_file(file, [&] {
    const Json json = parse_json(text);
    const JsonView view(json);
    view.allow_only({"gpu", "gpus", "gpus_per_node", "source", "config"});
    take_hardware(view, source);
    if (const auto cited = view.optional("source")) source.notes["source"] = cited->text();
    if (const auto config = view.optional("config")) flatten_config(config->json(), "", source.config);
  });
}

// A value may be null: the step has none.
void take_value(const JsonView& value, const std::string& key, VerlStep& step) {
  if (!value.json().is_null()) step.metrics[key] = value.number();
}

// A step whose values are not of the form is left out, the others stay.
template <typename Read>
void take_step(const std::string& name, VerlSource& source, const Read& read) {
  try {
    source.log.steps.push_back(read());
  } catch (const Error& error) {
    source.odd_steps.push_back({source.name + ", " + name, error.what()});
  }
}

// {"step": [1, 2], "timing_s/gen": [16.2, null]}
void parse_columns(const JsonView& view, VerlSource& source) {
  const std::vector<JsonView> numbers = view.required("step").items();
  std::vector<std::pair<std::string, std::vector<JsonView>>> columns;
  for (const auto& [key, column] : view.members()) {
    if (key == "step") continue;
    columns.emplace_back(key, column.items());
    if (columns.back().second.size() != numbers.size()) column.fail("expected a value for each step");
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    take_step("value " + std::to_string(i + 1) + " of each column", source, [&] {
      VerlStep step{numbers[i].count(), false, {}};
      for (const auto& [key, values] : columns) take_value(values[i], key, step);
      return step;
    });
  }
}

// A summary among the rows: its step is null or a text such as "mean of 2..5".
bool is_of_one_step(const JsonView& row) {
  const Json& json = row.json();
  return !json.is_object() || !json.contains("step") || !(json["step"].is_null() || json["step"].is_string());
}

// [{"step": 1, "metrics": {"timing_s/gen": 16.2}}]
void parse_rows(const JsonView& view, VerlSource& source) {
  const std::vector<JsonView> rows = view.items();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_of_one_step(rows[i])) continue;
    take_step("row " + std::to_string(i + 1), source, [&] {
      rows[i].allow_only({"step", "metrics"});
      VerlStep step{rows[i].required("step").count(), false, {}};
      for (const auto& [key, value] : rows[i].required("metrics").members()) take_value(value, key, step);
      return step;
    });
  }
}

void parse_steps(const JsonView& view, VerlSource& source) {
  view.json().is_array() ? parse_rows(view, source) : parse_columns(view, source);
  // An excerpt does not begin where the process did.
  std::vector<VerlStep>& steps = source.log.steps;
  if (!steps.empty() && steps.front().number <= 1) steps.front().is_first_of_process = true;
}

// verl 0.1 to 0.4 drive the first generation of vLLM.
bool is_before_05(std::string_view version) {
  return version.starts_with("0.") && version.size() > 2 && version[2] >= '1' && version[2] <= '4';
}

void take_texts(const JsonView& view, const std::string& note, VerlSource& source) {
  for (const auto& [key, value] : view.members()) {
    if (value.json().is_string()) add_note(source.notes, note, key + ": " + value.text() + ".");
  }
}

VerlSource parse_collection(const JsonView& view, const std::string& name) {
  view.allow_only({"kind", "framework", "source", "hardware", "config_stated", "config_inferred", "semantics",
                   "steps_in_log", "summary_after_first_step", "per_step", "per_step_first_120", "derived",
                   "precision_of_values", "runs", "rows", "tables"});
  VerlSource source;
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
    if (const auto steps = view.optional(member)) parse_steps(*steps, source);
  }
  return source;
}

// The steps of a log by the form that its suffix names.
VerlLog log_of(const fs::path& file, const std::string& text, const DriverDialect* dialect,
               VerlSource& source) {
  if (file.extension() == ".jsonl") return parse_verl_jsonl(text);
  if (file.extension() == ".csv") {
    std::vector<std::string> others;
    VerlLog log = in_file(file, [&] { return parse_metric_table(text, others); });
    for (const std::string& other : others)
      source.odd_steps.push_back(
          {source.name + ", " + other, "the table has several runs, and the first is read"});
    return log;
  }
  return dialect == nullptr ? parse_verl_console(text) : parse_driver_console(text);
}

VerlSource read_alone(const fs::path& file, const DriverDialect* dialect) {
  const std::string text = read_text_file(file);
  const std::string name = file.stem().string();
  if (file.extension() == ".json" && dialect == nullptr) {
    return in_file(file, [&] {
      const Json json = parse_json(text);
      return parse_collection(JsonView(json), name);
    });
  }
  VerlSource source;
  source.name = name;
  source.log = log_of(file, text, dialect, source);
  source.config = source.log.config;
  const fs::path setup = file.string() + ".setup.json";
  if (fs::exists(setup)) read_setup(setup, source);
  return source;
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

VerlSource read_verl_source(const fs::path& file, const DriverDialect* dialect) {
  VerlSource source = read_alone(file, dialect);
  if (dialect != nullptr) {
    translate_steps(*dialect, source.log);
    translate_options(*dialect, source.config);
  }
  complete_gpus(VerlConfig(source.config), source);
  return source;
}

}  // namespace sextant
