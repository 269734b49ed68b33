// Clusters, workflows and plans drawn at random, with every execution option that there is: most of them in
// order, some not. Small, so that thousands of them take seconds.
#pragma once

#include <random>
#include <string>

#include "sextant/coefficients.h"
#include "sextant/plan.h"

namespace sextant::testing {

struct RandomCase {
  Cluster cluster;
  Workflow workflow;
  Plan plan;
  Coefficients coefficients;
  std::string framework;
};

[[nodiscard]] RandomCase random_case(unsigned seed);

}  // namespace sextant::testing
