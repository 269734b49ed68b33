// The objective of a search: time, dollars or devices, and limits on each.
//
// A plan rents the devices that it uses, for the time of an iteration; idle devices are not paid for. Prices
// are those of the cluster document (price_usd_per_hour of a device type).
#pragma once

#include <set>
#include <string>

#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant {

enum class Goal {
  time,     // seconds per iteration
  cost,     // dollars per iteration; ties: the faster plan
  devices,  // number of devices; ties: the faster plan
};

struct Objective {
  Goal goal = Goal::time;
  // Zero means no limit.
  double max_iteration_s = 0;
  double max_usd_per_hour = 0;
  double max_usd_per_iteration = 0;

  [[nodiscard]] bool has_limits() const;
  // True if judging a plan requires its devices, not only its time.
  [[nodiscard]] bool needs_devices() const { return goal != Goal::time || has_prices(); }
  [[nodiscard]] bool has_prices() const;
  // True if the fastest plan is wanted, without limits; planners that know only times accept only this.
  [[nodiscard]] bool is_time_alone() const { return goal == Goal::time && !has_limits(); }
  // True if the fastest plan within a budget of dollars per hour is wanted.
  [[nodiscard]] bool is_time_for_rent() const {
    return goal == Goal::time && max_usd_per_hour > 0 && max_iteration_s == 0 && max_usd_per_iteration == 0;
  }
  friend bool operator==(const Objective&, const Objective&) = default;
};

// The number and the price of the devices of a plan.
struct Rented {
  double devices = 0;
  double usd_per_hour = 0;  // zero if no price is known
};

inline constexpr double kSecondsPerHour = 3600;

// Dollars per iteration.
[[nodiscard]] inline double usd_per_iteration(const Rented& rented, double iteration_s) {
  return rented.usd_per_hour * iteration_s / kSecondsPerHour;
}

// A price for time that breaks ties when plans are compared by cost (for example if all cost nothing): the
// faster plan wins. It is far below the price of any device, and reported costs do not contain it.
inline constexpr double kTieUsdPerHour = 1e-9;

// The value that the search minimises: seconds, dollars with kTieUsdPerHour, or the number of devices plus a
// fraction for the time.
[[nodiscard]] double loss_of(const Objective& objective, double iteration_s, const Rented& rented);

// Maximum time of a plan that rents `other` such that it is as good as one that takes iteration_s with
// `rented`: infinite if it is better in any time (fewer devices), zero if it is never as good.
[[nodiscard]] double time_as_good(const Objective& objective, double iteration_s, const Rented& rented,
                                  const Rented& other);

// Maximum time in seconds with which a plan on these devices respects the limits: less than zero if no time
// does, infinite if any does. Exact up to rounding; overrun_of decides.
[[nodiscard]] double max_time_s(const Objective& objective, const Rented& rented);

// The sum of the shares by which limits are exceeded; zero if all are respected.
[[nodiscard]] double overrun_of(const Objective& objective, double iteration_s, const Rented& rented);

// The number of devices, and their price with that of the rest of nodes that are rented whole. No price means
// free; see check_prices.
[[nodiscard]] Rented rented_devices(const std::set<DeviceId>& used, const Cluster& cluster);
// Same as above, for the devices of a plan. A device of several tasks counts once.
[[nodiscard]] Rented rented_by(const Plan& plan, const Cluster& cluster);

// True if all device types of the cluster's nodes have a price.
[[nodiscard]] bool has_prices(const Cluster& cluster);

// Throws Error(bad_input) if the objective needs a price that the cluster document does not have.
void check_prices(const Objective& objective, const Cluster& cluster);

// Throws Error(bad_input) unless is_time_alone(): `planner` minimises nothing but time.
void require_time_alone(const Objective& objective, const std::string& planner);

// Tokens of prompts and responses that an iteration processes. The dollars per token are those of an iteration
// divided by this.
[[nodiscard]] double tokens_per_iteration(const Workflow& workflow);

}  // namespace sextant
