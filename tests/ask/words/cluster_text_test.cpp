#include "ask/words/cluster_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "ask/data_files.h"
#include "ask/words/published_hardware.h"
#include "sextant/error.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ClusterFromText cluster_made(const std::string& text, const NetworkChoice& network = {}) {
  const std::filesystem::path data = data_folder();
  return cluster_from_text(text, network, Facts::load(data / "gpus.json", data / "models.json"), data);
}

std::string refusal_of_cluster(const std::string& text, const NetworkChoice& network = {}) {
  try {
    (void)cluster_made(text, network);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ClusterFromText, HasTheNodesThatAreAskedFor) {
  const Cluster cluster = cluster_made("4x8xH100").cluster;
  EXPECT_EQ(cluster.device_count(), 32);
  EXPECT_EQ(cluster.nodes().size(), 4U);
  EXPECT_EQ(cluster_made("32xH100").cluster.nodes().size(), 4U);
  EXPECT_EQ(cluster_made("4xH100").cluster.nodes().size(), 1U);
  EXPECT_EQ(cluster_made("h100").cluster.device_count(), 1);
  EXPECT_EQ(cluster_made("2x16xH100").cluster.nodes().front().devices, 16);
}

TEST(ClusterFromText, EveryNameOfAnInstanceIsRead) {
  const PublishedHardware hardware = PublishedHardware::load(data_folder());
  for (const Instance& instance : hardware.instances) {
    std::vector<std::string> names = instance.aliases;
    names.push_back(instance.name);
    for (const std::string& name : names) {
      if (name.find(' ') != std::string::npos) continue;  // of published runs; groups have none
      EXPECT_EQ(cluster_made("3x" + name).cluster.device_count(), 3 * instance.gpus) << name;
    }
  }
  EXPECT_EQ(cluster_made("2xND_H200_v5").cluster.device_count(), 16);
}

TEST(ClusterFromText, RacksAreNotTakenForGpus) {
  EXPECT_THAT(refusal_of_cluster("2xGB200-NVL72"), HasSubstr("2 racks of 72 are 144xGB200"));
  EXPECT_EQ(cluster_made("18x4xGB200-NVL72").cluster.device_count(), 72);
}

// Eight adapters of 400 Gbit/s in a node: 50 GB/s for each GPU, 400 GB/s together.
TEST(ClusterFromText, HasTheNetworkThatIsAskedFor) {
  const Cluster cluster = cluster_made("4x8xH100", {"100", ""}).cluster;
  EXPECT_EQ(cluster.levels().at(LinkLevel::within_zone).bytes_per_s.value, 100e9 / 8);
  EXPECT_EQ(cluster.nodes().front().network_bytes_per_s, 8 * 100e9 / 8);
  EXPECT_EQ(cluster_made("2xp5.48xlarge").cluster.nodes().front().network_bytes_per_s, 3200e9 / 8);
  EXPECT_TRUE(cluster_made("2xp5.48xlarge").cluster.nodes().front().rented_whole);
  EXPECT_FALSE(cluster.nodes().front().rented_whole);
  EXPECT_EQ(cluster_made("2xp5.48xlarge").cluster.levels().at(LinkLevel::within_zone).bytes_per_s.value,
            400e9 / 8);
  // One adapter of 25 Gbit/s for a whole node.
  const Cluster slow = cluster_made("4x8xH100", {"tcp-25", ""}).cluster;
  EXPECT_EQ(slow.levels().at(LinkLevel::within_zone).bytes_per_s.value, 25e9 / 8);
  EXPECT_EQ(slow.nodes().front().network_bytes_per_s, 25e9 / 8);
  // The NVLink of a rack stays; its adapters lead to other racks.
  const Cluster racks = cluster_made("144xGB200", {"ib-ndr", ""}).cluster;
  EXPECT_GT(racks.levels().at(LinkLevel::within_zone).bytes_per_s.value, 400e9);
  EXPECT_EQ(racks.levels().at(LinkLevel::within_region).bytes_per_s.value, 400e9 / 8);
  EXPECT_TRUE(racks.is_one_island(DeviceId{0}, DeviceId{71}));
  // So it is where the network is the usual one, of the same rate.
  const Cluster usual = cluster_made("144xGB200").cluster;
  EXPECT_TRUE(usual.is_one_island(DeviceId{0}, DeviceId{71}));
  EXPECT_FALSE(usual.is_one_island(DeviceId{71}, DeviceId{72}));
  EXPECT_EQ(usual.nodes(), racks.nodes());
  EXPECT_THAT(cluster_made("4x8xH100").notes, Contains(AllOf(HasSubstr("400 Gbit/s"), HasSubstr("--network"))));
  EXPECT_THAT(cluster_made("4x8xH100", {"ib-ndr", ""}).notes, IsEmpty());
}

// H100 at 50 GB/s keep it among themselves; between the groups the slower network counts.
TEST(ClusterFromText, JoinsGroupsByTheSlowerNetwork) {
  const Cluster cluster = cluster_made("2x8xH100+2x8xL40S").cluster;
  ASSERT_EQ(cluster.device_count(), 32);
  const double h100 = cluster_made("2x8xH100").cluster.levels().at(LinkLevel::within_zone).bytes_per_s.value;
  const double l40s = cluster_made("2x8xL40S").cluster.levels().at(LinkLevel::within_zone).bytes_per_s.value;
  EXPECT_EQ(cluster.link(DeviceId{0}, DeviceId{8}).bytes_per_s.value, h100);
  EXPECT_EQ(cluster.link(DeviceId{16}, DeviceId{24}).bytes_per_s.value, l40s);
  EXPECT_EQ(cluster.link(DeviceId{0}, DeviceId{16}).bytes_per_s.value, std::min(h100, l40s));
  EXPECT_EQ(cluster.link(DeviceId{0}, DeviceId{1}),
            cluster_made("8xH100").cluster.link(DeviceId{0}, DeviceId{1}));
}

TEST(ClusterFromText, KnowsOtherSpellingsAndUnitsOfANetwork) {
  for (const char* network : {"400", "400G", "400 Gbit/s", "400Gbps", "50GB/s", "IB NDR", "ib_ndr"}) {
    const Cluster cluster = cluster_made("2x8xH100", {network, ""}).cluster;
    EXPECT_EQ(cluster.levels().at(LinkLevel::within_zone).bytes_per_s.value, 50e9) << network;
  }
}

TEST(ClusterFromText, ConnectsRegionsByOneSharedLine) {
  const ClusterFromText far = cluster_made("8xH100+8xH20@us-east-2");
  const LinkRate& rate = far.cluster.link(DeviceId{0}, DeviceId{8});
  EXPECT_EQ(rate.bytes_per_s.value, 10e9 / 8);
  ASSERT_TRUE(rate.capacity_bytes_per_s);
  EXPECT_EQ(rate.capacity_bytes_per_s->value, 10e9 / 8);
  EXPECT_THAT(far.notes, Contains(HasSubstr("10 Gbit/s")));
  EXPECT_EQ(cluster_made("8xH100+8xH20@us-east-2", {"", "25"})
                .cluster.link(DeviceId{0}, DeviceId{8})
                .bytes_per_s.value,
            25e9 / 8);
}

// A cluster's name holds the words that made it, with the network that was chosen.
TEST(ClusterFromText, NamesTheClusterByItsWords) {
  const std::filesystem::path data = data_folder();
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  const std::vector<std::pair<std::string, NetworkChoice>> all{
      {"4x8xH100", {}},
      {"16xp5.48xlarge", {}},
      {"32xH100", {"ib-ndr", ""}},
      {"2x8xH100+2xg6e.48xlarge@us-east-2", {"100", "tcp-25"}},
  };
  for (const auto& [text, network] : all) {
    const Cluster cluster = cluster_made(text, network).cluster;
    const std::optional<ClusterWords> words = words_of_title(cluster.name(), facts, data);
    ASSERT_TRUE(words) << cluster.name();
    EXPECT_EQ(cluster_made(words->gpus, words->network).cluster, cluster) << cluster.name();
  }
  EXPECT_FALSE(words_of_title("", facts, data));
  EXPECT_FALSE(words_of_title("the cluster of our team", facts, data));
  EXPECT_FALSE(words_of_title("4 x 8 H100", facts, data));  // not how it writes the type
}

// No machine with these cards has an adapter of 400 Gbit/s for each of them (data/instances.json).
TEST(ClusterFromText, AssumesANetworkThatMachinesWithTheCardHave) {
  EXPECT_EQ(cluster_made("4x8xL40S").cluster.levels().at(LinkLevel::within_zone).bytes_per_s.value, 200e9 / 8);
  EXPECT_THAT(cluster_made("4x8xL40S").notes, Contains(AllOf(HasSubstr("Assumed"), HasSubstr("200 Gbit/s"))));
}

TEST(ClusterFromText, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal_of_cluster("4x8xH1000"), AllOf(HasSubstr("H1000"), HasSubstr("did you mean")));
  EXPECT_THAT(refusal_of_cluster("4x8x"), HasSubstr("--gpus"));
  EXPECT_THAT(refusal_of_cluster("16"), HasSubstr("16 GPUs of what type? For example 16xH100"));
  for (const char* turned : {"H100x8", "H100:8", "8*H100", "8 x H100"})
    EXPECT_THAT(refusal_of_cluster(turned), HasSubstr("did you mean 8xH100?")) << turned;
  EXPECT_THAT(refusal_of_cluster(""), HasSubstr("--gpus"));
  EXPECT_THAT(refusal_of_cluster("0x8xH100"), HasSubstr("from 1 to 100000"));
  EXPECT_THAT(refusal_of_cluster("99999999999x8xH100"), HasSubstr("--gpus"));
  EXPECT_THAT(refusal_of_cluster("100000x8000xH100"), HasSubstr("more than"));
  EXPECT_THAT(refusal_of_cluster("12xH100"), HasSubstr("do not fill nodes of 8"));
  EXPECT_THAT(refusal_of_cluster("2x2x2xH100"), HasSubstr("NODESxGPUSxNAME"));
  EXPECT_THAT(refusal_of_cluster("2x8xp5.48xlarge"), HasSubstr("COUNTxp5.48xlarge"));
  EXPECT_THAT(refusal_of_cluster("8xH100@"), HasSubstr("no region"));
  EXPECT_THAT(refusal_of_cluster("8xH100+"),
              AllOf(HasSubstr("a part of \"8xH100+\" is empty"), HasSubstr("4x8xH100+4x8xL40S")));
  EXPECT_THAT(refusal_of_cluster("4x8xH10"), HasSubstr("did you mean H100?"));
  EXPECT_THAT(refusal_of_cluster("4x8xa100-sxm-80g"), HasSubstr("did you mean A100-SXM-80GB?"));
  for (const char* separator : {",", ", ", " + ", "; ", " ", " & "})
    EXPECT_THAT(refusal_of_cluster("8x4xH100" + std::string(separator) + "2x8xA100@east"),
                AllOf(HasSubstr("joined with \"+\""), HasSubstr("\"8x4xH100+2x8xA100@east\"")))
        << separator;
  EXPECT_THAT(refusal_of_cluster("+8xH100"), HasSubstr("is empty"));
  EXPECT_THAT(refusal_of_cluster("-8xH100"),
              AllOf(HasSubstr("\"-8\" in \"-8xH100\" is no number of nodes or GPUs"), HasSubstr("4x8xH100")));
  EXPECT_THAT(refusal_of_cluster("99999999999xH100"), HasSubstr("whole numbers from 1 to 100000"));
  EXPECT_THAT(refusal_of_cluster("4x0.5xH100"), HasSubstr("\"0.5\""));
  EXPECT_THAT(refusal_of_cluster("4x8x"), HasSubstr("no type of GPU"));
  EXPECT_THAT(refusal_of_cluster("2x8xH100", {"100GbE", ""}), HasSubstr("--network"));
  EXPECT_THAT(refusal_of_cluster("2x8xH100", {"fast", ""}), AllOf(HasSubstr("--network"), HasSubstr("ib-ndr")));
  EXPECT_THAT(refusal_of_cluster("2x8xH100", {"-5", ""}), HasSubstr("--network"));
  EXPECT_THAT(refusal_of_cluster("2x8xH100", {"", "10"}), HasSubstr("one region"));
}

}  // namespace
}  // namespace sextant::test
