// Which runs a fold holds out, by every key; how the shares are dealt and judged is in trust_test.cpp.
#include "calibrate/cross_validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sextant/error.h"
#include "tests/calibrate/varied_runs.h"

namespace sextant::test {
namespace {

// The value of each key for a run, without the code of cross_validation.cpp.
std::string value_of(LeaveOut what, const Runs& runs, const sextant::Run& run) {
  switch (what) {
    case LeaveOut::model:  // one model a workflow
      return "model-" + run.workflow.substr(run.workflow.rfind('-') + 1);
    case LeaveOut::plan:
      return run.plan;
    case LeaveOut::workflow:
      return run.workflow;
    case LeaveOut::cluster:
      return run.cluster;
    case LeaveOut::device_type:
      return run.cluster == "mixed" ? "big+little" : "core";
    case LeaveOut::framework:
      return run.framework;
    case LeaveOut::scale:  // trust_test.cpp
    case LeaveOut::run:
      break;
  }
  (void)runs;
  return run.name;
}

class LeavingOut : public ::testing::TestWithParam<LeaveOut> {};

TEST_P(LeavingOut, HoldsOutAllRunsOfAGroupAndFitsAllOthers) {
  const Runs runs = varied_runs();
  std::map<std::string, std::vector<std::string>> groups;
  for (const sextant::Run& run : runs.runs) groups[value_of(GetParam(), runs, run)].push_back(run.name);
  const std::map<LeaveOut, std::size_t> expected{{LeaveOut::model, 16U},      {LeaveOut::plan, 64U},
                                                 {LeaveOut::workflow, 16U},   {LeaveOut::cluster, 2U},
                                                 {LeaveOut::device_type, 2U}, {LeaveOut::framework, 2U},
                                                 {LeaveOut::run, 64U}};
  ASSERT_EQ(groups.size(), expected.at(GetParam()));

  const std::vector<Fold> folds = leave_one_out(runs, group_key(runs, GetParam()));
  ASSERT_EQ(folds.size(), groups.size());
  for (const Fold& fold : folds) {
    ASSERT_TRUE(groups.contains(fold.name)) << fold.name;
    EXPECT_EQ(fold.held_out, groups.at(fold.name));  // in the order of the document
    std::vector<std::string> others;
    for (const sextant::Run& run : runs.runs) {
      if (value_of(GetParam(), runs, run) != fold.name) others.push_back(run.name);
    }
    EXPECT_EQ(fold.fit, others);
  }
}

std::string name_of_key(const ::testing::TestParamInfo<LeaveOut>& info) {
  return std::string(kLeaveOutNames[static_cast<std::size_t>(info.param)]);
}

INSTANTIATE_TEST_SUITE_P(By, LeavingOut,
                         ::testing::Values(LeaveOut::model, LeaveOut::plan, LeaveOut::workflow,
                                           LeaveOut::cluster, LeaveOut::device_type, LeaveOut::framework,
                                           LeaveOut::run),
                         name_of_key);

// The model that trains counts, not the one that only scores.
TEST(CrossValidationKeys, TheModelIsOfTheTrainingTask) {
  Runs runs = synthetic_runs(synthetic_truth());
  const sextant::Run& run = runs.runs[3];
  Workflow& workflow = runs.workflows.at(run.workflow);
  workflow.models.at("actor").name = "trained";
  EXPECT_EQ(model_of(runs, run), "trained");
  // Without training, of generation.
  workflow.algorithm = Algorithm::custom;
  workflow.tasks = {workflow.task("reference_inference"), workflow.task("actor_generation")};
  workflow.models.at("reference").name = "scores";
  EXPECT_EQ(model_of(runs, run), "trained");
}

TEST(CrossValidationKeys, RunsWithoutAKeyAreAlwaysFitted) {
  const Runs runs = varied_runs();
  const std::vector<Fold> folds = leave_one_out(
      runs, [](const sextant::Run& run) { return run.cluster == "mixed" ? run.workflow : std::string(); });
  ASSERT_EQ(folds.size(), 16U);
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.held_out.size(), 1U);
    EXPECT_EQ(fold.fit.size(), 63U);
  }
}

TEST(CrossValidationKeys, OneGroupAloneIsRefused) {
  Runs runs = synthetic_runs(synthetic_truth());
  EXPECT_THROW((void)leave_one_out(runs, group_key(runs, LeaveOut::cluster)), Error);
  EXPECT_THROW((void)leave_groups_out(runs, group_key(runs, LeaveOut::framework), 5, 1), Error);
}

TEST(CrossValidationKeys, CustomaryIsTheFirstWithFourGroups) {
  Runs runs = synthetic_runs(synthetic_truth());
  EXPECT_EQ(customary_leave_out(runs), LeaveOut::model);
  for (auto& [name, workflow] : runs.workflows) {
    for (auto& [role, model] : workflow.models) model.name = "the same";
  }
  EXPECT_EQ(customary_leave_out(runs), LeaveOut::workflow);
  std::erase_if(runs.runs, [](const sextant::Run& run) { return run.workflow != "workflow-0"; });
  EXPECT_EQ(customary_leave_out(runs), LeaveOut::plan);
  runs.runs.resize(3);
  EXPECT_EQ(customary_leave_out(runs), std::nullopt);
}

TEST(RandomFolds, HoldEveryRunOutOnce) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const std::vector<Fold> folds = random_folds(runs, 5, 1);
  ASSERT_EQ(folds.size(), 5U);
  std::multiset<std::string> held_out;
  for (const Fold& fold : folds) {
    held_out.insert(fold.held_out.begin(), fold.held_out.end());
    EXPECT_EQ(fold.fit.size() + fold.held_out.size(), runs.runs.size());
  }
  EXPECT_EQ(held_out.size(), runs.runs.size());
  EXPECT_EQ(std::set<std::string>(held_out.begin(), held_out.end()).size(), runs.runs.size());
  EXPECT_THROW((void)random_folds(runs, 1, 1), Error);
}

TEST(FewRuns, FitsSoManyAndHoldsOutTheRest) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const std::vector<Fold> folds = few_runs(runs, 5, 3, 1);
  ASSERT_EQ(folds.size(), 3U);
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.fit.size(), 5U);
    EXPECT_EQ(fold.held_out.size(), runs.runs.size() - 5);
    std::set<std::string> all(fold.fit.begin(), fold.fit.end());
    all.insert(fold.held_out.begin(), fold.held_out.end());
    EXPECT_EQ(all.size(), runs.runs.size());
  }
  EXPECT_NE(folds[0].fit, folds[1].fit);
  EXPECT_EQ(few_runs(runs, 5, 3, 1)[2].fit, folds[2].fit);
  EXPECT_THROW((void)few_runs(runs, 64, 1, 1), Error);
}

}  // namespace
}  // namespace sextant::test
