#include "cli/quickstart/quickstart_summary.h"

#include "cli/shared/table.h"
#include "core/json_value.h"
#include "core/units.h"

namespace sextant::cli {

QuickstartSummary QuickstartSummary::parse(const JsonView& view) {
  view.allow_only({"configurations", "held_out_configurations", "held_out_task_mape", "held_out_iteration_mape",
                   "plan_regret_fraction", "wall_s", "ranks", "plan", "predicted_iteration_s",
                   "measured_iteration_s", "measured_plans", "fastest_plan"});
  QuickstartSummary summary;
  summary.configurations = view.required("configurations").count(1);
  summary.held_out_configurations = view.required("held_out_configurations").count(0);
  summary.held_out_task_mape = view.required("held_out_task_mape").non_negative();
  summary.held_out_iteration_mape = view.required("held_out_iteration_mape").non_negative();
  summary.plan_regret_fraction = view.required("plan_regret_fraction").non_negative();
  summary.wall_s = view.required("wall_s").positive();
  summary.ranks = view.required("ranks").count(1);
  summary.plan = view.required("plan").text();
  summary.predicted_iteration_s = view.required("predicted_iteration_s").positive();
  summary.measured_iteration_s = view.required("measured_iteration_s").positive();
  summary.measured_plans = view.required("measured_plans").count(1);
  summary.fastest_plan = view.required("fastest_plan").text();
  return summary;
}

Json QuickstartSummary::to_json() const {
  return {{"configurations", configurations},
          {"held_out_configurations", held_out_configurations},
          {"held_out_task_mape", held_out_task_mape},
          {"held_out_iteration_mape", held_out_iteration_mape},
          {"plan_regret_fraction", plan_regret_fraction},
          {"wall_s", wall_s},
          {"ranks", ranks},
          {"plan", plan},
          {"predicted_iteration_s", predicted_iteration_s},
          {"measured_iteration_s", measured_iteration_s},
          {"measured_plans", measured_plans},
          {"fastest_plan", fastest_plan}};
}

std::string describe(const QuickstartSummary& summary) {
  Table table({"quickstart", ""});
  table.add({"configurations measured", std::to_string(summary.configurations)});
  table.add({"  held out from the fit", std::to_string(summary.held_out_configurations)});
  table.add({"error of task times (MAPE, held out)", format_percent(summary.held_out_task_mape)});
  table.add({"error of iteration times (MAPE, held out)", format_percent(summary.held_out_iteration_mape)});
  table.add({"chosen plan, predicted", format_seconds(summary.predicted_iteration_s)});
  table.add({"chosen plan, measured", format_seconds(summary.measured_iteration_s)});
  table.add({"chosen plan slower than the fastest of " + std::to_string(summary.measured_plans) +
                 " measured plans by",
             format_percent(summary.plan_regret_fraction)});
  table.add({"wall time", format_seconds(summary.wall_s)});
  return table.text();
}

std::vector<std::string> sentences(const QuickstartSummary& summary) {
  return {std::to_string(summary.configurations) + " configurations were measured on " +
              std::to_string(summary.ranks) + (summary.ranks == 1 ? " core" : " cores") + "; the fit saw " +
              std::to_string(summary.configurations - summary.held_out_configurations) + " of them.",
          "On the others task times were predicted to " + format_percent(summary.held_out_task_mape) +
              " and iteration times to " + format_percent(summary.held_out_iteration_mape) +
              " (mean absolute error).",
          "The chosen plan was predicted to take " + format_seconds(summary.predicted_iteration_s) +
              " and took " + format_seconds(summary.measured_iteration_s) + ", " +
              format_percent(summary.plan_regret_fraction) + " more than the fastest of " +
              std::to_string(summary.measured_plans) + " measured plans (" + summary.fastest_plan + ").",
          "The loop took " + format_seconds(summary.wall_s) + "."};
}

}  // namespace sextant::cli
