#include <algorithm>
#include <cmath>

#include "calibrate/ranking.h"
#include "core/units.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant {
namespace {

constexpr std::size_t kSensitivitiesShown = 12;
constexpr double kStep = 1.1;  // a number made a tenth larger

std::string held_out_text(const HeldOutSummary& held_out) {
  return "Where the fit left one " + shown_name(held_out.left_out) + " out in turn (" +
         std::to_string(held_out.folds) + " fits), it missed task times by " +
         format_percent(held_out.task_mape) + " on average and iteration times by " +
         format_percent(held_out.iteration_mape) +
         (held_out.memories > 0 ? " and peaks of memory by " + format_percent(held_out.memory_mape) : "") +
         "; " + format_percent(held_out.coverage_90, 0) + " of these times lay inside their 90 % intervals. " +
         describe(held_out.order);
}

Table familiarity_table(const Prediction& prediction) {
  Table table{"familiarity",
              "The nearest calibrated run of each task",
              {{"task", "task"},
               {"nearest_run", "nearest run"},
               {"distance", "distance", true},
               {"extrapolating", "how near"},
               {"reasons", "because"}},
              {}};
  for (const std::string& task : tasks_of(prediction.tasks)) {
    const std::optional<Familiarity>& familiarity = prediction.tasks.at(task).familiarity;
    if (!familiarity) continue;
    table.rows.push_back(
        {{shown_name(task), task},
         familiarity->nearest_run.empty() ? Cell("none") : Cell(familiarity->nearest_run),
         number_cell(familiarity->distance),
         {familiarity->extrapolating() ? "extrapolating" : "near", familiarity->extrapolating()},
         shown_list(familiarity->reasons)});
  }
  return table;
}

Table sensitivity_table(const Prediction& prediction) {
  Table table{"sensitivities",
              "What the prediction hangs on",
              {{"name", "number"},
               {"of", "of"},
               {"kind", "kind"},
               {"elasticity", "iteration, if it is 10 % larger", true},
               {"variance_share", "share of the uncertainty", true}},
              {}};
  std::vector<Sensitivity> sorted = prediction.sensitivities;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Sensitivity& a, const Sensitivity& b) {
    return std::abs(a.elasticity) > std::abs(b.elasticity);
  });
  sorted.resize(std::min(sorted.size(), kSensitivitiesShown));
  for (const Sensitivity& sensitivity : sorted) {
    const double change = std::pow(kStep, sensitivity.elasticity) - 1;
    table.rows.push_back(
        {{shown_name(sensitivity.name), sensitivity.name},
         sensitivity.of == kAny ? Cell("any", "*") : Cell(sensitivity.of),
         sensitivity.is_hardware ? "hardware" : "coefficient",
         {(change > 0 ? "+" : "") + format_percent(change), sensitivity.elasticity},
         sensitivity.variance_share ? percent_cell(*sensitivity.variance_share) : empty_cell()});
  }
  return table;
}

}  // namespace

std::optional<Section> trust_section(const ReportInput& input) {
  if (!input.prediction) return std::nullopt;
  const Prediction& prediction = input.prediction->content;
  Section section{"trust", "How far to trust the prediction", {}};
  if (input.coefficients && input.coefficients->content.fit && input.coefficients->content.fit->held_out) {
    section.blocks.emplace_back(Text{held_out_text(*input.coefficients->content.fit->held_out)});
  }
  Table familiarity = familiarity_table(prediction);
  if (!familiarity.rows.empty()) {
    section.blocks.emplace_back(
        Text{"A prediction is as good as the runs it was fitted to. Distance 0 is a task that was measured as "
             "it is; 1 "
             "is a step that can change what limits it."});
    section.blocks.emplace_back(std::move(familiarity));
  }
  if (!prediction.sensitivities.empty()) {
    section.blocks.emplace_back(
        Text{"The next measurement worth taking is of what the uncertainty hangs on most: sextant calibrate "
             "--suggest "
             "names it. A share below zero is an error that another coefficient's error takes back."});
    section.blocks.emplace_back(sensitivity_table(prediction));
  }
  if (section.blocks.empty()) return std::nullopt;
  return section;
}

}  // namespace sextant
