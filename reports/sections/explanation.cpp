#include <cmath>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

Cell probability_cell(const std::optional<double>& probability) {
  return probability ? percent_cell(*probability) : empty_cell();
}

// The unit of ratios if it is not the time in the column before.
std::string of_goal(const Explanation& explanation) {
  if (explanation.goal == "cost") return " dollars";
  return explanation.goal == "devices" ? " devices" : "";
}

Table parts_table(const Explanation& explanation) {
  Table table{"explained_parts",
              "Where the iteration's time goes, along its critical path",
              {{"task", "task"}, {"term", "term"}, {"seconds", "time", true}, {"share", "share", true}},
              {}};
  for (const TimePart& part : explanation.parts) {
    table.rows.push_back({{shown_name(part.task), part.task},
                          {shown_name(part.term), part.term},
                          seconds_cell(part.seconds),
                          percent_cell(part.seconds / explanation.iteration_s)});
  }
  return table;
}

Table alternatives_table(const Explanation& explanation) {
  Table table{"alternatives",
              "Alternatives. Sure: share of the coefficient samples in which the plan is better. At least: the "
              "same, if the model also errs on each of the two plans",
              {{"name", "alternative"},
               {"iteration_s", "iteration", true},
               {"ratio", "times the plan's" + of_goal(explanation), true},
               {"probability", "sure", true},
               {"probability_with_model_error", "at least", true}},
              {}};
  for (const Alternative& other : explanation.alternatives) {
    if (other.outcome != PlanOutcome::found) continue;
    const bool has_chance = other.chance && !other.is_same;
    table.rows.push_back(
        {other.name, seconds_cell(other.iteration_s), number_cell(other.ratio),
         has_chance ? percent_cell(other.chance->probability) : empty_cell(),
         has_chance ? probability_cell(other.chance->probability_with_model_error) : empty_cell()});
  }
  return table;
}

Table flips_table(const Explanation& explanation) {
  Table table{"flips",
              "Smallest change of a single number that would change the answer",
              {{"name", "number"},
               {"of", "of"},
               {"factor", "times", true},
               {"standard_errors", "standard errors", true},
               {"to", "then better"}},
              {}};
  for (const Flip& flip : explanation.flips) {
    table.rows.push_back({flip.name, flip.of, number_cell(flip.factor),
                          flip.standard_errors ? number_cell(*flip.standard_errors) : empty_cell(),
                          flip.to.empty() ? Cell("none: the plan no longer fits") : Cell(flip.to)});
  }
  return table;
}

Table what_ifs_table(const Explanation& explanation) {
  Table table{"what_ifs",
              "Plans on changed clusters",
              {{"changes", "what if"},
               {"iteration_s", "iteration", true},
               {"ratio", "times now" + (explanation.goal == "time" ? "" : "," + of_goal(explanation)), true},
               {"plan", "plan"}},
              {}};
  for (const WhatIf& what_if : explanation.what_ifs) {
    std::string changes;
    for (const std::string& change : what_if.changes) changes += (changes.empty() ? "" : ", ") + change;
    if (what_if.outcome != PlanOutcome::found) {
      table.rows.push_back({changes, empty_cell(), empty_cell(), Cell("none: " + what_if.message)});
    } else {
      table.rows.push_back({changes, seconds_cell(what_if.iteration_s), number_cell(what_if.ratio),
                            Cell(what_if.keeps_plan ? "the same" : "another")});
    }
  }
  return table;
}

}  // namespace

std::optional<Section> explanation_section(const ReportInput& input) {
  if (!input.explanation) return std::nullopt;
  const Explanation& explanation = input.explanation->content;
  Section section{"explanation", "Why this plan", {}};
  section.blocks.emplace_back(Text{"Plan " + explanation.plan + " was found by " + explanation.planner + ". " +
                                   as_sentence(explanation.bottleneck)});
  if (!explanation.alternatives.empty() && explanation.draws == 0) {
    section.blocks.emplace_back(
        Text{"The coefficients carry no uncertainty, so the probability that the plan is better is unknown."});
  }
  for (Table& table : std::vector<Table>{parts_table(explanation), alternatives_table(explanation),
                                         flips_table(explanation), what_ifs_table(explanation)}) {
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
  }
  return section;
}

}  // namespace sextant::inline reports
