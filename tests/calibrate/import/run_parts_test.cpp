#include "calibrate/import/records/run_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/calibrate/import/facts_fixture.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

// ---- clusters ----

TEST(UniformClusterTest, FillsNodesInOneZone) {
  const Cluster cluster = uniform_cluster(load_with().gpu("Tiny"), 10);
  EXPECT_EQ(cluster.name(), "10 x Tiny, 4 a node");
  ASSERT_EQ(cluster.nodes().size(), 3U);
  EXPECT_EQ(cluster.nodes()[0].devices, 4);
  EXPECT_EQ(cluster.nodes()[2].devices, 2);
  EXPECT_EQ(cluster.nodes()[0].network_bytes_per_s, 4e9);
  EXPECT_EQ(cluster.device_count(), 10);
  EXPECT_EQ(cluster.link(DeviceId{0}, DeviceId{3}).bytes_per_s.value, 8e9);
  EXPECT_EQ(cluster.link(DeviceId{0}, DeviceId{9}).bytes_per_s.value, 1e9);
  EXPECT_TRUE(cluster.has_uniform_links());
}

TEST(UniformClusterTest, ScalesTheNetworkWithTheNode) {
  const Gpu tiny = load_with().gpu("Tiny");
  const Cluster cluster = uniform_cluster(tiny, 4, 2);
  EXPECT_EQ(cluster.name(), "4 x Tiny, 2 a node");
  EXPECT_EQ(cluster.nodes()[1].network_bytes_per_s, 2e9);
  EXPECT_EQ(uniform_cluster(tiny, 2, 8).nodes().size(), 1U);
}

TEST(UniformClusterTest, PutsRacksIntoZones) {
  const Gpu& gb200 = published().gpu("GB200");
  const Cluster two_racks = uniform_cluster(gb200, 144);
  const auto rate = [&](int from, int to) {
    return two_racks.link(DeviceId{from}, DeviceId{to}).bytes_per_s.value;
  };
  EXPECT_EQ(rate(0, 3), gb200.within_node.bytes_per_s.value);
  EXPECT_EQ(rate(0, 71), gb200.between_nodes.bytes_per_s.value);
  EXPECT_EQ(rate(71, 72), gb200.between_racks->bytes_per_s.value);
  // Nodes as large as a rack, or as the part of it that a run uses.
  const Cluster racks = uniform_cluster(gb200, 128, 64);
  EXPECT_EQ(racks.link(DeviceId{0}, DeviceId{63}).bytes_per_s.value, gb200.within_node.bytes_per_s.value);
  EXPECT_EQ(racks.link(DeviceId{0}, DeviceId{64}).bytes_per_s.value, gb200.between_racks->bytes_per_s.value);
}

// Five nodes of four in racks of three: three and two.
TEST(UniformClusterTest, NeedsNoMoreRacksThanHoldTheNodes) {
  Gpu gpu = published().gpu("GB200");
  gpu.per_rack = 12;
  const Cluster cluster = uniform_cluster(gpu, 20);
  std::vector<std::string> zones;
  for (const Node& node : cluster.nodes()) zones.push_back(node.zone);
  EXPECT_THAT(zones, ElementsAre("rack0", "rack0", "rack0", "rack1", "rack1"));
}

// ---- plans, workflows, runs ----

TEST(UniformTaskTest, PutsTensorParallelismInnermost) {
  const TaskPlan task = uniform_task({2, 2, 2, 1, 8}, 5);
  ASSERT_EQ(task.replicas.size(), 2U);
  ASSERT_EQ(task.replicas[1].stages.size(), 2U);
  EXPECT_EQ(task.replicas[1].stages[0].layers, 3);
  EXPECT_THAT(task.replicas[1].stages[1].devices, ElementsAre(DeviceId{14}, DeviceId{15}));
}

TEST(UniformTaskTest, TrainersPutThePipelineOutermost) {
  const TaskPlan task = trainer_task({2, 2, 2, 1, 8}, 5);
  ASSERT_EQ(task.replicas.size(), 2U);
  EXPECT_THAT(task.replicas[0].stages[0].devices, ElementsAre(DeviceId{8}, DeviceId{9}));
  EXPECT_THAT(task.replicas[1].stages[0].devices, ElementsAre(DeviceId{10}, DeviceId{11}));
  EXPECT_THAT(task.replicas[0].stages[1].devices, ElementsAre(DeviceId{12}, DeviceId{13}));
  EXPECT_EQ(task.replicas[1].stages[1].layers, 2);
}

TEST(UniformTaskTest, WidensStagesByContextParallelism) {
  const TaskPlan task = uniform_task({1, 1, 2, 4, 0}, 2);
  const Stage& stage = task.replicas[0].stages[0];
  EXPECT_EQ(stage.width(), 8);
  EXPECT_EQ(task.tensor_parallel(stage), 2);
  EXPECT_EQ(task.execution.context_parallel, 4);
}

class AddRunTest : public ::testing::Test {
 protected:
  AddRunTest() : facts_(load_with()), cluster_(uniform_cluster(facts_.gpu("Tiny"), 4)) {}

  [[nodiscard]] Workflow workflow(int sequences) const {
    Workflow workflow;
    workflow.name = "step";
    workflow.algorithm = Algorithm::custom;
    workflow.models["actor"] = facts_.model("Dot-1B");
    workflow.tasks = {{task_names::kActorTraining, TaskKind::training, "actor", {}}};
    workflow.prompts = sequences;
    workflow.prompt_tokens = fixed_length(128);
    workflow.response_tokens = fixed_length(0);
    return workflow;
  }
  [[nodiscard]] static Plan plan(int micro_batch) {
    Plan plan;
    plan.tasks[task_names::kActorTraining] = uniform_task({2, 1, 2, 1, 0}, 4);
    plan.tasks[task_names::kActorTraining].micro_batch_sequences = micro_batch;
    return plan;
  }
  void add(const std::string& name, int sequences, int micro_batch) {
    sextant::Run run;
    run.name = name;
    run.source = RunSource::published;
    run.framework = "test";
    run.iteration.samples_s = {1.5};
    add_run(runs_, run, cluster_, workflow(sequences), plan(micro_batch));
  }

  Facts facts_;
  Cluster cluster_;
  Runs runs_;
};

TEST_F(AddRunTest, SharesWhatIsEqual) {
  add("a", 8, 1);
  add("b", 8, 2);
  add("c", 16, 2);
  add("d", 8, 1);
  EXPECT_EQ(runs_.clusters.size(), 1U);
  EXPECT_EQ(runs_.workflows.size(), 2U);
  EXPECT_EQ(runs_.plans.size(), 2U);
  ASSERT_EQ(runs_.runs.size(), 4U);
  EXPECT_EQ(runs_.runs[0].workflow, "step");
  EXPECT_EQ(runs_.runs[2].workflow, "step (2)");
  EXPECT_EQ(runs_.runs[3].workflow, "step");
  EXPECT_EQ(runs_.runs[0].plan, "actor_training dp2 tp2 pp1 on 0-3");
  EXPECT_THAT(runs_.runs[1].plan, EndsWith(" (2)"));
  EXPECT_EQ(runs_.plan_of(runs_.runs[1]).name, runs_.runs[1].plan);
}

TEST_F(AddRunTest, MakesADocumentThatCanBeRead) {
  add("a", 8, 1);
  add("b", 16, 2);
  const Json json = runs_.to_json();
  EXPECT_EQ(Runs::parse(JsonView(json)), runs_);
}

TEST_F(AddRunTest, RefusesWhatCannotRunAndLeavesTheDocument) {
  EXPECT_EQ(refusal_of([&] { add("a", 1, 1); }),
            "run \"a\": /plan/tasks/actor_training/replicas: 2 replicas for 1 sequences");
  EXPECT_THAT(runs_.runs, IsEmpty());
  EXPECT_TRUE(runs_.clusters.empty() && runs_.workflows.empty() && runs_.plans.empty());
  add("a", 8, 1);
  EXPECT_EQ(refusal_of([&] { add("a", 8, 1); }), "run \"a\": another run has this name");
}

}  // namespace
}  // namespace sextant
