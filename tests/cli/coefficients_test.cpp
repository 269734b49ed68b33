// diff, export, and suggestions of calibrate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "costmodel/vocabulary/experiments.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(DiffCommand, NothingDiffersFromItself) {
  const Printed printed = run_sextant({"diff", data("coefficients_fitted.json"), data("coefficients_fitted.json")});
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
  EXPECT_THAT(printed.out, HasSubstr("\ntraining_efficiency,1,h100,sextant-proxy,0.52,0.48,0.56,0.7,0.04,true,false\n"));
}

TEST(ExportCommand, HeaderDefinesEveryCoefficient) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "coefficients.h";
  const Printed printed = run_sextant(
      {"export", data("coefficients_fitted.json"), "--to", "header", "--framework", "sextant-proxy", "--out", out});
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
  SuggestOption() { save_document(runs_, testing::synthetic_runs(testing::synthetic_truth(), 0.03, 3)); }

  Printed calibrate(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"calibrate", runs_, "--out", folder_.path() / "coefficients.json",
                                 "--suggested", suggested_, "--cross-validate", "none"};
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

TEST_F(SuggestOption, ABudgetThatNothingFitsIsRefused) {
  const Printed printed = calibrate({"--suggest", "3", "--budget", "1e-9"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("no run that could be suggested fits"));
}

}  // namespace
}  // namespace sextant::test
