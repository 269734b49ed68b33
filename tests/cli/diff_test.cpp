// sextant diff for clusters, and which documents it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "probes/fleet/compare/cluster_difference.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class DiffOfClusters : public ::testing::Test {
 protected:
  // tests/data/cluster.json with the rates of one type scaled.
  [[nodiscard]] std::string scaled(const std::string& type, double factor) const {
    const Cluster before = load_document<Cluster>(data("cluster.json")).content;
    auto types = before.device_types();
    for (auto& [precision, rate] : types.at(type).flop_per_s) rate.value *= factor;
    std::string file = folder_.path() / (type + "-" + std::to_string(factor) + ".json");
    Cluster after(before.name(), types, before.nodes(), before.levels(), before.exceptions());
    after.set_environment({{"NCCL_ALGO", "Ring"}});
    save_document(file, after);
    return file;
  }

  TemporaryFolder folder_;
};

TEST_F(DiffOfClusters, TheSameExitsZero) {
  const Printed printed = run_sextant({"diff", data("cluster.json"), data("cluster.json")});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out,
              HasSubstr("compared: 0 worse, 0 changed, 0 better, 0 in one document only, 21 the same"));
  EXPECT_THAT(printed.out, Not(HasSubstr("verdict")));
  const Printed all = run_sextant({"diff", data("cluster.json"), data("cluster.json"), "--all"});
  EXPECT_THAT(all.out,
              ContainsRegex("latency +links within a node +4.00 us +4.00 us +0.0 % +[0-9.]+ % +same\n"));
  EXPECT_THAT(all.out, HasSubstr("links between regions, latency: threshold alone: both are assumed\n"));
}

TEST_F(DiffOfClusters, WorseExitsOneAndIsNamed) {
  const Printed printed = run_sextant({"diff", data("cluster.json"), scaled("h100", 0.85)});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(
      printed.out,
      ContainsRegex("bf16 GEMM rate +device type h100 +612 TFLOP/s +520 TFLOP/s +-15.0 % +2.9 % +worse\n"));
  EXPECT_THAT(printed.out, HasSubstr("compared: 2 worse"));
  EXPECT_THAT(printed.out, HasSubstr("  NCCL_ALGO: not set before, \"Ring\" after\n"));
}

TEST_F(DiffOfClusters, BetterExitsOneOnlyIfAsked) {
  const std::string better = scaled("l40s", 1.2);
  EXPECT_EQ(run_sextant({"diff", data("cluster.json"), better}).exit_code, 0);
  EXPECT_EQ(run_sextant({"diff", data("cluster.json"), better, "--any"}).exit_code, 1);
  EXPECT_EQ(run_sextant({"diff", data("cluster.json"), data("cluster.json"), "--any"}).exit_code, 0);
}

TEST_F(DiffOfClusters, TheThresholdIsAPersonsChoice) {
  const std::string worse = scaled("h100", 0.85);
  EXPECT_EQ(run_sextant({"diff", data("cluster.json"), worse, "--threshold", "0.2"}).exit_code, 0);
  EXPECT_EQ(run_sextant({"diff", data("cluster.json"), worse, "--threshold", "-1"}).exit_code, 2);
}

TEST_F(DiffOfClusters, JsonIsADocument) {
  const Printed printed = run_sextant({"diff", data("cluster.json"), scaled("h100", 0.85), "--json"});
  EXPECT_EQ(printed.exit_code, 1);
  const auto difference = parse_document<ClusterDifference>(printed.out).content;
  EXPECT_EQ(difference.count(ChangeVerdict::worse), 2U);
  EXPECT_EQ(difference.count(ChangeVerdict::same), 19U);
  EXPECT_EQ(difference.before.time_utc, "2026-01-31T12:00:00Z");
}

TEST_F(DiffOfClusters, OtherDocumentsAreRefusedInOneLine) {
  const std::string cluster = data("cluster.json"), plan = data("plan.json"), fit = data("coefficients.json");
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Printed printed = run_sextant(arguments);
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_EQ(printed.out, "");
    return printed.err;
  };
  EXPECT_EQ(refusal({"diff", cluster, fit}),
            "sextant: expected two documents of the same kind, got \"cluster\" (" + cluster +
                ") and \"coefficients\" (" + fit + ")\n");
  EXPECT_EQ(refusal({"diff", plan, plan}),
            "sextant: " + plan + ": expected a cluster or coefficients document, got \"plan\"\n");
  EXPECT_EQ(refusal({"diff", fit, fit, "--any"}), "sextant: --any applies to clusters, not to coefficients\n");
  EXPECT_EQ(refusal({"diff", fit, fit, "--threshold", "0.1"}),
            "sextant: --threshold applies to clusters, not to coefficients\n");
  const std::string negative = data("bad/negative.json");
  EXPECT_EQ(refusal({"diff", cluster, negative}),
            "sextant: " + negative + ": /nodes/1/devices: expected an integer >= 1, got -2\n");
  const std::string truncated = data("bad/truncated.json");
  EXPECT_THAT(refusal({"diff", truncated, cluster}),
              HasSubstr("sextant: " + truncated + ": /nodes/1/name: syntax"));
}

}  // namespace
}  // namespace sextant::test
