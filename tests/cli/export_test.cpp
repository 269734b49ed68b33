#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The documents of TinyFolder, and `export plan.json --to ...` on them.
class ExportedPlan : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> arguments(const std::string& to) const {
    return folder_.without_plan("export", {folder_.file("plan.json"), "--to", to, "--coefficients", "none"});
  }

  TinyFolder folder_;
};

TEST_F(ExportedPlan, WritesAScriptForVerl) {
  const Printed printed = run_sextant(arguments("verl"));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, StartsWith("#!/usr/bin/env bash\n"));
  EXPECT_THAT(printed.out, HasSubstr("python3 -m verl.trainer.main_ppo"));
  EXPECT_THAT(printed.out, HasSubstr("trainer.n_gpus_per_node=1\n"));
  EXPECT_THAT(printed.out, HasSubstr(": \"${MODEL_PATH:?"));
  EXPECT_THAT(printed.err, HasSubstr("sextant: for verl-"));
}

TEST_F(ExportedPlan, WritesAFileAndSaysSo) {
  const std::string script = folder_.file("run.sh");
  std::vector<std::string> all = arguments("openrlhf");
  all.insert(all.end(), {"--out", script});
  const Printed printed = run_sextant(all);
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("wrote " + script));
  EXPECT_THAT(read_text_file(script), HasSubstr("openrlhf.cli.train_ppo_ray"));
}

TEST_F(ExportedPlan, RefusesALayoutThatTheFrameworkDoesNotHave) {
  save_document(folder_.file("plan.json"), tiny_plan(1, 2, 1));
  const Printed printed = run_sextant(arguments("openrlhf"));
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("it has no pipeline parallelism (the plan has 2 stages)"));
}

TEST_F(ExportedPlan, TheKindOfTheDocumentDecides) {
  const Printed no_cluster = run_sextant({"export", folder_.file("plan.json"), "--to", "verl"});
  EXPECT_EQ(no_cluster.exit_code, 2);
  EXPECT_THAT(no_cluster.err, HasSubstr("with --cluster and --workflow"));
  const Printed no_framework = run_sextant({"export", folder_.file("plan.json")});
  EXPECT_EQ(no_framework.exit_code, 2);
  EXPECT_THAT(no_framework.err, HasSubstr("is a plan"));
  const Printed no_plan = run_sextant({"export", data("coefficients.json"), "--to", "verl"});
  EXPECT_EQ(no_plan.exit_code, 2);
  EXPECT_THAT(no_plan.err, HasSubstr("is no plan"));
  const Printed csv = run_sextant({"export", data("coefficients.json"), "--to", "csv"});
  EXPECT_EQ(csv.exit_code, 0);
  EXPECT_THAT(csv.out, StartsWith("name,"));
}

}  // namespace
}  // namespace sextant::test
