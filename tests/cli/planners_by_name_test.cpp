// `sextant plan` with each planner of this build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json_value.h"
#include "sextant/planners.h"
#include "sextant/predict.h"
#include "sextant/search.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

// A plan, its prediction and its search as documents that belong together.
class EveryPlannerByName : public ::testing::TestWithParam<Planner> {};

TEST_P(EveryPlannerByName, WritesAPlanAndItsSearch) {
  if (!GetParam().traits.is_built()) GTEST_SKIP() << "not in this build";
  const TinyFolder folder;
  const std::string out = folder.file("best.json"), search = folder.file("search.json");
  std::vector<std::string> more{"--coefficients", "none", "--planner",    std::string(GetParam().name),
                                "--out",          out,    "--search-out", search,
                                "--seed",         "3"};
  if (GetParam().traits.has_budget) more.insert(more.end(), {"--evaluations", "2000"});
  const Printed printed = run_sextant(folder.without_plan("plan", more));
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(printed.err, "wrote " + out + "\nwrote " + search + "\n");
  EXPECT_THAT(printed.out, HasSubstr("\n" + std::string(GetParam().name) + ": "));
  EXPECT_EQ(printed.out.find("\nproved: no plan in the space of ") != std::string::npos,
            GetParam().traits.proves);
  const Plan plan = load_document<Plan>(out).content;
  const SearchRecord record = load_document<SearchRecord>(search).content;
  EXPECT_EQ(record.planner, GetParam().name);
  EXPECT_EQ(record.seed, 3U);
  EXPECT_EQ(record.budget_evaluations.has_value(), GetParam().traits.has_budget);
  EXPECT_FALSE(record.budget_s.has_value());
  EXPECT_EQ(record.plan, plan.name);
  EXPECT_EQ(record.proof == Proof::optimal, GetParam().traits.proves);
  EXPECT_EQ(record.iteration_s, predict(test::two_cores(), tiny_workflow(), plan, {}).iteration_s);
  EXPECT_LE(record.lower_bound_s, record.iteration_s);
  ASSERT_FALSE(record.curve.empty());
  EXPECT_NEAR(record.curve.back().iteration_s, record.iteration_s, 1e-9 * record.iteration_s);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPlannerByName,
                         ::testing::ValuesIn(planners().begin(), planners().end()), [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PlannersByName, AreListedWithoutAnyDocument) {
  const Printed printed = run_sextant({"plan", "--list"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  const Printed listed = run_sextant({"plan", "--json", "--list"});
  EXPECT_EQ(listed.exit_code, 0);
  const Json json = parse_json(listed.out);
  ASSERT_EQ(json.size(), planners().size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const Planner& planner = planners()[i];
    EXPECT_EQ(json[i]["name"], std::string(planner.name));
    EXPECT_EQ(json[i]["help"], std::string(planner.help));
    EXPECT_EQ(json[i]["proves"], planner.traits.proves);
    EXPECT_EQ(json[i]["is_built"], planner.traits.is_built());
    EXPECT_THAT(printed.out, HasSubstr(std::string(planner.name) + ": " + std::string(planner.help) + "\n"));
  }
}

}  // namespace
}  // namespace sextant::test
