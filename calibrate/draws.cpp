#include "calibrate/draws.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "calibrate/posterior.h"

namespace sextant::inline calibrate {
namespace {

class Drawer {
 public:
  Drawer(const Coefficients& coefficients, const Posterior& posterior, const Cluster& cluster,
         std::string_view framework, std::uint64_t seed)
      : coefficients_(coefficients),
        posterior_(posterior),
        hardware_(cluster),
        framework_(framework),
        map_(posterior.parameters, hardware_, framework),
        random_(seed) {}

  Coefficients draw() {
    const std::vector<double> coordinates = draw_coordinates();
    std::vector<double> of_framework;  // by coefficient
    for (const CoefficientSpec& spec : coefficient_table())
      of_framework.push_back(normal() * posterior_.unseen_framework_deviation(spec.id, framework_));
    Coefficients drawn;
    for (const ParameterMap::Slot& slot : map_.slots()) {
      const double of_type =
          normal() * posterior_.unseen_type_deviation(slot.id, hardware_.type_name(slot.type));
      Coefficient entry;
      entry.id = slot.id;
      entry.device_type = hardware_.type_name(slot.type);
      entry.framework = framework_;
      entry.value = value(slot, coordinates, of_framework[static_cast<std::size_t>(slot.id)] + of_type);
      drawn.values.push_back(std::move(entry));
    }
    return drawn;
  }

 private:
  double normal() { return normal_(random_); }

  // With orthonormal directions v the root of I - sum of (1 - remaining) v v^T is
  // I - sum of (1 - sqrt(remaining)) v v^T.
  std::vector<double> draw_coordinates() {
    std::vector<double> scaled(posterior_.parameters.size());
    std::generate(scaled.begin(), scaled.end(), [&] { return normal(); });
    const std::vector<double> white = scaled;
    for (const LearnedDirection& direction : posterior_.directions) {
      double along = 0;
      for (std::size_t i = 0; i < direction.of.size(); ++i)
        along += direction.parts[i] * white[static_cast<std::size_t>(direction.of[i])];
      const double learned = (1 - std::sqrt(direction.remaining)) * along;
      for (std::size_t i = 0; i < direction.of.size(); ++i)
        scaled[static_cast<std::size_t>(direction.of[i])] -= learned * direction.parts[i];
    }
    std::vector<double> coordinates = posterior_.coordinates;
    for (std::size_t p = 0; p < coordinates.size(); ++p)
      coordinates[p] += scaled[p] * posterior_.parameters[p].prior_deviation();
    return coordinates;
  }

  // The coordinate changes the document's value, so that a value without uncertainty stays as it is.
  double value(const ParameterMap::Slot& slot, const std::vector<double>& coordinates, double deviation) const {
    const CoefficientSpec& spec = spec_of(slot.id);
    const double now = coefficients_.value(slot.id, hardware_.type_name(slot.type), framework_);
    const double before = ParameterMap::value(slot, posterior_.coordinates.data()).value;
    const double after = ParameterMap::value(slot, coordinates.data()).value * std::exp(deviation);
    if (after == before || (spec.scale == CoefficientScale::logarithmic && now <= 0)) return now;
    const double moved =
        spec.scale == CoefficientScale::logarithmic ? now * (after / before) : now + (after - before);
    return std::clamp(moved, std::min(now, spec.lower), std::max(now, spec.upper));
  }

  const Coefficients& coefficients_;
  const Posterior& posterior_;
  Hardware<double> hardware_;
  std::string framework_;
  ParameterMap map_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace

std::vector<Coefficients> draw_coefficients(const Coefficients& coefficients, const Cluster& cluster,
                                            std::string_view framework, int count, std::uint64_t seed) {
  std::vector<Coefficients> draws;
  const std::optional<Posterior> posterior = posterior_of(coefficients);
  if (!posterior) return draws;
  Drawer drawer(coefficients, *posterior, cluster, framework, seed);
  for (int i = 0; i < count; ++i) draws.push_back(drawer.draw());
  return draws;
}

}  // namespace sextant::inline calibrate
