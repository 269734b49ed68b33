#include "probes/gpu/gpu_cluster.h"
#include "core/json_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"
#include "tests/probes/cuda/fake_gpu_host.h"

namespace sextant {
namespace {

using testing::Contains;
using testing::HasSubstr;

ClusterProbe cluster_of(int gpus, const std::string& throws = "") {
  FakeHost host(gpus);
  host.gpus.throws_ = throws;
  return host.measure().probe;
}

const ProbeResult& find(const ClusterProbe& probe, const std::string& name) {
  for (const ProbeResult& result : probe.results) {
    if (result.name == name) return result;
  }
  throw std::runtime_error("no " + name);
}

TEST(ClusterOfGpus, OneGpuIsADeviceWithItsRates) {
  const ClusterProbe probe = cluster_of(1);
  ASSERT_EQ(probe.cluster.device_count(), 1);
  EXPECT_EQ(probe.cluster.name(), "here");
  EXPECT_EQ(probe.cluster.nodes().front().name, make_serial_communicator()->hosts().front());
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

TEST(ClusterOfGpus, NotesSayWhatThrottledTheSamples) {
  FakeHost host(1);
  host.sensors.state_.throttle = "power_cap";
  const DeviceType type = host.measure().probe.cluster.type_of({0});
  for (const Quantity& quantity : {type.flop_per_s.at(Precision::bf16), type.memory_bytes_per_s,
                                   type.measurements.at("launch/kernel").quantity}) {
    EXPECT_THAT(quantity.note.value(), HasSubstr("samples throttled (power_cap)"));
  }
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

TEST(ClusterOfGpus, NeedsAGpu) {
  FakeHost host(1);
  host.gpus.absence_ = "the driver is asleep";
  EXPECT_THROW(static_cast<void>(host.measure()), Error);
}

TEST(ClusterOfGpus, WithoutNcclLinksAreThoseOfTheCopyEngineAndTheReasonIsKept) {
  const ClusterProbe probe = cluster_of(2);
  EXPECT_EQ(find(probe, "nccl").outcome, ProbeOutcome::waived);
  EXPECT_EQ(find(probe, "nccl").sentence, "NCCL could not be loaded: install it");
  EXPECT_NEAR(probe.cluster.link({0}, {1}).bytes_per_s.value / 200e9, 1, 1e-3);
}

TEST(ClusterOfGpus, OneGpuWaivesNcclWithItsReason) {
  const ClusterProbe probe = cluster_of(1);
  EXPECT_EQ(find(probe, "nccl").outcome, ProbeOutcome::waived);
  EXPECT_THAT(find(probe, "nccl").sentence, HasSubstr("only one GPU"));
}

TEST(ClusterOfGpus, WithNcclLinksAreWhatJobsGetAndCollectivesAreKept) {
  FakeHost host(3);
  host.make_collectives = on_host_memory;
  const ClusterProbe probe = host.measure().probe;
  EXPECT_NEAR(probe.cluster.link({0}, {1}).bytes_per_s.value / 20e9, 1,
              1e-3);  // the fake copy engine's is 200e9
  EXPECT_NEAR(probe.cluster.link({0}, {1}).latency_s.value, 5e-6, 1e-8);
  const auto& measurements = probe.cluster.type_of({0}).measurements;
  const double time_s = measurements.at("nccl/all_reduce/8192").quantity.value;
  const double bus = measurements.at("nccl/all_reduce/8192/bus_bandwidth").quantity.value;
  EXPECT_NEAR(bus * time_s / 8192, 4.0 / 3, 1e-9);
  EXPECT_EQ(measurements.at("nccl/all_reduce/8192/bus_bandwidth").unit, "bytes/s");
  EXPECT_TRUE(measurements.contains("links/nccl/unknown/bandwidth"));  // the fake host shows no PCIe
  EXPECT_EQ(Cluster::parse(JsonView(probe.cluster.to_json())), probe.cluster);
}

TEST(ClusterOfGpus, AFailedPairLeavesLinksToTheCopyEngine) {
  FakeHost host(3);
  host.make_collectives = [](Communicator& ranks, int) {
    auto library = std::make_unique<HostCollectives>(ranks);
    library->name_ = "nccl";
    const int rank = ranks.rank();
    library->on_round_trip_ = [rank](int peer, std::size_t) {
      if (rank == 2 && peer == 0) throw_machine_failed("NCCL: unhandled system error");
    };
    return CollectivesOrReason{std::move(library), ""};
  };
  const ClusterProbe probe = host.measure().probe;
  EXPECT_NEAR(probe.cluster.link({0}, {2}).bytes_per_s.value / 200e9, 1, 1e-3);
  EXPECT_THAT(probe.warnings, Contains(HasSubstr("NCCL: unhandled system error")));
}

TEST(ClusterOfGpus, ExpectedStandsBesideMeasuredWithTheReason) {
  FakeHost host(3);  // 0000:00:00.0, 0000:01:00.0, 0000:02:00.0
  const FakePciPort root{"0000:70:01.0"}, up{"0000:71:00.0"};
  host.tree.add("pci0000:70", {root, up, {"0000:72:00.0"}, {"0000:00:00.0"}});
  host.tree.add("pci0000:70", {root, up, {"0000:72:01.0"}, {"0000:01:00.0"}});
  host.tree.add("pci0000:80", {{"0000:80:01.0"}, {"0000:02:00.0", "32.0 GT/s PCIe", 16, "32.0 GT/s PCIe", 8}},
                1);
  host.gpus.engine_bytes_per_s_ = 30e9;
  const GpuClusterProbe found = host.measure();
  ASSERT_EQ(found.links.pairs.size(), 3U);
  const PairReport& near = found.links.pairs[0];
  EXPECT_EQ(near.link.kind, LinkKind::pcie_switch);
  EXPECT_NEAR(near.expected->bytes_per_s / 63.015e9, 1, 1e-3);
  EXPECT_NEAR(near.fit.bytes_per_s / 30e9, 1, 1e-3);
  EXPECT_EQ(near.reason, "nothing that was seen explains it");
  const PairReport& far = found.links.pairs[1];
  EXPECT_EQ(far.link.kind, LinkKind::other_numa_node);
  EXPECT_THAT(far.reason, HasSubstr("runs at PCIe x8 instead of x16"));
  EXPECT_THAT(far.reason, HasSubstr("crosses NUMA nodes"));
  EXPECT_THAT(found.probe.warnings,
              Contains(HasSubstr("2 pairs of GPUs (PCIe and the link between two NUMA nodes")));
  // Two pairs of one class are fitted together.
  ASSERT_EQ(found.links.classes.size(), 2U);
  EXPECT_EQ(found.links.classes[0].link.name() + found.links.classes[1].link.name(),
            "other_numa_nodepcie_switch");
  EXPECT_EQ(found.links.classes[0].pairs, 2);
  EXPECT_NEAR(found.links.classes[0].fit.latency_s, 2e-6, 1e-8);
  const auto& measurements = found.probe.cluster.type_of({0}).measurements;
  EXPECT_EQ(measurements.at("links/pcie_switch/expected").quantity.source, Source::datasheet);
  EXPECT_NEAR(measurements.at("links/copy_engine/pcie_switch/bandwidth").quantity.value / 30e9, 1, 1e-3);
  const Json json = found.links.to_json();
  EXPECT_EQ(json["pairs"][1]["class"], "other_numa_node");
  EXPECT_EQ(json["places"].size(), 3U);
}

TEST(ClusterOfGpus, NvLinksThatAreDownAreTheReason) {
  FakeHost host(3);
  host.fabric.links_ = {{"0000:00:00.0", switch_links(18)},
                        {"0000:01:00.0", switch_links(18)},
                        {"0000:02:00.0", switch_links(6, 12)}};
  host.gpus.compute_capability_ = 90;
  host.gpus.engine_bytes_per_s_ = 140e9;
  const GpuClusterProbe found = host.measure();
  EXPECT_EQ(found.links.pairs[1].link.name(), "nvlink-6");
  EXPECT_NEAR(found.links.pairs[1].expected->bytes_per_s, 450e9, 1);
  EXPECT_EQ(found.links.pairs[1].reason, "GPU 0000:02:00.0 has 6 active NVLinks, others of the host 18");
}

}  // namespace
}  // namespace sextant
