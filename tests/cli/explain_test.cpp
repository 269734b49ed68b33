// sextant plan --explain and --what-if, as a person runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "documents/explanation.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Two machines with two cores each, in one zone.
Cluster two_machines() {
  const Cluster one = test::two_cores();
  std::vector<Node> nodes{one.nodes().front(), one.nodes().front()};
  nodes[1].name = "guest";
  auto levels = one.levels();
  levels[LinkLevel::within_zone] = {assumed(1e-5), assumed(1e9)};
  return Cluster("two-machines", one.device_types(), nodes, levels);
}

class ExplainCommand : public ::testing::Test {
 protected:
  ExplainCommand() { save_document(folder_.file("cluster.json"), two_machines()); }

  [[nodiscard]] Printed plan(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"--coefficients", "none", "--evaluations", "2000"};
    all.insert(all.end(), more.begin(), more.end());
    return run_sextant(folder_.without_plan("plan", all));
  }

  TinyFolder folder_;
};

TEST_F(ExplainCommand, PrintsAndWritesWhy) {
  const std::string file = folder_.file("explanation.json");
  const Printed printed = plan({"--explain", "--explain-out", file});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(printed.err, "wrote " + file + "\n");
  EXPECT_THAT(printed.out,
              AllOf(HasSubstr("\nbottleneck  "), HasSubstr("\nwhere the time goes"), HasSubstr("\n10 % better"),
                    HasSubstr("\nverl-colocated"), HasSubstr("were not fitted and carry no uncertainty")));
  const auto explanation = load_document<Explanation>(file).content;
  EXPECT_EQ(explanation.planner, "portfolio");
  EXPECT_EQ(explanation.draws, 0);
  EXPECT_FALSE(explanation.alternatives.empty());
  EXPECT_TRUE(explanation.what_ifs.empty());
}

TEST_F(ExplainCommand, SaysHowSurelyWhereCoefficientsWereFitted) {
  const std::string file = folder_.file("explanation.json");
  const Printed printed = run_sextant(
      folder_.without_plan("plan", {"--coefficients", data("coefficients_fitted.json"), "--evaluations", "2000",
                                    "--draws", "20", "--explain", "--explain-out", file}));
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("Sure: share of 20 coefficient samples"));
  const auto explanation = load_document<Explanation>(file).content;
  EXPECT_EQ(explanation.draws, 20);
  for (const Alternative& other : explanation.alternatives) {
    EXPECT_EQ(other.chance.has_value(), other.outcome == PlanOutcome::found) << other.name;
  }
}

// Ratios are of what the goal lowers, and say so.
TEST_F(ExplainCommand, SaysThatDollarsAreCompared) {
  const Cluster cluster = two_machines();
  auto types = cluster.device_types();
  for (auto& [name, type] : types) type.price_usd_per_hour = assumed(1.0);
  save_document(folder_.file("cluster.json"),
                Cluster(cluster.name(), types, cluster.nodes(), cluster.levels()));
  const std::string file = folder_.file("explanation.json");
  const Printed printed =
      plan({"--goal", "cost", "--explain", "--what-if", "device:core.flops*2", "--explain-out", file});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              AllOf(HasSubstr("dollars per iteration"), HasSubstr("times the plan's dollars"),
                    HasSubstr("saves (time)"), ContainsRegex("instead of [^\n]*, in dollars [0-9.]+ % less")));
  const auto explanation = load_document<Explanation>(file).content;
  EXPECT_EQ(explanation.goal, "cost");
  constexpr double kTies = 1e-8;  // time decides between plans that cost the same (sextant/objective.h)
  for (const Alternative& other : explanation.alternatives) {
    if (other.outcome != PlanOutcome::found) continue;
    EXPECT_NEAR(other.ratio, *other.usd_per_iteration / *explanation.usd_per_iteration, kTies) << other.name;
  }
  EXPECT_THAT(plan({"--explain"}).out,
              AllOf(HasSubstr("times the plan's  "), Not(HasSubstr("plan's dollars"))));
}

TEST_F(ExplainCommand, PlansEveryWhatIfByItself) {
  const std::string file = folder_.file("explanation.json");
  const Printed printed = plan({"--what-if", "device:core.flops*2,device:core.bandwidth*2", "--what-if",
                                "remove:guest", "--explain-out", file});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              AllOf(HasSubstr("\nwhat if device:core.flops*2, device:core.bandwidth*2: iteration "),
                    HasSubstr("\nwhat if remove:guest: iteration "), Not(HasSubstr("\nbottleneck  "))));
  const auto explanation = load_document<Explanation>(file).content;
  ASSERT_EQ(explanation.what_ifs.size(), 2U);
  EXPECT_LT(explanation.what_ifs[0].ratio, 1);
  EXPECT_GE(explanation.what_ifs[1].ratio, 1);
}

// The plan on the cluster as it is has been written all the same.
TEST_F(ExplainCommand, Exits1WhereAChangedClusterHasNoPlan) {
  const std::string out = folder_.file("best.json");
  const Printed printed = plan({"--what-if", "remove:guest,device:core.memory*1e-6", "--out", out});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.err, HasSubstr("sextant: what if remove:guest, device:core.memory*1e-6: no plan "));
  EXPECT_THAT(printed.out, HasSubstr(": no plan\n"));
  EXPECT_TRUE(std::filesystem::exists(out));
}

TEST_F(ExplainCommand, AddedNodesAreCounted) {
  const Printed printed = plan({"--what-if", "add:core=2", "--what-if", "device:core.flops*2"});
  EXPECT_THAT(printed.out, HasSubstr("adds 2 nodes of "));
  EXPECT_THAT(printed.out, HasSubstr(" devices in all; the plan uses "));
  EXPECT_EQ(printed.out.find("in all"), printed.out.rfind("in all"));
}

TEST_F(ExplainCommand, JsonIsThePlanAndNothingElse) {
  const std::string file = folder_.file("explanation.json");
  const Printed printed = plan({"--json", "--what-if", "add:core=1", "--explain-out", file});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  check_plan(parse_document<Plan>(printed.out).content, tiny_workflow(), two_machines());
  EXPECT_EQ(load_document<Explanation>(file).content.what_ifs.size(), 1U);
}

// One misspelt change does not discard the others.
TEST_F(ExplainCommand, AnswersTheChangesThatArePossible) {
  const Printed printed =
      plan({"--what-if", "add:core=1", "--what-if", "add:kore=1", "--what-if", "device:core.flops*2"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.out, AllOf(HasSubstr("what if add:core=1: iteration"),
                                 HasSubstr("what if device:core.flops*2: iteration")));
  EXPECT_EQ(printed.err,
            "sextant: --what-if add:kore=1: unknown device type \"kore\"; did you mean core? (known: core)\n");
  const Printed none = plan({"--what-if", "add:kore=1", "--what-if", "ad:core=1"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, AllOf(HasSubstr("add:kore=1: unknown"), HasSubstr("ad:core=1: unknown")));
}

TEST(WhatIfNames, AreThoseOfGpusInAnySpelling) {
  const auto asked = [](const std::string& what_if) {
    return run_sextant(
        {"plan", "--gpus", "2x8xH100", "--model", "Qwen3-8B", "--evaluations", "100", "--what-if", what_if});
  };
  for (const char* what_if :
       {"add:h100=1", "add:H100-SXM=1", "remove:h100_sxm_80gb=1", "device:H100.flops*2"}) {
    const Printed printed = asked(what_if);
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr(std::string("what if ") + what_if)) << what_if;
  }
  const Printed unknown = asked("add:A100=1");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown device type \"A100\""));
  EXPECT_THAT(unknown.err, HasSubstr("(known: H100-SXM-80GB)"));
}

struct Refused {
  const char* change;
  const char* says;
};

class WhatIfRefuses : public ExplainCommand, public ::testing::WithParamInterface<Refused> {};

TEST_P(WhatIfRefuses, InOneLine) {
  const Printed printed = plan({"--what-if", GetParam().change});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err,
            "sextant: --what-if " + std::string(GetParam().change) + ": " + GetParam().says + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Changes, WhatIfRefuses,
    ::testing::Values(
        Refused{"ad:core=1", "unknown change \"ad\"; did you mean add? (known: add, remove, link, device)"},
        Refused{"add", "expected add:..., see sextant plan --help"},
        Refused{"add:core", "expected add:TYPE=N or add:TYPE=N@ZONE"},
        Refused{"add:cores=1", "unknown device type \"cores\"; did you mean core? (known: core)"},
        Refused{"add:core=0", "expected a number of machines >= 1, got \"0\""},
        Refused{"add:core=1x", "expected a number of machines >= 1, got \"1x\""},
        Refused{"add:core=1@her", "unknown zone \"her\"; did you mean here? (known: here)"},
        Refused{"remove:gues", "unknown machine \"gues\"; did you mean guest? (known: host, guest)"},
        Refused{"remove:core=3", "the cluster has 2 machines of type \"core\", not 3"},
        Refused{"remove:core=2", "this would remove the last machine"},
        Refused{"remove:guest,remove:guest", "unknown machine \"guest\" (known: host)"},
        Refused{"link:within_node", "expected link:LEVEL*FACTOR or link:LEVEL=BYTES_PER_S"},
        Refused{"link:in_node*2",
                "unknown level \"in_node\" (known: within_node, within_zone, within_region, "
                "between_regions)"},
        Refused{"link:between_regions*2", "the cluster has no links at this level"},
        Refused{"link:within_node*-1", "expected a factor > 0, got \"-1\""},
        Refused{"link:within_node=nan", "expected a value > 0, got \"nan\""},
        Refused{"link:mars..venus*2",
                "the cluster has no two machines, zones or regions \"mars\" and \"venus\""},
        Refused{"device:core*2", "expected device:TYPE.flops*FACTOR, or .bandwidth, .memory or .host"},
        Refused{"device:core.flop*2",
                "unknown number of a device \"flop\"; did you mean flops? (known: flops, bandwidth, "
                "memory, host)"},
        Refused{"device:core.host*2", "the cluster has no rate for the link between core and the host"}));

TEST_F(ExplainCommand, RefusesAnExplanationThatNobodyWouldSee) {
  const Printed printed = plan({"--json", "--explain"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err,
            "sextant: --json prints only the plan document: give a file for the explanation with "
            "--explain-out\n");
}

}  // namespace
}  // namespace sextant::test
