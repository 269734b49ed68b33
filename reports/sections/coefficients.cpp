#include <set>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/coefficient_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

using charts::CoefficientAxis;

Cell value_cell(double value, const CoefficientSpec& spec) {
  return charts::axis_of(spec) == CoefficientAxis::seconds ? seconds_cell(value) : number_cell(value);
}

Cell value_cell(const std::optional<double>& value, const CoefficientSpec& spec) {
  return value ? value_cell(*value, spec) : empty_cell();
}

Table coefficient_rows(const Coefficients& coefficients) {
  Table table{"coefficients",
              "Coefficients",
              {{"name", "coefficient"},
               {"device_type", "device type"},
               {"framework", "framework"},
               {"value", "value", true},
               {"low", "90 % from", true},
               {"high", "to", true},
               {"prior", "prior", true},
               {"neutral", "neutral", true},
               {"status", "status"}},
              {}};
  for (const Coefficient& coefficient : coefficients.values) {
    const CoefficientSpec& spec = spec_of(coefficient.id);
    table.rows.push_back({{charts::short_name(spec), std::string(spec.name)},
                          coefficient.device_type == kAny ? Cell("any", "*") : Cell(coefficient.device_type),
                          coefficient.framework == kAny ? Cell("any", "*") : Cell(coefficient.framework),
                          value_cell(coefficient.value, spec),
                          value_cell(coefficient.low, spec),
                          value_cell(coefficient.high, spec),
                          value_cell(coefficient.prior, spec),
                          value_cell(spec.neutral, spec),
                          charts::status_of(coefficient)});
  }
  return table;
}

Table meanings(const Coefficients& coefficients) {
  Table table{"coefficient_meanings",
              "What the coefficients mean",
              {{"name", "coefficient"}, {"meaning", "meaning"}},
              {}};
  std::set<CoefficientId> shown;
  for (const Coefficient& coefficient : coefficients.values) shown.insert(coefficient.id);
  for (const CoefficientId id : shown) {
    const CoefficientSpec& spec = spec_of(id);
    table.rows.push_back({{charts::short_name(spec), std::string(spec.name)}, std::string(spec.help)});
  }
  table.folded = true;
  return table;
}

std::string fit_text(const FitSummary& fit) {
  const std::string ended = fit.converged ? "converged" : "did not converge";
  return "The coefficients were fitted to " + std::to_string(fit.runs.size()) + " runs (" +
         std::to_string(fit.residuals) + " residuals), and the fit " +
         as_sentence(ended + (fit.message.empty() ? "" : ": " + fit.message)) +
         " In sample, log(predicted / measured) has a standard deviation of " +
         format_number(fit.task_log_deviation) + " for task times and " +
         format_number(fit.iteration_log_deviation) + " for iteration times.";
}

void add_chart(Section& section, const Coefficients& coefficients, CoefficientAxis axis, const char* id,
               const char* caption) {
  Json spec = charts::coefficient_intervals(coefficients.values, axis);
  if (!spec.is_null()) section.blocks.emplace_back(Chart{id, caption, std::move(spec)});
}

}  // namespace

std::optional<Section> coefficients_section(const ReportInput& input) {
  if (!input.coefficients) return std::nullopt;
  const Coefficients& coefficients = input.coefficients->content;
  Section section{"coefficients", "Coefficients", {}};
  section.blocks.emplace_back(Text{
      "Coefficients turn the bounds of the cost model into predictions. Neutral coefficients give the plain "
      "bounds. A coefficient that the runs do not determine is \"not identified\" and keeps its prior."});
  if (coefficients.fit) section.blocks.emplace_back(Text{fit_text(*coefficients.fit)});
  if (coefficients.values.empty()) {
    section.blocks.emplace_back(Text{"All coefficients are neutral."});
    return section;
  }
  add_chart(section, coefficients, CoefficientAxis::ratio, "coefficients_ratio",
            "Factors, on a logarithmic axis; at 1 (dashed) the hardware performs as in the separate "
            "measurement. Lines are 90 % intervals, grey ticks are priors.");
  add_chart(section, coefficients, CoefficientAxis::weight, "coefficients_weight",
            "Weights and shares of extra work, on a linear axis; the dashed line is zero.");
  add_chart(section, coefficients, CoefficientAxis::seconds, "coefficients_seconds",
            "Fixed times. The axis is linear below 1 µs and logarithmic above.");
  section.blocks.emplace_back(coefficient_rows(coefficients));
  section.blocks.emplace_back(meanings(coefficients));
  return section;
}

}  // namespace sextant::inline reports
