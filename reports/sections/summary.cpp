#include <set>

#include "core/units.h"
#include "reports/content/names.h"
#include "reports/sections/answer.h"
#include "reports/sections/sections.h"
#include "reports/sections/warnings.h"

namespace sextant::inline reports {
namespace {

void add_accuracy(FactList& facts, const Accuracy& accuracy) {
  const auto add = [&](const char* label, const ErrorSummary& summary) {
    if (summary.count == 0) return;
    facts.facts.push_back(
        {label, percent_cell(summary.mape),
         "mean of " + std::to_string(summary.count) + ", 90 % below " + format_percent(summary.p90)});
  };
  add("Held-out error, task times", accuracy.held_out_tasks);
  add("Held-out error, iteration times", accuracy.held_out_iterations);
}

// A run of the same plan on the same workflow whose iteration was measured.
const Run* run_of_plan(const ReportInput& input) {
  if (!input.runs || !input.plan || !input.prediction) return nullptr;
  const Runs& runs = input.runs->content;
  for (const Run& run : runs.runs) {
    if (run.workflow == input.prediction->content.workflow && !run.iteration.empty() &&
        runs.plan_of(run).tasks == input.plan->content.tasks) {
      return &run;
    }
  }
  return nullptr;
}

void add_prediction(FactList& facts, const ReportInput& input) {
  const Prediction& prediction = input.prediction->content;
  const std::string interval = prediction.iteration_interval_s
                                   ? "90 % interval " + shown_interval(*prediction.iteration_interval_s)
                                   : "";
  facts.facts.push_back({"Predicted iteration", seconds_cell(prediction.iteration_s), interval});
  if (const Run* run = run_of_plan(input)) {
    const double measured_s = run->iteration.median_s();
    facts.facts.push_back({"Measured for the same plan", seconds_cell(measured_s),
                           run->name + ", prediction off by " +
                               format_percent(std::abs(prediction.iteration_s / measured_s - 1))});
  }
  if (prediction.sequences_per_s > 0) {
    facts.facts.push_back({"Predicted throughput",
                           {format_number(prediction.sequences_per_s) + " / s", prediction.sequences_per_s},
                           "sequences of workflow " + prediction.workflow});
  }
}

// The one number that a search document has of a prediction.
void add_time_of_search(Section& section, FactList& facts, const SearchRecord& search) {
  if (search.outcome != PlanOutcome::found) return;
  facts.facts.push_back(
      {"Predicted iteration", seconds_cell(search.iteration_s), "of the plan that was found"});
  section.blocks.emplace_back(
      Text{"Times of the tasks, memory and the interval are in the plan's prediction: sextant plan "
           "--prediction FILE, "
           "given to this report too."});
}

void add_search(FactList& facts, const SearchRecord& search) {
  if (search.outcome != PlanOutcome::found) {
    facts.facts.push_back({"Search", Cell("found no plan"), search.message});
    return;
  }
  if (search.goal != "time") {
    facts.facts.push_back({"Goal of the plan", Cell(search.goal), "found by " + search.planner});
    return;
  }
  const std::string of = "any plan " + std::string(search.bounded_plans()) + "; found by " + search.planner;
  if (search.is_near_bound()) {
    facts.facts.push_back({"Gap to the optimum, at most", percent_cell(search.gap_fraction()), "of " + of});
  } else {
    facts.facts.push_back({"Lower bound", seconds_cell(search.lower_bound_s), of});
  }
}

// Every rate as a share of its datasheet, then the odd links.
void add_verdict(Section& section, const ClusterVerdict& verdict) {
  BarList list{
      "rates",
      "Measured rates as shares of the datasheet, which is the red mark. The thin line is the usual: what the "
      "best published matrix products of the vendor's GPUs reach.",
      {}};
  for (const RateShare& rate : verdict.rates) {
    Bar bar{rate.what,
            {{"measured", rate.measured, rate.share, rate.is_low ? "#D55E00" : "#0072B2"}},
            rate.measured.text + ", " + format_percent(rate.share, 0) + " of the datasheet",
            1};
    if (rate.usual_low) {
      bar.low = *rate.usual_low;
      bar.high = *rate.usual_high;
      bar.detail += ", usual " + format_percent(bar.low, 0) + " to " + format_percent(bar.high, 0);
    }
    list.bars.push_back(std::move(bar));
  }
  if (!list.bars.empty()) section.blocks.emplace_back(std::move(list));
  constexpr std::size_t kShown = 8;
  std::string odd;
  for (std::size_t i = 0; i < std::min(kShown, verdict.odd.size()); ++i)
    odd += (odd.empty() ? "" : " ") + verdict.odd[i];
  if (verdict.odd.size() > kShown)
    odd += " " + std::to_string(verdict.odd.size() - kShown) + " more are below.";
  if (!odd.empty()) section.blocks.emplace_back(Warning{odd});
}

void add_runs(FactList& facts, const Runs& runs) {
  std::set<std::string> plans;
  std::set<std::string> workflows;
  for (const Run& run : runs.runs) {
    plans.insert(run.plan);
    workflows.insert(run.workflow);
  }
  facts.facts.push_back(
      {"Measured runs", count_cell(runs.runs.size()),
       std::to_string(plans.size()) + " plans, " + std::to_string(workflows.size()) + " workflows"});
}

void add_cluster(FactList& facts, const Cluster& cluster) {
  std::vector<std::string> types;
  for (const auto& [name, type] : cluster.device_types()) types.push_back(name);
  facts.facts.push_back({"Devices", count_cell(static_cast<std::size_t>(cluster.device_count())),
                         shown_list(types) + ", " + std::to_string(cluster.nodes().size()) +
                             (cluster.nodes().size() == 1 ? " node" : " nodes")});
}

}  // namespace

std::optional<Section> summary_section(const ReportInput& input) {
  Section section{"summary", "Summary", {}};
  const bool is_of_cluster = !has_answer(input) && !input.runs && input.cluster_verdict;
  if (has_answer(input)) section.blocks.emplace_back(answer_verdict(input));
  if (is_of_cluster) section.blocks.emplace_back(LeadText{input.cluster_verdict->sentence});
  for (const std::string& note : input.notes) section.blocks.emplace_back(Text{as_sentence(note)});
  FactList facts;
  if (input.accuracy) add_accuracy(facts, input.accuracy->content);
  if (input.prediction) add_prediction(facts, input);
  if (input.plan && !has_answer(input)) {
    const Plan& plan = input.plan->content;
    facts.facts.push_back({"Plan", plan.name.empty() ? Cell("unnamed") : Cell(plan.name), ""});
  }
  if (input.search) {
    if (!input.prediction) add_time_of_search(section, facts, input.search->content);
    add_search(facts, input.search->content);
  }
  if (input.runs) add_runs(facts, input.runs->content);
  if (input.cluster) add_cluster(facts, input.cluster->content);
  if (!facts.facts.empty()) section.blocks.emplace_back(std::move(facts));
  if (has_answer(input)) {
    for (Block& block : answer_blocks(input)) section.blocks.push_back(std::move(block));
  }
  if (is_of_cluster) add_verdict(section, *input.cluster_verdict);
  for (Warning& warning : report_warnings(input)) section.blocks.emplace_back(std::move(warning));
  if (section.blocks.empty()) {
    const bool has_jobs = input.placement || input.simulation;
    section.blocks.emplace_back(
        Text{has_jobs ? coschedule_summary(input) : "There is nothing to report: no document was given."});
  }
  return section;
}

}  // namespace sextant::inline reports
