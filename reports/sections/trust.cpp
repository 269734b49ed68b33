#include <algorithm>
#include <cmath>

#include "calibrate/familiarity.h"
#include "calibrate/ranking.h"
#include "core/units.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

constexpr std::size_t kSensitivitiesShown = 12;
constexpr double kStep = 1.1;  // a number made a tenth larger

std::string held_out_text(const HeldOutSummary& held_out) {
  return "When the fit left out one " + shown_name(held_out.left_out) + " at a time (" +
         std::to_string(held_out.folds) + " fits), task times were off by " +
         format_percent(held_out.task_mape) + " on average and iteration times by " +
         format_percent(held_out.iteration_mape) +
         (held_out.memories > 0 ? " and memory peaks by " + format_percent(held_out.memory_mape) : "") + "; " +
         format_percent(held_out.coverage_90, 0) + " of these times were inside their 90 % intervals. " +
         describe(held_out.order);
}

Cell steps_cell(double steps) {
  const bool is_one = steps == 1;
  return {format_number(steps) + (is_one ? " step" : " steps"), Json(steps)};
}

Table familiarity_table(const Prediction& prediction) {
  Table table{"familiarity",
              "Nearest calibrated run of each task",
              {{"task", "task"},
               {"nearest_run", "nearest run"},
               {"distance", "distance", true},
               {"extrapolating", "extrapolating"},
               {"reasons", "because"}},
              {}};
  for (const std::string& task : tasks_of(prediction.tasks)) {
    const std::optional<Familiarity>& familiarity = prediction.tasks.at(task).familiarity;
    if (!familiarity) continue;
    table.rows.push_back(
        {{shown_name(task), task},
         familiarity->nearest_run.empty() ? Cell("none") : Cell(familiarity->nearest_run),
         familiarity->nearest_run.empty() ? empty_cell() : steps_cell(familiarity->distance),
         {familiarity->extrapolating() ? "yes" : "no", familiarity->extrapolating()},
         familiarity->reasons.empty() ? empty_cell() : Cell(shown_list(familiarity->reasons))});
  }
  return table;
}

Table sensitivity_table(const Prediction& prediction) {
  Table table{"sensitivities",
              "What the prediction depends on",
              {{"name", "number"},
               {"of", "of"},
               {"kind", "kind"},
               {"elasticity", "iteration if 10 % larger", true},
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
    section.blocks.emplace_back(Text{
        "A prediction is as good as the runs that it was fitted to. A distance of 0 steps means that the "
        "task itself was measured. One step can move its bottleneck: 4 times the parameters, tokens of a "
        "sequence, pipeline stages, replicas or nodes, 8 times the sequences of a replica, 2 times the "
        "tensor parallelism, or another framework or precision. A task is extrapolating if a number lies more "
        "than 1 step outside the calibrated range, if its kind never occurred, or if the nearest run is more "
        "than " +
        format_number(kFarDistance) + " steps away."});
    section.blocks.emplace_back(std::move(familiarity));
  }
  if (!prediction.sensitivities.empty()) {
    section.blocks.emplace_back(
        Text{"Measure next what contributes most to the uncertainty: sextant calibrate --suggest lists such "
             "runs. A negative share is an error that the error of another coefficient cancels."});
    section.blocks.emplace_back(sensitivity_table(prediction));
  }
  if (section.blocks.empty()) return std::nullopt;
  return section;
}

}  // namespace sextant::inline reports
