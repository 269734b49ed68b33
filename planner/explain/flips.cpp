#include "planner/explain/flips.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "costmodel/hardware_numbers.h"
#include "planner/explain/number_values.h"
#include "sextant/statistics.h"

namespace sextant::inline planner {
namespace {

// A number, and the world with another value of it.
struct Knob {
  Flip flip;  // what it is; the factor is not known yet
  FactorRange range;
  std::optional<double> log_error;  // standard error of its logarithm
  std::function<Judgement(const Plan&, double factor)> judge;
};

class Decision {
 public:
  Decision(const Plan& chosen, const std::vector<Rival>& rivals) : chosen_(chosen), rivals_(rivals) {}

  // The best of the rivals that are better, empty where the chosen plan is not allowed and none is either.
  [[nodiscard]] std::optional<std::string> better_at(const Knob& knob, double factor) const {
    const Judgement chosen = knob.judge(chosen_, factor);
    if (!chosen.is_allowed) return "";
    std::optional<std::string> name;
    Judgement best = chosen;
    for (const Rival& rival : rivals_) {
      const Judgement other = knob.judge(*rival.plan, factor);
      if (!other.is_better_than(best)) continue;
      best = other;
      name = rival.name;
    }
    return name;
  }

  // Whether the number can change anything: what no plan feels at both ends, none feels between them.
  [[nodiscard]] bool is_felt(const Knob& knob) const {
    return is_felt_by(knob, chosen_) || std::any_of(rivals_.begin(), rivals_.end(), [&](const Rival& rival) {
             return is_felt_by(knob, *rival.plan);
           });
  }

 private:
  [[nodiscard]] static bool is_felt_by(const Knob& knob, const Plan& plan) {
    const Judgement low = knob.judge(plan, knob.range.low), high = knob.judge(plan, knob.range.high);
    return low.loss != high.loss || low.is_allowed != high.is_allowed;
  }

  const Plan& chosen_;
  const std::vector<Rival>& rivals_;
};

std::vector<HardwareNumber> numbers_of(const Cluster& cluster) {
  std::vector<HardwareNumber> numbers = hardware_numbers(cluster);
  for (const auto& [name, type] : cluster.device_types()) numbers.push_back({"memory_bytes", name});
  return numbers;
}

using PreparedPlans = std::map<const Plan*, PreparedPlan>;

// Rates and memory of device types leave what was made once as it is; links and networks need not.
std::vector<Knob> hardware_knobs(const PlanRequest& request,
                                 const std::shared_ptr<const PreparedPlans>& prepared) {
  std::vector<Knob> knobs;
  for (const HardwareNumber& number : numbers_of(request.cluster)) {
    const KnownNumber known = value_of(request.cluster, number, request.workflow.precision);
    knobs.push_back({{number.name, number.of, true, known.value, 1, "", std::nullopt},
                     {},
                     known.standard_error,
                     [&request, number, prepared](const Plan& plan, double factor) {
                       const Cluster scaled = with_scaled(request.cluster, number, factor);
                       const bool is_of_devices = request.cluster.device_types().contains(number.of) &&
                                                  number.name != "network_bytes_per_s";
                       return is_of_devices ? prepared->at(&plan).judge_on(scaled, request.coefficients)
                                            : judge(request, scaled, plan, request.coefficients);
                     }});
  }
  return knobs;
}

// The standard error of the logarithm over the samples; empty if there is no spread.
std::optional<double> log_error_of(const CoefficientUncertainty& doubt, CoefficientId id,
                                   const std::string& type, const std::string& framework) {
  std::vector<double> logs;
  for (const Coefficients& draw : doubt.draws) {
    const double value = draw.value(id, type, framework);
    if (value > 0) logs.push_back(std::log(value));
  }
  if (logs.size() < 2) return std::nullopt;
  const double deviation = standard_deviation(logs);
  return deviation > 0 ? std::optional<double>(deviation) : std::nullopt;
}

// The coefficients as the model reads them: a value for every device type.
Coefficients resolved(const PlanRequest& request) {
  Coefficients all;
  for (const CoefficientSpec& spec : coefficient_table()) {
    for (const auto& [type, rates] : request.cluster.device_types()) {
      Coefficient entry;
      entry.id = spec.id;
      entry.device_type = type;
      entry.framework = request.framework;
      entry.value = request.coefficients.value(spec.id, type, request.framework);
      all.values.push_back(std::move(entry));
    }
  }
  return all;
}

// One of several entries that change together: those of a coefficient that knows no device types are one
// number.
struct Entries {
  CoefficientId id;
  std::string of;
  std::vector<std::size_t> positions;
};

std::vector<Entries> entries_of(const Coefficients& all) {
  std::vector<Entries> entries;
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    const Coefficient& entry = all.values[i];
    const bool by_type = spec_of(entry.id).by_device_type();
    if (by_type || entries.empty() || entries.back().id != entry.id) {
      entries.push_back({entry.id, by_type ? entry.device_type : std::string(kAny), {i}});
    } else {
      entries.back().positions.push_back(i);
    }
  }
  return entries;
}

FactorRange range_of(const CoefficientSpec& spec, double value) {
  FactorRange range;
  range.low = std::clamp(spec.lower / value, range.low, 1.0);
  range.high = std::clamp(spec.upper / value, 1.0, range.high);
  return range;
}

std::shared_ptr<const PreparedPlans> prepared_of(const PlanRequest& request, const Plan& chosen,
                                                 const std::vector<Rival>& rivals) {
  auto prepared = std::make_shared<PreparedPlans>();
  prepared->try_emplace(&chosen, request, request.cluster, chosen);
  for (const Rival& rival : rivals) prepared->try_emplace(rival.plan, request, request.cluster, *rival.plan);
  return prepared;
}

std::vector<Knob> coefficient_knobs(const PlanRequest& request, const CoefficientUncertainty& doubt,
                                    const std::shared_ptr<const PreparedPlans>& prepared) {
  std::vector<Knob> knobs;
  const Coefficients all = resolved(request);
  for (const Entries& entries : entries_of(all)) {
    const Coefficient& first = all.values[entries.positions.front()];
    if (first.value <= 0) continue;
    const CoefficientSpec& spec = spec_of(entries.id);
    knobs.push_back({{std::string(spec.name), entries.of, false, first.value, 1, "", std::nullopt},
                     range_of(spec, first.value),
                     log_error_of(doubt, entries.id, first.device_type, first.framework),
                     [prepared, all, entries](const Plan& plan, double factor) {
                       Coefficients changed = all;
                       for (const std::size_t i : entries.positions) changed.values[i].value *= factor;
                       return prepared->at(&plan).judge(changed);
                     }});
  }
  return knobs;
}

}  // namespace

std::optional<Crossing> find_crossing(const std::function<std::optional<std::string>(double)>& to_at,
                                      FactorRange range) {
  constexpr double kFirst = 0.01;     // of the range's logarithm
  constexpr double kAccuracy = 1e-5;  // of the factor's logarithm
  std::optional<Crossing> nearest;
  for (const double end : {range.low, range.high}) {
    const double whole = std::log(end);
    double before = 0;
    for (double share = kFirst; whole != 0 && before < 1; share = std::min(1.0, share * 2)) {
      if (nearest && std::abs(before * whole) >= std::abs(std::log(nearest->factor))) break;
      std::optional<std::string> to = to_at(std::exp(share * whole));
      if (!to) {
        before = share;
        continue;
      }
      double inside = before, outside = share;
      while ((outside - inside) * std::abs(whole) > kAccuracy) {
        const double middle = (inside + outside) / 2;
        std::optional<std::string> there = to_at(std::exp(middle * whole));
        (there ? outside : inside) = middle;
        if (there) to = std::move(there);
      }
      const bool is_nearer = !nearest || outside * std::abs(whole) < std::abs(std::log(nearest->factor));
      if (is_nearer) nearest = Crossing{std::exp(outside * whole), *to};
      break;
    }
  }
  return nearest;
}

std::vector<Flip> find_flips(const PlanRequest& request, const Plan& chosen, const std::vector<Rival>& rivals,
                             const CoefficientUncertainty& doubt) {
  const Decision decision(chosen, rivals);
  const auto prepared = prepared_of(request, chosen, rivals);
  std::vector<Knob> knobs = hardware_knobs(request, prepared);
  std::vector<Knob> others = coefficient_knobs(request, doubt, prepared);
  std::move(others.begin(), others.end(), std::back_inserter(knobs));
  std::vector<Flip> flips;
  if (knobs.empty() || decision.better_at(knobs.front(), 1)) return flips;
  for (const Knob& knob : knobs) {
    if (!decision.is_felt(knob)) continue;
    const auto crossing =
        find_crossing([&](double factor) { return decision.better_at(knob, factor); }, knob.range);
    if (!crossing) continue;
    Flip flip = knob.flip;
    flip.factor = crossing->factor;
    flip.to = crossing->to;
    if (knob.log_error) flip.standard_errors = std::abs(std::log(flip.factor)) / *knob.log_error;
    flips.push_back(std::move(flip));
  }
  std::stable_sort(flips.begin(), flips.end(), [](const Flip& a, const Flip& b) {
    return std::abs(std::log(a.factor)) < std::abs(std::log(b.factor));
  });
  return flips;
}

}  // namespace sextant::inline planner
