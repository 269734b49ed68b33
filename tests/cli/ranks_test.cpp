// The program on two ranks. Every rank that fails says so; none may wait for one that has left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

TEST(TwoRanks, ProxyMeasuresAPlanOfTwoDevices) {
  const TinyFolder folder;
  const std::string out = folder.file("runs.json");
  save_document(folder.file("plan.json"), tiny_plan(1, 1, 2));
  const Printed printed =
      run_on_ranks(2, folder.with_plan("proxy", {"--out", out, "--max-iterations", "2", "--json"}));
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  const Runs measured = load_document<Runs>(out).content;
  EXPECT_EQ(parse_document<Runs>(printed.out).content, measured);  // printed by one rank
  ASSERT_EQ(measured.runs.size(), 1U);
  EXPECT_EQ(measured.runs[0].notes.at("ranks"), "2");
}

TEST(TwoRanks, ABadFileExits2) {
  const TinyFolder folder;
  const std::string file = data("bad/negative.json");
  const Printed printed =
      run_on_ranks(2, {"proxy", "--cluster", file, "--workflow", folder.file("workflow.json"), "--plan",
                       folder.file("plan.json"), "--out", folder.file("runs.json")});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out.find('{'), std::string::npos);
  EXPECT_THAT(printed.err,
              HasSubstr("sextant: " + file + ": /nodes/1/devices: expected an integer >= 1, got -2\n"));
}

// Found out only after the ranks have joined.
TEST(TwoRanks, APlanOfFourDevicesExits2) {
  const TinyFolder folder;
  Node node = test::two_cores().nodes().front();
  node.devices = 4;
  save_document(folder.file("cluster.json"),
                Cluster("four", test::two_cores().device_types(), {node}, test::two_cores().levels()));
  save_document(folder.file("plan.json"), tiny_plan(1, 1, 4));
  const Printed printed = run_on_ranks(2, folder.with_plan("proxy", {"--out", folder.file("runs.json")}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("start it with mpirun -n 4"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("runs.json")));
}

TEST(TwoRanks, ProbeFindsTheLinkBetweenThem) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "cluster.json";
  const Printed printed = run_on_ranks(2, {"probe", "--budget", "0.01", "--smoke-test", "--out", out});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  const Cluster cluster = load_document<Cluster>(out).content;
  ASSERT_EQ(cluster.device_count(), 2);
  EXPECT_EQ(cluster.link(DeviceId{0}, DeviceId{1}).bytes_per_s.source, Source::measured);
}

}  // namespace
}  // namespace sextant::test
