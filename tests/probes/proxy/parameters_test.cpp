#include "probes/proxy/model/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/probes/proxy/fixture.h"

namespace sextant::test {
namespace {

// Adam's corrections are those of the step: gradients that stay the same move the weights by the rate each time.
TEST(StageParameters, StepsOfEqualGradientsMoveByTheLearningRate) {
  proxy::StageShape shape;
  shape.model = small_model("actor");
  shape.layers = shape.model.layers;
  proxy::StageParameters parameters(shape, 1, proxy::Purpose::training);
  const std::vector<float> before(parameters.values().begin(), parameters.values().end());
  std::fill(parameters.gradients().begin(), parameters.gradients().end(), 2.0F);
  constexpr double kRate = 0.01, kRounding = 1e-5;
  for (int step = 1; step <= 2; ++step) {
    parameters.take_adam_step(static_cast<float>(kRate));
    for (std::size_t i = 0; i < before.size(); i += 97)
      EXPECT_NEAR(before[i] - parameters.values()[i], kRate * step, kRounding) << step;
  }
}

}  // namespace
}  // namespace sextant::test
