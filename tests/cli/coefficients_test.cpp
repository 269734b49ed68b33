// diff, export, coefficients, and suggestions of calibrate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "core/json_value.h"
#include "documents/experiments.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(DiffCommand, NothingDiffersFromItself) {
  const Printed printed =
      run_sextant({"diff", data("coefficients_fitted.json"), data("coefficients_fitted.json")});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("0 values differ"));
}

TEST(DiffCommand, NamesWhatMovedAndExitsOne) {
  const TemporaryFolder folder;
  auto changed = load_document<Coefficients>(data("coefficients_fitted.json")).content;
  Coefficient& of_h100 = changed.values[1];
  of_h100.value *= 2;
  const std::string after = folder.path() / "after.json";
  save_document(after, changed);
  const Printed printed = run_sextant({"diff", data("coefficients_fitted.json"), after});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.out, HasSubstr("training_efficiency"));
  EXPECT_THAT(printed.out, HasSubstr("h100"));
  EXPECT_EQ(run_sextant({"diff", data("coefficients_fitted.json"), data("plan.json")}).exit_code, 2);
}

TEST(ExportCommand, JsonHasEveryCoefficient) {
  const Printed printed = run_sextant({"export", data("coefficients_fitted.json")});
  EXPECT_EQ(printed.exit_code, 0);
  const Json json = parse_json(printed.out);
  EXPECT_EQ(json.size(), coefficient_table().size());
  EXPECT_EQ(json["iteration_overhead_s"]["*"], 0.12);
  EXPECT_EQ(json["iteration_overhead_s"]["unit"], "s");
}

TEST(ExportCommand, CsvHasALineAnEntry) {
  const Printed printed = run_sextant({"export", data("coefficients_fitted.json"), "--to", "csv"});
  EXPECT_THAT(printed.out, StartsWith("name,unit,device_type,framework,value,"));
  EXPECT_EQ(std::count(printed.out.begin(), printed.out.end(), '\n'), 4);
  EXPECT_THAT(printed.out,
              HasSubstr("\ntraining_efficiency,1,h100,sextant-proxy,0.52,0.48,0.56,0.7,0.04,true,false\n"));
}

TEST(ExportCommand, HeaderDefinesEveryCoefficient) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "coefficients.h";
  const Printed printed = run_sextant({"export", data("coefficients_fitted.json"), "--to", "header",
                                       "--framework", "sextant-proxy", "--out", out});
  EXPECT_EQ(printed.err, "wrote " + out + "\n");
  std::ifstream file(out);
  const std::string header((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(header, HasSubstr("namespace h100 {\n"));
  EXPECT_THAT(header, HasSubstr("inline constexpr double training_efficiency = 0.52;"));
  EXPECT_THAT(header, HasSubstr("inline constexpr double iteration_overhead_s = 0.12;"));
}

TEST(ExportCommand, RefusesAnUnknownForm) {
  EXPECT_EQ(run_sextant({"export", data("coefficients_fitted.json"), "--to", "xml"}).exit_code, 2);
}

class SuggestOption : public ::testing::Test {
 protected:
  SuggestOption() { save_document(runs_, test::synthetic_runs(test::synthetic_truth(), 0.03, 3)); }

  Printed calibrate(const std::vector<std::string>& more) const {
    std::vector<std::string> all{
        "calibrate",        runs_, "--out", folder_.path() / "coefficients.json", "--suggested", suggested_,
        "--cross-validate", "none"};
    all.insert(all.end(), more.begin(), more.end());
    return run_sextant(all);
  }

  TemporaryFolder folder_;
  std::string runs_ = folder_.path() / "runs.json";
  std::string suggested_ = folder_.path() / "suggested.json";
};

TEST_F(SuggestOption, WritesExperimentsForTheProxy) {
  const Printed printed = calibrate({"--suggest", "3"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("next run"));
  EXPECT_EQ(load_document<Experiments>(suggested_).content.experiments.size(), 3U);
}

TEST_F(SuggestOption, FitsATerminalAndListsLayoutsOnce) {
  const Printed printed = calibrate({"--suggest", "8"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  constexpr std::size_t kWidest = 120;
  const std::string table = printed.out.substr(printed.out.find("next run"));
  std::set<std::string> layouts;
  for (const std::string& line : lines_of(table)) {
    EXPECT_LE(line.size(), kWidest) << line;
    if (!line.starts_with("layout ")) continue;
    EXPECT_TRUE(layouts.insert(line.substr(line.find("  "))).second) << line;
  }
  EXPECT_FALSE(layouts.empty());
  EXPECT_THAT(*layouts.begin(), HasSubstr("all tasks: dp"));
}

TEST_F(SuggestOption, ABudgetThatNothingFitsIsInfeasible) {
  const Printed printed = calibrate({"--suggest", "3", "--budget", "1e-9"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.err, HasSubstr("candidates for suggested runs fits"));
  EXPECT_FALSE(std::filesystem::exists(suggested_));
}

// Before anything is fitted or written.
TEST_F(SuggestOption, ACandidateThatDoesNotBelongNamesFileAndPlan) {
  const Runs runs = load_document<Runs>(runs_).content;
  Experiments listed;
  const sextant::Run& run = runs.runs.front();
  listed.workflows[run.workflow] = runs.workflow_of(run);
  Plan plan = runs.plan_of(run);
  plan.tasks.begin()->second.replicas.front().stages.front().devices = {DeviceId{7}};
  listed.plans["odd"] = plan;
  listed.experiments = {{"one", run.workflow, "odd"}};
  const std::string candidates = folder_.path() / "candidates.json";
  save_document(candidates, listed);
  const Printed printed = calibrate({"--suggest", "1", "--candidates", candidates});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, StartsWith("sextant: " + candidates + ": /plans/odd/tasks/"));
  EXPECT_THAT(printed.err, HasSubstr("unknown device 7"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "coefficients.json"));
}

TEST(CoefficientsCommand, ListsEachWithItsMeaning) {
  const Printed printed = run_sextant({"coefficients"});
  EXPECT_EQ(printed.exit_code, 0);
  for (const CoefficientSpec& spec : coefficient_table()) {
    EXPECT_THAT(printed.out, HasSubstr("\n" + std::string(spec.name) + " "));
    EXPECT_THAT(printed.out, HasSubstr("\n    " + std::string(spec.help) + "\n"));
    EXPECT_THAT(printed.out, HasSubstr("\n    prior from: " + std::string(spec.source) + "\n"));
  }
  const Printed some = run_sextant({"coefficients", "decode_step"});
  EXPECT_THAT(some.out, HasSubstr("\ndecode_step_overhead_s "));
  EXPECT_THAT(some.out, Not(HasSubstr("training_efficiency")));
  const Printed none = run_sextant({"coefficients", "nothing"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, "sextant: no coefficient's name starts with \"nothing\"\n");
}

TEST(CoefficientsCommand, JsonHasTheWholeTable) {
  const Json json = parse_json(run_sextant({"coefficients", "--json"}).out);
  ASSERT_EQ(json.size(), coefficient_table().size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const CoefficientSpec& spec = coefficient_table()[i];
    EXPECT_EQ(json[i]["name"].get<std::string>(), spec.name);
    EXPECT_EQ(json[i]["unit"].get<std::string>(), spec.unit);
    EXPECT_EQ(json[i]["lower"], spec.lower);
    EXPECT_EQ(json[i]["upper"], spec.upper);
    EXPECT_EQ(json[i]["prior"], spec.prior);
    EXPECT_EQ(json[i]["neutral"], spec.neutral);
    EXPECT_EQ(json[i]["help"].get<std::string>(), spec.help);
    EXPECT_EQ(json[i]["source"].get<std::string>(), spec.source);
  }
}

}  // namespace
}  // namespace sextant::test
