// The expected rate between two hosts, and the causes of a lower one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "probes/topology/link_facts.h"
#include "probes/topology/link_gap.h"
#include "tests/probes/harness/fake_root.h"
#include "tests/probes/topology/fake_fabric.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void add_port(const FakeRoot& root, const std::string& device, const std::string& rate,
              const std::string& state = "4: ACTIVE") {
  root.write("/sys/class/infiniband/" + device + "/ports/1/rate", rate);
  root.write("/sys/class/infiniband/" + device + "/ports/1/state", state);
}

void add_interface(const FakeRoot& root, const std::string& name, int megabits, bool has_device = true) {
  root.write("/sys/class/net/" + name + "/speed", std::to_string(megabits));
  root.write("/sys/class/net/" + name + "/operstate", "up");
  if (has_device) root.link("/sys/class/net/" + name + "/device", "../../../0000:01:00.0");
}

TEST(NetworkAdapters, AreActivePortsAndRealInterfaces) {
  const FakeRoot root;
  add_port(root, "mlx5_0", "400 Gb/sec (4X NDR)");
  add_port(root, "mlx5_1", "400 Gb/sec (4X NDR)", "1: DOWN");
  add_port(root, "efa_0", "nonsense");
  add_interface(root, "eth0", 100'000);
  add_interface(root, "eth1", -1);
  add_interface(root, "docker0", 10'000, false);
  const auto adapters = read_network_adapters(root.files());
  EXPECT_THAT(adapters,
              ElementsAre(NetworkAdapter{"mlx5_0:1", true, 50e9}, NetworkAdapter{"eth0", false, 12.5e9}));
  const Json json = adapters[0].to_json();
  EXPECT_EQ(NetworkAdapter::parse(JsonView(json)), adapters[0]);
}

// Two hosts with an adapter of each kind, measured with less than half of the better one.
class NetworkGapTest : public testing::Test {
 protected:
  NetworkGapTest() {
    for (GpuPlace* place : {&a_, &b_}) {
      place->bus_id = "0000:18:00.0";
      place->adapters = {{"mlx5_0:1", true, 50e9}, {"eth0", false, 1.25e9}, {"eth1", false, 12.5e9}};
    }
    a_.host = "node1";
    b_.host = "node2";
  }
  [[nodiscard]] std::string reason() {
    const auto expected = expected_rate({}, a_, b_, 0);
    evidence_.a = &a_;
    evidence_.b = &b_;
    evidence_.expected_bytes_per_s = expected ? expected->bytes_per_s : 0;
    return likely_reason(evidence_);
  }
  GpuPlace a_, b_;
  LinkEvidence evidence_{nullptr, nullptr, 0, 1e9, 0, true, false, 256e6, "", {}};
};

TEST_F(NetworkGapTest, TheSlowerHostsBestAdapterIsExpected) {
  b_.adapters[0].bytes_per_s = 25e9;
  EXPECT_EQ(expected_rate({}, a_, b_, 0)->bytes_per_s, 25e9);
  EXPECT_EQ(expected_rate({}, a_, b_, 0)->formula, "mlx5_0:1: 200 Gb/s / 8");
  b_.adapters.erase(b_.adapters.begin());
  EXPECT_EQ(expected_rate({}, a_, b_, 0)->formula, "eth1: 100 Gb/s / 8");
  b_.adapters.clear();
  EXPECT_FALSE(expected_rate({}, a_, b_, 0).has_value());
}

TEST_F(NetworkGapTest, WithoutAGapNothingIsSaid) {
  evidence_.measured_bytes_per_s = 45e9;
  evidence_.settings = {{"NCCL_NET_GDR_LEVEL", "LOC"}};
  EXPECT_EQ(reason(), "");
}

TEST_F(NetworkGapTest, SettingsThatLeaveRdmaAreNamed) {
  EXPECT_EQ(reason(), "nothing that was seen explains it");
  evidence_.settings = {{"NCCL_IB_DISABLE", "1"}};
  EXPECT_THAT(reason(), StartsWith("NCCL_IB_DISABLE=1: NCCL goes through sockets"));
  evidence_.settings = {{"NCCL_NET", "Socket"}};
  EXPECT_THAT(reason(), StartsWith("NCCL_NET=Socket"));
  evidence_.settings = {{"NCCL_NET_GDR_LEVEL", "LOC"}};
  EXPECT_THAT(reason(), StartsWith("NCCL_NET_GDR_LEVEL=LOC: without GPUDirect RDMA"));
  evidence_.settings = {{"NCCL_IB_DISABLE", "0"}, {"NCCL_NET", "IB"}, {"NCCL_NET_GDR_LEVEL", "PXB"}};
  EXPECT_EQ(reason(), "nothing that was seen explains it");
}

TEST_F(NetworkGapTest, NamesThatLeaveTheFastestAdapterOutAreNamed) {
  evidence_.settings = {{"NCCL_IB_HCA", "mlx5_1,mlx5_2"}};
  EXPECT_EQ(reason(),
            "NCCL_IB_HCA=mlx5_1,mlx5_2: NCCL does not take mlx5_0:1, the fastest of node1 (50.0 GB/s)");
  for (const char* fine : {"mlx5", "=mlx5_0:1", "=mlx5_0", "^mlx5_1"}) {
    evidence_.settings = {{"NCCL_IB_HCA", fine}};
    EXPECT_EQ(reason(), "nothing that was seen explains it") << fine;
  }
  // An interface matters only where sockets carry the data.
  evidence_.settings = {{"NCCL_SOCKET_IFNAME", "eth0"}};
  EXPECT_EQ(reason(), "nothing that was seen explains it");
  evidence_.settings["NCCL_IB_DISABLE"] = "1";
  EXPECT_THAT(reason(),
              EndsWith("NCCL_SOCKET_IFNAME=eth0: NCCL does not take eth1, the fastest of node1 (12.5 GB/s)"));
}

TEST_F(NetworkGapTest, SocketsForWantOfAnythingElseAreNamed) {
  a_.adapters.erase(a_.adapters.begin());
  EXPECT_THAT(reason(), HasSubstr("no InfiniBand or RoCE port is active on both hosts"));
}

// Bus ids are alike on all hosts: what a host says of its own GPUs is not about another's.
TEST_F(NetworkGapTest, WhatIsAboutOneHostIsNotSaidOfTwo) {
  a_.peers["0000:18:00.0"] = PeerStatus::not_supported;
  evidence_.settings = {{"NCCL_P2P_DISABLE", "1"}};
  EXPECT_THAT(reason(), Not(HasSubstr("P2P")));
  EXPECT_THAT(reason(), Not(HasSubstr("peer access")));
}

}  // namespace
}  // namespace sextant
