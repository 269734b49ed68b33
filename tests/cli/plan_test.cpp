#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "costmodel/vocabulary/prediction.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PlanCommand, WritesAPlanThatPredictReads) {
  const TinyFolder folder;
  const std::string plan = folder.file("best.json"), prediction = folder.file("prediction.json");
  const Printed printed = run_sextant(
      folder.without_plan("plan", {"--coefficients", "none", "--out", plan, "--prediction", prediction}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + plan + "\nwrote " + prediction + "\n");
  EXPECT_THAT(printed.out, StartsWith("best of "));
  EXPECT_THAT(printed.out, HasSubstr("\nactor_generation"));
  const Printed again =
      run_sextant(folder.without_plan("predict", {"--coefficients", "none", "--plan", plan, "--json"}));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(parse_document<Prediction>(again.out).content, load_document<Prediction>(prediction).content);
}

// The best is no slower than the plan that a person would write first.
TEST(PlanCommand, BeatsTheObviousPlan) {
  const TinyFolder folder;
  const std::string best = folder.file("best.json");
  ASSERT_EQ(run_sextant(folder.without_plan("plan", {"--prediction", best})).exit_code, 0);
  const Printed obvious = run_sextant(folder.with_plan("predict", {"--json"}));
  EXPECT_LE(load_document<Prediction>(best).content.iteration_s,
            parse_document<Prediction>(obvious.out).content.iteration_s);
}

TEST(PlanCommand, JsonIsTheDocumentAndNothingElse) {
  const TinyFolder folder;
  const Printed printed =
      run_sextant(folder.without_plan("plan", {"--coefficients", "none", "--json", "--micro-batches", "2"}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  const Plan plan = parse_document<Plan>(printed.out).content;
  check_plan(plan, tiny_workflow(), testing::two_cores());
  for (const auto& [name, task] : plan.tasks) {
    if (name == "actor_generation") continue;
    EXPECT_EQ(task.micro_batch_sequences, 2) << name;
  }
}

TEST(PlanCommand, Exits1WhenNothingFits) {
  const TinyFolder folder;
  save_document(folder.file("cluster.json"), with_memory(testing::two_cores(), 1e4));
  const Printed printed = run_sextant(folder.without_plan("plan", {"--out", folder.file("best.json")}));
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, StartsWith("sextant: no plan fits: task "));
  EXPECT_THAT(printed.err, HasSubstr(" needs at least "));
  EXPECT_EQ(lines_of(printed.err).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(folder.file("best.json")));
}

TEST(PlanCommand, Exits2WhenTheSpaceIsTooLarge) {
  const TinyFolder folder;
  const Printed printed = run_sextant(folder.without_plan("plan", {"--most-plans", "10"}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, StartsWith("sextant: "));
  EXPECT_THAT(printed.err, HasSubstr("10"));
}

}  // namespace
}  // namespace sextant::test
