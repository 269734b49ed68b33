// Links of a cluster document from the output of benchmarks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/cluster.h"
#include "sextant/document.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace sextant::test {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;

const std::string kData = SEXTANT_SOURCE_DIR "/tests/data/benchmarks/";

struct ImportedLinks {
  Printed printed;
  Cluster cluster;
};

ImportedLinks import_links(std::vector<std::string> arguments) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "cluster.json").string();
  arguments.insert(arguments.begin(), "import");
  arguments.insert(arguments.end(), {"--out", out});
  ImportedLinks links{run_sextant(arguments), {}};
  EXPECT_EQ(links.printed.exit_code, 0) << links.printed.err;
  if (links.printed.exit_code == 0) links.cluster = load_document<Cluster>(out).content;
  return links;
}

// 190 GB/s of eight adapters of 50 GB/s: half.
TEST(ImportBenchmark, SaysThatHalfOfTheAdaptersAreMissing) {
  const ImportedLinks links = import_links({"nccl-tests", kData + "nccl-half.txt"});
  EXPECT_THAT(links.printed.out,
              HasSubstr("measured 193 GB/s, expected 400 GB/s: 48 %, as much as 3.90 of 8 adapters"));
  const LinkRate& rate = links.cluster.levels().at(LinkLevel::within_zone);
  EXPECT_EQ(rate.bytes_per_s.source, Source::measured);
  EXPECT_TRUE(rate.bytes_per_s.time_utc);
  EXPECT_THAT(*rate.bytes_per_s.note, HasSubstr("all_reduce of 16 GPUs on 2 nodes"));
  EXPECT_THAT(rate.bytes_per_s.value, DoubleNear(192.775e9 / 8, 1));
  EXPECT_EQ(links.cluster.device_count(), 16);
  EXPECT_THAT(*links.cluster.nodes().front().network_bytes_per_s, DoubleNear(192.775e9, 1));
}

TEST(ImportBenchmark, OfANodeIsAsItShouldBe) {
  const ImportedLinks links = import_links({"nccl-tests", kData + "nccl-node.txt", "--gpus", "2x8xH100"});
  EXPECT_THAT(links.printed.out, HasSubstr("expected 450 GB/s: 81 %, as it should be"));
  const DeviceId first{0}, second{1};
  EXPECT_THAT(links.cluster.link(first, second).bytes_per_s.value, DoubleNear(366.105e9, 1));
}

TEST(ImportBenchmark, HasTheConnectionOfTwoRegions) {
  const ImportedLinks links = import_links(
      {"iperf3", kData + "iperf3.json", "--gpus", "8xH100@east+8xH100@west", "--level", "between_regions"});
  const LinkRate& rate = links.cluster.levels().at(LinkLevel::between_regions);
  EXPECT_THAT(rate.bytes_per_s.value, DoubleNear(9.40e9 / 8, 1));
  EXPECT_THAT(rate.capacity_bytes_per_s->value, DoubleNear(9.40e9 / 8, 1));
  EXPECT_THAT(rate.latency_s.value, DoubleNear(15.06e-3, 1e-9));
}

TEST(ImportBenchmark, HasTheLinkToTheHost) {
  const ImportedLinks links = import_links({"nvbandwidth", kData + "nvbandwidth.txt", "--gpus", "2xH100"});
  EXPECT_THAT(links.cluster.device_types().begin()->second.host_bytes_per_s->value, DoubleNear(55.21e9, 1));
}

TEST(ImportBenchmark, OfSuperBenchHasLinksWithinNodesAndToTheHost) {
  const ImportedLinks links = import_links({"superbench", kData + "superbench.jsonl", "--gpus", "2x2xH100"});
  const DeviceId first{0}, second{1};
  EXPECT_THAT(links.cluster.link(first, second).bytes_per_s.value, DoubleNear(365.5e9, 1));
  EXPECT_THAT(links.cluster.device_types().begin()->second.host_bytes_per_s->value, DoubleNear(26.2e9, 1));
  EXPECT_THAT(links.printed.err, HasSubstr("ib-loopback: an adapter sends to itself"));
}

TEST(ImportBenchmark, NeedsTheGpus) {
  const Printed printed = run_sextant({"import", "iperf3", kData + "iperf3.json", "--out", "/dev/null"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("add --gpus"));
}

}  // namespace
}  // namespace sextant::test
