// The command writes the plan that was verified.
#include <gtest/gtest.h>

#include "planner/answer.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"
#include "tests/core/expect_error.h"

namespace sextant::test {
namespace {

TEST(Verified, PlansThatAreWrittenKeepAllRules) {
  const TinyFolder folder;
  const std::string file = folder.file("best.json");
  ASSERT_EQ(run_sextant(
                folder.without_plan("plan", {"--coefficients", "none", "--evaluations", "2000", "--out", file}))
                .exit_code,
            0);
  const Plan plan = load_document<Plan>(file).content;
  EXPECT_TRUE(verify_plan(test::two_cores(), tiny_workflow(), plan, {}).feasible());
  const Verdict tight = verify_plan(with_memory(test::two_cores(), 1e4), tiny_workflow(), plan, {});
  EXPECT_THROW(require_feasible(tight), Error);
}

}  // namespace
}  // namespace sextant::test
