// All planners by name: what the command line offers, and what one suite of tests holds against one contract.
#pragma once

#include <span>
#include <string_view>

#include "planner/planner.h"

namespace sextant {

struct Planner {
  std::string_view name;
  std::string_view help;  // one line
  PlanResult (*plan)(const PlanRequest& request) = nullptr;
  int most_devices = 0;  // of a cluster that it can plan; 0: no limit of its own
};

// In the order in which people should read them.
[[nodiscard]] std::span<const Planner> planners();

// Null where none has the name.
[[nodiscard]] const Planner* find_planner(std::string_view name);

}  // namespace sextant
