#include "lab/reproduce/reproduction_markdown.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/units.h"
#include "lab/reproduce/compare.h"

namespace sextant::inline lab {
namespace {

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + cell + " |";
  return out + "\n";
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  return text;
}

std::string summary(const ReproducedExperiment& experiment) {
  std::string out = row({"figure", "source", "ours", "published", "agree"});
  out += row({"---", "---", "---:", "---:", "---:"});
  for (const ComparisonGroup& group : groups_of(experiment)) {
    out += row({escaped(group.name), group.source, group.ours, group.published,
                std::to_string(group.agreeing) + " of " + std::to_string(group.all)});
  }
  return out;
}

// Names of contestants, in the order in which they first appear.
std::vector<std::string> contestants_of(const ReproducedExperiment& experiment) {
  std::vector<std::string> names;
  for (const ReproducedCell& cell : experiment.cells) {
    for (const ReproducedPlan& plan : cell.plans) {
      if (std::find(names.begin(), names.end(), plan.name) == names.end()) names.push_back(plan.name);
    }
  }
  return names;
}

std::string shown(const ReproducedCell& cell, const std::string& contestant) {
  const auto found = std::find_if(cell.plans.begin(), cell.plans.end(),
                                  [&](const ReproducedPlan& plan) { return plan.name == contestant; });
  if (found == cell.plans.end()) return "";
  if (!found->has_plan()) return "none fits";
  return format_number(found->sequences_per_s);
}

// "mcmc 207 s (1200 plans looked at)"
std::string described(const ReproducedPlan& plan) {
  return plan.name + " " + format_seconds(plan.iteration_s) +
         (plan.candidates > 0 ? " (" + std::to_string(plan.candidates) + " plans looked at)" : "");
}

// "1.07x": of the first contestant over the second, where both have a plan.
std::string ratio_in(const ReproducedCell& cell) {
  if (cell.plans.size() != 2 || !cell.plans[0].has_plan() || !cell.plans[1].has_plan()) return "";
  return format_number(cell.plans[0].sequences_per_s / cell.plans[1].sequences_per_s) + "x";
}

// The maximum gap of the fastest plan that was searched for; empty if unknown.
std::string gap_in(const ReproducedCell& cell) {
  double best_s = 0;
  for (const ReproducedPlan& plan : cell.plans) {
    if (plan.has_plan() && !plan.planner.empty() && (best_s == 0 || plan.iteration_s < best_s))
      best_s = plan.iteration_s;
  }
  if (best_s == 0 || !cell.lower_bound_s) return "";
  return format_percent(std::max(0.0, best_s / *cell.lower_bound_s - 1));
}

// The throughputs of two contestants with their ratio, and the gap that the bound leaves open.
std::string throughputs(const ReproducedExperiment& experiment) {
  const std::vector<std::string> names = contestants_of(experiment);
  const bool are_two = names.size() == 2;
  std::vector<std::string> header = {"cell"}, line = {"---"};
  header.insert(header.end(), names.begin(), names.end());
  if (are_two) header.emplace_back("ratio");
  const bool has_bounds = std::any_of(experiment.cells.begin(), experiment.cells.end(),
                                      [](const ReproducedCell& cell) { return !gap_in(cell).empty(); });
  if (has_bounds) header.emplace_back("from the best at most");
  line.resize(header.size(), "---:");
  std::string out = row(header) + row(line);
  for (const ReproducedCell& cell : experiment.cells) {
    std::vector<std::string> cells = {cell.name};
    for (const std::string& name : names) cells.push_back(shown(cell, name));
    if (are_two) cells.push_back(ratio_in(cell));
    if (has_bounds) cells.push_back(gap_in(cell));
    out += row(cells);
  }
  return out;
}

std::string disagreements(const ReproducedExperiment& experiment) {
  std::string out, group;
  for (const Comparison& one : experiment.comparisons) {
    if (one.agrees) continue;
    if (one.group != group) out += "\n" + one.group + "\n\n";
    group = one.group;
    out += "- " + one.cell + ": " + one.sentence + ".\n";
  }
  return out.empty() ? "\nNone.\n" : out;
}

// Causes of the groups in which a figure disagrees; groups of one cause together.
std::string causes(const ReproducedExperiment& experiment) {
  std::vector<std::pair<std::string, std::string>> reasons;  // by sentence, in the order of the first group
  for (const Cause& cause : experiment.causes) {
    const bool is_needed =
        std::any_of(experiment.comparisons.begin(), experiment.comparisons.end(),
                    [&](const Comparison& one) { return one.group == cause.group && !one.agrees; });
    if (!is_needed) continue;
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& entry) { return entry.first == cause.sentence; });
    if (known == reasons.end()) {
      reasons.emplace_back(cause.sentence, cause.group);
    } else {
      known->second += "; " + cause.group;
    }
  }
  if (reasons.empty()) return "";
  std::string out =
      "\n### Why, found by changing one thing at a time\n\nNumbers in these sentences are of the runs that "
      "found "
      "the cause, with 1 to 4 s for each search and the coefficients of that day.\n\n";
  for (const auto& [sentence, groups] : reasons) out += "- " + groups + ": " + sentence + "\n";
  return out;
}

std::string contradictions(const ReproducedExperiment& experiment) {
  if (experiment.contradictions.empty()) return "";
  std::string out = "\n### Contradictions inside the paper\n\n";
  for (const std::string& sentence : experiment.contradictions) out += "- " + sentence + "\n";
  return out;
}

std::string section(const ReproducedExperiment& experiment) {
  const auto agreeing = std::count_if(experiment.comparisons.begin(), experiment.comparisons.end(),
                                      [](const Comparison& one) { return one.agrees; });
  std::string out = "\n## " + experiment.name + "\n\n" + experiment.paper + ". Coefficients: `" +
                    experiment.coefficients + "`, framework `" + experiment.framework + "`.\n\n" +
                    std::to_string(agreeing) + " of " + std::to_string(experiment.comparisons.size()) +
                    " figures agree with what is published.\n\n" + summary(experiment);
  out += causes(experiment) + contradictions(experiment);
  out += "\n### Throughput, sequences/s\n\n" + throughputs(experiment);
  const std::vector<std::string> worse = outdone(experiment);
  if (!worse.empty()) {
    out += "\nCells in which the first planner that searched was outdone by another with the same budget, " +
           std::to_string(worse.size()) + " of " + std::to_string(experiment.cells.size()) + ":\n\n";
    for (const std::string& line : worse) out += "- " + line + "\n";
  }
  out += "\n### Where they disagree\n" + disagreements(experiment);
  out += "\n### What the paper leaves unsaid, and how it is read here\n\n";
  for (const std::string& sentence : experiment.assumptions) out += "- " + sentence + "\n";
  return out;
}

// kAgreementShare and its companions in words.
std::string agreement_rule() {
  return "A figure agrees where it lies within the printed range widened by " +
         format_percent(kAgreementShare, 0) + " at either end, or within " +
         format_percent(kAgreementShare, 0) + " of a single printed number.\nAn end of a ratio below " +
         format_number(kSmallRatio) + "x is widened by " + format_percent(kAgreementShare, 0) +
         " of its gain (the ratio minus one), at least " + format_number(kMinTolerance) +
         ", because 1.05x\nis not nearly 1.20x. A ratio on the other side of "
         "one never agrees. Where a figure disagrees, its sentence is computed\nfrom the predictions.\n";
}

}  // namespace

std::vector<std::string> outdone(const ReproducedExperiment& experiment) {
  constexpr double kRounding = 1e-6;
  std::vector<std::string> lines;
  for (const ReproducedCell& cell : experiment.cells) {
    const auto is_search = [](const ReproducedPlan& plan) { return plan.has_plan() && !plan.planner.empty(); };
    const auto first = std::find_if(cell.plans.begin(), cell.plans.end(), is_search);
    if (first == cell.plans.end()) continue;
    const ReproducedPlan* best = &*first;
    for (const ReproducedPlan& plan : cell.plans) {
      if (is_search(plan) && plan.iteration_s < best->iteration_s * (1 - kRounding)) best = &plan;
    }
    if (best == &*first) continue;
    lines.push_back(cell.name + ": " + described(*best) + ", " + described(*first));
  }
  return lines;
}

std::vector<ComparisonGroup> groups_of(const ReproducedExperiment& experiment) {
  struct Extremes {
    Comparison low, high;
    bool is_any = false;
  };
  std::vector<ComparisonGroup> groups;
  std::vector<Extremes> extremes;
  const auto widen = [](Extremes& both, const Comparison& one) {
    if (!both.is_any) both = {one, one, true};
    both.low.published_low = std::min(both.low.published_low, one.published_low);
    both.low.published_high = std::max(both.low.published_high, one.published_high);
    if (!one.ours) return;
    if (!both.low.ours || *one.ours < *both.low.ours) both.low.ours = one.ours;
    if (!both.high.ours || *one.ours > *both.high.ours) both.high.ours = one.ours;
  };
  for (const Comparison& one : experiment.comparisons) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const ComparisonGroup& group) { return group.name == one.group; });
    if (found == groups.end()) {
      groups.push_back({one.group, one.source, "", "", 0, 0});
      extremes.emplace_back();
      found = groups.end() - 1;
    }
    ++found->all;
    found->agreeing += one.agrees ? 1 : 0;
    widen(extremes[static_cast<std::size_t>(found - groups.begin())], one);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Extremes& both = extremes[i];
    groups[i].published = shown_published(both.low);
    groups[i].ours = shown_ours(both.low);
    if (both.low.ours != both.high.ours) groups[i].ours += " to " + shown_ours(both.high);
  }
  return groups;
}

namespace {

std::string shown_budget(const Reproduction& reproduction) {
  if (reproduction.budget_evaluations == 0) return format_number(reproduction.budget_s) + " s for each search";
  return std::to_string(reproduction.budget_evaluations) +
         " plans or nodes of a tree for each search, which any machine repeats";
}

}  // namespace

std::string reproduction_as_markdown(const Reproduction& reproduction, const std::string& command) {
  std::string out =
      "# Experiments of papers, reproduced under the model\n\n"
      "`" +
      command + "` made this page: " + shown_budget(reproduction) + ", seed " +
      std::to_string(reproduction.seed) + ", " + std::to_string(reproduction.threads) +
      " threads.\n\n"
      "Nothing here was measured unless an experiment says so: planners and baselines plan the papers' "
      "workflows on the papers' clusters, "
      "and "
      "the cost model\n"
      "predicts what they plan. Published figures were measured on real clusters.\n\n" +
      agreement_rule();
  if (reproduction.was_interrupted) out += "\nThe run was interrupted: what was done until then.\n";
  for (const ReproducedExperiment& experiment : reproduction.experiments) out += section(experiment);
  return out;
}

}  // namespace sextant::inline lab
