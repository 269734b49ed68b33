// calibrate and validate, on runs whose times are the model's own with 3 % noise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/accuracy.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/overhead_runs.h"
#include "tests/calibrate/varied_runs.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kNoise = 0.03;

class CalibrateCommand : public ::testing::Test {
 protected:
  CalibrateCommand() { save_document(runs_, test::synthetic_runs(test::synthetic_truth(), kNoise, 3)); }

  Printed calibrate(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"calibrate", runs_, "--out", coefficients_};
    all.insert(all.end(), more.begin(), more.end());
    return run_sextant(all);
  }
  Printed validate(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"validate", runs_, "--coefficients", coefficients_};
    all.insert(all.end(), more.begin(), more.end());
    return run_sextant(all);
  }

  TemporaryFolder folder_;
  std::string runs_ = folder_.path() / "runs.json";
  std::string coefficients_ = folder_.path() / "coefficients.json";
};

// Coefficients that the runs do not identify are counted in one line.
TEST_F(CalibrateCommand, ShowsWhatTheRunsSaySomethingAbout) {
  const Printed printed = calibrate({});
  EXPECT_EQ(printed.exit_code, 0);
  const Coefficients fitted = load_document<Coefficients>(coefficients_).content;
  std::size_t rest = 0;
  for (const Coefficient& entry : fitted.values) {
    const bool driven = entry.is_driven_to_bound();
    const bool shown = entry.identified || driven;
    rest += shown ? 0 : 1;
    const std::string row = "\n" + std::string(spec_of(entry.id).name) + " ";
    EXPECT_EQ(printed.out.find(row) != std::string::npos, shown) << row;
    if (driven) {
      EXPECT_THAT(printed.out, HasSubstr("\nat its bound: " + std::string(spec_of(entry.id).name) + " of "));
    }
  }
  ASSERT_GT(rest, 0U);
  EXPECT_THAT(printed.out,
              HasSubstr("\n" + std::to_string(rest) + " of " + std::to_string(fitted.values.size()) +
                        " coefficients are not identified by these runs"));
}

// An arithmetic rate a hundred times too low: the runs drive the efficiency to its upper bound.
TEST_F(CalibrateCommand, NamesACoefficientAtItsBound) {
  Runs runs = load_document<Runs>(runs_).content;
  for (auto& [name, cluster] : runs.clusters) {
    auto types = cluster.device_types();
    for (auto& [type_name, type] : types) {
      for (auto& [precision, rate] : type.flop_per_s) rate.value /= 100;
    }
    cluster = Cluster(cluster.name(), types, cluster.nodes(), cluster.levels(), cluster.exceptions());
  }
  save_document(runs_, runs);
  const Printed printed = calibrate({"--cross-validate", "none"});
  EXPECT_THAT(printed.out, HasSubstr("\nat its bound: inference_efficiency of "));
  EXPECT_THAT(printed.out, HasSubstr("; the fit allows 0.0200 to 2.00"));
  EXPECT_THAT(printed.err,
              ContainsRegex("Warning: .* in .* is [0-9]+ % of the .*: the GPUs, the tokens or the"));
  EXPECT_THAT(printed.err, HasSubstr(" more times are impossible"));
}

TEST_F(CalibrateCommand, OptionsOfSuggestionsNeedSuggestions) {
  const std::vector<std::string> options[] = {
      {"--budget", "5"}, {"--candidates", "c.json"}, {"--suggested", "s.json"}};
  for (const auto& option : options) {
    const Printed printed = calibrate(option);
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_THAT(printed.err, StartsWith("sextant: " + option[0]));
    EXPECT_THAT(printed.err, HasSubstr("needs --suggest"));
    EXPECT_FALSE(std::filesystem::exists(coefficients_));
  }
}

TEST_F(CalibrateCommand, NoRunsNamesTheFile) {
  Runs runs = load_document<Runs>(runs_).content;
  runs.runs.clear();
  save_document(runs_, runs);
  const Printed printed = calibrate({});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.err, "sextant: " + runs_ + ": /runs: no runs to fit\n");
}

TEST_F(CalibrateCommand, TooFewGroupsToLeaveOneOutNamesTheFile) {
  Runs runs = load_document<Runs>(runs_).content;
  runs.runs.resize(1);
  save_document(runs_, runs);
  const Printed printed = calibrate({"--cross-validate", "run"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, StartsWith("sextant: " + runs_ + ": cross-validation needs at least two groups"));
  EXPECT_FALSE(std::filesystem::exists(coefficients_));
}

TEST_F(CalibrateCommand, FitsAllRunsAndShowsEveryCoefficientWhenAsked) {
  const Printed printed = calibrate({"--all-coefficients"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + coefficients_ + "\n");
  for (const CoefficientSpec& spec : coefficient_table()) {
    EXPECT_THAT(printed.out, HasSubstr("\n" + std::string(spec.name) + " "));
  }
  EXPECT_THAT(printed.out, HasSubstr("fitted to 64 runs ("));
  EXPECT_EQ(load_document<Coefficients>(coefficients_).content.fit->runs.size(), 64U);
}

// 4 of the 16 workflows, with 4 runs each.
TEST_F(CalibrateCommand, KeepsWholeWorkflowsBack) {
  const Printed printed = calibrate({"--hold-out", "0.25", "--hold-out-by", "workflow", "--json"});
  EXPECT_EQ(printed.exit_code, 0);
  const Coefficients shown = parse_document<Coefficients>(printed.out).content;
  EXPECT_EQ(shown, load_document<Coefficients>(coefficients_).content);
  EXPECT_EQ(shown.fit->runs.size(), 48U);
}

TEST_F(CalibrateCommand, AnotherSeedKeepsOthersBack) {
  const auto fitted = [&](const std::string& seed) {
    const Printed printed = calibrate({"--hold-out", "0.25", "--seed", seed, "--json"});
    return parse_document<Coefficients>(printed.out).content;
  };
  const Coefficients first = fitted("1");
  EXPECT_EQ(fitted("1"), first);
  EXPECT_NE(fitted("2").fit->runs, first.fit->runs);
}

TEST_F(CalibrateCommand, ValidateJudgesByTheRunsKeptBack) {
  ASSERT_EQ(calibrate({"--hold-out", "0.25"}).exit_code, 0);
  const std::string out = folder_.path() / "accuracy.json";
  const Printed printed = validate({"--out", out, "--max-task-error", "0.2", "--max-iteration-error", "0.2"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + out + "\n");
  EXPECT_THAT(printed.out, StartsWith("error of"));
  EXPECT_THAT(printed.out, HasSubstr("\niterations, held out"));
  EXPECT_THAT(printed.out,
              HasSubstr("\nOrder of held-out plans that are alternatives (4 groups, 24 pairs): Kendall"));
  const Accuracy accuracy = load_document<Accuracy>(out).content;
  EXPECT_EQ(accuracy.held_out_iterations.count, 16);
  EXPECT_GT(accuracy.held_out_iterations.mape, 0.003);  // noise of 3 % cannot be predicted
  ASSERT_TRUE(accuracy.order.has_value());
  EXPECT_EQ(accuracy.order->groups, 4);
  EXPECT_THAT(printed.out, Not(HasSubstr("memory")));  // which no run carries
}

TEST_F(CalibrateCommand, OneScaleLeftOutInTurn) {
  const Printed printed = calibrate({"--cross-validate", "scale"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("\none scale left out in turn (2 folds): task MAPE "));
  EXPECT_THAT(printed.out,
              HasSubstr("\nOrder of held-out plans that are alternatives (16 groups, 96 pairs): "));
  const Coefficients fitted = load_document<Coefficients>(coefficients_).content;
  ASSERT_TRUE(fitted.fit->held_out.has_value() && fitted.fit->held_out->order.has_value());
  EXPECT_EQ(fitted.fit->held_out->left_out, "scale");
  EXPECT_EQ(fitted.fit->held_out->order->pairs, 96);
}

TEST_F(CalibrateCommand, MemoryOfHeldOutRunsIsShownWhereTheyCarryIt) {
  Runs runs = load_document<Runs>(runs_).content;
  for (sextant::Run& run : runs.runs) run.peak_memory_bytes = 1e9;
  save_document(runs_, runs);
  const Printed printed = calibrate({"--hold-out", "0.25", "--cross-validate", "workflow"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("memory MAPE "));
  EXPECT_EQ(load_document<Coefficients>(coefficients_).content.fit->held_out->memories, 48);
  EXPECT_THAT(validate({}).out, HasSubstr("\nmemory, held out"));
}

TEST_F(CalibrateCommand, ValidateJsonIsTheDocumentAndNothingElse) {
  ASSERT_EQ(calibrate({"--hold-out", "0.25"}).exit_code, 0);
  const Printed printed = validate({"--json"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(parse_document<Accuracy>(printed.out).content.in_sample_iterations.count, 48);
}

TEST_F(CalibrateCommand, ValidateExits1WhenLessAccurateThanAsked) {
  ASSERT_EQ(calibrate({"--hold-out", "0.25"}).exit_code, 0);
  const Printed iterations = validate({"--max-iteration-error", "1e-9"});
  EXPECT_EQ(iterations.exit_code, 1);
  EXPECT_THAT(iterations.err, StartsWith("sextant: MAPE of held-out iteration times is "));
  const Printed tasks = validate({"--max-task-error", "1e-9"});
  EXPECT_EQ(tasks.exit_code, 1);
  EXPECT_THAT(tasks.err, StartsWith("sextant: MAPE of held-out task times is "));
}

TEST_F(CalibrateCommand, ValidateExits2WhenNothingIsKeptBackToJudgeBy) {
  ASSERT_EQ(calibrate({}).exit_code, 0);
  const Printed printed = validate({"--max-iteration-error", "0.5"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.out, HasSubstr("\niterations, held out"));
  EXPECT_THAT(printed.out, HasSubstr("\nno run is held out"));
  for (const std::string& line : lines_of(printed.out)) {
    if (line.find(", held out") == std::string::npos) continue;
    EXPECT_THAT(line, Not(HasSubstr("%")));
  }
  EXPECT_EQ(printed.err, "sextant: " + runs_ +
                             ": no run is held out, so the fit cannot be validated (calibrate --hold-out)\n");
}

TEST_F(CalibrateCommand, OneWorkflowCannotBeSplit) {
  Runs runs = load_document<Runs>(runs_).content;
  runs.runs.resize(1);
  save_document(runs_, runs);
  const Printed printed = calibrate({"--hold-out", "0.5"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(lines_of(printed.err).size(), 1U) << printed.err;
  EXPECT_FALSE(std::filesystem::exists(coefficients_));
}

// Eight runs of two workflows (and models), eight plans, two clusters, device types and frameworks.
class LeavingOut : public ::testing::TestWithParam<std::string> {
 protected:
  LeavingOut() {
    Runs runs = test::varied_runs();
    runs.runs.resize(8);
    save_document(runs_, runs);
    save_document(start_, test::knowing_all_but({CoefficientId::training_efficiency}, test::synthetic_truth()));
  }
  // Most coefficients are known, which makes the fits quick.
  [[nodiscard]] Printed calibrate(const std::string& what) const {
    return run_sextant({"calibrate", runs_, "--out", coefficients_, "--start", start_, "--cross-validate", what,
                        "--folds", "2"});
  }
  [[nodiscard]] std::optional<HeldOutSummary> held_out() const {
    return load_document<Coefficients>(coefficients_).content.fit->held_out;
  }

  TemporaryFolder folder_;
  std::string runs_ = folder_.path() / "runs.json";
  std::string start_ = folder_.path() / "start.json";
  std::string coefficients_ = folder_.path() / "coefficients.json";
};

TEST_P(LeavingOut, EveryRunIsHeldOutOnce) {
  const Printed printed = calibrate(GetParam());
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("\none " + GetParam() + " left out in turn (2 folds): task MAPE "));
  const std::optional<HeldOutSummary> summary = held_out();
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->left_out, GetParam());
  EXPECT_EQ(summary->folds, 2);
  EXPECT_EQ(summary->iterations, 8);
}

INSTANTIATE_TEST_SUITE_P(By, LeavingOut,
                         ::testing::Values("model", "plan", "workflow", "cluster", "device_type", "framework",
                                           "run"),
                         [](const auto& key) { return key.param; });

using WhatToLeaveOut = LeavingOut;

TEST_F(WhatToLeaveOut, AutoTakesTheFirstWithFourGroups) {
  EXPECT_EQ(calibrate("auto").exit_code, 0);
  ASSERT_TRUE(held_out().has_value());
  EXPECT_EQ(held_out()->left_out, "plan");
}

TEST_F(WhatToLeaveOut, NoneSavesTheTime) {
  const Printed printed = calibrate("none");
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, Not(HasSubstr("left out in turn")));
  EXPECT_FALSE(held_out().has_value());
}

TEST_F(WhatToLeaveOut, AnotherNameIsRefused) {
  const Printed printed = calibrate("colour");
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("colour"));
  EXPECT_FALSE(std::filesystem::exists(coefficients_));
}

// Fixed times of mini-batches and of calls: told apart where some tasks have several mini-batches.
TEST_F(CalibrateCommand, NamesWhatTheRunsShowInCombinationOnly) {
  const std::string start = folder_.path() / "start.json";
  save_document(start, test::knowing_all_but({CoefficientId::task_overhead_s, CoefficientId::call_overhead_s},
                                             test::overhead_truth()));
  save_document(runs_, test::overhead_runs(1));
  EXPECT_THAT(calibrate({"--start", start, "--cross-validate", "none"}).out,
              HasSubstr("identified only in combination, not separately:\n"
                        "  task_overhead_s against call_overhead_s (correlation -"));
  save_document(runs_, test::overhead_runs(4));
  EXPECT_THAT(calibrate({"--start", start, "--cross-validate", "none"}).out,
              Not(HasSubstr("identified only in combination")));
}

// A machine three times slower than all priors say: the coefficients follow. Times that nothing explains: a warning.
TEST_F(CalibrateCommand, SaysHowFarItIsFromItsOwnRuns) {
  Runs runs = load_document<Runs>(runs_).content;
  for (sextant::Run& run : runs.runs) {
    for (double& sample : run.iteration.samples_s) sample *= 3;
    for (auto& [task, timing] : run.tasks) {
      for (double& sample : timing.samples_s) sample *= 3;
    }
  }
  save_document(runs_, runs);
  const Printed slow = calibrate({"--cross-validate", "none"});
  EXPECT_THAT(slow.out, ContainsRegex("median error on these runs: tasks [0-9.]+ %, iterations [0-9.]+ %"));
  EXPECT_THAT(slow.err, Not(HasSubstr("do not reproduce the runs")));
  int sign = 0;
  for (sextant::Run& run : runs.runs) {
    const double factor = ++sign % 2 == 0 ? 30 : 1.0 / 30;
    for (double& sample : run.iteration.samples_s) sample *= factor;
    for (auto& [task, timing] : run.tasks) {
      for (double& sample : timing.samples_s) sample *= factor;
    }
  }
  save_document(runs_, runs);
  EXPECT_THAT(calibrate({"--cross-validate", "none"}).err, HasSubstr("do not reproduce the runs"));
}

TEST_F(CalibrateCommand, NamesRunsThatLieFarFromAllOthers) {
  Runs runs = load_document<Runs>(runs_).content;
  runs.runs[10].iteration.samples_s[0] *= 5;
  save_document(runs_, runs);
  EXPECT_THAT(calibrate({"--cross-validate", "none"}).out,
              HasSubstr("\noutliers, down-weighted by the robust loss: " + runs.runs[10].name + "\n"));
}

}  // namespace
}  // namespace sextant::test
