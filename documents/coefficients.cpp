#include "sextant/coefficients.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "documents/field_tables.h"

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

bool is_of_one_owner(const Coefficient& in) { return in.device_type != kAny || in.framework != kAny; }

void check_device_type(const JsonView& view, Coefficient& in) {
  const CoefficientSpec& spec = spec_of(in.id);
  if (in.device_type == kAny || spec.by_device_type()) return;
  view.required("device_type").fail("there is one " + std::string(spec.name) + " for all device types");
}

void check_value(const JsonView& view, Coefficient& in) {
  in.value = parse_value(view.required("value"), spec_of(in.id), is_of_one_owner(in));
}

void complete_prior(const JsonView& view, Coefficient& in) {
  const auto prior = view.optional("prior");
  in.prior = prior ? parse_value(*prior, spec_of(in.id), is_of_one_owner(in)) : spec_of(in.id).prior;
}

void check_interval(const JsonView& view, Coefficient& in) {
  if (in.low && in.high && *in.high < *in.low) view.required("high").fail("expected at least \"low\"");
}

Kind<CoefficientId> coefficient_id() {
  return {parse_id, [](const CoefficientId& id) { return Json(spec_of(id).name); }, nullptr};
}

}  // namespace

const Fields<Coefficient>& documents::coefficient_fields() {
  static const Fields<Coefficient> fields{
      required("name", &Coefficient::id, coefficient_id()).described_by_hand(),
      defaulted("device_type", &Coefficient::device_type, text(), "Name, or \"*\" for all.")
          .then(check_device_type),
      defaulted("framework", &Coefficient::framework, text(), "Name, or \"*\" for all."),
      required("value", &Coefficient::value, number()).then(check_value).described_by_hand(),
      defaulted("prior", &Coefficient::prior, number()).completed_by(complete_prior).described_by_hand(),
      optional("prior_error", &Coefficient::prior_error, non_negative(),
               "Standard deviation of the prior: of the logarithm if the fit changes the coefficient by "
               "factors, otherwise of the value; for the value of one owner, of the logarithm of its ratio to "
               "the value for all."),
      optional("standard_error", &Coefficient::standard_error, non_negative(),
               "Standard error of the logarithm if the fit changes the coefficient by factors, otherwise of "
               "the value."),
      optional("low", &Coefficient::low, number(), "90 % interval."),
      optional("high", &Coefficient::high, number()).then(check_interval),
      defaulted("identified", &Coefficient::identified, flag(),
                "False: the runs hardly changed it, so it keeps its prior."),
      defaulted("at_bound", &Coefficient::at_bound, flag()),
  };
  return fields;
}

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
    Coefficient entry = parse_fields(item, coefficient_fields());
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
  out["values"] = list_of(object(coefficient_fields())).write(values);
  if (fit) {
    out["fit"] = fit->to_json();
  }
  return out;
}

}  // namespace sextant
