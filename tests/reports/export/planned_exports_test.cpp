// Planners know what an exporter can say: their plans are exported as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sextant/planners.h"
#include "sextant/profile_space.h"
#include "tests/reports/export/random_trainer_plans.h"

namespace sextant::test {
namespace {

class EveryPlannedDialect : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EveryPlannedDialect, SaysAllOfThePlansThatAreFound) {
  const Dialect& dialect = dialect_table()[GetParam()];
  const FrameworkProfile& profile = shipped_profile(std::string(dialect.profile));
  const Coefficients coefficients;
  constexpr unsigned kSeeds = 16;
  int exported_plans = 0;
  std::set<Mode> modes, offered;
  for (const auto& [mode, sets] : profile.same_devices) offered.insert(mode);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    const Cluster cluster = gpu_cluster(1 << random() % 2);
    const Workflow workflow = random_workflow(profile, random);
    PlanRequest request{cluster, workflow, coefficients};
    request.budget.evaluations = 400;
    take_profile(profile, LayoutRules::as_framework, request);
    const PlanResult result = find_planner("portfolio")->plan(request);
    if (result.outcome != PlanOutcome::found) continue;
    const TrainerProblem problem{workflow, cluster, profile};
    const ExportedPlan exported = export_plan(*result.plan, problem, dialect);
    // Some trainers have no critic or no reward model, which is not the plan's fault. Others have a mode that is not
    // launched by a script.
    if (exported.refusal.find("the workflow has") != std::string::npos) {
      if (exported.refusal.find(" mode") != std::string::npos) offered.erase(workflow.mode);
      continue;
    }
    EXPECT_EQ(exported.refusal, "") << "seed " << seed;
    EXPECT_THAT(exported.unsaid, ::testing::IsEmpty()) << "seed " << seed << "\n" << describe(*result.plan);
    ++exported_plans;
    modes.insert(workflow.mode);
  }
  EXPECT_GE(exported_plans, static_cast<int>(kSeeds) / 4);
  EXPECT_GE(modes.size(), std::min<std::size_t>(2, offered.size()));
}

INSTANTIATE_TEST_SUITE_P(Trainers, EveryPlannedDialect,
                         ::testing::Range(std::size_t{0}, dialect_table().size()), [](const auto& tested) {
                           std::string name(dialect_table()[tested.param].profile);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace sextant::test
