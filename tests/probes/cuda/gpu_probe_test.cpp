#include "probes/gpu/gpu_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <set>
#include <stdexcept>

#include "core/json_value.h"
#include "probes/gpu/gpu_measurement.h"
#include "tests/probes/cuda/fake_gpus.h"

namespace sextant {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const ProbeResult& find(const GpuProbe& probe, int device, const std::string& name) {
  for (const ProbeResult& result : probe.results) {
    if (result.rank == device && result.name == name && result.peer < 0) return result;
  }
  throw std::runtime_error("no " + name);
}

const ProbeResult& find_link(const GpuProbe& probe, int from, int to, const std::string& name) {
  for (const ProbeResult& result : probe.results) {
    if (result.rank == from && result.peer == to && result.name == name) return result;
  }
  throw std::runtime_error("no " + name);
}

class GpuProbeTest : public testing::Test {
 protected:
  [[nodiscard]] GpuProbe probe(const GpuProbeOptions& options = {}) {
    return probe_gpus(gpus_, sensors_, options, clock_);
  }
  FakeClock clock_;
  FakeGpus gpus_{clock_, 2};
  FakeSensors sensors_;
};

TEST_F(GpuProbeTest, RatesAndTimesAreThoseOfTheDevice) {
  const GpuProbe found = probe();
  EXPECT_EQ(found.devices.size(), 2U);
  EXPECT_NEAR(find(found, 0, "gemm/bf16/16384").value / 1e14, 1, 1e-6);
  EXPECT_NEAR(find(found, 1, "memory/write").value / 3e12, 1, 1e-6);
  EXPECT_NEAR(find(found, 0, "attention/decode/64x4096").value / 2e12, 1, 1e-6);
  EXPECT_NEAR(find(found, 0, "attention/prefill/8x2048").value / 3e14, 1, 1e-6);
  EXPECT_EQ(find(found, 0, "launch/kernel").unit, "s");
  EXPECT_NEAR(find(found, 0, "launch/kernel").value, 2e-6, 1e-12);
  EXPECT_NEAR(find(found, 0, "host/to_device/pinned/latency").value, 5e-6, 1e-8);
  EXPECT_EQ(find(found, 0, "memory/write").outcome, ProbeOutcome::measured);
  EXPECT_GE(gpus_.bytes_, 1U << 30);
}

// Products heat a card until it slows down; what does not depend on that comes before.
TEST_F(GpuProbeTest, LaunchesAndTransfersComeBeforeProducts) {
  const auto first = [points = gpu_points(gpus_.list().front(), {})](const std::string& prefix) {
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&](const GpuPoint& point) { return point.name.starts_with(prefix); });
    return found - points.begin();
  };
  EXPECT_LT(first("launch/"), first("gemm/"));
  EXPECT_LT(first("host/"), first("gemm/"));
  EXPECT_LT(first("gemm/"), first("attention/"));
}

TEST_F(GpuProbeTest, NamesAreDifferent) {
  std::set<std::string> names;
  for (const ProbeResult& result : probe().results) {
    if (result.rank != 0 || result.peer >= 0) continue;
    EXPECT_TRUE(names.insert(result.name).second) << result.name;
  }
  EXPECT_GT(names.size(), 40U);
}

TEST_F(GpuProbeTest, TheBestVariantStandsForCopyAndRead) {
  const GpuProbe found = probe();
  EXPECT_NEAR(find(found, 0, "memory/copy").value / 4e12, 1, 1e-6);
  EXPECT_THAT(find(found, 0, "memory/copy").how, HasSubstr("best of 3 ways: memory/copy/kernel_deep"));
  EXPECT_THAT(find(found, 0, "memory/read").how, HasSubstr("memory/read/deep"));
}

TEST_F(GpuProbeTest, ANodeOfAGraphIsWhatALongGraphAdds) {
  EXPECT_NEAR(find(probe(), 0, "launch/graph/per_node").value, 1e-6, 1e-10);
}

TEST_F(GpuProbeTest, MissingPrecisionIsWaivedWithItsReason) {
  const GpuProbe found = probe();
  EXPECT_EQ(find(found, 0, "gemm/fp8/8192_nt").outcome, ProbeOutcome::waived);
  EXPECT_EQ(find(found, 0, "gemm/fp8/8192_nt").sentence, "no fp8 here");
}

TEST_F(GpuProbeTest, OneFailingOperationDoesNotHideTheOthers) {
  gpus_.broken_gpu_ = 1;
  gpus_.throws_ = "decode";
  gpus_.wrong_ = "gemm/bf16";
  const GpuProbe found = probe();
  EXPECT_EQ(find(found, 1, "attention/decode/8x4096").outcome, ProbeOutcome::failed);
  EXPECT_THAT(find(found, 1, "attention/decode/8x4096").sentence, HasSubstr("out of memory"));
  EXPECT_EQ(find(found, 1, "gemm/bf16/8192").outcome, ProbeOutcome::failed);
  EXPECT_EQ(find(found, 1, "gemm/bf16/8192").value, 0);
  EXPECT_EQ(find(found, 1, "gemm/fp16/8192").outcome, ProbeOutcome::measured);
  EXPECT_EQ(find(found, 0, "gemm/bf16/8192").outcome, ProbeOutcome::measured);
  EXPECT_EQ(found.outcome, ProbeOutcome::failed);
  EXPECT_THAT(warnings_of(found), Contains(HasSubstr("gemm/bf16/8192 of GPU 1 failed")));
}

TEST_F(GpuProbeTest, EverySampleHasItsState) {
  const GpuProbe found = probe();
  const ProbeResult& result = find(found, 1, "gemm/bf16/4096");
  ASSERT_EQ(result.conditions.states.size(), result.samples_s.size());
  EXPECT_EQ(result.conditions.states.front().power_w, 650);
  EXPECT_EQ(result.conditions.throttled(), 0);
  EXPECT_EQ(sensors_.last_bus_id_, "0000:01:00.0");  // links come last, those back at the end
}

TEST_F(GpuProbeTest, ThrottledSamplesAreMarkedAndStillGiveAResult) {
  sensors_.state_.throttle = "power_cap";
  const GpuProbe found = probe();
  const ProbeResult& result = find(found, 0, "gemm/bf16/4096");
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(result.conditions.throttled(), static_cast<int>(result.samples_s.size()));
  EXPECT_THAT(result.sentence, HasSubstr("samples throttled (power_cap)"));
  EXPECT_THAT(warnings_of(found), Contains(HasSubstr("throttled")));
  EXPECT_EQ(ProbeResult::parse(JsonView(result.to_json())), result);
}

TEST_F(GpuProbeTest, GoesOnWithoutSensorsAndSaysSo) {
  sensors_.absence_ = "NVML could not be loaded: nothing is recorded";
  const GpuProbe found = probe();
  EXPECT_EQ(sensors_.reads_, 0);
  EXPECT_TRUE(find(found, 0, "gemm/bf16/4096").has_value());
  EXPECT_TRUE(find(found, 0, "gemm/bf16/4096").conditions.states.empty());
  EXPECT_THAT(warnings_of(found), Contains(HasSubstr("NVML could not be loaded")));
}

TEST_F(GpuProbeTest, StaysWithinItsBudgetAndSaysWhatItLeftOut) {
  FakeGpus one(clock_, 1);
  GpuProbeOptions options;
  options.total_budget_s = 5;
  const GpuProbe found = probe_gpus(one, sensors_, options, clock_);
  EXPECT_LT(found.took_s, 6);
  EXPECT_TRUE(find(found, 0, "memory/copy").has_value());
  const ProbeResult& last = find(found, 0, "attention/prefill/1x16384");
  EXPECT_EQ(last.outcome, ProbeOutcome::waived);
  EXPECT_THAT(last.sentence, HasSubstr("were over"));
}

TEST_F(GpuProbeTest, PeersCopyByEngineAndKernelsInEitherDirection) {
  const GpuProbe found = probe();
  EXPECT_NEAR(find_link(found, 0, 1, "peer/engine").value / 200e9, 1, 0.01);
  EXPECT_NEAR(find_link(found, 0, 1, "peer/kernel_write").value / 100e9, 1, 0.01);
  EXPECT_NEAR(find_link(found, 0, 1, "peer/kernel_read").value / 50e9, 1, 0.01);
  EXPECT_NEAR(find_link(found, 1, 0, "peer/kernel_read").value / 40e9, 1, 0.01);
  EXPECT_NEAR(find_link(found, 0, 1, "peer/kernel_write/latency").value, 2e-6, 1e-9);
  EXPECT_EQ(find_link(found, 0, 1, "peer/kernel_write/latency").unit, "s");
  // Both directions count, once a pair.
  EXPECT_NEAR(find_link(found, 0, 1, "peer/kernel_write/both_ways").value / 200e9, 1, 0.01);
  EXPECT_THROW(find_link(found, 1, 0, "peer/kernel_write/both_ways"), std::runtime_error);
}

TEST_F(GpuProbeTest, GpusThatDoNotSeeEachOtherWaiveKernelsOnly) {
  gpus_.no_peer_kernels_ = "they do not see each other";
  const GpuProbe found = probe();
  EXPECT_EQ(find_link(found, 0, 1, "peer/kernel_read").outcome, ProbeOutcome::waived);
  EXPECT_EQ(find_link(found, 0, 1, "peer/kernel_read").sentence, "they do not see each other");
  EXPECT_TRUE(find_link(found, 0, 1, "peer/engine").has_value());
}

TEST_F(GpuProbeTest, LinksStopWithTheirOwnBudgetAndTheClustersComeFirst) {
  GpuProbeOptions options;
  options.total_budget_s = 0.3;  // two GPUs: 0.6 s for 19 points of some 0.04 s
  const GpuProbe found = probe(options);
  EXPECT_TRUE(find_link(found, 0, 1, "link/268435456").has_value());
  const ProbeResult& last = find_link(found, 1, 0, "peer/kernel_read/latency");
  EXPECT_EQ(last.outcome, ProbeOutcome::waived);
  EXPECT_THAT(last.sentence, HasSubstr("were over"));
}

TEST_F(GpuProbeTest, MeasuresTheShapesAndHeadsOfAModel) {
  GpuProbeOptions options;
  options.points.model.emplace();
  options.points.model->name = "small";
  options.points.model->hidden = 64;
  options.points.model->heads = 8;
  options.points.model->kv_heads = 4;
  options.points.model->head_dim = 128;
  options.points.model->intermediate = 96;
  options.points.model_tensor_parallel = 2;
  options.points.model_precisions = {Precision::bf16, Precision::tf32, Precision::fp8};
  const GpuProbe found = probe(options);
  EXPECT_TRUE(find(found, 0, "gemm/tf32/small/gate_up").has_value());
  EXPECT_EQ(find(found, 0, "gemm/fp8/small/gate_up").sentence, "no fp8 here");
  EXPECT_TRUE(find(found, 0, "gemm/bf16/small/gate_up").has_value());
  EXPECT_THROW(find(found, 0, "gemm/bf16/small/attention_scores"), std::runtime_error);
  EXPECT_EQ(gpus_.heads_, 4);
}

// A point at a time is handed over and need not be measured again; failures are.
TEST_F(GpuProbeTest, WhatWasMeasuredBeforeIsTaken) {
  gpus_.throws_ = "decode";
  std::vector<ProbeResult> told;
  GpuProbeOptions options;
  options.on_result = [&](const ProbeResult& result) { told.push_back(result); };
  const GpuProbe first = probe(options);
  EXPECT_EQ(find(first, 0, "attention/decode/8x4096").outcome, ProbeOutcome::failed);
  gpus_.throws_ = "";
  options.done = std::exchange(told, {});
  const GpuProbe second = probe(options);
  ASSERT_EQ(told.size(), 5U);  // what failed on GPU 0
  for (const ProbeResult& result : told) EXPECT_THAT(result.name, testing::StartsWith("attention/decode/"));
  EXPECT_EQ(find(second, 1, "gemm/bf16/8192"), find(first, 1, "gemm/bf16/8192"));
  EXPECT_EQ(find(second, 0, "gemm/fp8/8192_nt").sentence, "no fp8 here");
  EXPECT_EQ(find_link(second, 0, 1, "peer/engine"), find_link(first, 0, 1, "peer/engine"));
  EXPECT_EQ(second.results.size(), first.results.size());
}

// Points that the time did not reach are not passed on: the next probe has its own time.
TEST_F(GpuProbeTest, WhatTheBudgetWaivedIsNotHandedOver) {
  GpuProbeOptions options;
  options.total_budget_s = 5;
  options.on_result = [](const ProbeResult& result) {
    EXPECT_EQ(result.sentence.find("were over"), std::string::npos) << result.name;
  };
  static_cast<void>(probe(options));
}

TEST_F(GpuProbeTest, WithoutAGpuEverythingIsWaivedWithTheReason) {
  gpus_.absence_ = "the driver is asleep";
  const GpuProbe found = probe();
  EXPECT_EQ(found.outcome, ProbeOutcome::waived);
  EXPECT_EQ(found.sentence, "the driver is asleep");
  EXPECT_THAT(found.results, IsEmpty());
}

TEST(GpuSensors, NameWhatSlowsWorkDown) {
  EXPECT_EQ(throttle_reasons_text(0), "");
  EXPECT_EQ(throttle_reasons_text(0x1 | 0x2), "");  // idle, clocks that somebody set
  EXPECT_EQ(throttle_reasons_text(0x4), "power_cap");
  EXPECT_EQ(throttle_reasons_text(0x4 | 0x40), "power_cap+hardware_thermal");
}

// 32 query and 8 key-value heads over two GPUs.
TEST(GpuPoints, MeasureTheHeadsThatOneGpuOfTheModelHas) {
  GpuPointOptions options;
  options.model.emplace();
  options.model->hidden = 4096;
  options.model->intermediate = 12288;
  options.model->heads = 32;
  options.model->kv_heads = 8;
  options.model->head_dim = 64;
  options.model_tensor_parallel = 2;
  const std::vector<GpuPoint> points = gpu_points({}, options);
  int decodes = 0;
  for (const GpuPoint& point : points) {
    const auto* decode = std::get_if<GpuDecode>(&point.work);
    if (decode == nullptr) continue;
    ++decodes;
    EXPECT_EQ(decode->shape.heads, 16) << point.name;
    EXPECT_EQ(decode->shape.kv_heads, 4) << point.name;
    EXPECT_EQ(decode->shape.head_dim, 64) << point.name;
  }
  EXPECT_GT(decodes, 0);
}

TEST(GpuPoints, HaveAWideProductWithATransposedOperand) {
  const std::vector<GpuPoint> points = gpu_points({}, {});
  for (const char* name : {"gemm/bf16/8192x28672x8192_nt", "gemm/fp8/8192x28672x8192_nt"}) {
    EXPECT_TRUE(std::any_of(points.begin(), points.end(), [&](const GpuPoint& point) {
      return point.name == name;
    })) << name;
  }
}

// On whatever machine this is: readings, or why there are none, in one line.
TEST(GpuSensors, AreThereOrSayWhyNot) {
  const auto sensors = make_nvml_sensors();
  const DeviceState state = sensors->read("0000:ff:1f.7");  // nobody's
  EXPECT_EQ(state, DeviceState{});
  EXPECT_EQ(sensors->absence().find('\n'), std::string::npos);
}

// On whatever machine this is: a list that can be used, or a reason.
TEST(GpuDevices, AreThereOrSayWhyNot) {
  const auto devices = make_gpu_devices();
  if (devices->absence().empty()) {
    EXPECT_FALSE(devices->list().empty());
    return;
  }
  EXPECT_THAT(devices->list(), IsEmpty());
  EXPECT_EQ(devices->make(0, GpuMemory{GpuMemoryAccess::read, 1 << 20}).operation, nullptr);
  EXPECT_EQ(devices->make(0, GpuGemm{Precision::bf16, square_gemm(256), false}).reason, devices->absence());
  const auto sensors = make_nvml_sensors();
  EXPECT_EQ(probe_gpus(*devices, *sensors).outcome, ProbeOutcome::waived);
}

// With a GPU: every operation runs for real, at its smallest size, and its data is right.
TEST(GpuDevices, OperationsAreRight) {
  const auto devices = make_gpu_devices();
  if (!devices->absence().empty()) GTEST_SKIP() << devices->absence();
  GpuProbeOptions options;
  options.budget_s_per_point = 0.01;
  options.points.is_smoke_test = true;
  const auto sensors = make_nvml_sensors();
  for (const ProbeResult& result : probe_gpus(*devices, *sensors, options).results) {
    EXPECT_TRUE(result.has_value() || result.outcome == ProbeOutcome::waived) << result.name << result.sentence;
  }
}

}  // namespace
}  // namespace sextant
