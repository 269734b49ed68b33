// How GPUs share a model, on emulated devices against CPU cores with the same plan: tensor, pipeline and data
// parallelism, and weights between devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/gpu/gpu_engine.h"
#include "probes/gpu/gpu_self_check.h"
#include "tests/probes/comm/ranks.h"

namespace sextant::test {
namespace {

TEST(EmulatedRanks, AgreeWithTheCpu) {
  const GpuChecksOrReason result = check_gpu_proxy(world());
  EXPECT_EQ(result.reason, "");
  EXPECT_GE(result.checks.size(), 20U);
  for (const GpuCheck& check : result.checks) {
    EXPECT_TRUE(check.passed()) << check.name << ": " << check.value << ", at most " << check.tolerance;
  }
}

}  // namespace
}  // namespace sextant::test
