// sextant-lab schemas: the parts of docs/schemas that follow from tables of the program, for scripts/docs.
#include "cli/shared/command.h"
#include "core/json_value.h"
#include "documents/field_tables.h"
#include "lab/cli/lab_commands.h"
#include "planner/coschedule/document_fields.h"
#include "planner/coschedule/simulation/simulation_fields.h"

namespace sextant::cli {
namespace {

Json names_of_coefficients(bool only_never_zero) {
  Json names = Json::array();
  for (const CoefficientSpec& spec : coefficient_table()) {
    const bool is_never_zero = spec.scale == CoefficientScale::logarithmic && spec.neutral > 0;
    if (is_never_zero || !only_never_zero) names.push_back(spec.name);
  }
  return {{"enum", std::move(names)}};
}

// Objects by file and JSON pointer.
Json parts_of_schemas() {
  return {
      {"cluster",
       {{"/device_type", schema_of(device_type_fields())},
        {"/link", schema_of(link_fields())},
        {"/node", schema_of(node_fields())}}},
      {"coefficients",
       {{"/coefficient", schema_of(coefficient_fields())},
        {"/coefficient/properties/name", names_of_coefficients(false)},
        {"/never_zero", names_of_coefficients(true)},
        {"/experience", schema_of(experience_fields())}}},
      {"common",
       {{"/plan_order", schema_of(plan_order_fields())},
        {"/quantity", schema_of(quantity_fields(false))},
        {"/quantity_or_zero", schema_of(quantity_fields(true))}}},
      {"explanation",
       {{"/explanation", schema_of(explanation_fields())},
        {"/parts/items", schema_of(time_part_fields())},
        {"/device_use", schema_of(device_use_fields())},
        {"/saving", schema_of(saving_fields())},
        {"/flip", schema_of(flip_fields())}}},
      {"coschedule_simulation", {{"/simulation", schema_of(coschedule::simulation_fields())}}},
      {"job", {{"/job", schema_of(coschedule::job_fields())}}},
      {"job_trace", {{"/job_trace", schema_of(coschedule::job_trace_fields())}}},
      {"model", {{"/model", schema_of(model_fields())}}},
      {"placement", {{"/placement", schema_of(coschedule::placement_fields())}}},
      {"plan",
       {{"/execution", schema_of(execution_fields())}, {"/weight_sync", schema_of(weight_sync_fields())}}},
      {"prediction",
       {{"/prediction", schema_of(prediction_fields())},
        {"/task", schema_of(task_prediction_fields())},
        {"/sensitivity", schema_of(sensitivity_fields())}}},
      {"runs", {{"/unstated", schema_of(unstated_fields())}}},
      {"search",
       {{"/search/properties/risk", schema_of(risk_fields())},
        {"/search/properties/run", schema_of(run_fields())},
        {"/search/properties/run/properties/parts/items", schema_of(run_part_fields())}}},
      {"workflow", {{"/workflow", schema_of(workflow_fields())}, {"/task", schema_of(task_fields())}}},
  };
}

}  // namespace

void add_schemas(CommandLine& line) {
  const Command command =
      line.add_command("schemas", "Print the parts of docs/schemas that follow from tables");
  command.footer("Example: sextant-lab schemas");
  command.runs([] {
    print_line(format_json(parts_of_schemas()));
    return kDone;
  });
}

}  // namespace sextant::cli
