#include "sextant/fit_summary.h"

#include <cmath>

#include "core/json_value.h"

namespace sextant {
namespace {

std::vector<std::string> parse_texts(const JsonView& view) {
  std::vector<std::string> texts;
  for (const JsonView& item : view.items()) texts.push_back(item.text());
  return texts;
}

LearnedDirection parse_direction(const JsonView& view, std::size_t values) {
  view.allow_only({"remaining", "of", "parts"});
  LearnedDirection out;
  out.remaining = view.required("remaining").fraction();
  for (const JsonView& position : view.required("of").items()) {
    if (position.count(0) >= static_cast<int>(values)) {
      position.fail("there are " + std::to_string(values) + " values");
    }
    out.of.push_back(position.count(0));
  }
  const JsonView parts = view.required("parts");
  out.parts = parts.numbers();
  if (out.parts.size() != out.of.size()) parts.fail("expected as many as in \"of\"");
  return out;
}

Json to_json(const LearnedDirection& direction) {
  return {{"remaining", direction.remaining}, {"of", direction.of}, {"parts", direction.parts}};
}

HeldOutSummary parse_held_out(const JsonView& view) {
  view.allow_only({"left_out", "folds", "tasks", "iterations", "task_mape", "iteration_mape", "memories",
                   "memory_mape", "coverage_90", "task_log_deviation", "iteration_log_deviation",
                   "memory_log_deviation", "order"});
  HeldOutSummary out;
  out.left_out = view.required("left_out").text();
  out.folds = view.required("folds").count(2);
  out.tasks = view.required("tasks").count(0);
  out.iterations = view.required("iterations").count(0);
  out.task_mape = view.required("task_mape").non_negative();
  out.iteration_mape = view.required("iteration_mape").non_negative();
  if (const auto memories = view.optional("memories")) {
    out.memories = memories->count(1);
    out.memory_mape = view.required("memory_mape").non_negative();
    if (const auto deviation = view.optional("memory_log_deviation")) {
      out.memory_log_deviation = deviation->non_negative();
    }
  } else {
    for (const char* member : {"memory_mape", "memory_log_deviation"}) {
      if (const auto stray = view.optional(member)) stray->fail("only allowed with \"memories\"");
    }
  }
  out.coverage_90 = view.required("coverage_90").fraction();
  out.task_log_deviation = view.required("task_log_deviation").non_negative();
  out.iteration_log_deviation = view.required("iteration_log_deviation").non_negative();
  if (const auto order = view.optional("order")) out.order = PlanOrder::parse(*order);
  return out;
}

Json to_json(const HeldOutSummary& held_out) {
  Json out = {{"left_out", held_out.left_out},
              {"folds", held_out.folds},
              {"tasks", held_out.tasks},
              {"iterations", held_out.iterations},
              {"task_mape", held_out.task_mape},
              {"iteration_mape", held_out.iteration_mape},
              {"coverage_90", held_out.coverage_90},
              {"task_log_deviation", held_out.task_log_deviation},
              {"iteration_log_deviation", held_out.iteration_log_deviation}};
  if (held_out.memories > 0) {
    out["memories"] = held_out.memories;
    out["memory_mape"] = held_out.memory_mape;
    if (held_out.memory_log_deviation > 0) out["memory_log_deviation"] = held_out.memory_log_deviation;
  }
  if (held_out.order) out["order"] = held_out.order->to_json();
  return out;
}

TaskExperience parse_experience(const JsonView& view) {
  view.allow_only({"run", "framework", "kind", "device_types", "precision", "experts",
                   "tensor_parallel_between_nodes", "parameters", "sequence_tokens", "replica_sequences",
                   "tensor_parallel", "pipeline_parallel", "data_parallel", "nodes"});
  TaskExperience out;
  out.run = view.required("run").text();
  out.framework = view.required("framework").text();
  out.kind = parse_task_kind(view.required("kind"));
  out.device_types = parse_texts(view.required("device_types"));
  out.precision = parse_precision(view.required("precision"));
  out.experts = view.required("experts").flag();
  out.tensor_parallel_between_nodes = view.required("tensor_parallel_between_nodes").flag();
  out.parameters = view.required("parameters").positive();
  out.sequence_tokens = view.required("sequence_tokens").non_negative();
  out.replica_sequences = view.required("replica_sequences").non_negative();
  out.tensor_parallel = view.required("tensor_parallel").positive();
  out.pipeline_parallel = view.required("pipeline_parallel").positive();
  out.data_parallel = view.required("data_parallel").positive();
  out.nodes = view.required("nodes").positive();
  return out;
}

Json to_json(const TaskExperience& seen) {
  return {{"run", seen.run},
          {"framework", seen.framework},
          {"kind", name_of(seen.kind)},
          {"device_types", seen.device_types},
          {"precision", name_of(seen.precision)},
          {"experts", seen.experts},
          {"tensor_parallel_between_nodes", seen.tensor_parallel_between_nodes},
          {"parameters", seen.parameters},
          {"sequence_tokens", seen.sequence_tokens},
          {"replica_sequences", seen.replica_sequences},
          {"tensor_parallel", seen.tensor_parallel},
          {"pipeline_parallel", seen.pipeline_parallel},
          {"data_parallel", seen.data_parallel},
          {"nodes", seen.nodes}};
}

template <typename Part>
void write_list(Json& out, const char* name, const std::vector<Part>& parts) {
  if (parts.empty()) return;
  out[name] = Json::array();
  for (const Part& part : parts) out[name].push_back(to_json(part));
}

}  // namespace

PlanOrder PlanOrder::parse(const JsonView& view) {
  view.allow_only({"groups", "pairs", "kendall_tau", "mean_regret_fraction", "worst_regret_fraction"});
  PlanOrder out;
  out.groups = view.required("groups").count(1);
  out.pairs = view.required("pairs").count(1);
  const JsonView tau = view.required("kendall_tau");
  out.kendall_tau = tau.number();
  if (std::abs(out.kendall_tau) > 1) tau.fail("expected a number from -1 to 1");
  out.mean_regret_fraction = view.required("mean_regret_fraction").non_negative();
  out.worst_regret_fraction = view.required("worst_regret_fraction").non_negative();
  return out;
}

Json PlanOrder::to_json() const {
  return {{"groups", groups},
          {"pairs", pairs},
          {"kendall_tau", kendall_tau},
          {"mean_regret_fraction", mean_regret_fraction},
          {"worst_regret_fraction", worst_regret_fraction}};
}

FitSummary FitSummary::parse(const JsonView& view, std::size_t values) {
  view.allow_only({"runs", "residuals", "free_coefficients", "converged", "message", "initial_cost",
                   "final_cost", "task_log_deviation", "iteration_log_deviation", "memory_log_deviation",
                   "directions", "held_out", "experience", "outliers"});
  FitSummary out;
  out.runs = parse_texts(view.required("runs"));
  out.residuals = view.required("residuals").count(0);
  if (const auto count = view.optional("free_coefficients")) out.free_coefficients = count->count(0);
  out.converged = view.required("converged").flag();
  out.message = view.required("message").any_text();
  out.initial_cost = view.required("initial_cost").non_negative();
  out.final_cost = view.required("final_cost").non_negative();
  out.task_log_deviation = view.required("task_log_deviation").non_negative();
  out.iteration_log_deviation = view.required("iteration_log_deviation").non_negative();
  if (const auto deviation = view.optional("memory_log_deviation")) {
    out.memory_log_deviation = deviation->positive();
  }
  if (const auto directions = view.optional("directions")) {
    for (const JsonView& item : directions->items()) out.directions.push_back(parse_direction(item, values));
  }
  if (const auto held_out = view.optional("held_out")) out.held_out = parse_held_out(*held_out);
  if (const auto experience = view.optional("experience")) {
    for (const JsonView& item : experience->items()) out.experience.push_back(parse_experience(item));
  }
  if (const auto outliers = view.optional("outliers")) out.outliers = parse_texts(*outliers);
  return out;
}

Json FitSummary::to_json() const {
  Json out = {{"runs", runs},
              {"residuals", residuals},
              {"free_coefficients", free_coefficients},
              {"converged", converged},
              {"message", message},
              {"initial_cost", initial_cost},
              {"final_cost", final_cost},
              {"task_log_deviation", task_log_deviation},
              {"iteration_log_deviation", iteration_log_deviation}};
  if (memory_log_deviation > 0) out["memory_log_deviation"] = memory_log_deviation;
  write_list(out, "directions", directions);
  if (held_out) out["held_out"] = sextant::to_json(*held_out);
  write_list(out, "experience", experience);
  if (!outliers.empty()) out["outliers"] = outliers;
  return out;
}

}  // namespace sextant
