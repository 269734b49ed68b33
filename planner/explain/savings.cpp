#include "planner/explain/savings.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "costmodel/hardware_numbers.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

constexpr const char* kLatency = "link_latency_s";

// Numbers that get better together.
struct Lever {
  std::string name;
  std::string of;
  std::vector<HardwareNumber> numbers;
};

bool is_of_device(const HardwareNumber& number, const Cluster& cluster) {
  return cluster.device_types().contains(number.of);
}

void add_to(std::vector<Lever>& levers, const std::string& name, const std::string& of,
            const HardwareNumber& number) {
  const auto known = std::find_if(levers.begin(), levers.end(),
                                  [&](const Lever& lever) { return lever.name == name && lever.of == of; });
  if (known != levers.end()) {
    known->numbers.push_back(number);
  } else {
    levers.push_back({name, of, {number}});
  }
}

std::vector<Lever> levers_of(const Cluster& cluster) {
  std::vector<Lever> single, together;
  for (const HardwareNumber& number : hardware_numbers(cluster)) {
    single.push_back({number.name, number.of, {number}});
    if (is_of_device(number, cluster)) {
      add_to(together, "device", number.of, number);
      if (cluster.device_types().size() > 1) add_to(together, number.name, "*", number);
    } else {
      add_to(together, "link", number.of, number);
    }
  }
  single.insert(single.end(), together.begin(), together.end());
  return single;
}

// Rates times the factor; latencies, of which less is better, by it where they are not alone.
Cluster with_lever(const Cluster& cluster, const Lever& lever, double factor) {
  Cluster changed = cluster;
  for (const HardwareNumber& number : lever.numbers) {
    const bool is_inverse = number.name == kLatency && lever.name != kLatency;
    changed = with_scaled(changed, number, is_inverse ? 1 / factor : factor);
  }
  return changed;
}

}  // namespace

std::vector<Saving> savings_of(const PlanRequest& request, const Plan& plan) {
  constexpr double kStep = 1e-3;  // of the logarithm
  constexpr double kBetter = 1.1;
  constexpr double kNothing = 1e-9;
  const auto time_s = [&](const Lever& lever, double factor) {
    return predict(with_lever(request.cluster, lever, factor), request.workflow, plan, request.coefficients,
                   request.framework)
        .iteration_s;
  };
  const double now_s =
      predict(request.cluster, request.workflow, plan, request.coefficients, request.framework).iteration_s;
  std::vector<Saving> savings;
  for (const Lever& lever : levers_of(request.cluster)) {
    const double up = std::log(time_s(lever, std::exp(kStep))),
                 down = std::log(time_s(lever, std::exp(-kStep)));
    const double better_s = time_s(lever, lever.name == kLatency ? 1 / kBetter : kBetter);
    const Saving saving{lever.name, lever.of, (up - down) / (2 * kStep), 1 - better_s / now_s};
    if (std::abs(saving.elasticity) > kNothing || std::abs(saving.saved_fraction) > kNothing)
      savings.push_back(saving);
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const Saving& a, const Saving& b) { return a.saved_fraction > b.saved_fraction; });
  return savings;
}

}  // namespace sextant::inline planner
