// The proxy on a real GPU, skipped where there is none.
#include <gtest/gtest.h>

#include "probes/gpu/gpu_self_check.h"

namespace sextant {
namespace {

TEST(GpuEngine, AgreesWithTheCpu) {
  const auto world = make_serial_communicator();
  const GpuChecksOrReason result = check_gpu_proxy(*world);
  if (!result.reason.empty()) GTEST_SKIP() << result.reason;
  for (const GpuCheck& check : result.checks) {
    EXPECT_TRUE(check.passed()) << check.name << ": " << check.value << ", at most " << check.tolerance;
  }
}

}  // namespace
}  // namespace sextant
