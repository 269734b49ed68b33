#include "cli/verified.h"

#include <gtest/gtest.h>

#include "tests/cli/documents.h"
#include "tests/cli/program.h"
#include "tests/core/expect_error.h"

namespace sextant::test {
namespace {

TEST(Verified, APlanThatKeepsAllRulesPasses) { EXPECT_NO_THROW(cli::require_verified({})); }

TEST(Verified, EveryViolationIsNamedAndTheMachineFailed) {
  Verdict verdict;
  verdict.violations = {{"device 0 (a/0)", rules::kDeviceMemory, "too full"},
                        {"actor_training, replica 1", rules::kLayers, "one short"}};
  EXPECT_EQ(
      message_of(ErrorKind::machine, [&] { cli::require_verified(verdict); }),
      "internal error: the plan that was found cannot be run, so nothing is written: C3 at device 0 (a/0): too "
      "full; layers at actor_training, replica 1: one short");
}

// What the command writes is what was verified.
TEST(Verified, PlansThatAreWrittenKeepAllRules) {
  const TinyFolder folder;
  const std::string file = folder.file("best.json");
  ASSERT_EQ(run_sextant(folder.without_plan("plan", {"--coefficients", "none", "--out", file})).exit_code, 0);
  const Plan plan = load_document<Plan>(file).content;
  EXPECT_TRUE(verify_plan(testing::two_cores(), tiny_workflow(), plan, {}).feasible());
  const Verdict tight = verify_plan(with_memory(testing::two_cores(), 1e4), tiny_workflow(), plan, {});
  EXPECT_THROW(cli::require_verified(tight), Error);
}

}  // namespace
}  // namespace sextant::test
