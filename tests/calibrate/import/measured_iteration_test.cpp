#include "calibrate/import/records/measured_iteration.h"

#include <gtest/gtest.h>

#include "tests/calibrate/import/facts_fixture.h"

namespace sextant {
namespace {

TEST(MeasuredIterationTest, FindsLengthsWithAMean) {
  for (const double mean : {10.0, 500.0, 900.0, 980.0}) {
    EXPECT_NEAR(lengths_with_mean(mean, kUsualSigma, 1000).mean_tokens(), mean, 1e-6 * mean) << mean;
  }
  EXPECT_EQ(lengths_with_mean(1000, kUsualSigma, 1000), fixed_length(1000));
}

TEST(MeasuredIterationTest, FindsLengthsWithALongest) {
  const Lengths lengths = lengths_with_longest(200, 900, 1024, 4096);
  EXPECT_NEAR(lengths.mean_tokens(), 200, 1e-3);
  EXPECT_NEAR(lengths.longest_of(1024), 900, 1);
  EXPECT_EQ(lengths_with_longest(200, 5000, 1024, 4096), lengths_with_mean(200, kUsualSigma, 4096));
}

// A serving engine has its share of the GPU's memory, less its weights in bf16.
TEST(MeasuredIterationTest, EnginesKeepKeysAndValuesInTheirShareOfMemory) {
  MeasuredIteration iteration;
  iteration.name = iteration.framework = "engine";
  iteration.gpu = load_with().gpu("Tiny");
  const Model model = load_with().model("Dot-1B");
  iteration.models["actor"] = model;
  iteration.prompt_tokens = iteration.response_tokens = fixed_length(10);
  MeasuredTask generation;
  generation.name = task_names::kActorGeneration;
  generation.execution.continuous_batching = true;
  generation.memory_fraction = 0.5;
  iteration.tasks = {generation};
  iteration.timers[generation.name] = {2.0};
  Imported imported;
  add_measured_iteration(imported, iteration);
  ASSERT_EQ(imported.runs.plans.size(), 1U)
      << (imported.left_out.empty() ? "" : imported.left_out.front().reason);
  const TaskPlan& plan = imported.runs.plans.begin()->second.tasks.at(generation.name);
  EXPECT_DOUBLE_EQ(plan.execution.kv_cache_bytes, 0.5 * 1e9 - 2 * model.parameters());
}

}  // namespace
}  // namespace sextant
