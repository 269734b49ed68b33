#include "calibrate/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/error.h"
#include "sextant/fit.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

// Only runs on one device: nothing is known of the links.
struct OneDevice {
  Runs all = synthetic_runs(synthetic_truth());
  Runs runs;
  Coefficients fitted;

  OneDevice() {
    runs = all;
    std::erase_if(runs.runs, [](const sextant::Run& run) { return !run.plan.ends_with("-111"); });
    fitted = fit_coefficients(runs, names_of(runs));
  }
};

TEST(Suggest, RunsOnBothDevicesTeachMost) {
  const OneDevice known;
  const std::vector<Suggestion> suggestions = suggest_runs(candidates_like(known.runs), known.fitted, 3);
  ASSERT_EQ(suggestions.size(), 3U);
  for (const Suggestion& suggestion : suggestions) {
    EXPECT_EQ(suggestion.plan.tasks.begin()->second.devices().size(), 2U) << suggestion.plan.name;
    EXPECT_GT(suggestion.gain_nats, 0);
    EXPECT_FALSE(suggestion.teaches.empty());
  }
  EXPECT_GE(suggestions[0].gain_nats, suggestions[1].gain_nats);
  EXPECT_GE(suggestions[1].gain_nats, suggestions[2].gain_nats);
}

// The predicted gain of a suggested run is that of measuring it: the spread of its coefficients shrinks.
TEST(Suggest, MeasuringASuggestionShrinksTheSpread) {
  const OneDevice known;
  const Suggestion first = suggest_runs(candidates_like(known.runs), known.fitted, 1).front();
  Runs more = known.runs;
  sextant::Run run = known.runs.runs.front();
  const Cluster& cluster = known.runs.cluster_of(run);
  const Prediction truth = predict(cluster, first.workflow, first.plan, synthetic_truth());
  run.name = run.plan = first.plan.name;
  run.workflow = first.workflow.name;
  run.iteration.samples_s = {truth.iteration_s};
  run.tasks.clear();
  for (const auto& [name, task] : truth.tasks) run.tasks[name].samples_s = {task.time_s};
  more.plans[run.plan] = first.plan;
  more.runs.push_back(run);
  const Coefficients later = fit_coefficients(more, names_of(more));
  const std::string taught = first.teaches.substr(0, first.teaches.find(','));
  for (std::size_t i = 0; i < later.values.size(); ++i) {
    if (spec_of(later.values[i].id).name != taught) continue;
    EXPECT_LT(*later.values[i].standard_error, 0.9 * *known.fitted.values[i].standard_error) << taught;
  }
}

TEST(Suggest, KeepsToTheBudget) {
  const OneDevice known;
  const CandidateExperiments candidates = candidates_like(known.runs);
  const double budget = 3 * suggest_runs(candidates, known.fitted, 1).front().device_s;
  double spent = 0;
  const std::vector<Suggestion> suggestions = suggest_runs(candidates, known.fitted, 50, budget);
  ASSERT_FALSE(suggestions.empty());
  for (const Suggestion& suggestion : suggestions) spent += suggestion.device_s;
  EXPECT_LE(spent, budget);
}

TEST(Suggest, NothingThatWasMeasuredIsACandidate) {
  const Runs runs = synthetic_runs(synthetic_truth());
  for (const CandidateExperiment& candidate : candidates_like(runs).all) {
    for (const auto& [name, plan] : runs.plans) {
      const bool same_workflow = name.starts_with(candidate.workflow.name + "-");
      EXPECT_FALSE(same_workflow && plan.tasks == candidate.plan.tasks) << candidate.plan.name;
    }
  }
}

TEST(Suggest, NeedsAFit) {
  const Runs runs = synthetic_runs(synthetic_truth());
  EXPECT_THROW((void)suggest_runs(candidates_like(runs), {}, 1), Error);
}

}  // namespace
}  // namespace sextant::test
