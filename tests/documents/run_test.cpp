#include "sextant/run.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

TEST(RunsTest, RefersToItsClustersWorkflowsAndPlans) {
  const auto runs = load_fixture<Runs>("runs.json");
  ASSERT_EQ(runs.runs.size(), 2U);
  const auto& run = runs.runs[0];
  EXPECT_EQ(runs.cluster_of(run), load_fixture<Cluster>("cluster.json"));
  EXPECT_EQ(runs.workflow_of(run), load_fixture<Workflow>("workflow_grpo.json"));
  auto plan = load_fixture<Plan>("plan_grpo.json");
  take_as_stated(plan);  // what was run had micro-batches of one sequence where its plan does not say
  EXPECT_EQ(runs.plan_of(run), plan);
  EXPECT_EQ(run.iteration.median_s(), 1.9);
  EXPECT_NEAR(run.iteration.spread_fraction(), 0.02 / 1.9, 1e-12);  // 1.87 to 1.91
  EXPECT_EQ(run.tasks.at(kWeightSync).samples_s.size(), 3U);
  EXPECT_EQ(run.source, RunSource::proxy);
}

TEST(RunsTest, RefusesUnknownReferences) {
  Json json = fixture_body("runs.json");
  json["runs"][1]["plan"] = "p";
  EXPECT_EQ(refusal_as<Runs>(json), "/runs/1/plan: unknown plan \"p\"; expected a member of /plans");
  json = fixture_body("runs.json");
  json["runs"][0]["cluster"] = "c";
  EXPECT_EQ(refusal_as<Runs>(json), "/runs/0/cluster: unknown cluster \"c\"; expected a member of /clusters");
}

TEST(RunsTest, RefusesARunOfAllFrameworks) {
  Json json = fixture_body("runs.json");
  json["runs"][1]["framework"] = "*";
  EXPECT_EQ(refusal_as<Runs>(json),
            "/runs/1/framework: expected the name of a framework; \"*\" stands for all of them");
}

TEST(RunsTest, ChecksThePlansOfItsRuns) {
  Json json = fixture_body("runs.json");
  json["plans"]["ppo-mixed"]["tasks"]["actor_training"]["replicas"][0]["stages"][1]["devices"][0] = 9;
  EXPECT_EQ(refusal_as<Runs>(json),
            "/plans/ppo-mixed/tasks/actor_training/replicas/0/stages/1/devices/0: unknown device 9; the "
            "cluster has 8 "
            "(0 to 7)");
}

TEST(RunsTest, PathsOfWhatIsInsideAreWhole) {
  Json json = fixture_body("runs.json");
  json["clusters"]["two-kinds"]["links"].erase("between_regions");
  EXPECT_EQ(
      refusal_as<Runs>(json),
      "/clusters/two-kinds/links/between_regions: missing; nodes \"virginia-0\" and \"ohio-0\" meet there");
  json = fixture_body("runs.json");
  json["workflows"]["ppo-small"]["mini_batches"] = 65;
  EXPECT_EQ(refusal_as<Runs>(json),
            "/workflows/ppo-small/mini_batches: expected at most the 64 sequences of a global batch, got 65");
}

TEST(RunsTest, RefusesTimesThatCannotBe) {
  Json json = fixture_body("runs.json");
  json["runs"][0]["tasks"]["critic_training"] = json["runs"][0]["iteration"];
  EXPECT_EQ(refusal_as<Runs>(json),
            "/runs/0/tasks/critic_training: no task of workflow \"grpo-small\" is named \"critic_training\"");
  json = fixture_body("runs.json");
  json["runs"][0]["iteration"]["samples_s"] = Json::array();
  EXPECT_EQ(refusal_as<Runs>(json), "/runs/0/iteration/samples_s: expected at least one sample");
  json["runs"][0]["iteration"]["samples_s"] = {1.5, -1};
  EXPECT_EQ(refusal_as<Runs>(json), "/runs/0/iteration/samples_s/1: expected a number > 0, got -1");
}

TEST(RunsTest, TimersSayWhatTheyHold) {
  Json json = fixture_body("runs.json");
  json["runs"][0]["waits"] = {{"actor_generation", {{"samples_s", {0.0, 0.5}}}}};
  json["runs"][0]["elapsed"] = {{"reference_inference", {{"samples_s", {0.25}}}}};
  const auto runs = parse_as<Runs>(json);
  EXPECT_EQ(runs.runs[0].waits.at("actor_generation").median_s(), 0.25);
  EXPECT_EQ(runs.runs[0].elapsed.at("reference_inference").median_s(), 0.25);
  EXPECT_EQ(parse_as<Runs>(runs.to_json()), runs);
  json["runs"][0]["elapsed"]["reference_inference"]["samples_s"] = {0.0};  // only a wait may be nothing
  EXPECT_EQ(refusal_as<Runs>(json),
            "/runs/0/elapsed/reference_inference/samples_s/0: expected a number > 0, got 0");
  json["runs"][0]["elapsed"] = Json::object();
  json["runs"][0]["waits"] = {{"weight_sync", {{"samples_s", {1}}}}};
  EXPECT_EQ(refusal_as<Runs>(json),
            "/runs/0/waits/weight_sync: no task of the workflow is named \"weight_sync\"");
}

TEST(RunsTest, NamesAreUnique) {
  Json json = fixture_body("runs.json");
  json["runs"][1]["name"] = json["runs"][0]["name"];
  EXPECT_EQ(refusal_as<Runs>(json), "/runs/1/name: another run is named \"grpo-split-1\" too");
}

}  // namespace
}  // namespace sextant
