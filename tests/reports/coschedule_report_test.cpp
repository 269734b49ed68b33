#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/trace/workload.h"
#include "reports/charts/coschedule_charts.h"
#include "reports/report.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant {
namespace {

using coschedule::Group;
using coschedule::Job;
using coschedule::Placement;
using coschedule::Simulation;
using ::testing::HasSubstr;
using ::testing::Not;

// Spans of a job's phase on a node, in the order of the rows.
std::vector<std::pair<double, double>> spans(const Json& chart, const std::string& job,
                                             const std::string& phase) {
  std::vector<std::pair<double, double>> all;
  for (const Json& row : chart["data"]["values"]) {
    if (row["job"] == job && row["phase"] == phase) all.emplace_back(row["begin_s"], row["end_s"]);
  }
  return all;
}

TEST(GroupGantt, ShowsTwoMetaIterations) {
  const Json chart = charts::group_gantt(
      coschedule::test::on_one_pair({coschedule::test::job("a", 60, 40), coschedule::test::job("b", 40, 60)}));
  const auto a = spans(chart, "a", "rollout"), b = spans(chart, "b", "training");
  ASSERT_EQ(a.size(), 2U);
  EXPECT_NEAR(a[0].first, 0, 1e-9);
  EXPECT_NEAR(a[0].second, 60, 1e-9);
  EXPECT_NEAR(a[1].first, 100, 1e-9);
  ASSERT_EQ(b.size(), 2U);
  EXPECT_NEAR(b[0].second - b[0].first, 60, 1e-9);
  EXPECT_NEAR(b[1].first - b[0].first, 100, 1e-9);
  EXPECT_TRUE(spans(chart, "a", "tail of rollout").empty());
}

// The lengths have a long tail, which moves, and the chart has it.
TEST(GroupGantt, ShowsTailsThatMove) {
  Job of = coschedule::test::job("a", 100, 5);
  of.responses = coschedule::Responses{};
  of.responses->tokens.kind = LengthKind::lognormal;
  of.responses->tokens.median = 200;
  of.responses->tokens.sigma = 0.8;
  of.responses->tokens.max = 1000;
  Job other = of;
  other.name = "b";
  const Json chart = charts::group_gantt(coschedule::test::on_one_pair({of, other}));
  EXPECT_FALSE(spans(chart, "a", "tail of rollout").empty() && spans(chart, "b", "tail of rollout").empty());
}

ReportInput simulated(const std::string& policy, int jobs) {
  coschedule::TraceRules rules;
  rules.jobs = jobs;
  coschedule::SimulationOptions options;
  options.bound_every = 5;
  ReportInput input;
  input.simulation = Document<Simulation>{
      {}, simulate(drawn_trace(rules, coschedule::weave_pools()), *coschedule::find_policy(policy), options)};
  return input;
}

TEST(CoscheduleReport, HasTheSimulationWithReasonsAndBounds) {
  const ReportInput input = simulated("weave", 40);
  const std::string page = render_markdown(input);
  EXPECT_THAT(page, HasSubstr("Simulated arrivals"));
  EXPECT_THAT(page, HasSubstr(" as it is, which adds $0 an hour"));
  EXPECT_THAT(page, Not(HasSubstr("took longer than they allow")));
  const std::string html = render_html(input);
  EXPECT_THAT(html, HasSubstr("lower bound of any placement"));
  int bounded = 0;
  for (const coschedule::SimulatedState& state : input.simulation->content.states) {
    bounded += state.bound_usd_per_hour > 0 ? 1 : 0;
    EXPECT_LE(state.bound_usd_per_hour, state.usd_per_hour * (1 + 1e-6));
  }
  EXPECT_GT(bounded, 10);
}

TEST(CoscheduleReport, NamesNoBoundThatWasNotWorkedOut) {
  ReportInput input = simulated("weave", 40);
  for (coschedule::SimulatedState& state : input.simulation->content.states) state.bound_usd_per_hour = 0;
  EXPECT_THAT(render_html(input), Not(HasSubstr("lower bound of any placement")));
  EXPECT_THAT(render_markdown(input), Not(HasSubstr("The bound holds")));
}

TEST(CoscheduleReport, WarnsOfBrokenPromises) {
  EXPECT_THAT(render_markdown(simulated("random", 60)), HasSubstr("took longer than they allow"));
}

TEST(CoscheduleReport, HasThePlacementAndItsBound) {
  Placement placement{coschedule::test::pools(), {}};
  take(placement, place(placement, coschedule::test::job("<a>", 60, 40)));
  take(placement, place(placement, coschedule::test::job("b", 40, 60)));
  ReportInput input;
  input.placement = Document<Placement>{{}, placement};
  const std::string page = render_markdown(input);
  EXPECT_THAT(page, HasSubstr("No placement of these jobs in groups that train on as many nodes as their "
                              "largest job costs less than $4"));
  EXPECT_THAT(render_html(input), Not(HasSubstr("<a>")));
}

TEST(CostOverBound, CountsPlacementsByTheirRatio) {
  Simulation simulation;
  simulation.states.resize(4);
  EXPECT_TRUE(charts::cost_over_bound_histogram(simulation).is_null());
  for (std::size_t i = 0; i < 3; ++i) simulation.states[i].usd_per_hour = i == 2 ? 111 : 100;
  for (std::size_t i = 0; i < 3; ++i) simulation.states[i].bound_usd_per_hour = 100;
  const Json rows = charts::cost_over_bound_histogram(simulation)["data"]["values"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["states"], 2);
  EXPECT_EQ(rows[1]["states"], 0);
  EXPECT_EQ(rows[2]["states"], 1);
  ReportInput input;
  input.simulation = Document<Simulation>{{}, simulation};
  EXPECT_THAT(render_markdown(input), HasSubstr("3 placements cost this much over the lower bound"));
}

TEST(SloHistogram, CountsJobsByTheShareOfWhatTheyAllow) {
  Simulation simulation;
  simulation.jobs.resize(3);
  simulation.jobs[0].slowdown = 1.02;
  simulation.jobs[0].max_slowdown = 2;
  simulation.jobs[1] = simulation.jobs[0];
  simulation.jobs[2].slowdown = 2.1;
  simulation.jobs[2].max_slowdown = 2;
  simulation.jobs[2].kept = false;
  const Json rows = charts::slo_histogram(simulation)["data"]["values"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["jobs"], 2);
  EXPECT_EQ(rows[0]["kept"], "kept");
  EXPECT_EQ(rows[1]["kept"], "broken");
}

}  // namespace
}  // namespace sextant
