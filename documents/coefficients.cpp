#include "sextant/coefficients.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/json_value.h"

namespace sextant {
namespace {

CoefficientId parse_id(const JsonView& view) {
  std::vector<std::string_view> names;
  for (const CoefficientSpec& spec : coefficient_table()) {
    names.push_back(spec.name);
  }
  return coefficient_table()[view.one_of(names)].id;
}

struct Allowed {
  double lower;
  double upper;
};

// The bounds of the fit and some way beyond: a value that nobody's fit could give, or nearly, is a slip of the
// pen.
Allowed allowed_range(const CoefficientSpec& spec, bool of_one_owner) {
  if (spec.scale == CoefficientScale::linear) {
    const double slack = 0.1 * (spec.upper - spec.lower);
    return {std::min(spec.lower, spec.neutral) - slack, std::max(spec.upper, spec.neutral) + slack};
  }
  constexpr double kSlack = 10;
  constexpr double kLargestDeviation = 20.1;  // of one owner from all: e^3, calibrate/parameters.cpp
  const double factor = of_one_owner ? kSlack * kLargestDeviation : kSlack;
  return {spec.neutral > 0 ? spec.lower / factor : 0.0, spec.upper * factor};
}

// In the range that the coefficient's kind allows.
double parse_value(const JsonView& view, const CoefficientSpec& spec, bool of_one_owner) {
  const bool is_factor = spec.scale == CoefficientScale::logarithmic && spec.neutral > 0;
  const double value = is_factor ? view.positive() : spec.lower >= 0 ? view.non_negative() : view.number();
  const Allowed allowed = allowed_range(spec, of_one_owner);
  if (value < allowed.lower || value > allowed.upper) {
    view.fail("far outside " + Json(spec.lower).dump() + " to " + Json(spec.upper).dump() + ", the bounds of " +
              std::string(spec.name) + ", got " + Json(value).dump());
  }
  return value;
}

std::string parse_owner(const JsonView& view, std::string_view member) {
  const auto owner = view.optional(member);
  return owner ? owner->text() : std::string(kAny);
}

Coefficient parse_coefficient(const JsonView& view) {
  view.allow_only({"name", "device_type", "framework", "value", "prior", "prior_error", "standard_error", "low",
                   "high", "identified", "at_bound"});
  Coefficient out;
  out.id = parse_id(view.required("name"));
  const CoefficientSpec& spec = spec_of(out.id);
  out.device_type = parse_owner(view, "device_type");
  if (out.device_type != kAny && !spec.by_device_type()) {
    view.required("device_type").fail("there is one " + std::string(spec.name) + " for all device types");
  }
  out.framework = parse_owner(view, "framework");
  const bool of_one_owner = out.device_type != kAny || out.framework != kAny;
  out.value = parse_value(view.required("value"), spec, of_one_owner);
  const auto prior = view.optional("prior");
  out.prior = prior ? parse_value(*prior, spec, of_one_owner) : spec.prior;
  if (const auto error = view.optional("prior_error")) {
    out.prior_error = error->non_negative();
  }
  if (const auto error = view.optional("standard_error")) {
    out.standard_error = error->non_negative();
  }
  if (const auto low = view.optional("low")) {
    out.low = low->number();
  }
  if (const auto high = view.optional("high")) {
    out.high = high->number();
    if (out.low && *out.high < *out.low) {
      high->fail("expected at least \"low\"");
    }
  }
  if (const auto identified = view.optional("identified")) {
    out.identified = identified->flag();
  }
  if (const auto at_bound = view.optional("at_bound")) {
    out.at_bound = at_bound->flag();
  }
  return out;
}

Json to_json(const Coefficient& coefficient) {
  Json out = {{"name", spec_of(coefficient.id).name},
              {"device_type", coefficient.device_type},
              {"framework", coefficient.framework},
              {"value", coefficient.value},
              {"prior", coefficient.prior}};
  if (coefficient.prior_error) {
    out["prior_error"] = *coefficient.prior_error;
  }
  if (coefficient.standard_error) {
    out["standard_error"] = *coefficient.standard_error;
  }
  if (coefficient.low) {
    out["low"] = *coefficient.low;
  }
  if (coefficient.high) {
    out["high"] = *coefficient.high;
  }
  out["identified"] = coefficient.identified;
  out["at_bound"] = coefficient.at_bound;
  return out;
}

}  // namespace

bool Coefficient::is_driven_to_bound() const {
  constexpr double kMoved = 1e-3;  // relative
  return at_bound && std::abs(value - prior) > kMoved * std::abs(prior);
}

double Coefficients::value(CoefficientId id, std::string_view device_type, std::string_view framework) const {
  const Coefficient *all = nullptr, *of_type = nullptr, *of_framework = nullptr;
  for (const Coefficient& entry : values) {
    if (entry.id != id) continue;
    const bool any_type = entry.device_type == kAny, any_framework = entry.framework == kAny;
    const bool is_type = !any_type && entry.device_type == device_type;
    const bool is_framework = !any_framework && entry.framework == framework;
    if (is_type && is_framework) return entry.value;
    if (any_type && any_framework) all = &entry;
    if (is_type && any_framework) of_type = &entry;
    if (any_type && is_framework) of_framework = &entry;
  }
  if (of_type != nullptr && of_framework != nullptr) {
    const bool has_ratio = all != nullptr && all->value > 0;
    return has_ratio ? of_type->value * (of_framework->value / all->value) : of_type->value;
  }
  if (of_type != nullptr) return of_type->value;
  if (of_framework != nullptr) return of_framework->value;
  return all != nullptr ? all->value : spec_of(id).neutral;
}

Coefficients Coefficients::parse(const JsonView& view) {
  view.allow_only({"values", "fit"});
  Coefficients out;
  std::set<std::tuple<CoefficientId, std::string, std::string>> given;
  for (const JsonView& item : view.required("values").items()) {
    Coefficient entry = parse_coefficient(item);
    if (!given.emplace(entry.id, entry.device_type, entry.framework).second) {
      item.fail(std::string(spec_of(entry.id).name) + " is given twice for this device type and framework");
    }
    out.values.push_back(std::move(entry));
  }
  if (const auto fit = view.optional("fit")) {
    out.fit = FitSummary::parse(*fit, out.values.size());
  }
  return out;
}

Json Coefficients::to_json() const {
  Json out = Json::object();
  out["values"] = Json::array();
  for (const Coefficient& entry : values) {
    out["values"].push_back(sextant::to_json(entry));
  }
  if (fit) {
    out["fit"] = fit->to_json();
  }
  return out;
}

}  // namespace sextant
