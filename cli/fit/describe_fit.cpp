#include "cli/fit/describe_fit.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "calibrate/posterior.h"
#include "calibrate/ranking.h"
#include "cli/shared/table.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

std::string shown_interval(const Coefficient& c) {
  if (!c.low || !c.high) return "";
  return format_number(*c.low) + " to " + format_number(*c.high);
}

std::string owner_of(const std::string& device_type, const std::string& framework) {
  if (device_type == kAny && framework == kAny) return "all";
  return framework == kAny ? device_type : framework;
}

std::string owner_of(const Coefficient& c) { return owner_of(c.device_type, c.framework); }

std::string remark_about(const Coefficient& c) {
  if (c.at_bound) return c.identified ? "at bound" : "not identified, at bound";
  return c.identified ? "" : "not identified";
}

std::string describe_values(const Coefficients& coefficients, bool all) {
  Table table({"coefficient", "of", "value", "90 % interval", "prior", "remark"});
  std::size_t shown = 0;
  for (const Coefficient& c : coefficients.values) {
    if (!all && !c.identified && !c.is_driven_to_bound()) continue;
    ++shown;
    table.add({std::string(spec_of(c.id).name), owner_of(c), format_number(c.value), shown_interval(c),
               format_number(c.prior), remark_about(c)});
  }
  std::string out = shown > 0 ? table.text() : "";
  const std::size_t rest = coefficients.values.size() - shown;
  if (rest > 0) {
    out += std::to_string(rest) + " of " + std::to_string(coefficients.values.size()) +
           " coefficients are not identified by these runs and keep their priors (--all-coefficients shows "
           "them)\n";
  }
  return out;
}

// The fit would have gone further: a sign of runs or documents that are not what they seem.
std::string describe_bounds(const Coefficients& coefficients) {
  std::string out;
  for (const Coefficient& c : coefficients.values) {
    if (!c.is_driven_to_bound()) continue;
    const CoefficientSpec& spec = spec_of(c.id);
    out += "at its bound: " + std::string(spec.name) + " of " + owner_of(c) + " is " + format_number(c.value) +
           "; the fit allows " + format_number(spec.lower) + " to " + format_number(spec.upper) +
           (c.device_type == kAny && c.framework == kAny
                ? ""
                : " for all owners, and a factor of at most 20 between one owner and all") +
           "\n";
  }
  return out;
}

std::string name_in_table(const Parameter& parameter) {
  const std::string name(parameter.spec().name);
  const std::string owner = owner_of(parameter.device_type, parameter.framework);
  return parameter.is_deviation ? name + " of " + owner : name;
}

// Combinations of coefficients that the runs identify only together.
std::string describe_confounded(const Coefficients& coefficients) {
  constexpr std::size_t kMaxPairs = 8;
  const auto posterior = posterior_of(coefficients);
  if (!posterior) return "";
  std::string out;
  const std::vector<Confounded> pairs = confounded_pairs(*posterior);
  for (std::size_t i = 0; i < std::min(kMaxPairs, pairs.size()); ++i) {
    const auto parameter = [&](int p) {
      return name_in_table(posterior->parameters[static_cast<std::size_t>(p)]);
    };
    out += "  " + parameter(pairs[i].a) + (pairs[i].correlation < 0 ? " against " : " with ") +
           parameter(pairs[i].b) + " (correlation " + format_number(pairs[i].correlation) + ")\n";
  }
  if (out.empty()) return "";
  if (pairs.size() > kMaxPairs) out += "  and " + std::to_string(pairs.size() - kMaxPairs) + " more pairs\n";
  return "identified only in combination, not separately:\n" + out;
}

std::string describe(const HeldOutSummary& held_out) {
  std::string out =
      "one " + held_out.left_out + " left out in turn (" + std::to_string(held_out.folds) + " folds): ";
  if (held_out.tasks > 0) {
    out += "task MAPE " + format_percent(held_out.task_mape) + " (" + std::to_string(held_out.tasks) + "), ";
  }
  if (held_out.iterations > 0) {
    out += "iteration MAPE " + format_percent(held_out.iteration_mape) + " (" +
           std::to_string(held_out.iterations) + "), ";
  }
  if (held_out.memories > 0) {
    out += "memory MAPE " + format_percent(held_out.memory_mape) + " (" + std::to_string(held_out.memories) +
           "), ";
  }
  return out + "90 % intervals cover " + format_percent(held_out.coverage_90, 0) + "\n" +
         describe(held_out.order) + "\n";
}

std::string describe_outliers(const FitSummary& fit) {
  if (fit.outliers.empty()) return "";
  std::string out = "outliers, down-weighted by the robust loss:";
  for (const std::string& name : fit.outliers) out += " " + name;
  return out + "\n";
}

}  // namespace

std::string describe_fit(const Coefficients& fitted, bool all_coefficients) {
  std::string out =
      describe_values(fitted, all_coefficients) + describe_bounds(fitted) + describe_confounded(fitted);
  if (!fitted.fit) return out;
  out += describe_outliers(*fitted.fit);
  return fitted.fit->held_out ? out + describe(*fitted.fit->held_out) : out;
}

}  // namespace sextant::cli
