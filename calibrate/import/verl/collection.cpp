#include "calibrate/import/verl/collection.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "calibrate/import/records/measured_iteration.h"
#include "calibrate/import/verl/verl_setup.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

// ---- steps ----

// A value may be null: the step has none.
void take_value(const JsonView& value, const std::string& key, VerlStep& step) {
  if (!value.json().is_null()) step.metrics.set(key, value.number());
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
    if (!is_of_one_step(rows[i])) {
      ++source.summaries;
      continue;
    }
    take_step("row " + std::to_string(i + 1), source, [&] {
      rows[i].allow_only({"step", "metrics"});
      VerlStep step{rows[i].required("step").count(), false, {}};
      for (const auto& [key, value] : rows[i].required("metrics").members()) take_value(value, key, step);
      return step;
    });
  }
}

void mark_first(VerlSource& source) {
  // An excerpt does not begin where the process did.
  std::vector<VerlStep>& steps = source.log.steps;
  if (!steps.empty() && steps.front().number <= 1) steps.front().is_first_of_process = true;
}

void parse_steps(const JsonView& view, VerlSource& source) {
  view.json().is_array() ? parse_rows(view, source) : parse_columns(view, source);
  mark_first(source);
}

// The numbers among the members, as one step; those of a table row have a slash in their names.
VerlStep step_of(const JsonView& view, bool only_metrics) {
  VerlStep step;
  for (const auto& [key, value] : view.members()) {
    const bool is_metric = !only_metrics || key.find('/') != std::string::npos;
    if (key != "step" && is_metric && value.json().is_number()) step.metrics.set(key, value.number());
  }
  if (const auto number = view.optional("step"); number && number->json().is_number_integer())
    step.number = number->count();
  return step;
}

// ---- facts ----

// verl 0.1 to 0.4 drive the first generation of vLLM.
bool is_before_05(std::string_view version) {
  return version.starts_with("0.") && version.size() > 2 && version[2] >= '1' && version[2] <= '4';
}

void take_texts(const JsonView& view, const std::string& note, VerlSource& source) {
  if (view.json().is_string()) return add_note(source.notes, note, view.text() + ".");
  for (const auto& [key, value] : view.members()) {
    if (value.json().is_string()) add_note(source.notes, note, key + ": " + value.text() + ".");
  }
}

// Names of options in collections, and in verl.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOtherNames{
    {{"prompts_per_step", "data.train_batch_size"},
     {"samples_per_prompt", "actor_rollout_ref.rollout.n"},
     {"max_response_length", "data.max_response_length"}}};

// "3072 (maximum seen)" is 3072, and "SmolLM2-135M (LLaMA; hidden 576)" a name with a remark.
Json without_remark(const Json& value) {
  if (!value.is_string()) return value;
  const std::string text = value.get<std::string>();
  const std::string stated = text.substr(0, text.find(" ("));
  int number = 0;
  const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), number);
  const bool is_number = error == std::errc() && end == stated.data() + stated.size() && !stated.empty();
  return is_number ? Json(number) : Json(stated);
}

void take_config(const JsonView& view, VerlSource& source) {
  std::map<std::string, Json> stated;
  flatten_config(view.json(), "", stated);
  for (const auto& [key, value] : stated) source.config[key] = without_remark(value);
  for (const auto& [key, name] : kOtherNames) {
    const auto found = source.config.find(std::string(key));
    if (found != source.config.end()) source.config.emplace(name, found->second);
  }
}

// Numbers that follow from others of the log; remarks on them are texts.
void take_inferred(const JsonView& view, VerlSource& source) {
  for (const auto& [key, value] : view.members()) {
    if (!value.json().is_number()) continue;
    source.config.emplace(key, value.json());
    add_note(source.notes, "inferred", key + ": " + value.json().dump() + ".");
  }
}

void take_configs(const JsonView& view, VerlSource& source) {
  if (const auto config = view.optional("config_stated")) take_config(*config, source);
  if (const auto config = view.optional("config"); config && config->json().is_object())
    take_config(*config, source);
  if (const auto config = view.optional("config_inferred"); config && config->json().is_object())
    take_inferred(*config, source);
}

void take_framework(const JsonView& framework, VerlSource& source) {
  take_texts(framework, "version", source);
  if (!framework.json().is_object()) return;
  if (const auto version = framework.optional("version"))
    source.has_first_engine = is_before_05(version->text());
}

void take_common(const JsonView& view, VerlSource& source) {
  if (const auto cited = view.optional("source")) take_texts(*cited, "source", source);
  if (const auto framework = view.optional("framework")) take_framework(*framework, source);
  if (const auto semantics = view.optional("semantics")) take_texts(*semantics, "remarks", source);
  if (const auto hardware = view.optional("hardware")) {
    if (hardware->json().is_string()) {
      source.gpu = hardware->text();
    } else {
      take_hardware(*hardware, source);
      if (const auto how = hardware->optional("gpu_is")) source.notes["gpu is"] = how->text();
    }
  }
  take_configs(view, source);
}

// ---- parts ----

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// A run or sample of a collection, with what all of them have in common.
VerlSource part_of(const JsonView& view, VerlSource source, const std::string& family) {
  take_common(view, source);
  if (const auto framework = view.optional("framework");
      framework && framework->json().is_string() && lower_case(framework->text()) != family)
    source.obstacle = "it is of " + framework->text() + ", whose logs have a format of their own";
  if (const auto steps = view.optional("per_step")) parse_steps(*steps, source);
  if (const auto steps = view.optional("steps")) {
    for (const JsonView& step : steps->items()) source.log.steps.push_back(step_of(step, false));
  }
  if (const auto metrics = view.optional("metrics")) {
    VerlStep step = step_of(*metrics, false);
    if (const auto number = view.optional("step"); number && number->json().is_number_integer())
      step.number = number->count();
    source.log.steps.push_back(std::move(step));
  }
  return source;
}

// Trainers that generate while they train; their gen is a wait.
bool names_asynchronous(const std::string& mode) {
  return mode.find("async") != std::string::npos || mode.find("off") != std::string::npos ||
         mode.find("stream") != std::string::npos;
}

VerlSource row_of(const JsonView& view, VerlSource source) {
  take_configs(view, source);
  if (const auto mode = view.optional("mode"); mode && mode->json().is_string()) {
    source.name += " (" + mode->text() + ")";
    if (names_asynchronous(mode->text())) source.is_asynchronous = true;
  }
  VerlStep step = step_of(view, true);
  if (step.metrics.empty())
    source.obstacle =
        "a row of a published table without the times of tasks; data/runs/rl.json has such tables";
  source.log.steps.push_back(std::move(step));
  return source;
}

class Collection {
 public:
  Collection(const JsonView& view, const std::string& name, std::string family)
      : view_(view), family_(std::move(family)) {
    base_.name = name;
    take_common(view, base_);
  }

  std::vector<VerlSource> read() {
    if (const auto kind = view_.optional("kind"); kind && take_kind(kind->text())) return std::move(out_);
    for (const char* member : {"runs", "samples"}) {
      if (const auto parts = view_.optional(member)) take_parts(*parts);
    }
    if (const auto rows = view_.optional("rows")) take_rows(*rows, base_);
    if (const auto tables = view_.optional("tables")) {
      for (const JsonView& table : tables->items()) take_table(table);
    }
    if (out_.empty()) take_alone();
    return std::move(out_);
  }

 private:
  // True for a kind that has no measurements of runs.
  bool take_kind(const std::string& kind) {
    if (kind == "public-timing-bounds") base_.obstacle = "its numbers are limits of tests, not measurements";
    if (kind == "public-timing-facts")
      base_.obstacle = "its facts are sentences: no configuration goes with their times";
    if (base_.obstacle.empty()) return false;
    out_.push_back(base_);
    return true;
  }

  void take_parts(const JsonView& parts) {
    int number = 0;
    for (const JsonView& part : parts.items()) {
      VerlSource source = base_;
      const auto name = part.optional("name");
      source.name += ", " + (name ? name->text() : std::to_string(++number));
      out_.push_back(part_of(part, std::move(source), family_));
    }
  }

  void take_rows(const JsonView& rows, const VerlSource& base) {
    int number = 0;
    for (const JsonView& row : rows.items()) {
      VerlSource source = base;
      source.name += ", row " + std::to_string(++number);
      out_.push_back(row_of(row, std::move(source)));
    }
  }

  void take_table(const JsonView& table) {
    VerlSource base = base_;
    if (const auto name = table.optional("name")) base.name += ", " + name->text();
    take_configs(table, base);
    take_rows(table.required("rows"), base);
  }

  void take_alone() {
    VerlSource source = base_;
    for (const std::string_view member : {"per_step", "per_step_first_120"}) {
      if (const auto steps = view_.optional(member)) parse_steps(*steps, source);
    }
    if (const auto metrics = view_.optional("metrics")) source.log.steps.push_back(step_of(*metrics, false));
    out_.push_back(std::move(source));
  }

  JsonView view_;
  std::string family_;
  VerlSource base_;
  std::vector<VerlSource> out_;
};

}  // namespace

std::vector<VerlSource> read_collection(const JsonView& view, const std::string& name,
                                        const std::string& family) {
  view.allow_only({"kind",
                   "framework",
                   "source",
                   "hardware",
                   "config_stated",
                   "config_inferred",
                   "semantics",
                   "steps_in_log",
                   "summary_after_first_step",
                   "per_step",
                   "per_step_first_120",
                   "derived",
                   "precision_of_values",
                   "runs",
                   "rows",
                   "tables",
                   "samples",
                   "metrics",
                   "bounds",
                   "note",
                   "licence_note"});
  return Collection(view, name, family).read();
}

VerlLog parse_trainer_state(const Json& state) {
  StepsByNumber steps;
  for (const Json& entry : state["log_history"]) {
    if (!entry.is_object() || !entry.contains("step") || !entry["step"].is_number_integer()) continue;
    Metrics metrics;
    for (const auto& [key, value] : entry.items()) {
      if (key != "step" && value.is_number() && std::isfinite(value.get<double>()))
        metrics.set(key, value.get<double>());
    }
    if (entry["step"] >= 0 && !metrics.empty()) steps.add(entry["step"].get<int>(), metrics);
  }
  VerlLog log;
  steps.finish(log);
  return log;
}

}  // namespace sextant::inline calibrate
