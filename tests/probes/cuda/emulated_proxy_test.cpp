// The GPU's tasks on an emulated device against the CPU's: kernels, tasks, recorded graphs, the executor.
#include <gtest/gtest.h>

#include "probes/comm/communicator.h"
#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/proxy/self_check_session.h"
#include "probes/gpu/gpu_engine.h"
#include "probes/gpu/gpu_self_check.h"

namespace sextant {
namespace {

TEST(EmulatedProxy, AgreesWithTheCpu) {
  const auto world = make_serial_communicator();
  const GpuChecksOrReason result = check_gpu_proxy(*world, 1);
  EXPECT_EQ(result.reason, "");
  EXPECT_GE(result.checks.size(), 10U);
  for (const GpuCheck& check : result.checks) {
    EXPECT_TRUE(check.passed()) << check.name << ": " << check.value << ", at most " << check.tolerance;
  }
}

// Buffers come and go, so what is left afterwards is not the most. An engine asked later says the most of its
// last session, and nothing of what was there before.
TEST(EmulatedProxy, PeakMemoryIsTheMostThatWasInUse) {
  const auto world = make_serial_communicator();
  const GpuEngineOrReason made = make_gpu_engine(*world);
  ASSERT_NE(made.engine, nullptr) << made.reason;
  { const DeviceBuffer before(std::size_t{1} << 30); }
  emulated_reset_peak();
  static_cast<void>(gpu::check_session(*world, *made.engine, {}));
  EXPECT_EQ(made.engine->peak_memory_bytes(), static_cast<double>(emulated_peak_bytes()));
  EXPECT_LT(emulated_used_bytes(), emulated_peak_bytes());
}

}  // namespace
}  // namespace sextant
