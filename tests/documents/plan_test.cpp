#include "sextant/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;

std::vector<int> numbers_of(const std::vector<DeviceId>& devices) {
  std::vector<int> out;
  out.reserve(devices.size());
  for (const DeviceId device : devices) out.push_back(device.value);
  return out;
}

TaskPlan shared(const std::vector<double>& shares) {
  TaskPlan task;
  for (const double share : shares) task.replicas.push_back({share, {{1, {DeviceId{task.data_parallel()}}}}});
  return task;
}

TaskPlan ranked(const std::vector<int>& ranks) {
  TaskPlan task = shared(std::vector<double>(ranks.size(), 1.0 / static_cast<double>(ranks.size())));
  for (std::size_t i = 0; i < ranks.size(); ++i) task.replicas[i].length_rank = ranks[i];
  return task;
}

Plan parse_task(const std::string& text) {
  const Json json = parse_json(R"({"name": "p", "tasks": {"t": )" + text + "}}");
  return parse_as<Plan>(json);
}

std::string task_refusal(const std::string& text) {
  return refusal_of([&text] { (void)parse_task(text); });
}

// Stage j of replica i has devices first + (i PP + j) TP + 0 .. TP - 1; 7 layers on 2 stages are 4 and 3.
TEST(PlanTest, ExpandsALayout) {
  const std::vector<Replica> replicas = expand_layout({2, 2, 3, DeviceId{10}}, 7);
  ASSERT_EQ(replicas.size(), 2U);
  EXPECT_EQ(replicas[0].batch_share, 0.5);
  EXPECT_EQ(replicas[0].stages[0].layers, 4);
  EXPECT_EQ(replicas[0].stages[1].layers, 3);
  EXPECT_THAT(numbers_of(replicas[0].stages[0].devices), ElementsAre(10, 11, 12));
  EXPECT_THAT(numbers_of(replicas[0].devices()), ElementsAre(10, 11, 12, 13, 14, 15));
  EXPECT_THAT(numbers_of(replicas[1].stages[1].devices), ElementsAre(19, 20, 21));
}

TEST(PlanTest, CompactAndExpandedTasksAreTheSame) {
  const Plan compact = parse_task(
      R"({"data_parallel": 2, "pipeline_parallel": 2, "tensor_parallel": 2, "devices": {"first": 1, "count": 8},
          "outermost": "replicas", "layers": 3, "micro_batch_sequences": 8, "recompute": true})");
  const Plan expanded = parse_task(
      R"({"replicas": [{"batch_share": 0.5, "stages": [{"layers": 2, "devices": [1, 2]}, {"layers": 1, "devices": [3, 4]}]},
                       {"batch_share": 0.5, "stages": [{"layers": 2, "devices": [5, 6]}, {"layers": 1, "devices": [7, 8]}]}],
          "micro_batch_sequences": 8, "recompute": true})");
  EXPECT_EQ(compact, expanded);
  EXPECT_EQ(compact.to_json()["tasks"]["t"].contains("data_parallel"), true);  // as short as it can be
}

// Megatron's order: stage j of replica i has devices first + (j DP + i) TP + 0 .. TP - 1.
TEST(PlanTest, PutsTheReplicasOfAStageNextToEachOther) {
  const auto task = [](const std::string& outermost) {
    return parse_task(R"({"data_parallel": 2, "pipeline_parallel": 2, "tensor_parallel": 3,
        "devices": {"first": 10, "count": 12}, "layers": 4)" +
                      outermost + "}");
  };
  const Plan plan = task(R"(, "outermost": "stages")");
  const std::vector<Replica>& replicas = plan.tasks.at("t").replicas;
  EXPECT_THAT(numbers_of(replicas[0].devices()), ElementsAre(10, 11, 12, 16, 17, 18));
  EXPECT_THAT(numbers_of(replicas[1].devices()), ElementsAre(13, 14, 15, 19, 20, 21));
  EXPECT_EQ(plan.to_json()["tasks"]["t"]["outermost"], "stages");
  EXPECT_EQ(parse_as<Plan>(plan.to_json()), plan);
  EXPECT_FALSE(plan.tasks.at("t").unstated.outermost);
  EXPECT_TRUE(task("").tasks.at("t").unstated.outermost);
  EXPECT_FALSE(task("").to_json()["tasks"]["t"].contains("outermost"));
  EXPECT_FALSE(task("").to_json()["tasks"]["t"].contains("execution"));
  Plan changed = task("");
  changed.tasks.at("t").execution.packed = true;
  changed.tasks.at("t").recompute = Recompute::full;
  EXPECT_EQ(changed.to_json()["tasks"]["t"]["execution"], (Json{{"packed", true}}));
  EXPECT_EQ(changed.to_json()["tasks"]["t"]["recompute"], "full");
  EXPECT_NE(task_refusal(R"({"data_parallel": 1, "pipeline_parallel": 1, "tensor_parallel": 1,
      "devices": {"count": 1}, "layers": 4, "outermost": "experts"})")
                .find("/outermost"),
            std::string::npos);
}

TEST(PlanTest, KnowsWhetherAMicroBatchIsStated) {
  const auto task = [](const char* more) {
    return parse_as<Plan>(parse_json(std::string(R"({"name": "p", "tasks": {"t": {"data_parallel": 1,
        "pipeline_parallel": 1, "tensor_parallel": 1, "devices": {"count": 1}, "layers": 2)") +
                                     more + "}}}"));
  };
  const Plan unstated = task(""), stated = task(R"(, "micro_batch_sequences": 1)");
  EXPECT_FALSE(states_all(unstated));
  EXPECT_TRUE(states_all(stated));
  EXPECT_EQ(parse_as<Plan>(unstated.to_json()), unstated);
  EXPECT_EQ(parse_as<Plan>(stated.to_json()), stated);
  Plan run = unstated, same = stated;
  take_as_stated(run);
  take_as_stated(same);
  EXPECT_EQ(run, same);
}

TEST(PlanTest, RefusesCompactTasksThatDoNotAddUp) {
  EXPECT_EQ(
      task_refusal(
          R"({"data_parallel": 2, "pipeline_parallel": 2, "tensor_parallel": 2, "devices": {"count": 7}, "layers": 3})"),
      "/tasks/t/devices/count: expected data_parallel * pipeline_parallel * tensor_parallel = 2 * 2 * 2 "
      "devices, "
      "got 7");
  EXPECT_EQ(
      task_refusal(
          R"({"data_parallel": 1, "pipeline_parallel": 2, "tensor_parallel": 1, "devices": {"count": 2}})"),
      "/tasks/t: missing member \"layers\"");
  EXPECT_EQ(
      task_refusal(
          R"({"data_parallel": 1, "pipeline_parallel": 2, "tensor_parallel": 1, "devices": {"count": 2}, "layers": 1})"),
      "/tasks/t/layers: expected at least one layer for each of the 2 stages, got 1");
  EXPECT_EQ(task_refusal(R"({"data_parallel": 1, "pipeline_parallel": 1, "tensor_parallel": 2, "layers": 1,
                       "devices": {"first": 2147483646, "count": 2}})"),
            "/tasks/t/devices/first: a device number beyond what can be counted");
  EXPECT_EQ(
      task_refusal(
          R"({"data_parallel": 2000000000, "pipeline_parallel": 2000000000, "tensor_parallel": 1, "layers": 1,
                       "devices": {"count": 2000000000}})"),
      "/tasks/t/devices/count: expected an integer from 1 to 1000000, got 2000000000");
  EXPECT_EQ(task_refusal("{}"),
            "/tasks/t: missing member \"replicas\" (or \"data_parallel\", ... of a compact task)");
  EXPECT_EQ(task_refusal(R"({"replicas": [], "data_parallel": 1})").substr(0, 39),
            "/tasks/t/data_parallel: unknown member;");
}

TEST(PlanTest, RefusesEmptyParts) {
  EXPECT_EQ(task_refusal(R"({"replicas": []})"), "/tasks/t/replicas: expected at least one replica");
  EXPECT_EQ(task_refusal(R"({"replicas": [{"batch_share": 1, "stages": []}]})"),
            "/tasks/t/replicas/0/stages: expected at least one stage");
  EXPECT_EQ(task_refusal(R"({"replicas": [{"batch_share": 1, "stages": [{"layers": 1, "devices": []}]}]})"),
            "/tasks/t/replicas/0/stages/0/devices: expected at least one device");
}

TEST(PlanTest, SharesSumToOne) {
  const auto shares = [](const std::string& a, const std::string& b) {
    return R"({"replicas": [{"batch_share": )" + a +
           R"(, "stages": [{"layers": 1, "devices": [0]}]}, {"batch_share": )" + b +
           R"(, "stages": [{"layers": 1, "devices": [1]}]}]})";
  };
  EXPECT_NO_THROW((void)parse_task(shares("0.333333", "0.666667")));
  EXPECT_EQ(task_refusal(shares("0.5", "0.25")), "/tasks/t/replicas: the batch shares sum to 0.75, not to 1");
  EXPECT_EQ(task_refusal(shares("0", "1")), "/tasks/t/replicas/0/batch_share: expected a number > 0, got 0");
  EXPECT_EQ(task_refusal(shares("1.5", "1")), "/tasks/t/replicas/0/batch_share: expected a share of at most 1");
}

TEST(PlanTest, SequencesGoByLargestRemainder) {
  EXPECT_THAT(replica_sequences(shared({0.5, 0.5}), 7), ElementsAre(4, 3));
  EXPECT_THAT(replica_sequences(shared({0.75, 0.25}), 64), ElementsAre(48, 16));
  EXPECT_THAT(replica_sequences(shared({0.2, 0.35, 0.45}), 10), ElementsAre(2, 4, 4));  // 2, 3.5, 4.5
  EXPECT_THAT(replica_sequences(shared({1.0 / 3, 1.0 / 3, 1.0 / 3}), 3), ElementsAre(1, 1, 1));
  // Shares written with few digits: a sum of 1.00001 must not hand out sequences that are not there.
  EXPECT_THAT(replica_sequences(shared({0.333337, 0.333337, 0.333336}), 3000000),
              ElementsAre(1000001, 1000001, 999998));
}

TEST(PlanTest, SequencesAlwaysSumUp) {
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> draw(0.01, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> shares(1 + random() % 9);
    for (double& share : shares) share = draw(random);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    const int sequences = static_cast<int>(random() % 5000);
    const std::vector<int> counts = replica_sequences(shared(shares), sequences);
    ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), 0), sequences);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      ASSERT_LT(std::abs(counts[i] - shares[i] * sequences), 1 + 1e-6);
    }
  }
}

TEST(PlanTest, DescribesItselfInALine) {
  const auto plan = load_fixture<Plan>("plan_grpo.json");
  EXPECT_EQ(describe(plan.tasks.at("actor_generation")), "dp2 tp2 pp1 on 4-7");
  EXPECT_EQ(describe(plan),
            "actor_generation dp2 tp2 pp1 on 4-7; actor_training dp1 tp2 pp2 on 0-3; "
            "reference_inference dp1 tp4 pp1 on 0-3");
  EXPECT_EQ(describe(load_fixture<Plan>("plan.json").tasks.at("actor_generation")), "dp2 tp2-4 pp1-2 on 0-7");
  EXPECT_EQ(describe(TaskPlan{}), "on no device");
  TaskPlan apart = shared({0.5, 0.5});
  apart.replicas[1].stages[0].devices = {DeviceId{4}};
  EXPECT_EQ(describe(apart), "dp2 tp1 pp1 on 0,4");
}

// Ranks need not start at 0 nor follow each other.
TEST(LengthRanks, ReplicasOfOneShareThePartOfTheBatch) {
  using Ranges = std::vector<SequenceRange>;
  EXPECT_EQ(length_ranges(ranked({1, 0}), {7, 5}), (Ranges{{5, 12}, {0, 5}}));
  EXPECT_EQ(length_ranges(ranked({0, 4, 4}), {2, 3, 4}), (Ranges{{0, 2}, {2, 9}, {2, 9}}));
  EXPECT_EQ(length_ranges(ranked({3, 3}), {7, 5}), (Ranges{{0, 12}, {0, 12}}));
  EXPECT_TRUE(deals_by_length(ranked({0, 1})));
  EXPECT_FALSE(deals_by_length(ranked({3, 3})));
}

TEST(LengthRanks, AreInTheDocumentWhereTheyAreNotZero) {
  Plan plan;
  plan.name = "p";
  plan.tasks["t"] = ranked({0, 1});
  const Json json = plan.to_json();
  EXPECT_FALSE(json.at("tasks").at("t").at("replicas").at(0).contains("length_rank"));
  EXPECT_EQ(json.at("tasks").at("t").at("replicas").at(1).at("length_rank"), 1);
  EXPECT_EQ(parse_as<Plan>(json), plan);
  EXPECT_EQ(task_refusal(R"({"replicas": [{"batch_share": 1, "length_rank": -1, "stages": []}]})"),
            "/tasks/t/replicas/0/length_rank: expected an integer >= 0, got -1");
}

}  // namespace
}  // namespace sextant
