#include "probes/cuda/gpu_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/probes/cuda/fake_gpus.h"

namespace sextant {
namespace {

ClusterProbe cluster_of(int gpus, const std::string& throws = "") {
  FakeClock clock;
  FakeGpus devices(clock, gpus);
  devices.throws_ = throws;
  FakeSensors sensors;
  ProbeOptions options;
  options.name = "here";
  return cluster_of_gpus(probe_gpus(devices, sensors, {}, clock), "node7", 2e12, options);
}

TEST(ClusterOfGpus, OneGpuIsADeviceWithItsRates) {
  const ClusterProbe probe = cluster_of(1);
  ASSERT_EQ(probe.cluster.device_count(), 1);
  EXPECT_EQ(probe.cluster.name(), "here");
  EXPECT_EQ(probe.cluster.nodes().front().name, "node7");
  EXPECT_EQ(probe.cluster.nodes().front().host_memory_bytes, 2e12);
  EXPECT_EQ(probe.cluster.type_name({0}), "nvidia-h200");
  const DeviceType& type = probe.cluster.type_of({0});
  EXPECT_EQ(type.kind, DeviceKind::gpu);
  EXPECT_EQ(type.memory_bytes.value, 141e9);
  EXPECT_NEAR(type.memory_bytes_per_s.value / 4e12, 1, 1e-6);
  EXPECT_NEAR(type.flop_per_s.at(Precision::bf16).value / 1e14, 1, 1e-6);
  EXPECT_TRUE(type.flop_per_s.contains(Precision::tf32));
  EXPECT_FALSE(type.flop_per_s.contains(Precision::fp8));  // waived
  ASSERT_TRUE(type.host_bytes_per_s.has_value());
  EXPECT_NEAR(type.host_bytes_per_s->value / 40e9, 1, 0.01);
  EXPECT_EQ(type.flop_per_s.at(Precision::bf16).source, Source::measured);
}

TEST(ClusterOfGpus, CarriesEverythingMeasured) {
  const ClusterProbe probe = cluster_of(1);
  const auto& measurements = probe.cluster.type_of({0}).measurements;
  EXPECT_EQ(measurements.at("launch/kernel").unit, "s");
  EXPECT_NEAR(measurements.at("launch/kernel").quantity.value, 2e-6, 1e-12);
  EXPECT_NEAR(measurements.at("attention/decode/64x4096").quantity.value / 2e12, 1, 1e-6);
  EXPECT_FALSE(measurements.contains("gemm/fp8/8192_nt"));
  EXPECT_EQ(Cluster::parse(JsonView(probe.cluster.to_json())), probe.cluster);
}

TEST(ClusterOfGpus, SeveralGpusAreLinked) {
  const ClusterProbe probe = cluster_of(3);
  ASSERT_EQ(probe.cluster.device_count(), 3);
  const LinkRate& link = probe.cluster.link({0}, {2});
  EXPECT_NEAR(link.latency_s.value, 2e-6, 1e-8);
  EXPECT_NEAR(link.bytes_per_s.value / 200e9, 1, 1e-3);
  EXPECT_FALSE(probe.cluster.type_of({0}).measurements.contains("link/8"));
}

TEST(ClusterOfGpus, NeedsReadBandwidth) { EXPECT_THROW(static_cast<void>(cluster_of(1, "memory")), Error); }

TEST(ClusterOfGpus, NeedsAGpu) { EXPECT_THROW(static_cast<void>(cluster_of_gpus({}, "node7", 0, {})), Error); }

}  // namespace
}  // namespace sextant
