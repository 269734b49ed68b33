// Random clusters, workflows and plans with every execution option; most plans are valid, some are not. They
// are small, so that thousands of them take seconds.
#pragma once

#include <random>
#include <string>

#include "sextant/coefficients.h"
#include "sextant/plan.h"

namespace sextant::test {

struct RandomCase {
  Cluster cluster;
  Workflow workflow;
  Plan plan;
  Coefficients coefficients;
  std::string framework;
};

[[nodiscard]] RandomCase random_case(unsigned seed);

}  // namespace sextant::test
