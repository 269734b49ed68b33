// sextant plan --pin and --pin-from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/search.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Two devices.
class PlanPins : public ::testing::Test {
 protected:
  [[nodiscard]] Printed plan(std::vector<std::string> more) const {
    more.insert(more.end(), {"--coefficients", "none", "--evaluations", "2000"});
    return run_sextant(folder_.without_plan("plan", more));
  }
  [[nodiscard]] static std::string name_of(int device) {
    return test::two_cores().device_name(DeviceId{device});
  }
  [[nodiscard]] static std::string training_on(int device) { return "actor_training=" + name_of(device); }
  void expect_refused(const std::vector<std::string>& more, const std::string& says) const {
    const Printed printed = plan(more);
    EXPECT_EQ(printed.exit_code, 2) << says;
    EXPECT_EQ(printed.out, "");
    EXPECT_THAT(printed.err, StartsWith("sextant: " + says));
    EXPECT_EQ(lines_of(printed.err).size(), 1U) << printed.err;
  }

  TinyFolder folder_;
};

TEST_F(PlanPins, AreObeyedAndRecorded) {
  const std::string out = folder_.file("best.json"), search = folder_.file("search.json");
  for (const int device : {0, 1}) {
    const Printed printed = plan({"--pin", training_on(device), "--out", out, "--search-out", search});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("\npinned: actor_training to 1 device\n"));
    const std::set<DeviceId> there{DeviceId{device}};
    EXPECT_EQ(load_document<Plan>(out).content.tasks.at("actor_training").devices(), there);
    const SearchRecord record = load_document<SearchRecord>(search).content;
    EXPECT_EQ(record.pins, (std::map<std::string, std::set<DeviceId>>{{"actor_training", there}}));
    EXPECT_TRUE(record.pinned_layouts.empty());
  }
}

TEST_F(PlanPins, SeveralDevicesAndSeveralTasks) {
  const std::string out = folder_.file("best.json");
  const Printed printed = plan({"--pin", "actor_training=" + name_of(1) + "," + name_of(0), "--pin",
                                "actor_generation=" + name_of(1), "--out", out});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const Plan plan = load_document<Plan>(out).content;
  EXPECT_EQ(plan.tasks.at("actor_training").devices().size(), 2U);
  EXPECT_EQ(plan.tasks.at("actor_generation").devices(), std::set<DeviceId>{DeviceId{1}});
}

TEST_F(PlanPins, ALayoutStaysAsItIs) {
  Plan given = tiny_plan(2, 1, 1);
  given.tasks.at("actor_training").micro_batch_sequences = 2;
  const std::string from = folder_.file("given.json"), out = folder_.file("best.json"),
                    search = folder_.file("search.json");
  save_document(from, given);
  const Printed printed = plan(
      {"--pin-from", from + ":actor_training", "--micro-batches", "1", "--out", out, "--search-out", search});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("actor_training to 2 devices, with the given layout"));
  EXPECT_EQ(load_document<Plan>(out).content.tasks.at("actor_training"), given.tasks.at("actor_training"));
  EXPECT_EQ(load_document<SearchRecord>(search).content.pinned_layouts,
            std::set<std::string>{"actor_training"});
}

// The second device is the first of what is left, and the plan says the second.
TEST_F(PlanPins, HoldWhereDevicesAreExcluded) {
  const std::string out = folder_.file("best.json"), search = folder_.file("search.json");
  const Printed printed =
      plan({"--exclude", name_of(0), "--pin", training_on(1), "--out", out, "--search-out", search});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const std::set<DeviceId> there{DeviceId{1}};
  EXPECT_EQ(load_document<Plan>(out).content.tasks.at("actor_training").devices(), there);
  EXPECT_EQ(load_document<SearchRecord>(search).content.pins.at("actor_training"), there);
  expect_refused({"--exclude", name_of(0), "--pin", training_on(0)},
                 "task actor_training is pinned to " + name_of(0) + ", which is excluded");
}

TEST_F(PlanPins, HoldForSeveralPlans) {
  const Cluster cluster = test::two_cores();
  auto types = cluster.device_types();
  for (auto& [name, type] : types) type.price_usd_per_hour = assumed(1.0);
  save_document(folder_.file("cluster.json"),
                Cluster(cluster.name(), types, cluster.nodes(), cluster.levels(), cluster.exceptions()));
  for (const std::vector<std::string>& several :
       {std::vector<std::string>{"--pareto", "3"}, {"--compare-modes"}}) {
    std::vector<std::string> all = several;
    all.insert(all.end(), {"--json", "--exclude", name_of(0), "--pin", training_on(1)});
    const Printed printed = plan(all);
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    const Json plans = parse_json(printed.out);
    ASSERT_GE(plans.size(), 1U);
    for (const Json& one : plans) {
      const Plan parsed = Plan::parse(JsonView(one["plan"]));
      EXPECT_EQ(parsed.tasks.at("actor_training").devices(), std::set<DeviceId>{DeviceId{1}});
    }
  }
}

TEST_F(PlanPins, ThatAreWrong) {
  const std::string from = folder_.file("plan.json");
  expect_refused({"--pin", "actor_trainning=" + name_of(0)},
                 "--pin actor_trainning=" + name_of(0) +
                     ": workflow tiny has no task \"actor_trainning\"; did you mean actor_training? (tasks: ");
  expect_refused({"--pin", "actor_training=nowhere"}, "--pin actor_training=nowhere: cluster ");
  expect_refused({"--pin", "actor_training="}, "--pin actor_training=: expected a node, device");
  expect_refused({"--pin", training_on(0) + ","}, "--pin " + training_on(0) + ",: expected a node, device");
  expect_refused({"--pin", "actor_training"}, "--pin actor_training: expected TASK=DEVICES");
  expect_refused({"--pin", "=" + name_of(0)}, "--pin =" + name_of(0) + ": expected TASK=DEVICES");
  expect_refused({"--pin", training_on(0) + "," + name_of(0)},
                 "--pin " + training_on(0) + "," + name_of(0) + ": " + name_of(0) + " is listed twice");
  expect_refused({"--pin", training_on(0), "--pin", training_on(1)},
                 "--pin " + training_on(1) + ": task actor_training is pinned twice");
  expect_refused({"--pin", training_on(0), "--pin-from", from + ":actor_training"},
                 "--pin-from " + from + ":actor_training: task actor_training is pinned twice");
  expect_refused({"--pin-from", from}, "--pin-from " + from);
  expect_refused({"--pin-from", from + ":nobody"},
                 "--pin-from " + from + ":nobody: workflow tiny has no task \"nobody\"");
  expect_refused({"--pin-from", folder_.file("none.json") + ":actor_training"}, "--pin-from ");
}

TEST_F(PlanPins, ThatThePlannerCannotKeep) {
  expect_refused({"--planner", "two-phase", "--pin", training_on(0)},
                 "--pin: not supported by planner two-phase; supported by portfolio, sha-ea, exact, ");
}

TEST_F(PlanPins, OfAProof) {
  const std::string out = folder_.file("proved.json"), search = folder_.file("proof.json");
  const Printed printed =
      plan({"--planner", "exact", "--pin", training_on(1), "--out", out, "--search-out", search});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(load_document<Plan>(out).content.tasks.at("actor_training").devices(),
            std::set<DeviceId>{DeviceId{1}});
  EXPECT_EQ(load_document<SearchRecord>(search).content.proof, Proof::optimal);
}

// The plan to begin with was made without the pin.
TEST_F(PlanPins, ThatAWarmStartBreaks) {
  const std::string from = folder_.file("elsewhere.json");
  ASSERT_EQ(plan({"--planner", "exact", "--pin", training_on(0), "--out", from}).exit_code, 0);
  expect_refused({"--planner", "exact", "--warm-start", from, "--pin", training_on(1)},
                 from + ": the plan cannot be run, so the search cannot start from it: ");
}

// Training does not fit anywhere.
TEST_F(PlanPins, WithoutAPlanAreNo) {
  save_document(folder_.file("cluster.json"), with_memory(test::two_cores(), 1e4));
  const Printed printed = plan({"--pin", training_on(0)});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.err, HasSubstr("changing a --pin may help"));
}

}  // namespace
}  // namespace sextant::test
