// The GPU's tasks on an emulated device against the CPU's: kernels, tasks, recorded graphs, the executor.
#include <gtest/gtest.h>

#include "probes/comm/communicator.h"
#include "probes/cuda/gpu_engine.h"
#include "probes/cuda/gpu_self_check.h"

namespace sextant {
namespace {

TEST(EmulatedProxy, AgreesWithTheCpu) {
  const GpuChecksOrReason result = check_gpu_proxy(1);
  EXPECT_EQ(result.reason, "");
  EXPECT_GE(result.checks.size(), 10U);
  for (const GpuCheck& check : result.checks) {
    EXPECT_TRUE(check.passed()) << check.name << ": " << check.value << ", at most " << check.tolerance;
  }
}

}  // namespace
}  // namespace sextant
