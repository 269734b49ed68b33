// sextant plan: the best plan that a planner finds.
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "calibrate/trust.h"
#include "cli/command.h"
#include "cli/describe_execution.h"
#include "cli/explain.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/memory_risk.h"
#include "cli/plan_risk.h"
#include "cli/plan_sets.h"
#include "cli/plan_within_risk.h"
#include "cli/planner_options.h"
#include "cli/rank_group.h"
#include "cli/search_progress.h"
#include "cli/search_record.h"
#include "cli/table.h"
#include "cli/what_if.h"
#include "core/error.h"
#include "core/units.h"
#include "costmodel/predict.h"
#include "planner/exact/exact.h"
#include "planner/portfolio/portfolio.h"
#include "planner/profile.h"
#include "planner/space/subcluster.h"
#include "planner/verify/answer.h"
#include "planner/what_fits.h"

namespace sextant::cli {
namespace {

struct Options {
  ModelInputs inputs;
  PlannerOptions planner;
  ExplainOptions explain;
  std::string out;
  std::string prediction_out;
  std::string search_out;
  std::vector<std::string> excluded;
  int pareto_points = 0;
  bool any_layout = false;
  std::optional<double> max_memory_risk;  // none: the usual one for plans of a framework, else any

  [[nodiscard]] double memory_risk() const { return max_memory_risk.value_or(kUsualRisk); }
  [[nodiscard]] bool limits_risk(const LoadedInputs& loaded) const {
    return loaded.profile.has_value() || max_memory_risk.has_value();
  }
  RiskOptions risk;
  RunOptions run;
  bool compares_modes = false;
  bool is_list = false;
  bool json = false;

  [[nodiscard]] bool makes_several() const { return pareto_points > 0 || compares_modes; }
};

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

// A plan that the search may begin with: one that can be run and obeys the pins, and within what bounds are of.
PlanResult load_start(const std::string& file, const LoadedInputs& loaded, const Pins& pins) {
  const ChosenCoefficients& chosen = loaded.chosen;
  PlanResult start;
  start.plan = load_plan(file, loaded);
  const Verdict verdict =
      verify_plan(loaded.cluster, loaded.workflow, *start.plan, chosen.coefficients, chosen.framework, pins);
  if (!verdict.feasible())
    throw_bad_input(
        file + ": cannot be run, so there is nothing to begin with: " + describe(verdict.violations.front()));
  start.outcome = PlanOutcome::found;
  start.prediction =
      predict(loaded.cluster, loaded.workflow, *start.plan, chosen.coefficients, chosen.framework);
  return start;
}

// Until the planner ends, or someone presses Ctrl-C, which mpirun passes on to all ranks. Rank 0 shows its own
// best until then.
Answer search(const Planner& planner, PlanRequest request, RankGroup& ranks) {
  const Interrupt interrupt;
  std::optional<SearchProgress> progress;
  if (ranks.is_first()) progress.emplace(std::string(planner.name), request.budget.seconds);
  if (!ranks.is_alone()) request.ranks = &ranks;
  request.is_cancelled = &interrupt.flag();
  request.on_improvement = [&](const Improvement& improvement) {
    if (progress) progress->improved(improvement);
  };
  const auto start = std::chrono::steady_clock::now();
  PlanResult result = planner.plan(request);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  SearchRecord record = record_of({planner, request, result, wall.count(), interrupt.came()});
  return {std::move(result), std::move(record)};
}

// What the user can do about it.
std::string why_none(const PlanRequest& request, const FrameworkProfile* profile, const Answer& answer) {
  if (answer.record.was_interrupted) return "";
  if (!request.limits.pins.empty()) return "; another --pin may leave one";
  constexpr int kMostDevices = 64;  // of which exact has its options in seconds
  const bool may_be_short = answer.record.proof != Proof::optimal;
  if (may_be_short && profile == nullptr && request.cluster.device_count() <= kMostDevices) {
    PlanRequest own = request;
    own.budget = {1, 0};
    own.start = nullptr;
    if (request.workflow.algorithm != Algorithm::custom && plan_exactly(own).outcome == PlanOutcome::found)
      return "; a larger --budget finds one";
  }
  const std::string fits = what_would_fit(request, profile);
  if (!fits.empty()) return "; " + fits;
  return may_be_short ? "; a larger --budget may find one" : "";
}

int say_no_plan(const Options& options, const PlanRequest& request, const FrameworkProfile* profile,
                const Answer& answer) {
  if (answer.result.outcome == PlanOutcome::too_large) {
    std::fprintf(stderr, "sextant: %s\n", answer.result.message.c_str());
    return kBadInput;
  }
  std::fprintf(stderr, "sextant: %s%s\n", answer.result.message.c_str(),
               why_none(request, profile, answer).c_str());
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
int hand_over(const Options& options, const Workflow& workflow, const Answer& answer) {
  const PlanResult& result = answer.result;
  save_if_named(options.out, *result.plan);
  save_if_named(options.prediction_out, *result.prediction);
  save_if_named(options.search_out, answer.record);
  if (options.json) {
    print_document(*result.plan);
  } else {
    std::fputs(describe(answer.record).c_str(), stdout);
    std::fputs(describe_layouts(*result.plan, workflow).c_str(), stdout);
    std::fputs(describe_prediction(*result.prediction).c_str(), stdout);
  }
  if (answer.record.was_interrupted && answer.record.proof != Proof::optimal)
    std::fprintf(stderr, "interrupted: this is the best plan until then\n");
  for (const std::string& file : {options.out, options.prediction_out, options.search_out}) {
    if (!file.empty()) say_wrote(file);
  }
  return kDone;
}

std::set<DeviceId> excluded_devices(const Options& options, const Cluster& cluster) {
  if (!options.excluded.empty() && !options.planner.warm_start.empty())
    throw_bad_input("--exclude: not together with --warm-start, whose plan may use what is excluded");
  if (!options.excluded.empty() && options.explain.has_any())
    throw_bad_input(
        "--exclude: not together with --explain and --what-if; --what-if remove:NODE leaves machines out");
  std::set<DeviceId> devices;
  for (const std::string& name : options.excluded) devices.merge(devices_named(cluster, name));
  return devices;
}

// Tables instead of a plan.
int plan_several(const Options& options, const Planner& planner, const Subcluster& part, PlanRequest& request) {
  for (const std::string& file : {options.out, options.prediction_out, options.search_out}) {
    if (!file.empty()) throw_bad_input("--pareto and --compare-modes write no files; --json prints the plans");
  }
  if (options.explain.has_any())
    throw_bad_input("--pareto and --compare-modes make several plans: there is no one plan to explain");
  if (!options.run.parts.empty())
    throw_bad_input("--length-schedule: not together with --pareto and --compare-modes");
  if (risk_goal_of(options.planner.goal))
    throw_bad_input(
        "--pareto and --compare-modes compare plans at the documented values: --goal mean and p50 to "
        "p99 judge one plan");
  if (options.pareto_points > 0 && !planner.traits.has_objectives)
    throw_bad_input("--pareto: planner " + std::string(planner.name) + " knows times alone; sha-ea does not");
  const Interrupt interrupt;
  request.is_cancelled = &interrupt.flag();
  const PlanSet set = options.pareto_points > 0 ? pareto_set(planner, request, part, options.pareto_points)
                                                : compared_modes(planner, request, part);
  print_text(options.json ? set.json : set.text);
  return set.is_empty ? kAnswerIsNo : kDone;
}

// Throws Error(bad_input) for what one process does alone.
void refuse_ranks(const Options& options, const Planner& planner, int ranks) {
  const std::string without = "; it was started on " + std::to_string(ranks) + " ranks: leave mpirun out";
  if (options.makes_several())
    throw_bad_input("--pareto and --compare-modes: their searches run in one process" + without);
  if (risk_goal_of(options.planner.goal) || !options.run.parts.empty())
    throw_bad_input("--goal mean and p50 to p99, --length-schedule: their searches run in one process" +
                    without);
  if (!planner.traits.has_ranks)
    throw_bad_input("--planner: " + std::string(planner.name) + " searches in one process" + without +
                    ", or take " + PlannerOptions{}.planner);
}

// What is asked, as every rank reads it from its own files.
struct Question {
  Question(const Options& options, const RankGroup& ranks);

  LoadedInputs loaded;
  Subcluster left;
  const Planner& planner;
  std::vector<Scenario> scenarios;
  PlanRequest request;
  Pins pins;  // of the whole cluster
  PlanResult start;

  // Whose layouts the search keeps to.
  [[nodiscard]] const FrameworkProfile* profile_in_force(const Options& options) const {
    return loaded.profile && !options.any_layout ? &*loaded.profile : nullptr;
  }
};

Question::Question(const Options& options, const RankGroup& ranks)
    : loaded(load(options.inputs)),
      left(without(loaded.cluster, excluded_devices(options, loaded.cluster))),
      planner(chosen_planner(options.planner, left.cluster.device_count())),
      scenarios(scenarios_of(options.explain, loaded.cluster, options.json)),
      request{left.cluster, loaded.workflow, loaded.chosen.coefficients, loaded.chosen.framework} {
  if (!risk_goal_of(options.planner.goal) && options.risk != RiskOptions{})
    throw_bad_input("--length-drift, --link-jitter and --risk-draws: only with --goal mean or p50 to p99");
  if (!run_parts(options.run).empty() && options.planner.goal != AskedGoal::time)
    throw_bad_input("--length-schedule: only with --goal time");
  if (options.run.parts.empty() && options.run != RunOptions{})
    throw_bad_input("--change-seconds: only with --length-schedule");
  for (const Scenario& scenario : scenarios)
    (void)chosen_planner(options.planner, scenario.cluster.device_count());
  if (!ranks.is_alone()) refuse_ranks(options, planner, ranks.size());
  apply(options.planner, planner, request);
  if (loaded.profile) {
    const LayoutRules rules = options.any_layout ? LayoutRules::any : LayoutRules::as_framework;
    if (rules == LayoutRules::as_framework && !planner.traits.has_layout_rules)
      throw_bad_input("--planner: " + std::string(planner.name) +
                      " cannot keep to the layouts that framework " + loaded.profile->name +
                      " can run; --any-layout leaves them");
    take_profile(*loaded.profile, rules, request);
  } else if (options.any_layout) {
    throw_bad_input("--any-layout: no framework is said whose layouts could be left; see --framework");
  }
  if (options.limits_risk(loaded))
    request.memory_share =
        share_for_risk(options.memory_risk(), memory_log_deviation(loaded.chosen.coefficients));
  if (!options.planner.threads) request.threads = std::max(1, request.threads / ranks.ranks_on_host());
  pins = pins_of(options.planner.pins, loaded, request.choices);
  request.limits.pins = left.pins_within(pins, loaded.cluster);
  if (options.planner.warm_start.empty() || options.makes_several()) return;
  start = load_start(options.planner.warm_start, loaded, request.limits.pins);
  for (const auto& [task, layout] : start.plan->tasks)
    add_execution(request.choices, loaded.workflow, task, layout);
  request.start = &start;
}

// By how much longer an iteration is in a layout that the framework can run: what --any-layout was asked for.
void say_cost_of_limits(const Question& asked, const PlanResult& found) {
  const FrameworkProfile& profile = *asked.loaded.profile;
  PlanRequest own = asked.request;
  own.start = nullptr;
  own.on_improvement = {};
  std::string text = "framework " + profile.name + " ";
  try {
    take_profile(profile, LayoutRules::as_framework, own);
    const PlanResult result = asked.planner.plan(own);
    const double longer =
        result.prediction ? result.prediction->iteration_s / found.prediction->iteration_s - 1 : 0;
    text += result.prediction ? "can run a plan of " + format_seconds(result.prediction->iteration_s) +
                                    ": its limits cost " + format_percent(std::max(0.0, longer))
                              : "can run no plan: " + result.message;
  } catch (const Error& error) {
    text += std::string("can run no plan: ") + error.what();
  }
  std::fprintf(stderr, "sextant: %s\n", text.c_str());
}

Prediction qualified(const Question& asked, const PlanResult& result) {
  const ChosenCoefficients& chosen = asked.loaded.chosen;
  Prediction prediction = *result.prediction;
  qualify(prediction,
          {asked.request.cluster, asked.loaded.workflow, *result.plan, chosen.coefficients, chosen.framework});
  return prediction;
}

// In one process, where the risk has a limit: a plan that is as sure to fit as asked, where there is one.
AnswerWithinRisk search_within_risk(const Options& options, const Question& asked, const PlanRequest& request,
                                    RankGroup& ranks) {
  if (!options.limits_risk(asked.loaded) || !ranks.is_alone())
    return {search(asked.planner, request, ranks), "", request.memory_share};
  AnswerWithinRisk found = plan_within_risk(
      request,
      {options.memory_risk(), [&](const PlanRequest& part) { return search(asked.planner, part, ranks); },
       [&](const PlanResult& result) { return memory_risk_of(qualified(asked, result)); }});
  if (!found.warning.empty()) std::fprintf(stderr, "sextant: %s\n", found.warning.c_str());
  return found;
}

PlanRequest with_part(const PlanRequest& whole, double part) {
  PlanRequest request = whole;
  request.budget.seconds *= part;
  request.budget.evaluations =
      static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(whole.budget.evaluations)));
  return request;
}

Answer search_as_asked(const Options& options, const Question& asked, RankGroup& ranks) {
  PlanRequest request = asked.request;
  const bool has_budget = request.budget.seconds > 0 || request.budget.evaluations > 0;
  if (!has_budget && asked.planner.name == "portfolio" && ranks.is_alone())
    request.budget.seconds = kPortfolioBudget_s;
  const std::optional<RiskGoal> goal = risk_goal_of(options.planner.goal);
  const std::vector<RunPart> parts = run_parts(options.run);
  if (!goal && parts.empty()) return search_within_risk(options, asked, request, ranks).answer;
  AnswerWithinRisk first = search_within_risk(options, asked, with_part(request, kPartOfFirstSearch), ranks);
  if (first.answer.result.outcome != PlanOutcome::found || first.answer.record.was_interrupted)
    return std::move(first.answer);
  const double part =
      parts.empty() ? kPartOfSearchForRisk : kPartOfFirstSearch / static_cast<double>(parts.size());
  PlanRequest other = with_part(request, part);
  other.memory_share = first.memory_share;
  other.start = nullptr;
  const auto is_sure_to_fit = [&](const PlanResult& result) {
    if (!options.limits_risk(asked.loaded) || !first.warning.empty()) return true;
    const std::optional<MemoryRisk> risk = memory_risk_of(qualified(asked, result));
    return !risk || risk->probability <= options.memory_risk();
  };
  const RiskQuestion question{goal.value_or(RiskGoal{}),
                              options.risk,
                              asked.loaded,
                              asked.planner,
                              other,
                              [&](const PlanRequest& drawn) { return search(asked.planner, drawn, ranks); },
                              is_sure_to_fit};
  if (goal) {
    choose_by_risk(question, first.answer);
  } else {
    choose_for_run(question, parts, options.run.change_s, first.answer);
  }
  return std::move(first.answer);
}

int say_plan(const Options& options, const Question& asked, Answer& answer) {
  record_pins(asked.pins, answer.record);
  if (asked.loaded.profile) answer.record.framework = asked.loaded.profile->name;
  if (answer.result.outcome != PlanOutcome::found)
    return say_no_plan(options, asked.request, asked.profile_in_force(options), answer);
  const LoadedInputs& loaded = asked.loaded;
  const ChosenCoefficients& chosen = loaded.chosen;
  PlanResult& result = answer.result;
  if (!options.excluded.empty()) {
    result.plan = asked.left.on_whole(*result.plan);
    result.prediction =
        predict(loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients, chosen.framework);
  }
  require_feasible(verify_plan(loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients,
                               chosen.framework, asked.pins));
  say(chosen.notes);
  qualify(*result.prediction,
          {loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients, chosen.framework});
  name_coefficients(*result.prediction, chosen);
  const int code = hand_over(options, loaded.workflow, answer);
  if (options.any_layout && asked.planner.traits.has_layout_rules) say_cost_of_limits(asked, result);
  if (code != kDone || !options.explain.has_any()) return code;
  const Doubt doubt = doubt_of(loaded, options.explain.draws, options.planner.seed);
  return explain_plan(options.explain, {asked.request, asked.planner, *result.plan, doubt}, asked.scenarios,
                      options.json);
}

int list_planners(const Options& options) {
  print_text(options.json ? planners_as_json() : describe_planners());
  return kDone;
}

// All ranks search; rank 0 alone prints and writes.
int run(const Options& options) {
  RankGroup ranks(world());
  if (options.is_list) return ranks.first_alone([&] { return list_planners(options); });
  try {
    const auto asked = ranks.together([&] { return std::make_unique<Question>(options, ranks); });
    if (options.makes_several()) return plan_several(options, asked->planner, asked->left, asked->request);
    Answer answer = ranks.together([&] { return search_as_asked(options, *asked, ranks); });
    return ranks.first_alone([&] { return say_plan(options, *asked, answer); });
  } catch (const FailedOnAll& failure) {
    return say_failure(failure, ranks);
  }
}

}  // namespace

void add_plan(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command("plan", "Search for the fastest plan that fits");
  add_model_inputs(command, options->inputs);
  add_planner_options(command, options->planner);
  command.add_option("--exclude", options->excluded,
                     "A node, device (node/3), zone or region that plans may not use; may be repeated");
  constexpr int kMostPoints = 64;
  const Option pareto =
      command
          .add_option("--pareto", options->pareto_points,
                      "Plans from the fastest to the cheapest, by so many searches, each with the budget")
          .check(integer_between(2, kMostPoints));
  command
      .add_flag("--compare-modes", options->compares_modes,
                "The workflow synchronous, one step off and asynchronous: whether that pays")
      .excludes(pareto);
  command.add_flag("--any-layout", options->any_layout,
                   "Also layouts that the framework cannot run, to see what its limits cost");
  command
      .add_option("--max-memory-risk", options->max_memory_risk,
                  "Probability that the plan may have of running out of memory")
      .check(number_between(0.001, 0.5))
      .shows_default("0.05 for plans of a framework, else any");
  add_risk_options(command, options->risk);
  add_run_options(command, options->run);
  add_explain_options(command, options->explain);
  command.add_option("--out", options->out, "Write the plan document here");
  command.add_option("--prediction", options->prediction_out, "Write its prediction document here");
  command.add_option("--search-out", options->search_out,
                     "Write the search document here: who searched, the curve of the best so far, the bounds");
  command.add_flag("--json", options->json,
                   "Print the plan document (of --list: the planners) instead of tables");
  // Runs before what is required is looked for.
  command.add_flag(
      "--list",
      [options, command] {
        options->is_list = true;
        for (const char* input : {"--cluster", "--workflow"}) command.option(input).required(false);
      },
      "Show the planners there are and what each can do");
  command.footer(
      std::string(kWhatIfGrammar) +
      "\n"
      "Every plan comes with a bound: at most so many percent from the best that there can be under this "
      "model,\n"
      "and with a proof where the planner gives one. Ctrl-C ends a search with the best so far, ilp after no\n"
      "longer than its solver has run already; a second one ends the program.\n"
      "Under mpirun the portfolio is sha-ea alone, on all ranks, each on its part of the task groupings and, "
      "by the clock,\n"
      "with what the others have costed; rank 0 prints and writes the best plan, after Ctrl-C too where that\n"
      "takes less than mpirun waits (Open MPI: a second), which then exits 1. What runs in one process "
      "refuses\n"
      "more than one rank: the other planners, --pareto and --compare-modes; --explain and --what-if are rank\n"
      "0's alone.\n"
      "Exits 1 when no plan fits or none was found, 2 when an option means nothing to the planner. The plan "
      "is\n"
      "verified by code of its own before it is written; exits 3 should it break a rule.\n"
      "Example: sextant plan --cluster cluster.json --workflow workflow.json --coefficients coefficients.json\n"
      "         --budget 10 --out plan.json --search-out search.json\n"
      "         mpirun -n 2 sextant plan --cluster cluster.json --workflow workflow.json --budget 5 --out "
      "plan.json");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
