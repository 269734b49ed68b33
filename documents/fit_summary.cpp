#include "sextant/fit_summary.h"

#include <cmath>

#include "documents/field_tables.h"

namespace sextant {
namespace {

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

ModelDeviations parse_deviations(const JsonView& view) {
  view.allow_only({"task_log_deviation", "iteration_log_deviation", "memory_log_deviation"});
  ModelDeviations out;
  out.task = view.required("task_log_deviation").non_negative();
  out.iteration = view.required("iteration_log_deviation").non_negative();
  if (const auto memory = view.optional("memory_log_deviation")) out.memory = memory->positive();
  return out;
}

Json to_json(const ModelDeviations& deviations) {
  Json out = {{"task_log_deviation", deviations.task}, {"iteration_log_deviation", deviations.iteration}};
  if (deviations.memory > 0) out["memory_log_deviation"] = deviations.memory;
  return out;
}

}  // namespace

const Fields<PlanOrder>& documents::plan_order_fields() {
  static const Fields<PlanOrder> fields{
      required("groups", &PlanOrder::groups, count(), "Number of groups of two or more such plans."),
      required("pairs", &PlanOrder::pairs, count(), "Number of pairs of plans within a group."),
      required("kendall_tau", &PlanOrder::kendall_tau, number())
          .then([](const JsonView& view, PlanOrder& order) {
            if (std::abs(order.kendall_tau) > 1)
              view.required("kendall_tau").fail("expected a number from -1 to 1");
          })
          .described_by_hand(),
      required("mean_regret_fraction", &PlanOrder::mean_regret_fraction, non_negative(),
               "Measured time of the plan predicted fastest / that of the fastest, less 1; mean over groups."),
      required("worst_regret_fraction", &PlanOrder::worst_regret_fraction, non_negative(),
               "Largest regret of any group."),
  };
  return fields;
}

const Fields<TaskExperience>& documents::experience_fields() {
  static const Fields<TaskExperience> fields{
      required("run", &TaskExperience::run, text()),
      required("framework", &TaskExperience::framework, text()),
      required("kind", &TaskExperience::kind,
               Kind<TaskKind>{parse_task_kind,
                              [](const TaskKind& kind) { return Json(name_of(kind)); },
                              {{"enum", {"generation", "inference", "training"}}}}),
      required("device_types", &TaskExperience::device_types, list_of(text())),
      required("precision", &TaskExperience::precision, precision()),
      required("experts", &TaskExperience::experts, flag()),
      required("tensor_parallel_between_nodes", &TaskExperience::tensor_parallel_between_nodes, flag()),
      required("parameters", &TaskExperience::parameters, positive()),
      required("sequence_tokens", &TaskExperience::sequence_tokens, non_negative()),
      required("replica_sequences", &TaskExperience::replica_sequences, non_negative()),
      required("tensor_parallel", &TaskExperience::tensor_parallel, positive()),
      required("pipeline_parallel", &TaskExperience::pipeline_parallel, positive()),
      required("data_parallel", &TaskExperience::data_parallel, positive()),
      required("nodes", &TaskExperience::nodes, positive()),
  };
  return fields;
}

PlanOrder PlanOrder::parse(const JsonView& view) { return parse_fields(view, plan_order_fields()); }

Json PlanOrder::to_json() const { return fields_to_json(*this, plan_order_fields()); }

FitSummary FitSummary::parse(const JsonView& view, std::size_t values) {
  view.allow_only({"runs", "residuals", "free_coefficients", "converged", "message", "initial_cost",
                   "final_cost", "task_log_deviation", "iteration_log_deviation", "memory_log_deviation",
                   "directions", "held_out", "started_from", "experience", "outliers"});
  FitSummary out;
  out.runs = list_of(text()).read(view.required("runs"));
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
  if (const auto before = view.optional("started_from")) out.started_from = parse_deviations(*before);
  if (const auto experience = view.optional("experience")) {
    out.experience = list_of(object(experience_fields())).read(*experience);
  }
  if (const auto outliers = view.optional("outliers")) out.outliers = list_of(text()).read(*outliers);
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
  for (const LearnedDirection& direction : directions) out["directions"].push_back(sextant::to_json(direction));
  if (held_out) out["held_out"] = sextant::to_json(*held_out);
  if (started_from) out["started_from"] = sextant::to_json(*started_from);
  if (!experience.empty()) out["experience"] = list_of(object(experience_fields())).write(experience);
  if (!outliers.empty()) out["outliers"] = outliers;
  return out;
}

}  // namespace sextant
