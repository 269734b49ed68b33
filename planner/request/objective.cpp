#include "sextant/objective.h"

#include <algorithm>
#include <limits>
#include <set>

#include "sextant/error.h"

namespace sextant {
namespace {

// Dollars an hour that a plan is compared by.
double compared_usd_per_hour(const Rented& rented) { return rented.usd_per_hour + kTieUsdPerHour; }

double overrun(double value, double maximum) { return maximum > 0 ? std::max(0.0, value / maximum - 1) : 0.0; }

}  // namespace

bool Objective::has_limits() const {
  return max_iteration_s > 0 || max_usd_per_hour > 0 || max_usd_per_iteration > 0;
}

bool Objective::has_prices() const {
  return goal == Goal::cost || max_usd_per_hour > 0 || max_usd_per_iteration > 0;
}

double loss_of(const Objective& objective, double iteration_s, const Rented& rented) {
  switch (objective.goal) {
    case Goal::time:
      break;
    case Goal::cost:
      return usd_per_iteration({rented.devices, compared_usd_per_hour(rented)}, iteration_s);
    case Goal::devices:
      return rented.devices + iteration_s / (1 + iteration_s);
  }
  return iteration_s;
}

double time_as_good(const Objective& objective, double iteration_s, const Rented& rented, const Rented& other) {
  constexpr double kAnyTime = std::numeric_limits<double>::infinity();
  switch (objective.goal) {
    case Goal::time:
      break;
    case Goal::cost:
      return iteration_s * compared_usd_per_hour(rented) / compared_usd_per_hour(other);
    case Goal::devices:
      if (other.devices != rented.devices) return other.devices < rented.devices ? kAnyTime : 0;
      break;
  }
  return iteration_s;
}

double max_time_s(const Objective& objective, const Rented& rented) {
  constexpr double kRounding = 1e-9;  // prices added up in another order
  double longest_s = std::numeric_limits<double>::infinity();
  if (overrun(rented.usd_per_hour, objective.max_usd_per_hour) > kRounding) return -1;
  if (objective.max_iteration_s > 0) longest_s = objective.max_iteration_s;
  if (objective.max_usd_per_iteration > 0 && rented.usd_per_hour > 0)
    longest_s = std::min(longest_s, objective.max_usd_per_iteration / rented.usd_per_hour * kSecondsPerHour);
  return longest_s;
}

double overrun_of(const Objective& objective, double iteration_s, const Rented& rented) {
  return overrun(iteration_s, objective.max_iteration_s) +
         overrun(rented.usd_per_hour, objective.max_usd_per_hour) +
         overrun(usd_per_iteration(rented, iteration_s), objective.max_usd_per_iteration);
}

Rented rented_devices(const std::set<DeviceId>& used, const Cluster& cluster) {
  Rented rented{static_cast<double>(used.size()), 0};
  const Node* last = nullptr;
  for (const DeviceId device : used) {  // by nodes
    const Node& node = cluster.nodes()[cluster.node_of(device).index()];
    const auto& price = cluster.type_of(device).price_usd_per_hour;
    const int paid = !node.rented_whole ? 1 : &node != last ? node.devices : 0;
    if (price) rented.usd_per_hour += paid * price->value;
    last = &node;
  }
  return rented;
}

Rented rented_by(const Plan& plan, const Cluster& cluster) {
  std::set<DeviceId> used;
  for (const auto& [name, task] : plan.tasks) {
    const std::set<DeviceId> of_task = task.devices();
    used.insert(of_task.begin(), of_task.end());
  }
  return rented_devices(used, cluster);
}

bool has_prices(const Cluster& cluster) {
  return std::all_of(cluster.nodes().begin(), cluster.nodes().end(), [&](const Node& node) {
    return cluster.device_types().at(node.device_type).price_usd_per_hour.has_value();
  });
}

void check_prices(const Objective& objective, const Cluster& cluster) {
  if (!objective.has_prices()) return;
  for (const Node& node : cluster.nodes()) {
    if (cluster.device_types().at(node.device_type).price_usd_per_hour) continue;
    throw_bad_input(
        "cluster " + cluster.name() + ": device type " + node.device_type +
        " has no price_usd_per_hour, which planning by cost needs: name cloud instances (16xp5.48xlarge), or "
        "save the question with --save-inputs and state the price in cluster.json");
  }
}

void require_time_alone(const Objective& objective, const std::string& planner) {
  if (objective.is_time_alone()) return;
  throw_bad_input(
      "planner " + planner +
      " supports neither limits nor goals other than time; choose another planner, such as sha-ea or exact");
}

double tokens_per_iteration(const Workflow& workflow) {
  const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  return workflow.sequences() *
         (workflow.prompt_tokens.mean_tokens() + workflow.response_tokens.mean_tokens() + observed);
}

}  // namespace sextant
