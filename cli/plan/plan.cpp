// sextant plan: the best plan that a planner finds.
#include <memory>
#include <optional>
#include <utility>

#include "ask/export/trainer_script.h"
#include "ask/plan/plan_advice.h"
#include "ask/plan/plan_standing.h"
#include "cli/ask/inputs.h"
#include "cli/plan/explain.h"
#include "cli/plan/plan_options.h"
#include "cli/plan/plan_search.h"
#include "cli/plan/plan_sets.h"
#include "cli/plan/planner_options.h"
#include "cli/plan/risk_options.h"
#include "cli/plan/search_record.h"
#include "cli/plan/what_if.h"
#include "cli/probe/rank_group.h"
#include "cli/shared/command.h"
#include "cli/shared/describe_execution.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/notes.h"
#include "cli/shared/table.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

std::string describe_layouts(const Plan& plan, const Workflow& workflow) {
  Table table({"task", "layout", "executed with"});
  table.align_left(1);
  table.align_left(2);
  for (const Task& task : workflow.tasks) {
    const TaskPlan& layout = plan.tasks.at(task.name);
    table.add({task.name, describe(layout), describe_execution(layout, task.kind)});
  }
  return table.text();
}

int report_no_plan(const PlanOptions& options, const PlanOutput& answer, const std::string& advice) {
  if (answer.result.outcome == PlanOutcome::too_large) {
    std::fprintf(stderr, "sextant: %s\n", answer.result.message.c_str());
    return kBadInput;
  }
  std::fprintf(stderr, "sextant: %s%s\n", answer.result.message.c_str(), advice.c_str());
  if (!options.search_out.empty()) {
    save_document(options.search_out, answer.record);
    say_wrote(options.search_out);
  }
  return kAnswerIsNo;
}

template <typename T>
void save_if_named(const std::string& file, const T& content) {
  if (!file.empty()) save_document(file, content);
}

// Everything is written before anything is said.
int write_outputs(const PlanOptions& options, const Workflow& workflow, const PlanOutput& answer) {
  const PlanResult& result = answer.result;
  save_if_named(options.out, *result.plan);
  save_if_named(options.prediction_out, *result.prediction);
  save_if_named(options.search_out, answer.record);
  if (options.json) {
    print_document(*result.plan);
  } else {
    std::fputs(describe_layouts(*result.plan, workflow).c_str(), stdout);
    std::fputs(describe_prediction(*result.prediction).c_str(), stdout);
    std::fputs(describe(answer.record).c_str(), stdout);
  }
  if (answer.record.was_interrupted && answer.record.proof != Proof::optimal)
    std::fprintf(stderr, "interrupted: this is the best plan so far\n");
  for (const std::string& file : {options.out, options.prediction_out, options.search_out}) {
    if (!file.empty()) say_wrote(file);
  }
  return kDone;
}

// Tables instead of a plan.
int plan_several(const PlanOptions& options, AskedPlan& asked) {
  const Planner& planner = asked.planner;
  for (const std::string& file : {options.out, options.prediction_out, options.search_out}) {
    if (!file.empty()) throw_bad_input("--pareto and --compare-modes write no files; --json prints the plans");
  }
  if (options.explain.has_any())
    throw_bad_input(
        "--pareto and --compare-modes make several plans; --explain and --what-if need a single one");
  if (!options.run.parts.empty())
    throw_bad_input("--length-schedule cannot be used with --pareto or --compare-modes");
  if (risk_goal_of(options.planner.goal))
    throw_bad_input(
        "--pareto and --compare-modes cannot be used with --goal mean or p50 to p99, which evaluate a single "
        "plan");
  if (options.pareto_points > 0 && !planner.traits.has_objectives)
    throw_bad_input("--pareto: planner " + std::string(planner.name) +
                    " supports only --goal time; choose another, such as sha-ea");
  const Interrupt interrupt;
  asked.request.is_cancelled = &interrupt.flag();
  const PlanSet set = options.pareto_points > 0
                          ? pareto_set(planner, asked.request, asked.left, options.pareto_points)
                          : compared_modes(options, asked, interrupt.flag());
  say(set.notes);
  print_text(options.json ? set.json : set.text);
  return set.is_empty ? kAnswerIsNo : kDone;
}

int print_plan(const PlanOptions& options, const AskedPlan& asked, PlanOutput& answer) {
  complete_answer(options, asked, answer);
  if (answer.result.outcome != PlanOutcome::found) {
    Advice advice;
    if (answer.result.outcome == PlanOutcome::infeasible)
      advice = advice_without_plan(asked.request, asked.profile_in_force(options), answer);
    if (!advice.plan) {
      const bool is_over = answer.result.outcome != PlanOutcome::infeasible || answer.record.was_interrupted;
      if (!is_over && asked.planner.name == "portfolio")
        advice.text += gain_of_another_trainer(options, asked, nullptr);
      return report_no_plan(options, answer, advice.text);
    }
    take_plan(asked, std::move(*advice.plan), answer);
    complete_answer(options, asked, answer);
  }
  const LoadedInputs& loaded = asked.loaded;
  PlanResult& result = answer.result;
  say(loaded.chosen.notes);
  if (asked.planner.name == "portfolio" && !answer.record.was_interrupted)
    record_standing(options, asked, answer);
  const int code = write_outputs(options, loaded.workflow, answer);
  constexpr std::uint64_t kFewPlans = 300;
  if (asked.planner.name == "portfolio" && answer.record.proof != Proof::optimal &&
      result.candidates < kFewPlans)
    std::fprintf(stderr,
                 "sextant: warning: the search was short (%llu plans); a larger --budget may find better\n",
                 static_cast<unsigned long long>(result.candidates));
  if (const std::string refusal = why_no_script(*result.plan, loaded); !refusal.empty())
    say({"warning: sextant export has no script for this plan: " + refusal});
  if (options.any_layout && asked.planner.traits.has_layout_rules) say({cost_of_limits(asked, result)});
  if (asked.planner.name == "portfolio" && !answer.record.was_interrupted) {
    const std::string faster = gain_of_synchronous(asked, asked.profile_in_force(options), result);
    if (!faster.empty()) say({faster});
    const std::string other = gain_of_another_batch(asked, asked.profile_in_force(options), result);
    if (!other.empty()) say({other});
    const std::string trainer = gain_of_another_trainer(options, asked, &result, !answer.warning.empty());
    if (!trainer.empty()) say({trainer});
  }
  const bool breaks_limit = options.max_memory_risk && !answer.warning.empty();
  if (code != kDone || !options.explain.has_any()) return breaks_limit ? kAnswerIsNo : code;
  const CoefficientUncertainty doubt =
      coefficient_uncertainty_of(loaded, options.explain.draws, options.planner.seed);
  return explain_plan(options.explain, {asked.request, asked.planner, *result.plan, doubt}, asked.scenarios,
                      options.json);
}

int list_planners(const PlanOptions& options) {
  print_text(options.json ? planners_as_json() : describe_planners());
  return kDone;
}

// All ranks search; rank 0 alone prints and writes.
int run(const PlanOptions& options) {
  RankGroup ranks(world());
  if (options.is_list) return ranks.first_alone([&] { return list_planners(options); });
  try {
    const auto asked = ranks.together([&] { return std::make_unique<AskedPlan>(options, ranks); });
    if (options.makes_several()) return plan_several(options, *asked);
    PlanOutput answer = ranks.together([&] { return search_aloud(options, *asked, ranks); });
    return ranks.first_alone([&] { return print_plan(options, *asked, answer); });
  } catch (const FailedOnAll& failure) {
    return say_failure(failure, ranks);
  }
}

}  // namespace

void add_plan(CommandLine& line) {
  const auto options = std::make_shared<PlanOptions>();
  const Command command = line.add_command("plan", "Search for the fastest plan that fits in memory");
  add_model_inputs(command, options->inputs);
  add_planner_options(command, options->planner);
  command.add_option("--exclude", options->excluded,
                     "Node, device (node/3), zone or region that plans must not use; repeatable");
  constexpr int kMaxPoints = 64;
  const Option pareto = command
                            .add_option("--pareto", options->pareto_points,
                                        "Number of plans from the fastest to the cheapest; one search for "
                                        "each, each with the whole budget")
                            .check(integer_between(2, kMaxPoints));
  command
      .add_flag("--compare-modes", options->compares_modes,
                "Compare plans for the workflow in synchronous, one-step-off and asynchronous mode")
      .excludes(pareto);
  constexpr int kMaxRank = 4096;
  command
      .add_option("--lora-rank", options->lora_rank,
                  "Train low-rank adapters of this rank instead of all weights (LoRA)")
      .check(integer_between(1, kMaxRank));
  command.add_flag("--any-layout", options->any_layout,
                   "Also allow layouts that the framework cannot run, to see what its limits cost");
  command
      .add_option(
          "--max-memory-risk", options->max_memory_risk,
          "Maximum probability that the plan runs out of memory; if it is given and no plan keeps it, exits 1")
      .check(number_between(0.001, 0.5))
      .shows_default("0.05");
  add_risk_options(command, options->risk);
  add_run_options(command, options->run);
  add_explain_options(command, options->explain);
  command.add_output("--out", options->out, "Write the plan document here");
  command.add_output("--prediction", options->prediction_out, "Write its prediction document here");
  command.add_output("--search-out", options->search_out,
                     "Write the search document here: planner, curve of the incumbent, bounds");
  command.add_flag("--json", options->json,
                   "Print the plan document (with --list: the planners) instead of tables");
  command.add_flag("--list", options->is_list, "List all planners and their features");
  command.footer(
      std::string(kWhatIfGrammar) +
      "\n"
      "Goals: cost counts only devices that the plan uses; p90 is the time that nine of ten sampled iterations "
      "do not exceed.\n"
      "Every plan comes with a bound on its gap to the optimum under this model, and with a proof if the "
      "planner gives one.\n"
      "Ctrl-C ends a search with the best plan so far (ilp: after at most as long as its solver has run); a "
      "second Ctrl-C\n"
      "ends the program.\n"
      "Under mpirun the portfolio runs only sha-ea, on all ranks: each rank searches its part of the task "
      "groupings and,\n"
      "with a time budget, shares evaluated options with the others. Rank 0 prints and writes the best plan. "
      "After Ctrl-C it\n"
      "does so if that takes less time than mpirun waits (Open MPI: one second); mpirun then exits 1. The "
      "other planners,\n"
      "--pareto and --compare-modes refuse more than one rank; --explain and --what-if run on rank 0 only.\n"
      "Exits 1 if no plan fits or none was found, 2 if the planner does not support an option. The plan is "
      "verified by\n"
      "separate code before it is written; exits 3 if it breaks a rule.\n"
      "Example: sextant plan --cluster cluster.json --workflow workflow.json --coefficients coefficients.json\n"
      "         --budget 10 --out plan.json --search-out search.json\n"
      "         mpirun -n 2 sextant plan --cluster cluster.json --workflow workflow.json --budget 5 --out "
      "plan.json");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
