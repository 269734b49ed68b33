#include "reports/sections/execution_table.h"

#include <array>

#include "core/units.h"
#include "documents/field_tables.h"
#include "reports/content/names.h"

namespace sextant::inline reports {
namespace {

constexpr std::string_view kBytes = "_bytes";

bool is_in_bytes(std::string_view name) {
  return name.size() > kBytes.size() && name.substr(name.size() - kBytes.size()) == kBytes;
}

// "kv_cache_bytes" -> "KV cache"
std::string shown_setting(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kCapitals{
      {{"kv ", "KV "}, {"cuda ", "CUDA "}, {"zero ", "ZeRO "}, {"lora ", "LoRA "}}};
  std::string shown = shown_name(is_in_bytes(name) ? name.substr(0, name.size() - kBytes.size()) : name);
  for (const auto& [lower, upper] : kCapitals) {
    if (shown.starts_with(lower)) shown.replace(0, lower.size(), upper);
  }
  return shown;
}

std::string shown_value(std::string_view name, const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return shown_name(value.get<std::string>());
  if (is_in_bytes(name)) return format_bytes(value.get<double>());
  return value.is_number_integer() ? std::to_string(value.get<long long>())
                                   : format_number(value.get<double>());
}

Cell not_stated() { return {"not stated", Json(nullptr)}; }

Cell micro_batch_cell(const std::string& /*name*/, const TaskPlan& task) {
  const Execution& execution = task.execution;
  const bool is_given_otherwise =
      execution.micro_batch_tokens > 0 || execution.micro_batches > 0 || execution.prefill_chunk_tokens > 0;
  if (is_given_otherwise) return empty_cell();
  if (task.unstated.micro_batch) return not_stated();
  return count_cell(static_cast<std::size_t>(task.micro_batch_sequences));
}

Cell decode_batch_cell(const std::string& name, const TaskPlan& task) {
  if (task.decode_batch_sequences > 0) return count_cell(static_cast<std::size_t>(task.decode_batch_sequences));
  if (name != task_names::kActorGeneration) return empty_cell();
  return task.unstated.decode_batch ? not_stated() : Cell("all", 0);
}

Cell recompute_cell(const std::string& /*name*/, const TaskPlan& task) {
  if (task.unstated.recompute) return not_stated();
  if (task.recompute == Recompute::none) return empty_cell();
  return std::string(name_of(task.recompute));
}

// Adds a row if a task has something to say in it.
template <typename CellOf>
void add_row(Table& table, const Plan& plan, Cell setting, const std::string& meaning, const CellOf& cell_of) {
  std::vector<Cell> row = {std::move(setting)};
  bool is_used = false;
  for (const std::string& name : tasks_of(plan.tasks)) {
    row.push_back(cell_of(name, plan.tasks.at(name)));
    is_used = is_used || row.back().text != empty_cell().text;
  }
  row.emplace_back(meaning);
  if (is_used) table.rows.push_back(std::move(row));
}

void add_option_row(Table& table, const Plan& plan, const Field<Execution>& field) {
  const auto cell_of = [&](const std::string& /*name*/, const TaskPlan& task) -> Cell {
    Json options = Json::object();
    field.write(task.execution, options);
    if (!options.contains(field.name)) return empty_cell();
    const Json& value = options[std::string(field.name)];
    return {shown_value(field.name, value), value};
  };
  const std::string meaning = field.schema.value("description", "");
  add_row(table, plan, {shown_setting(field.name), std::string(field.name)}, meaning, cell_of);
}

}  // namespace

Table execution_table(const Plan& plan) {
  Table table{"plan_execution",
              "Execution of each task; a dash is the default, and settings that no task changes have no row",
              {{"setting", "setting"}},
              {}};
  for (const std::string& name : tasks_of(plan.tasks)) table.columns.push_back({name, shown_name(name)});
  table.columns.push_back({"meaning", "meaning"});
  add_row(table, plan, {"micro batch sequences", "micro_batch_sequences"}, "Sequences of a micro-batch.",
          micro_batch_cell);
  add_row(table, plan, {"decode batch sequences", "decode_batch_sequences"},
          "Sequences that a replica decodes at once, at most.", decode_batch_cell);
  add_row(table, plan, {"recompute", "recompute"}, "Activations that the backward pass recomputes.",
          recompute_cell);
  for (const Field<Execution>& field : execution_fields()) add_option_row(table, plan, field);
  return table;
}

}  // namespace sextant::inline reports
