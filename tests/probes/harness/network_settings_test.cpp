#include "probes/harness/network_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/harness/fake_root.h"

namespace sextant {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(NetworkSettings, AreThoseOfNcclAndPlugInsOnly) {
  const FakeRoot root;
  const NetworkSettings settings = read_network_settings(
      {"NCCL_DEBUG=INFO", "NCCL_NET_PLUGIN=ofi", "FI_PROVIDER=efa", "UCX_TLS=rc,cuda",
       "OMPI_MCA_btl=self,vader", "NCCL_EMPTY=", "PATH=/usr/bin", "OFI_NCCL_PROTOCOL=RDMA",
       "SHARP_COLL_LOG_LEVEL=3", "NVSHMEM_REMOTE_TRANSPORT=ibrc", "MLX5_SINGLE_THREADED=1",
       "OMPI_MCA_orte_hnp_uri=1;tcp://10.0.0.1:9", "HOME=/home/me", "odd"},
      root.files(), "/home/me");
  EXPECT_THAT(settings,
              UnorderedElementsAre(
                  Pair("NCCL_DEBUG", "INFO"), Pair("NCCL_NET_PLUGIN", "ofi"), Pair("FI_PROVIDER", "efa"),
                  Pair("UCX_TLS", "rc,cuda"), Pair("OMPI_MCA_btl", "self,vader"), Pair("NCCL_EMPTY", ""),
                  Pair("OFI_NCCL_PROTOCOL", "RDMA"), Pair("SHARP_COLL_LOG_LEVEL", "3"),
                  Pair("NVSHMEM_REMOTE_TRANSPORT", "ibrc"), Pair("MLX5_SINGLE_THREADED", "1")));
}

TEST(NetworkSettings, SecretsAreNamedAndNotShown) {
  const FakeRoot root;
  const NetworkSettings settings =
      read_network_settings({"NCCL_PLUGIN_API_KEY=abc", "FI_AUTH_TOKEN=abc", "UCX_IB_PKEY=0x8001",
                             "NCCL_PROXY=http://me:abc@host", "NCCL_SOCKET_IFNAME=eth0"},
                            root.files(), "/root");
  for (const char* name : {"NCCL_PLUGIN_API_KEY", "FI_AUTH_TOKEN", "NCCL_PROXY"}) {
    EXPECT_EQ(settings.at(name), "(not recorded)") << name;
  }
  EXPECT_EQ(settings.at("UCX_IB_PKEY"), "0x8001");  // a partition, no secret
  EXPECT_EQ(settings.at("NCCL_SOCKET_IFNAME"), "eth0");
}

TEST(NetworkSettings, FilesOfNcclAreRead) {
  const FakeRoot root;
  root.write("/etc/nccl.conf", "# site\nNCCL_IB_HCA=mlx5_0\n NCCL_DEBUG=WARN\nPATH=/x\nnonsense");
  root.write("/home/me/.nccl.conf", "NCCL_DEBUG=INFO");
  const NetworkSettings settings = read_network_settings({}, root.files(), "/home/me");
  EXPECT_THAT(settings, UnorderedElementsAre(Pair("/etc/nccl.conf:NCCL_IB_HCA", "mlx5_0"),
                                             Pair("/etc/nccl.conf:NCCL_DEBUG", "WARN"),
                                             Pair("~/.nccl.conf:NCCL_DEBUG", "INFO")));
}

TEST(NetworkSettings, NcclConfFileTakesThePlaceOfTheUsersFile) {
  const FakeRoot root;
  root.write("/home/me/.nccl.conf", "NCCL_DEBUG=INFO");
  root.write("/job/nccl", "NCCL_ALGO=Ring");
  const NetworkSettings settings =
      read_network_settings({"NCCL_CONF_FILE=/job/nccl"}, root.files(), "/home/me");
  EXPECT_EQ(settings.at("~/.nccl.conf:NCCL_ALGO"), "Ring");
  EXPECT_THAT(settings, Not(Contains(Key("~/.nccl.conf:NCCL_DEBUG"))));
}

TEST(EffectiveSettings, VariablesWinThenTheUsersFile) {
  const NetworkSettings effective = effective_settings({{"/etc/nccl.conf:NCCL_ALGO", "Tree"},
                                                        {"/etc/nccl.conf:NCCL_P2P_DISABLE", "1"},
                                                        {"~/.nccl.conf:NCCL_ALGO", "Ring"},
                                                        {"~/.nccl.conf:NCCL_DEBUG", "INFO"},
                                                        {"NCCL_DEBUG", "WARN"}});
  EXPECT_THAT(effective, UnorderedElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("NCCL_P2P_DISABLE", "1"),
                                              Pair("NCCL_DEBUG", "WARN")));
}

}  // namespace
}  // namespace sextant
