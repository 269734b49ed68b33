#include "documents/experiments.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

TEST(ExperimentsTest, HoldsWorkflowsPlansAndTheirOrder) {
  const auto all = load_fixture<Experiments>("experiments.json");
  ASSERT_EQ(all.experiments.size(), 3U);
  EXPECT_EQ(all.experiments[1], (Experiment{"ppo-mixed-2", "ppo-small", "ppo-mixed"}));
  EXPECT_EQ(all.experiments[2].name, "grpo-split-1");
  EXPECT_EQ(all.workflows.at("ppo-small"), load_fixture<Workflow>("workflow_ppo.json"));
  auto plan = load_fixture<Plan>("plan_grpo.json");
  take_as_stated(plan);  // the proxy runs one sequence at a time where a plan does not say
  EXPECT_EQ(all.plans.at("grpo-split"), plan);
}

// Experiments may share a workflow and a plan, but not a name: runs are found by it.
TEST(ExperimentsTest, RefusesTwoOfOneName) {
  Json json = fixture_body("experiments.json");
  json["experiments"][1]["name"] = "ppo-mixed-1";
  EXPECT_EQ(refusal_as<Experiments>(json), "/experiments/1/name: another experiment has this name");
}

TEST(ExperimentsTest, RefusesUnknownReferences) {
  Json json = fixture_body("experiments.json");
  json["experiments"][2]["workflow"] = "w";
  EXPECT_EQ(refusal_as<Experiments>(json), "/experiments/2/workflow: unknown workflow \"w\"");
  json = fixture_body("experiments.json");
  json["experiments"][0]["plan"] = "p";
  EXPECT_EQ(refusal_as<Experiments>(json), "/experiments/0/plan: unknown plan \"p\"");
}

TEST(ExperimentsTest, RefusesFaultsInsideItsParts) {
  Json json = fixture_body("experiments.json");
  json["workflows"]["ppo-small"]["prompts"] = 0;
  EXPECT_EQ(refusal_as<Experiments>(json), "/workflows/ppo-small/prompts: expected an integer >= 1, got 0");
  json = fixture_body("experiments.json");
  json["experiments"][0]["repeat"] = 2;
  EXPECT_EQ(refusal_as<Experiments>(json),
            "/experiments/0/repeat: unknown member; known ones are name, workflow, plan");
  json = fixture_body("experiments.json");
  json.erase("plans");
  EXPECT_EQ(refusal_as<Experiments>(json), "missing member \"plans\"");
}

}  // namespace
}  // namespace sextant
