// The specifications hold the data they should. That Vega-Lite draws them is checked by browser_test.py.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/json_value.h"
#include "reports/charts/accuracy_charts.h"
#include "reports/charts/cluster_charts.h"
#include "reports/charts/coefficient_charts.h"
#include "reports/charts/plan_charts.h"
#include "reports/charts/vega_lite.h"
#include "reports/sections/sections.h"
#include "tests/reports/fixture.h"

namespace sextant::charts {
namespace {

using ::testing::ElementsAre;

TEST(PredictedAgainstMeasured, HasAPointForEachPositiveTime) {
  const std::vector<ComparedTime> times = {{"run-a", "actor_generation", 2.0, 0.01, 2.5, true},
                                           {"run-b", "weight_sync", 0.5, 0.01, 0.4, false},
                                           {"run-c", "weight_sync", 0.0, 0.0, 0.4, true}};
  const Json spec = predicted_against_measured(times);
  const Json& points = spec["layer"][2]["data"]["values"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["run"], "run-a");
  EXPECT_EQ(points[0]["task"], "actor generation");
  EXPECT_EQ(points[0]["set"], "held out");
  EXPECT_EQ(points[0]["measured_s"], 2.0);
  EXPECT_EQ(points[0]["predicted_s"], 2.5);
  EXPECT_EQ(points[0]["error_shown"], "+25.0 %");
  EXPECT_EQ(points[1]["set"], "in sample");
}

TEST(PredictedAgainstMeasured, AxesHoldEveryPointAndTheBandIsFifteenPercent) {
  const Json spec = predicted_against_measured({{"run", "iteration", 2.0, 0.01, 8.0, true}});
  const Json& layer = spec["layer"][2]["encoding"];
  EXPECT_EQ(layer["x"]["scale"]["domain"], layer["y"]["scale"]["domain"]);
  EXPECT_LT(layer["x"]["scale"]["domain"][0], 2.0);
  EXPECT_GT(layer["x"]["scale"]["domain"][1], 8.0);
  for (const Json& edge : spec["layer"][0]["data"]["values"]) {
    EXPECT_DOUBLE_EQ(edge["low"].get<double>(), 0.85 * edge["x"].get<double>());
    EXPECT_DOUBLE_EQ(edge["high"].get<double>(), 1.15 * edge["x"].get<double>());
  }
}

TEST(PredictedAgainstMeasured, NothingToDrawIsNoChart) {
  EXPECT_TRUE(predicted_against_measured({}).is_null());
  EXPECT_TRUE(predicted_against_measured({{"run", "iteration", 0.0, 0.0, 1.0, true}}).is_null());
}

TEST(ErrorsByTask, ShowsHeldOutTimesOnly) {
  const Json spec = errors_by_task(
      {{"a", "actor_training", 2.0, 0.01, 1.0, true}, {"b", "actor_training", 2.0, 0.01, 9.0, false}});
  const Json& rows = spec["layer"][2]["data"]["values"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["error"], -0.5);
  EXPECT_TRUE(errors_by_task({{"b", "actor_training", 2.0, 0.01, 9.0, false}}).is_null());
}

TEST(Colours, ATaskKeepsItsColourWhateverElseIsShown) {
  const Json all = task_colour_scale({"actor generation", "actor training", "weight sync"});
  const Json one = task_colour_scale({"actor training"});
  EXPECT_EQ(all["range"][1], one["range"][0]);
  EXPECT_NE(all["range"][0], all["range"][1]);
}

// The values of "range" of each colour scale inside a specification.
void collect_ranges(const Json& spec, std::vector<std::vector<std::string>>& ranges) {
  if (spec.is_object() && spec.contains("scale") && spec["scale"].contains("range"))
    ranges.push_back(spec["scale"]["range"].get<std::vector<std::string>>());
  if (spec.is_structured()) {
    for (const Json& part : spec) collect_ranges(part, ranges);
  }
}

TEST(Colours, NoChartShowsTwoNamesInOneColour) {
  ReportInput input = fixture_report(sixteen_gpus());
  TaskPrediction& busy = input.prediction->content.tasks.at("actor_training");
  for (int term = 0; term < kTermCount; ++term) busy.terms_s[static_cast<Term>(term)] = 0.1 * (term + 1);
  for (const char* task : {"old_log_prob", "judge", "actor_warmup"}) {
    input.prediction->content.tasks[task] = busy;
    input.plan->content.tasks[task] = input.plan->content.tasks.at("actor_training");
    input.accuracy->content.times.push_back({"run", task, 2.0, 0.01, 1.0, true});
  }
  std::vector<std::vector<std::string>> ranges;
  for (const Section& section : report_content(input).sections) {
    for (const Block& block : section.blocks) {
      if (const Chart* chart = std::get_if<Chart>(&block)) collect_ranges(chart->spec, ranges);
    }
  }
  EXPECT_GE(ranges.size(), 6U);
  for (const auto& colours : ranges)
    EXPECT_EQ(std::set<std::string>(colours.begin(), colours.end()).size(), colours.size());
}

TEST(Breakdown, MoreTermsThanColoursAreMergedAndNamed) {
  Prediction prediction;
  TaskPrediction& task = prediction.tasks["actor_training"];
  for (int term = 0; term < kTermCount; ++term) task.terms_s[static_cast<Term>(term)] = term + 1;
  task.time_s = kTermCount * (kTermCount + 1) / 2.0;
  const Json spec = breakdown_seconds(prediction);
  const Json& names = spec["encoding"]["color"]["scale"]["domain"];
  ASSERT_EQ(names.size(), kColourCount);
  EXPECT_EQ(names.back(), "other terms");
  const std::vector<std::string> merged = merged_terms(prediction);
  EXPECT_EQ(merged.size(), static_cast<std::size_t>(kTermCount) - kColourCount + 1);
  EXPECT_EQ(merged.front(), "compute");  // the smallest
  const Json& rows = spec["data"]["values"];
  ASSERT_EQ(rows.size(), kColourCount);
  EXPECT_EQ(rows.back()["time_s"], 28.0);  // 1 + 2 + ... + 7
  EXPECT_THAT(rows.back()["time"].get<std::string>(), ::testing::HasSubstr("tensor parallel 2.00 s"));
}

TEST(Breakdown, FewTermsKeepTheirColours) {
  EXPECT_THAT(merged_terms(fixture_report(two_cores()).prediction->content), ElementsAre());
}

TEST(LogTicks, AreRoundAndThinOutOverLongRanges) {
  EXPECT_THAT(log_ticks(0.9, 25), ElementsAre(1, 2, 5, 10, 20));
  EXPECT_THAT(log_ticks(1e-3, 3e0), ElementsAre(1e-3, 1e-2, 1e-1, 1));
}

TEST(SecondsAxis, PicksOneUnit) {
  EXPECT_EQ(seconds_axis("time", 12)["title"], "time (s)");
  EXPECT_EQ(seconds_axis("time", 0.2)["title"], "time (ms)");
  EXPECT_EQ(seconds_axis("time", 2e-5)["title"], "time (µs)");
}

TEST(Breakdown, TermsOfATaskAddUpToItsTime) {
  const Prediction prediction = fixture_report(two_cores()).prediction->content;
  std::map<std::string, double> total_s;
  std::map<std::string, double> share;
  const Json spec = breakdown_seconds(prediction);
  for (const Json& row : spec["data"]["values"]) {
    total_s[row["task"]] += row["time_s"].get<double>();
    share[row["task"]] += row["share"].get<double>();
  }
  ASSERT_EQ(total_s.size(), 6U);
  constexpr double kRounding = 1e-12;
  EXPECT_NEAR(total_s["actor training"], prediction.tasks.at("actor_training").time_s, kRounding);
  EXPECT_NEAR(share["actor training"], 1, kRounding);
}

TEST(Timeline, HasABarForEachTaskOnEachDevice) {
  const ReportInput input = fixture_report(two_cores());
  const Json spec = timeline(input.prediction->content, &input.cluster->content);
  std::vector<std::string> on_first;
  for (const Json& row : spec["data"]["values"]) {
    if (row["device"] == "host/0") on_first.push_back(row["task"]);
  }
  EXPECT_THAT(on_first, ElementsAre("actor generation", "reference inference", "actor training"));
  const TaskPrediction& training = input.prediction->content.tasks.at("actor_training");
  const Json& last = spec["data"]["values"][2];
  EXPECT_EQ(last["start_s"], training.start_s);
  EXPECT_EQ(last["end_s"], training.end_s);
}

TEST(Timeline, ManyEqualDevicesShareARow) {
  const ReportInput input = fixture_report(many_gpus(16));
  const Json spec = timeline(input.prediction->content, &input.cluster->content);
  EXPECT_EQ(spec["encoding"]["y"]["sort"], Json({"devices 0-63", "devices 64-127"}));
}

TEST(Memory, IsInGiBWithTheCapacity) {
  Prediction prediction;
  prediction.memory = {{DeviceId{0}, 4.0 * (1 << 30), 1.0 * (1 << 30), 2.0 * (1 << 30)}};
  const Json spec = memory(prediction, nullptr);
  const Json& rows = spec["data"]["values"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["gib"], 1.0);
  EXPECT_EQ(rows[1]["gib"], 2.0);
  EXPECT_EQ(rows[1]["capacity_gib"], 4.0);
}

TEST(Occupancy, NeedsSeveralDevicesButNotTooMany) {
  EXPECT_TRUE(occupancy(fixture_report(one_core()).plan->content).is_null());
  EXPECT_TRUE(occupancy(fixture_report(many_gpus(16)).plan->content).is_null());
  const Json spec = occupancy(fixture_report(two_cores()).plan->content);
  const Json& rows = spec["data"]["values"];
  ASSERT_EQ(rows.size(), 7U);  // generation on both, five tasks on one device each
  EXPECT_EQ(rows[1]["place"], "r1 s0");
}

TEST(LinkMatrix, HasEveryOrderedPairAndItsException) {
  const Cluster cluster = fixture_report(sixteen_gpus()).cluster->content;
  const std::vector<LinkEnd> ends = {{"a", DeviceId{1}}, {"b", DeviceId{2}}, {"c", DeviceId{3}}};
  const Json spec = link_matrix(cluster, ends, LinkProperty::latency);
  const Json& rows = spec["data"]["values"];
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0]["from"], "a");
  EXPECT_EQ(rows[0]["to"], "b");
  EXPECT_EQ(rows[0]["value"], 9e-6);  // the exception; the node's other links have 4 us
  EXPECT_EQ(rows[1]["value"], 4e-6);
  EXPECT_EQ(spec["layer"][0]["encoding"]["color"]["scale"]["domain"], Json({4e-6, 9e-6}));
}

TEST(LinkMatrix, EqualLinksStillHaveAColourRange) {
  const Cluster cluster = fixture_report(two_cores()).cluster->content;
  const Json spec = link_matrix(cluster, {{"a", DeviceId{0}}, {"b", DeviceId{1}}}, LinkProperty::bandwidth);
  const Json& domain = spec["layer"][0]["encoding"]["color"]["scale"]["domain"];
  EXPECT_LT(domain[0], 6.2e9);
  EXPECT_GT(domain[1], 6.2e9);
}

TEST(CoefficientIntervals, EachCoefficientIsOnTheAxisOfItsKind) {
  const std::vector<Coefficient> coefficients = fixture_report(two_cores()).coefficients->content.values;
  std::size_t drawn = 0;
  for (const auto axis : {CoefficientAxis::ratio, CoefficientAxis::weight, CoefficientAxis::seconds}) {
    drawn += coefficient_intervals(coefficients, axis)["data"]["values"].size();
  }
  const auto in_bytes = std::count_if(coefficients.begin(), coefficients.end(), [](const Coefficient& c) {
    return spec_of(c.id).unit == "bytes";  // in the table only
  });
  EXPECT_EQ(drawn + static_cast<std::size_t>(in_bytes), coefficients.size());
}

TEST(CoefficientIntervals, StayWithinTheBoundsAndSayTheStatus) {
  const CoefficientSpec& spec_of_sync = spec_of(CoefficientId::weight_sync_efficiency);
  Coefficient coefficient{spec_of_sync.id, "*", "*", spec_of_sync.lower, 0.5, {}, 0.1, 1e-9, 0.02, true, true};
  const Json spec = coefficient_intervals({coefficient}, CoefficientAxis::ratio);
  const Json& row = spec["data"]["values"][0];
  EXPECT_EQ(row["status"], "at a bound");
  EXPECT_EQ(row["low"], spec_of_sync.lower);
  EXPECT_EQ(row["high"], 0.02);
  coefficient.low.reset();
  const Json without = coefficient_intervals({coefficient}, CoefficientAxis::ratio);
  EXPECT_TRUE(without["data"]["values"][0]["low"].is_null());
  EXPECT_TRUE(coefficient_intervals({coefficient}, CoefficientAxis::seconds).is_null());
}

}  // namespace
}  // namespace sextant::charts
