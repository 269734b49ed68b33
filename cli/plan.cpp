// sextant plan: the best plan of a space.
#include <memory>

#include "calibrate/trust.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/table.h"
#include "cli/verified.h"
#include "core/units.h"
#include "planner/exhaustive.h"

namespace sextant::cli {
namespace {

struct Options {
  ModelInputs inputs;
  SearchLimits limits;
  std::string out;
  std::string prediction_out;
  bool json = false;
};

std::string describe_layouts(const Plan& plan) {
  Table table({"task", "layout"});
  for (const auto& [name, task] : plan.tasks) table.add({name, describe(task)});
  return table.text();
}

int run(const Options& options) {
  const LoadedInputs loaded = load(options.inputs);
  const ChosenCoefficients& chosen = loaded.chosen;
  const PlanRequest request{loaded.cluster, loaded.workflow, chosen.coefficients, chosen.framework,
                            options.limits};
  PlanResult result = plan_exhaustively(request);
  if (result.outcome != PlanOutcome::found) {
    std::fprintf(stderr, "sextant: %s\n", result.message.c_str());
    return result.outcome == PlanOutcome::infeasible ? kAnswerIsNo : kBadInput;
  }
  require_verified(
      verify_plan(loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients, chosen.framework));
  say(chosen.notes);
  qualify(*result.prediction,
          {loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients, chosen.framework});
  name_coefficients(*result.prediction, chosen);
  if (!options.out.empty()) save_document(options.out, *result.plan);
  if (!options.prediction_out.empty()) save_document(options.prediction_out, *result.prediction);
  if (options.json) {
    print_document(*result.plan);
  } else {
    print_line(result.message + "; no plan of this space is faster under this model");
    std::fputs(describe_layouts(*result.plan).c_str(), stdout);
    std::fputs(describe_prediction(*result.prediction).c_str(), stdout);
  }
  if (!options.out.empty()) say_wrote(options.out);
  if (!options.prediction_out.empty()) say_wrote(options.prediction_out);
  return kDone;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("plan", "Search for the fastest plan that fits");
  add_model_inputs(*command, options->inputs);
  command->add_option("--micro-batches", options->limits.micro_batch_sequences, "Micro-batch sizes to try")
      ->delimiter(',')
      ->check(positive_number())
      ->capture_default_str();
  command->add_flag("--recompute", options->limits.try_recompute, "Try training with recomputation too");
  command->add_flag("--uneven-stages", options->limits.try_uneven_stages,
                    "Try every way to deal layers to stages");
  command->add_option("--most-plans", options->limits.most_plans, "Refuse a larger space")
      ->capture_default_str();
  command->add_option("--out", options->out, "Write the plan document here");
  command->add_option("--prediction", options->prediction_out, "Write its prediction document here");
  command->add_flag("--json", options->json, "Print the plan document instead of tables");
  command->footer(
      "Tries every plan, so it is for small clusters (up to about 8 devices). Exits 1 when no plan fits. The "
      "plan\n"
      "is verified by code of its own before it is written; exits 3 should it break a rule.\n"
      "Example: sextant plan --cluster cluster.json --workflow workflow.json --coefficients coefficients.json\n"
      "         --out plan.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sextant::cli
