// Whole workflows on one rank.
#include <gtest/gtest.h>

#include "probes/proxy/proxy.h"
#include "tests/probes/proxy/fixture.h"

namespace sextant {
namespace {

Run run_serially(const Workflow& workflow, const ProxyOptions& options) {
  const auto world = make_serial_communicator();
  return run_proxy(*world, test::make_cluster(1), workflow, test::plan_all(workflow, test::uniform(1, 1, 1)),
                   options);
}

ProxyOptions exactly(int iterations) {
  ProxyOptions options;
  options.min_iterations = options.max_iterations = iterations;
  options.target_spread_fraction = 0;
  return options;
}

TEST(RunProxy, MeasuresEveryTaskOfEveryAlgorithm) {
  for (const Workflow& workflow : {test::small_grpo(), test::small_ppo()}) {
    const sextant::Run run = run_serially(workflow, exactly(2));
    EXPECT_EQ(run.iteration.samples_s.size(), 2U);
    EXPECT_EQ(run.tasks.size(), workflow.tasks.size() + 1);
    double sum_s = 0;
    for (const auto& [task, timing] : run.tasks) {
      EXPECT_EQ(timing.samples_s.size(), 2U) << task;
      EXPECT_GT(timing.samples_s.back(), 0) << task;
      sum_s += timing.samples_s.back();
    }
    // On one rank tasks run one after another, so the iteration holds them all.
    EXPECT_GT(run.iteration.samples_s.back(), sum_s);
    EXPECT_EQ(run.workflow, workflow.name);
    EXPECT_EQ(run.cluster, "test");
  }
}

TEST(RunProxy, SaysWhyItStopped) {
  EXPECT_NE(run_serially(test::small_grpo(), exactly(2)).notes.at("stopped").find("most iterations"),
            std::string::npos);
  ProxyOptions no_time;
  no_time.budget_s = 0;
  const sextant::Run run = run_serially(test::small_grpo(), no_time);
  EXPECT_NE(run.notes.at("stopped").find("budget"), std::string::npos);
  EXPECT_EQ(run.iteration.samples_s.size(), 1U);
  ProxyOptions lenient;
  lenient.target_spread_fraction = 1e9;
  EXPECT_EQ(run_serially(test::small_grpo(), lenient).iteration.samples_s.size(), 3U);
}

TEST(RunProxy, RunsGrpoWithoutRewardModel) {
  Workflow workflow = test::small_grpo();
  workflow.tasks = grpo_tasks(false);
  EXPECT_EQ(run_serially(workflow, exactly(1)).tasks.size(), 4U);
}

TEST(RunProxy, RunsVaryingLengthsAndMiniBatches) {
  Workflow workflow = test::small_ppo();
  workflow.prompt_tokens = {LengthKind::lognormal, {}, {}, 5, 0.5, 12};
  workflow.response_tokens = {LengthKind::lognormal, {}, {}, 6, 1.0, 30};
  workflow.mini_batches = 3;
  EXPECT_EQ(run_serially(workflow, exactly(2)).iteration.samples_s.size(), 2U);
}

TEST(ProxySession, SameSeedGeneratesTheSameAndOthersDoNot) {
  const Workflow workflow = test::small_grpo();
  const Plan plan = test::plan_all(workflow, test::uniform(1, 1, 1));
  const auto world = make_serial_communicator();
  const auto fingerprint = [&](unsigned seed) {
    ProxySession session(*world, test::make_cluster(1), workflow, plan, seed);
    session.iterate();
    session.iterate();
    return session.generated_token_sum();
  };
  EXPECT_EQ(fingerprint(1), fingerprint(1));
  EXPECT_NE(fingerprint(1), fingerprint(2));
}

}  // namespace
}  // namespace sextant
