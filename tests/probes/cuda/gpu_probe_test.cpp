#include "probes/cuda/gpu_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/probes/harness/fake_clock.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Works at a fixed rate on a clock of its own.
class FakeOperation final : public GpuOperation {
 public:
  FakeOperation(FakeClock& clock, double work, double rate, bool is_right)
      : clock_(clock), work_(work), rate_(rate), is_right_(is_right) {}
  [[nodiscard]] double work() const override { return work_; }
  [[nodiscard]] double run_s(int repeats) override {
    const double took_s = repeats * work_ / rate_;
    clock_.advance(took_s);
    return took_s;
  }
  [[nodiscard]] bool is_right() override { return is_right_; }

 private:
  FakeClock& clock_;
  double work_;
  double rate_;
  bool is_right_;
};

// Two GPUs. The second computes wrongly in bf16 and cannot copy.
class FakeDevices final : public GpuDevices {
 public:
  explicit FakeDevices(FakeClock& clock) : clock_(clock) {}
  [[nodiscard]] std::string absence() const override { return absence_; }
  [[nodiscard]] std::string versions() const override { return "driver 1.0"; }
  [[nodiscard]] std::vector<GpuFacts> list() const override {
    GpuFacts gpu;
    gpu.memory_bytes = gpu.free_memory_bytes = 80e9;
    gpu.name = "Fake";
    GpuFacts other = gpu;
    other.index = 1;
    return {gpu, other};
  }
  [[nodiscard]] GpuOperationOrReason square_gemm(int device, Precision precision, int size) override {
    if (precision == Precision::fp16) return {nullptr, "no fp16 here"};
    const bool is_right = device == 0 || precision != Precision::bf16;
    return {std::make_unique<FakeOperation>(clock_, 2.0 * size * size * size, 1e14, is_right), ""};
  }
  [[nodiscard]] GpuOperationOrReason copy(int device, std::size_t bytes) override {
    if (device == 1) throw_machine_failed("CUDA: out of memory (while allocating)");
    return {std::make_unique<FakeOperation>(clock_, 2.0 * static_cast<double>(bytes), 1e12, true), ""};
  }
  [[nodiscard]] GpuOperationOrReason read(int, std::size_t bytes) override {
    return {std::make_unique<FakeOperation>(clock_, static_cast<double>(bytes), 2e12, true), ""};
  }

  std::string absence_;

 private:
  FakeClock& clock_;
};

const ProbeResult& find(const GpuProbe& probe, int device, const std::string& name) {
  for (const ProbeResult& result : probe.results) {
    if (result.rank == device && result.name == name) return result;
  }
  throw std::runtime_error("no " + name);
}

class GpuProbeTest : public testing::Test {
 protected:
  FakeClock clock_;
  FakeDevices devices_{clock_};
};

TEST_F(GpuProbeTest, RatesAreThoseOfTheDevice) {
  const GpuProbe probe = probe_gpus(devices_, {}, clock_);
  EXPECT_EQ(probe.devices.size(), 2U);
  EXPECT_NEAR(find(probe, 0, "gemm/tf32/8192").value / 1e14, 1, 1e-6);
  EXPECT_NEAR(find(probe, 1, "memory/read").value / 2e12, 1, 1e-6);
  EXPECT_NEAR(find(probe, 0, "memory/copy").value / 1e12, 1, 1e-6);
  EXPECT_EQ(find(probe, 0, "memory/copy").outcome, ProbeOutcome::measured);
}

TEST_F(GpuProbeTest, OneBadPointDoesNotHideTheOthers) {
  const GpuProbe probe = probe_gpus(devices_, {}, clock_);
  EXPECT_EQ(find(probe, 0, "gemm/fp16/2048").outcome, ProbeOutcome::waived);
  EXPECT_EQ(find(probe, 0, "gemm/fp16/2048").sentence, "no fp16 here");
  EXPECT_EQ(find(probe, 1, "gemm/bf16/2048").outcome, ProbeOutcome::failed);
  EXPECT_EQ(find(probe, 1, "gemm/bf16/2048").value, 0);
  EXPECT_THAT(find(probe, 1, "memory/copy").sentence, HasSubstr("out of memory"));
  EXPECT_EQ(find(probe, 1, "memory/read").outcome, ProbeOutcome::measured);
  EXPECT_EQ(probe.outcome, ProbeOutcome::failed);
}

TEST_F(GpuProbeTest, WithoutAGpuEverythingIsWaivedWithTheReason) {
  devices_.absence_ = "the driver is asleep";
  const GpuProbe probe = probe_gpus(devices_, {}, clock_);
  EXPECT_EQ(probe.outcome, ProbeOutcome::waived);
  EXPECT_EQ(probe.sentence, "the driver is asleep");
  EXPECT_THAT(probe.results, IsEmpty());
}

// On whatever machine this is: a list that can be used, or a reason.
TEST(GpuDevices, AreThereOrSayWhyNot) {
  const auto devices = make_gpu_devices();
  if (devices->absence().empty()) {
    EXPECT_FALSE(devices->list().empty());
    return;
  }
  EXPECT_THAT(devices->list(), IsEmpty());
  EXPECT_EQ(devices->read(0, 1 << 20).operation, nullptr);
  EXPECT_EQ(devices->square_gemm(0, Precision::bf16, 256).reason, devices->absence());
  EXPECT_EQ(probe_gpus().outcome, ProbeOutcome::waived);
}

// With a GPU: every operation runs for real and its data is right.
TEST(GpuDevices, OperationsAreRight) {
  const auto devices = make_gpu_devices();
  if (!devices->absence().empty()) GTEST_SKIP() << devices->absence();
  std::vector<GpuOperationOrReason> prepared;
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
    prepared.push_back(devices->square_gemm(0, precision, 512));
  }
  prepared.push_back(devices->copy(0, 64 << 20));
  prepared.push_back(devices->read(0, 64 << 20));
  for (const GpuOperationOrReason& one : prepared) {
    ASSERT_NE(one.operation, nullptr) << one.reason;
    EXPECT_GT(one.operation->run_s(3), 0);
    EXPECT_GT(one.operation->work(), 0);
    EXPECT_TRUE(one.operation->is_right());
  }
}

}  // namespace
}  // namespace sextant
