// Requests that sextant plan refuses: exit 2, and one line that says what to do instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct RefusedPlan {
  const char* name;
  std::vector<std::string> arguments;
  const char* says;
};

void PrintTo(const RefusedPlan& refused, std::ostream* out) { *out << refused.name; }

class PlanRefuses : public ::testing::TestWithParam<RefusedPlan> {};

TEST_P(PlanRefuses, InOneLine) {
  const TinyFolder folder;
  std::vector<std::string> more = GetParam().arguments;
  more.insert(more.end(), {"--coefficients", "none", "--out", folder.file("best.json")});
  const Printed printed = run_sextant(folder.without_plan("plan", more));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, StartsWith("sextant: " + std::string(GetParam().says)));
  EXPECT_EQ(lines_of(printed.err).size(), 1U) << printed.err;
  EXPECT_FALSE(std::filesystem::exists(folder.file("best.json")));
}

INSTANTIATE_TEST_SUITE_P(
    Options, PlanRefuses,
    ::testing::Values(
        RefusedPlan{"misspelt_planner",
                    {"--planner", "shaea"},
                    "--planner: unknown planner \"shaea\"; did you mean sha-ea? (planners: portfolio, sha-ea, "
                    "exact, "},
        RefusedPlan{
            "no_such_planner", {"--planner", "simplex"}, "--planner: unknown planner \"simplex\" (planners"},
        RefusedPlan{"uneven_stages",
                    {"--uneven-stages"},
                    "--uneven-stages: not supported by planner portfolio; supported by exhaustive"},
        RefusedPlan{"most_plans",
                    {"--planner", "exact", "--max-plans", "10"},
                    "--max-plans: not supported by planner exact; supported by exhaustive"},
        RefusedPlan{"warm_start",
                    {"--planner", "mcmc", "--warm-start", "plan.json"},
                    "--warm-start: not supported by planner mcmc; supported by portfolio, exact, ilp"},
        RefusedPlan{"budget_of_exhaustive",
                    {"--planner", "exhaustive", "--budget", "1"},
                    "--budget: not supported by planner exhaustive; supported by portfolio, sha-ea, exact, "},
        RefusedPlan{
            "evaluations_of_exhaustive",
            {"--planner", "exhaustive", "--evaluations", "10"},
            "--evaluations: not supported by planner exhaustive; supported by portfolio, sha-ea, exact, "},
        RefusedPlan{"space_too_large", {"--planner", "exhaustive", "--max-plans", "10"}, "the space has "}),
    [](const auto& refused) { return std::string(refused.param.name); });

class PlanNumbers : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(PlanNumbers, AreReadable) {
  const TinyFolder folder;
  const auto& [option, value] = GetParam();
  const Printed printed = run_sextant(folder.without_plan("plan", {option, value}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(lines_of(printed.err).front(), StartsWith("sextant: " + option + ": "));
  EXPECT_THAT(lines_of(printed.err).front(), HasSubstr(value));
}

INSTANTIATE_TEST_SUITE_P(Options, PlanNumbers,
                         ::testing::Values(std::pair{"--budget", "0"}, std::pair{"--budget", "-1"},
                                           std::pair{"--budget", "nan"}, std::pair{"--evaluations", "0"},
                                           std::pair{"--evaluations", "many"}, std::pair{"--seed", "-1"},
                                           std::pair{"--threads", "0"}, std::pair{"--micro-batches", "0"},
                                           std::pair{"--max-plans", "all"}));

TEST(PlanRefusal, AClusterThatIsTooLargeForThePlanner) {
  const TinyFolder folder;
  const Cluster pair = test::two_cores();
  std::vector<Node> nodes = pair.nodes();
  nodes.front().devices = 17;
  save_document(folder.file("cluster.json"),
                Cluster("many", pair.device_types(), nodes, pair.levels(), pair.exceptions()));
  const Printed printed = run_sextant(folder.without_plan("plan", {"--planner", "exhaustive"}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.err,
            "sextant: --planner: exhaustive plans at most 16 devices, but the cluster has 17; choose another "
            "planner, such as "
            "portfolio\n");
}

class WarmStart : public ::testing::Test {
 protected:
  [[nodiscard]] Printed start_from(const Plan& plan) const {
    save_document(file_, plan);
    return run_sextant(
        folder_.without_plan("plan", {"--coefficients", "none", "--planner", "exact", "--warm-start", file_}));
  }
  void expect_refused(const Plan& plan, const std::string& says) const {
    const Printed printed = start_from(plan);
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_EQ(printed.out, "");
    EXPECT_THAT(printed.err, StartsWith("sextant: " + file_ + ": " + says));
    EXPECT_EQ(lines_of(printed.err).size(), 1U) << printed.err;
  }

  TinyFolder folder_;
  std::string file_ = folder_.file("start.json");
};

TEST_F(WarmStart, OfAnotherCluster) {
  Plan plan = tiny_plan(1, 1, 1);
  plan.tasks.begin()->second.replicas.front().stages.front().devices = {DeviceId{9}};
  expect_refused(plan, "/tasks/actor_generation/replicas/0/stages/0/devices/0: unknown device 9");
}

TEST_F(WarmStart, ThatDoesNotFit) {
  save_document(folder_.file("cluster.json"), with_memory(test::two_cores(), 1e4));
  expect_refused(tiny_plan(1, 1, 1), "the plan cannot be run, so the search cannot start from it: C3 at ");
}

TEST_F(WarmStart, WithExecutionOptions) {
  Plan plan = tiny_plan(1, 1, 1);
  plan.tasks.at("actor_training").execution.zero_stage = 1;
  const Printed printed = start_from(plan);  // which are one more choice
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
}

}  // namespace
}  // namespace sextant::test
