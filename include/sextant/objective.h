// What plans are judged by: time, dollars or devices, and limits on each.
//
// A plan rents the devices that it uses, for the time of an iteration; those that it leaves idle are not paid
// for. Prices are those of the cluster document (price_usd_per_hour of a device type).
#pragma once

#include <string>

#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant {

enum class Goal {
  time,     // seconds of an iteration
  cost,     // dollars of an iteration; of plans that cost the same the faster
  devices,  // as few devices as can be; of as many the faster
};

struct Objective {
  Goal goal = Goal::time;
  // Zero: no limit.
  double max_iteration_s = 0;
  double max_usd_per_hour = 0;
  double max_usd_per_iteration = 0;

  [[nodiscard]] bool has_limits() const;
  // It takes more than times to judge a plan.
  [[nodiscard]] bool needs_devices() const { return goal != Goal::time || has_prices(); }
  [[nodiscard]] bool has_prices() const;
  // The fastest plan, as planners that know times alone look for.
  [[nodiscard]] bool is_time_alone() const { return goal == Goal::time && !has_limits(); }
  // The fastest plan on devices that cost so much an hour.
  [[nodiscard]] bool is_time_for_rent() const {
    return goal == Goal::time && max_usd_per_hour > 0 && max_iteration_s == 0 && max_usd_per_iteration == 0;
  }
  friend bool operator==(const Objective&, const Objective&) = default;
};

// What a plan's devices are, and cost.
struct Rented {
  double devices = 0;
  double usd_per_hour = 0;  // zero where no price is known
};

inline constexpr double kSecondsPerHour = 3600;

// Dollars of an iteration.
[[nodiscard]] inline double usd_per_iteration(const Rented& rented, double iteration_s) {
  return rented.usd_per_hour * iteration_s / kSecondsPerHour;
}

// Time has this price where plans are compared by cost, so that of two that cost the same, nothing for
// instance, the faster is better. It is far less than any device costs, and no plan is charged for it.
inline constexpr double kTieUsdPerHour = 1e-9;

// What is lowered, the smaller the better: seconds, dollars with kTieUsdPerHour, or devices with a fraction for
// the time.
[[nodiscard]] double loss_of(const Objective& objective, double iteration_s, const Rented& rented);

// What a plan that rents `other` may take to be as good as one that takes iteration_s with `rented`: infinite
// where it is better whatever it takes (fewer devices), zero where it never is.
[[nodiscard]] double time_as_good(const Objective& objective, double iteration_s, const Rented& rented,
                                  const Rented& other);

// What a plan with these devices may take to keep the limits: less than zero where it keeps them in no time,
// infinite where in any. To rounding; overrun_of has the last word.
[[nodiscard]] double max_time_s(const Objective& objective, const Rented& rented);

// Shares by which limits are exceeded, all added up; zero where all are kept.
[[nodiscard]] double overrun_of(const Objective& objective, double iteration_s, const Rented& rented);

// A device that several tasks use is rented once. Devices without a price count as free; see check_prices.
[[nodiscard]] Rented rented_by(const Plan& plan, const Cluster& cluster);

// All device types of the cluster's nodes have one.
[[nodiscard]] bool has_prices(const Cluster& cluster);

// Throws Error(bad_input) where the objective needs a price that the cluster document does not have.
void check_prices(const Objective& objective, const Cluster& cluster);

// Throws Error(bad_input): `planner` looks for the fastest plan alone.
void require_time_alone(const Objective& objective, const std::string& planner);

// Tokens of prompts and responses that an iteration processes; dollars per token are those of an iteration
// over these.
[[nodiscard]] double tokens_per_iteration(const Workflow& workflow);

}  // namespace sextant
