#include "reports/export/trainers/script_comments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"
#include "tests/reports/export/random_trainer_plans.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Generation on the first node, training on the second, as a planner may have it.
TrainerConfig swapped_pools() {
  TrainerConfig config;
  config.plan = "grpo-portfolio";
  config.pools = {{"trainer", 1, 8, {}}, {"rollout", 1, 8, {}}};
  for (int i = 0; i < 8; ++i) {
    config.pools[0].devices.push_back(DeviceId{8 + i});
    config.pools[1].devices.push_back(DeviceId{i});
  }
  return config;
}

TEST(ScriptComments, ReturnPlanClusterAndPools) {
  const Cluster cluster = gpu_cluster(2);
  const TrainerConfig config = swapped_pools();
  const ScriptComments comments = read_comments(pools_comments(config, cluster));
  EXPECT_EQ(comments.plan, "grpo-portfolio");
  EXPECT_EQ(comments.cluster, cluster.name());
  EXPECT_EQ(pools_of(comments, cluster), config.pools);
}

TEST(ScriptComments, NameModelsByVariable) {
  const std::string line = "# MODEL_PATH: " + model_meaning("the model", "Qwen/Qwen3-14B") + "\n";
  EXPECT_THAT(read_comments("set -e\n" + line + "# see: a, b\n").models,
              ElementsAre(Pair("MODEL_PATH", "Qwen/Qwen3-14B")));
}

// The second node is node2 of a cluster whose nodes have other names; node10 comes after it.
TEST(ScriptComments, NodesOfOtherNamesKeepTheirOrder) {
  ScriptComments comments;
  comments.pools = {"trainer, 1 x 8 GPUs: rack-node10[0-7]", "rollout, 1 x 8 GPUs: rack-node2[0-7]"};
  EXPECT_EQ(pools_of(comments, gpu_cluster(2)), swapped_pools().pools);
}

TEST(ScriptComments, RefuseGpusThatAreNotThere) {
  const Cluster cluster = gpu_cluster(2);
  const std::string node = cluster.nodes().front().name;
  const auto refusal = [&](const std::string& pool) -> std::string {
    ScriptComments comments;
    comments.pools = {pool};
    try {
      (void)pools_of(comments, cluster);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("trainer, 1 x 8 GPUs: " + node + "[0-999999999]"), HasSubstr("has no GPU 999999999"));
  EXPECT_THAT(refusal("trainer, 1 x 8 GPUs: " + node + "[4-11]"), HasSubstr("has no GPU 11"));
  EXPECT_THAT(refusal("trainer, 1 x 8 GPUs: " + node + "[0-3] " + node + "[0-3]"), HasSubstr("wrong number"));
  EXPECT_THAT(refusal("trainer, 2 x 8 GPUs: " + node + "[0-7]"), HasSubstr("wrong number"));
  EXPECT_THAT(refusal("trainer, 1 x 8 GPUs: " + node + "[0-3] other[0-3]"), HasSubstr("no node \"other\""));
  EXPECT_THAT(refusal("trainer"), HasSubstr("without GPUs"));
}

}  // namespace
}  // namespace sextant::test
