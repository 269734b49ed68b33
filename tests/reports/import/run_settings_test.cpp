#include "reports/import/run_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/json_value.h"
#include "reports/import/importer.h"
#include "reports/import/yaml_file.h"
#include "sextant/error.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SettingSource kHydra{SettingForm::hydra, {"main_ppo"}};
const SettingSource kFlags{SettingForm::flags, {"train_ppo_ray"}};
const SettingSource kYaml{SettingForm::yaml, {"run_grpo.py"}};

std::string refusal_of(const std::string& name, const std::string& text, const SettingSource& source) {
  const ConfigurationFile file(name, text);
  try {
    (void)read_run_settings({file.path()}, source, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RunSettings, AreTheWordsOfTheLaunch) {
  const ConfigurationFile file("run.sh",
                               "x=8\ncp main_ppo.py y.z\npython3 -m verl.trainer.main_ppo --config-name a \\\n"
                               "  a.b=$x +a.c=\"[1,2]\" a.b=9 plain=1 a.d=True a.e=1e-6 a.f=null");
  const RunSettings run = read_run_settings({file.path()}, kHydra, {{"a.g", "7"}});
  const TrainerSettings& settings = run.settings;
  EXPECT_EQ(run.program, "verl.trainer.main_ppo");
  EXPECT_EQ(settings.integer("a.b", 0), 9);  // the last one counts
  EXPECT_EQ(settings.find("a.c")->dump(), "[1,2]");
  EXPECT_TRUE(settings.flag("a.d", false));
  EXPECT_EQ(settings.number("a.e", 0), 1e-6);
  EXPECT_EQ(settings.integer("a.f", 3), 3);
  EXPECT_EQ(settings.integer("a.g", 0), 7);
  EXPECT_EQ(settings.text("--config-name", ""), "a");
  EXPECT_FALSE(settings.has("plain"));
  EXPECT_FALSE(settings.has("y.z"));
}

TEST(RunSettings, AreInsideAWordForAnotherShell) {
  const ConfigurationFile file(
      "run.sh", "N=2\nsrun --nodes 1 bash -c \"pip install x && python3 -m verl.trainer.main_ppo a.b=$N\"");
  const TrainerSettings settings = read_run_settings({file.path()}, kHydra, {}).settings;
  EXPECT_EQ(settings.integer("a.b", 0), 2);
  EXPECT_FALSE(settings.has("--nodes"));
}

// The path of a program may hold the output of a command, which has blanks, and is no script for another shell.
TEST(RunSettings, OfAProgramBesideItsScript) {
  const ConfigurationFile file("run.sh",
                               "D=\"$(cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" &>/dev/null && pwd)\"\n"
                               "python3 \"${D}/train_ppo_ray.py\" --a.b 4");
  EXPECT_EQ(read_run_settings({file.path()}, kFlags, {}).settings.integer("a.b", 0), 4);
  EXPECT_THAT(refusal_of("run.sh", "X='train_ppo_ray $X'\nsh -c \"$X\"", kFlags), HasSubstr("run.sh:1: "));
}

TEST(RunSettings, NameFileAndLineOfAWrongValue) {
  const ConfigurationFile file("run.sh", "python3 -m verl.trainer.main_ppo \\\n  a.b=many");
  const RunSettings run = read_run_settings({file.path()}, kHydra, {});
  try {
    (void)run.settings.integer("a.b", 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.sh:2: a.b: expected an integer, got \"many\""));
  }
}

TEST(RunSettings, AreFlagsWithAnyNumberOfValues) {
  const ConfigurationFile file(
      "run.sh", "ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --a.b 4 --c --d=5 --e 1 2 --f -1");
  const TrainerSettings settings = read_run_settings({file.path()}, kFlags, {}).settings;
  EXPECT_EQ(settings.integer("a.b", 0), 4);
  EXPECT_TRUE(settings.flag("c", false));
  EXPECT_EQ(settings.integer("d", 0), 5);
  EXPECT_EQ(settings.find("e")->dump(), "[1,2]");
  EXPECT_EQ(settings.integer("f", 0), -1);
}

// slime's scripts have the model's flags in another file.
TEST(RunSettings, AnArrayThatNothingSetsIsNoValueOfAFlag) {
  const ConfigurationFile file("run.sh",
                               "python3 -m train_ppo_ray --colocate ${MODEL_ARGS[@]} --gpus 4 \"${MORE[@]}\"");
  const RunSettings run = read_run_settings({file.path()}, kFlags, {});
  EXPECT_TRUE(run.settings.flag("colocate", false));
  EXPECT_EQ(run.settings.integer("gpus", 0), 4);
}

TEST(RunSettings, TellWhatWasNotFoundAndWhatWasNotUsed) {
  const ConfigurationFile file("run.sh", "python3 -m verl.trainer.main_ppo a.b=1 a.c=2 a.d=3 a.lr=1");
  TrainerSettings settings = read_run_settings({file.path()}, kHydra, {}).settings;
  const Importer importer{"x", kHydra, {{"*.lr"}, {{"a.d", "3"}}}, nullptr};
  const RunFacts facts;
  settings.assume("a.e", 5);
  settings.assume("a.b", 6);
  EXPECT_EQ(settings.integer("a.b", 0), 1);
  EXPECT_EQ(settings.integer("a.e", 0), 5);
  EXPECT_EQ(settings.integer("a.f", 8), 8);
  EXPECT_EQ(Json(settings.assumed()).dump(), R"({"a.e":5,"a.f":8})");
  EXPECT_THAT(unused_settings(settings, importer, facts), ElementsAre("a.c=2"));
}

TEST(RunSettings, RefuseAFileWithoutAny) {
  EXPECT_THAT(refusal_of("run.sh", "echo hello\n", kHydra), HasSubstr("run.sh:1: no launch"));
  EXPECT_THAT(refusal_of("run.sh", "python main_ppo.py a.b='x", kHydra), HasSubstr("run.sh:1: the quote"));
}

TEST(RunSettings, OfYamlAreItsLeaves) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const ConfigurationFile file(
      "run.yaml",
      "base: &base\n  x: 1\n  y: [2, 'a']\npolicy:\n  <<: *base\n  x: 3\n  name: \"4\"\n"
      "  size: ${mul:${base.x}, ${.x}}\n  other: ${oc.select:none.such,9}\nempty: {}\n");
  const TrainerSettings settings = read_run_settings({file.path()}, kYaml, {}).settings;
  EXPECT_EQ(settings.integer("policy.x", 0), 3);
  EXPECT_EQ(settings.find("policy.y")->dump(), R"([2,"a"])");
  EXPECT_EQ(settings.text("policy.name", ""), "4");
  EXPECT_TRUE(settings.find("policy.name")->is_string());
  EXPECT_EQ(settings.integer("policy.size", 0), 3);
  EXPECT_EQ(settings.integer("policy.other", 0), 9);
}

// Hydra's "envs@_here_" is envs.yaml, and "_self_" the file itself.
TEST(RunSettings, OfYamlFollowTheDefaultsOfHydra) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const ConfigurationFile base("envs.yaml", "a:\n  b: 1\n  c: 2\n");
  const ConfigurationFile file("run.yaml", "defaults:\n  - _self_\n  - envs@_here_\na:\n  c: 3\n");
  const std::filesystem::path beside = file.path().parent_path() / "envs.yaml";
  std::filesystem::copy_file(base.path(), beside, std::filesystem::copy_options::overwrite_existing);
  const RunSettings run = read_run_settings({file.path()}, kYaml, {});
  EXPECT_EQ(run.settings.integer("a.b", 0), 1);
  EXPECT_EQ(run.settings.integer("a.c", 0), 3);
  EXPECT_TRUE(run.notes.empty());
}

TEST(RunSettings, OfBrokenYamlAreRefusedWithTheLine) {
  if (!has_yaml()) {
    EXPECT_THAT(refusal_of("run.yaml", "a: 1\n", kYaml), HasSubstr("libyaml-cpp-dev"));
    return;
  }
  EXPECT_THAT(refusal_of("run.yaml", "a: 1\nb: [1, 2\nc: 3\n", kYaml), HasSubstr("run.yaml:"));
  EXPECT_THAT(refusal_of("run.yaml", "a:\n  b: 1\n  b: 2\n", kYaml),
              HasSubstr("run.yaml:3: \"a.b\" is there twice"));
  EXPECT_THAT(refusal_of("run.yaml", "- 1\n", kYaml), HasSubstr("run.yaml:1: expected a map"));
  EXPECT_THAT(refusal_of("run.sh", "cat > f <<'E'\na: [\nE\nrun_grpo.py\n", kYaml), HasSubstr("run.sh:"));
}

}  // namespace
}  // namespace sextant::test
