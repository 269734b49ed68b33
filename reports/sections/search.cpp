#include <cmath>
#include <optional>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/search_chart.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

std::string searched(const SearchRecord& search) {
  std::string text =
      as_sentence("Planner " + search.planner + " searched for " + format_seconds(search.wall_s) + " on " +
                  std::to_string(search.threads) + (search.threads == 1 ? " thread" : " threads") + ", seed " +
                  std::to_string(search.seed) + ": " + search.message);
  if (search.was_interrupted) text += " The search was interrupted.";
  return text;
}

std::string proved(const SearchRecord& search) {
  if (search.proof == Proof::optimal) {
    return std::string("Proved: no plan in the planner's search space ") +
           (search.has_limits() ? "within the limits " : "") + std::string(search.better()) + ".";
  }
  if (!search.space_gap_fraction) return "The planner has no proof for its search space.";
  return "The plan is at most " + format_percent(*search.space_gap_fraction) +
         " above the best plan in the planner's search space.";
}

std::string judged_by_risk(const RiskRecord& risk) {
  return "The plan was chosen by risk: " +
         std::string(risk.goal == "mean" ? "in the mean" : "at " + risk.goal) + " of " +
         std::to_string(risk.draws) +
         " samples of the coefficients, response lengths (standard deviation of the logarithm " +
         format_number(risk.response_lengths) + ") and rates between zones (" + format_number(risk.far_links) +
         ") an iteration takes " + format_seconds(risk.iteration_s) +
         "; the plan that is fastest at the documented values takes " +
         format_seconds(risk.fastest_iteration_s) + ".";
}

FactList facts_of(const SearchRecord& search) {
  FactList facts;
  facts.facts.push_back({"Best found", seconds_cell(search.iteration_s), search.plan});
  if (search.usd_per_iteration)
    facts.facts.push_back({"Dollars per iteration", number_cell(*search.usd_per_iteration), ""});
  if (search.goal == "time" && search.is_near_bound()) {
    facts.facts.push_back(
        {"Gap to the optimum, at most", percent_cell(search.gap_fraction()), "of any plan, under this model"});
  }
  if (const std::optional<double> gap = search.usd_gap_fraction(); gap && search.goal == "cost") {
    facts.facts.push_back(
        {"Gap to the cheapest plan, at most", percent_cell(*gap), "of any plan, under this model"});
  }
  if (search.goal == "devices")
    facts.facts.push_back({"Devices", count_cell(static_cast<std::size_t>(search.devices)), ""});
  facts.facts.push_back(
      {"Lower bound", seconds_cell(search.lower_bound_s), "any plan " + std::string(search.bounded_plans())});
  return facts;
}

Table curve_table(const SearchRecord& search) {
  Table table{"search_curve",
              "Incumbents: plans better than all before them",
              {{"evaluations", "plans evaluated", true},
               {"seconds", "after", true},
               {"iteration_s", "iteration", true}},
              {}};
  for (const Improvement& best : search.curve) {
    table.rows.push_back(
        {count_cell(best.evaluations), seconds_cell(best.seconds), seconds_cell(best.iteration_s)});
    if (search.goal == "cost") table.rows.back().push_back(number_cell(best.loss));
    if (search.goal == "devices")
      table.rows.back().push_back(count_cell(static_cast<std::size_t>(std::floor(best.loss))));
  }
  if (search.goal == "cost") table.columns.push_back({"usd_per_iteration", "dollars per iteration", true});
  if (search.goal == "devices") table.columns.push_back({"devices", "devices", true});
  table.folded = true;
  return table;
}

}  // namespace

std::optional<Section> search_section(const ReportInput& input) {
  if (!input.search) return std::nullopt;
  const SearchRecord& search = input.search->content;
  Section section{"search", "How the plan was found", {}};
  section.blocks.emplace_back(Text{searched(search)});
  if (search.outcome != PlanOutcome::found) return section;
  section.blocks.emplace_back(facts_of(search));
  section.blocks.emplace_back(Text{proved(search)});
  if (search.risk) section.blocks.emplace_back(Text{judged_by_risk(*search.risk)});
  Json spec = charts::search_curve(search);
  if (spec.is_null()) return section;
  section.blocks.emplace_back(
      Chart{"search_curve",
            "The best plan so far over the search time. The dashed line is a lower bound for any plan; a "
            "second one is the bound for the planner's search space.",
            std::move(spec)});
  section.blocks.emplace_back(curve_table(search));
  return section;
}

}  // namespace sextant::inline reports
