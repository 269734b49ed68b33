// sextant plan with goals, limits, excluded devices, and more than one plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/objective.h"
#include "sextant/search.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two devices for a dollar an hour each.
class PlanGoals : public ::testing::Test {
 protected:
  PlanGoals() { set_price(1.0); }

  void set_price(double usd_per_hour) const {
    const Cluster cluster = test::two_cores();
    auto types = cluster.device_types();
    for (auto& [name, type] : types) type.price_usd_per_hour = assumed(usd_per_hour);
    save_document(folder_.file("cluster.json"),
                  Cluster(cluster.name(), types, cluster.nodes(), cluster.levels(), cluster.exceptions()));
  }

  [[nodiscard]] Printed plan(std::vector<std::string> more) const {
    more.insert(more.end(), {"--coefficients", "none", "--evaluations", "3000"});
    return run_sextant(folder_.without_plan("plan", more));
  }
  [[nodiscard]] SearchRecord searched(std::vector<std::string> more) const {
    const std::string file = folder_.file("search.json");
    more.insert(more.end(), {"--search-out", file});
    const Printed printed = plan(more);
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return load_document<SearchRecord>(file).content;
  }

  TinyFolder folder_;
};

TEST_F(PlanGoals, FewestDevicesAreOne) {
  const SearchRecord fewest = searched({"--goal", "devices"}), fastest = searched({});
  EXPECT_EQ(fewest.goal, "devices");
  EXPECT_EQ(fewest.devices, 1);
  EXPECT_EQ(fastest.devices, 2);
  EXPECT_LT(fastest.iteration_s, fewest.iteration_s);
  EXPECT_DOUBLE_EQ(*fastest.usd_per_hour, 2);
  EXPECT_DOUBLE_EQ(*fastest.usd_per_iteration, 2 * fastest.iteration_s / 3600);
  EXPECT_DOUBLE_EQ(*fastest.usd_per_token, *fastest.usd_per_iteration / tokens_per_iteration(tiny_workflow()));
}

TEST_F(PlanGoals, NoPlanIsCheaperThanTheBound) {
  const SearchRecord cheapest = searched({"--goal", "cost"}), fastest = searched({});
  ASSERT_TRUE(cheapest.lower_bound_usd);
  EXPECT_GE(*cheapest.usd_per_iteration, *cheapest.lower_bound_usd);
  EXPECT_LE(*cheapest.usd_per_iteration, *fastest.usd_per_iteration * (1 + 1e-9));
  EXPECT_GT(*cheapest.lower_bound_usd, 0.01 * *cheapest.usd_per_iteration);
}

// searched() reads its document again.
TEST_F(PlanGoals, WhereDevicesCostNothingTheFasterPlanIsBetter) {
  set_price(0);
  for (const char* planner : {"exact", "sha-ea"}) {
    const SearchRecord fastest = searched({"--planner", planner});
    EXPECT_EQ(fastest.lower_bound_usd, 0);
    EXPECT_EQ(fastest.usd_per_iteration, 0);
    const SearchRecord cheapest = searched({"--goal", "cost", "--planner", planner});
    EXPECT_EQ(cheapest.usd_per_hour, 0) << planner;
    EXPECT_NEAR(cheapest.iteration_s, fastest.iteration_s, 1e-6 * fastest.iteration_s) << planner;
  }
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--goal", "cost"}, std::vector<std::string>{"--pareto", "3"}})
    EXPECT_THAT(plan(more).out, AllOf(Not(HasSubstr(" inf ")), Not(HasSubstr(" nan "))));
}

TEST_F(PlanGoals, ADeadlineThatNoPlanMeetsIsNo) {
  const Printed printed = plan({"--goal", "cost", "--deadline", "1e-9"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.err, HasSubstr("exceeds the limits that were asked for by"));
}

TEST_F(PlanGoals, ExcludedDevicesAreNotUsed) {
  const std::string out = folder_.file("best.json");
  const std::string second = test::two_cores().device_name(DeviceId{1});
  const std::string first = test::two_cores().device_name(DeviceId{0});
  for (const auto& [excluded, left] : {std::pair{first, 1}, std::pair{second, 0}}) {
    ASSERT_EQ(plan({"--exclude", excluded, "--out", out}).exit_code, 0);
    for (const auto& [name, task] : load_document<Plan>(out).content.tasks)
      EXPECT_EQ(task.devices(), std::set<DeviceId>{DeviceId{left}}) << name;
  }
  const Printed none = plan({"--exclude", first, "--exclude", second});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("all devices are excluded"));
  const Printed unknown = plan({"--exclude", "nowhere"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("\"nowhere\""));
}

TEST_F(PlanGoals, ParetoFrontFallsInDollarsAsItRisesInTime) {
  const Printed printed = plan({"--pareto", "3", "--json"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const Json front = parse_json(printed.out);
  ASSERT_GE(front.size(), 1U);
  for (std::size_t p = 1; p < front.size(); ++p) {
    EXPECT_GT(front[p]["iteration_s"].get<double>(), front[p - 1]["iteration_s"].get<double>());
    EXPECT_LT(front[p]["usd_per_iteration"].get<double>(), front[p - 1]["usd_per_iteration"].get<double>());
  }
  EXPECT_THAT(plan({"--pareto", "3"}).out, StartsWith("iteration"));
}

TEST_F(PlanGoals, ModesAreComparedWithTheSynchronousOne) {
  const Printed printed = plan({"--compare-modes"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("one step off"));
  EXPECT_THAT(printed.out, HasSubstr("asynchronous execution "));
  const Json modes = parse_json(plan({"--compare-modes", "--json"}).out);
  ASSERT_EQ(modes.size(), 4U);
  EXPECT_LE(modes[1]["iteration_s"].get<double>(), 1.05 * modes[0]["iteration_s"].get<double>());
}

TEST_F(PlanGoals, ExactProvesThemAll) {
  const std::string file = folder_.file("proved.json");
  const std::vector<std::string> exact = {"--planner", "exact", "--search-out", file};
  const auto proved = [&](std::vector<std::string> more) {
    more.insert(more.end(), exact.begin(), exact.end());
    const Printed printed = plan(more);
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_EQ(load_document<SearchRecord>(file).content.proof, Proof::optimal);
    return printed.out;
  };
  EXPECT_THAT(proved({"--goal", "cost"}), HasSubstr("space of exact is cheaper"));
  const SearchRecord cheapest = load_document<SearchRecord>(file).content;
  EXPECT_NEAR(*cheapest.space_lower_bound_usd, *cheapest.usd_per_iteration, 1e-9 * *cheapest.usd_per_iteration);
  EXPECT_FALSE(cheapest.space_lower_bound_s);
  EXPECT_THAT(proved({"--goal", "devices"}), HasSubstr("uses fewer devices, or as few and is faster"));
  const SearchRecord fewest = load_document<SearchRecord>(file).content;
  EXPECT_EQ(fewest.space_lower_bound_devices, fewest.devices);
  EXPECT_THAT(proved({"--deadline", "1e9"}), HasSubstr("of exact within the limits is faster"));
  EXPECT_THAT(plan({"--planner", "exact", "--pareto", "3"}).out,
              HasSubstr("proved: no plan in the space of exact"));
  EXPECT_THAT(plan({"--pareto", "3"}).out, Not(HasSubstr("proved")));
  EXPECT_EQ(parse_json(plan({"--planner", "exact", "--pareto", "2", "--json"}).out)[0]["proof"], "optimal");
  const Printed late = plan({"--planner", "exact", "--goal", "cost", "--deadline", "1e-9"});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err,
              HasSubstr("no plan of the space keeps the limits that were asked for; the fastest of all"));
}

TEST_F(PlanGoals, PlannersThatKnowTimesAloneRefuseOtherGoals) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--goal", "cost"}, {"--deadline", "1"}, {"--pareto", "2"}}) {
    std::vector<std::string> all = more;
    all.insert(all.end(), {"--planner", "exhaustive"});
    const Printed printed = plan(all);
    EXPECT_EQ(printed.exit_code, 2) << more.front();
    EXPECT_EQ(lines_of(printed.err).size(), 1U);
  }
}

TEST_F(PlanGoals, GoalsThatThereAreNot) {
  const Printed printed = plan({"--goal", "fame"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(
      printed.err,
      StartsWith("sextant: --goal: expected one of time, cost, devices, mean, p50, p75, p90, p95, p99; got"));
}

TEST_F(PlanGoals, GoalsInDollarsNeedPrices) {
  save_document(folder_.file("cluster.json"), test::two_cores());
  const Printed printed = plan({"--goal", "cost"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("price_usd_per_hour"));
  EXPECT_FALSE(searched({}).usd_per_hour);
}

TEST_F(PlanGoals, RiskIsOfDrawsAndSaysWhatItIsWorth) {
  const std::string file = folder_.file("search.json");
  const Printed printed =
      plan({"--goal", "p90", "--length-drift", "0.3", "--risk-draws", "40", "--search-out", file});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("at p90 of 40 samples (response lengths vary by 30.0 %, links between zones by "
                        "10.0 %) an iteration takes "));
  const SearchRecord record = load_document<SearchRecord>(file).content;
  ASSERT_TRUE(record.risk);
  EXPECT_EQ(record.goal, "time");
  EXPECT_EQ(record.risk->goal, "p90");
  EXPECT_EQ(record.risk->draws, 40);
  EXPECT_EQ(record.risk->response_lengths, 0.3);
  EXPECT_LE(record.risk->iteration_s, record.risk->fastest_iteration_s);
  EXPECT_GT(record.risk->iteration_s, record.iteration_s);
  EXPECT_FALSE(searched({}).risk);
  EXPECT_EQ(searched({"--goal", "mean"}).risk->goal, "mean");
}

TEST_F(PlanGoals, ARunThatGrowsHasOnePlanAndSaysWhetherChangesPay) {
  const std::string file = folder_.file("search.json");
  const Printed printed =
      plan({"--length-schedule", "10:0.5,30:1", "--change-seconds", "5", "--search-out", file});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("the run takes "));
  const SearchRecord record = load_document<SearchRecord>(file).content;
  ASSERT_TRUE(record.run);
  ASSERT_EQ(record.run->parts.size(), 2U);
  EXPECT_EQ(record.run->parts[1].iterations, 30);
  EXPECT_LT(record.run->parts[0].iteration_s, record.run->parts[1].iteration_s);
  EXPECT_NEAR(record.run->parts[1].iteration_s, record.iteration_s, 1e-9 * record.iteration_s);
  EXPECT_NEAR(record.run->total_s,
              10 * record.run->parts[0].iteration_s + 30 * record.run->parts[1].iteration_s,
              1e-9 * record.run->total_s);
  EXPECT_LE(record.run->replanned_total_s, record.run->total_s * (1 + 1e-12));
  for (const char* part : {"10", "10:", ":2", "0:1", "10:-1", "10:1:2", "ten:1", "10:1e9"}) {
    const Printed refused = plan({"--length-schedule", part});
    EXPECT_EQ(refused.exit_code, 2) << part;
    EXPECT_THAT(refused.err, HasSubstr("as 300:1.5")) << part;
  }
  EXPECT_EQ(plan({"--change-seconds", "5"}).exit_code, 2);
  EXPECT_EQ(plan({"--length-schedule", "10:1", "--goal", "p90"}).exit_code, 2);
  EXPECT_EQ(plan({"--length-schedule", "10:1", "--compare-modes"}).exit_code, 2);
}

TEST_F(PlanGoals, RiskIsRefusedWhereItMeansNothing) {
  const Printed no_goal = plan({"--length-drift", "0.3"});
  EXPECT_EQ(no_goal.exit_code, 2);
  EXPECT_THAT(no_goal.err, HasSubstr("need --goal mean"));
  const Printed several = plan({"--goal", "p90", "--compare-modes"});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("evaluate a single plan"));
  EXPECT_EQ(plan({"--goal", "p42"}).exit_code, 2);
}

}  // namespace
}  // namespace sextant::test
