#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The documents of TinyFolder, and `export plan.json --to ...` on them.
class ExportedPlan : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> arguments(const std::string& to) const {
    return folder_.without_plan("export", {folder_.file("plan.json"), "--to", to, "--coefficients", "none"});
  }

  TinyFolder folder_;
};

// The memory in "as planned: 1.2 s an iteration, 3.4 MiB of 15 GiB on the fullest device".
double planned_bytes(const std::string& printed) {
  const std::string before = " an iteration, ";
  const std::size_t planned = printed.find("as planned: ");
  const std::size_t at = printed.find(before, planned);
  if (planned == std::string::npos || at == std::string::npos)
    throw std::runtime_error("no memory: " + printed);
  std::istringstream words(printed.substr(at + before.size()));
  double value = 0;
  std::string unit;
  words >> value >> unit;
  constexpr double kKibi = 1024;
  return value * (unit == "GiB"   ? kKibi * kKibi * kKibi
                  : unit == "MiB" ? kKibi * kKibi
                  : unit == "KiB" ? kKibi
                                  : 1);
}

TEST_F(ExportedPlan, WritesAScriptForVerl) {
  const Printed printed = run_sextant(arguments("verl"));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, StartsWith("#!/usr/bin/env bash\n"));
  EXPECT_THAT(printed.out, HasSubstr("python3 -m verl.trainer.main_ppo"));
  EXPECT_THAT(printed.out, HasSubstr("trainer.n_gpus_per_node=1\n"));
  EXPECT_THAT(printed.out, HasSubstr(": \"${MODEL_PATH:?"));
  EXPECT_THAT(printed.err, HasSubstr("sextant: for verl-"));
}

// slime takes the GPUs by their numbers: of a mixed cluster its pools may get other types than planned.
TEST(ExportedQuestion, SaysThatTheFrameworkChoosesTheTypesOfGpus) {
  const TinyFolder folder;
  const auto said_of = [&](const std::string& gpus) {
    const std::vector<std::string> question{"--gpus",      gpus,    "--model", "Qwen3-1.7B",
                                            "--framework", "slime", "--mode",  "asynchronous"};
    std::vector<std::string> predict{"predict",       "--plan-out", folder.file("pools.json"), "--train",
                                     "dp=8,gpus=0-7", "--rollout",  "tp=2,gpus=8-15"};
    predict.insert(predict.end(), question.begin(), question.end());
    EXPECT_LE(run_sextant(predict).exit_code, 1);
    std::vector<std::string> words{"export", folder.file("pools.json"), "--to", "slime"};
    words.insert(words.end(), question.begin(), question.end());
    return run_sextant(words).err;
  };
  const std::string of_mixed = said_of("8xH100+8xL40S");
  EXPECT_THAT(of_mixed, HasSubstr("the trainer gets the first 8, the engines the rest"));
  EXPECT_THAT(of_mixed, HasSubstr("this holds only if the pools get the GPUs above, of these types"));
  EXPECT_THAT(of_mixed, HasSubstr("with all GPUs in reverse order: "));
  EXPECT_THAT(said_of("2x8xH100"), Not(HasSubstr("of these types")));
}

TEST(ExportedQuestion, IsForTheFrameworkThatThePlanNames) {
  const TinyFolder folder;
  const std::vector<std::string> question{"--gpus", "8xH100", "--model", "Qwen/Qwen3-1.7B"};
  std::vector<std::string> predict{"predict",     "--plan-out",    folder.file("named.json"),
                                   "--framework", "verl-megatron", "--train",
                                   "tp=2",        "--rollout",     "tp=1"};
  predict.insert(predict.end(), question.begin(), question.end());
  EXPECT_LE(run_sextant(predict).exit_code, 1);
  std::vector<std::string> words{"export", folder.file("named.json")};
  words.insert(words.end(), question.begin(), question.end());
  EXPECT_THAT(run_sextant(words).err, HasSubstr("for verl-megatron, version "));
  // The tasks of the question are those of the plan's framework, also where the script is another program's.
  words.insert(words.end(), {"--to", "slurm"});
  EXPECT_EQ(run_sextant(words).exit_code, 0);
}

// A model that was asked for by its name on the Hub needs no path; the reward model of PPO still does.
TEST(ExportedQuestion, ScriptsLoadModelsByTheirNamesOnTheHub) {
  const TinyFolder folder;
  const std::vector<std::string> question{"--gpus",      "8xH100",      "--model",     "Qwen/Qwen3-1.7B",
                                          "--algorithm", "ppo",         "--framework", "openrlhf",
                                          "--train",     "zero=3,dp=8", "--rollout",   "tp=2"};
  std::vector<std::string> predict{"predict", "--plan-out", folder.file("plan.json")};
  predict.insert(predict.end(), question.begin(), question.end());
  const Printed predicted = run_sextant(predict);
  ASSERT_LE(predicted.exit_code, 1) << predicted.err;  // whether it fits in memory or not
  std::vector<std::string> words{"export", folder.file("plan.json"), "--to", "openrlhf"};
  words.insert(words.end(), question.begin(), question.begin() + 6);
  const Printed printed = run_sextant(words);
  EXPECT_THAT(printed.out, HasSubstr(": \"${MODEL_PATH:=Qwen/Qwen3-1.7B}\"")) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr(": \"${CRITIC_PATH:=Qwen/Qwen3-1.7B}\""));
  EXPECT_THAT(printed.out, HasSubstr(": \"${REWARD_MODEL_PATH:?"));
}

TEST_F(ExportedPlan, WritesAFileAndSaysSo) {
  const std::string script = folder_.file("run.sh");
  std::vector<std::string> all = arguments("verl");
  all.insert(all.end(), {"--out", script});
  const Printed printed = run_sextant(all);
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("wrote " + script));
  EXPECT_THAT(read_text_file(script), HasSubstr("verl.trainer.main_ppo"));
}

TEST_F(ExportedPlan, RefusesALayoutThatTheFrameworkDoesNotHave) {
  save_document(folder_.file("plan.json"), tiny_plan(1, 2, 1));
  const Printed printed = run_sextant(arguments("areal"));
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("it has no pipeline parallelism (the plan has 2 stages)"));
}

// The tasks of a question in words are those of a framework, here without a reference.
TEST_F(ExportedPlan, NamesTheOptionForThePlansFramework) {
  const std::vector<std::string> words{
      "export", folder_.file("plan.json"), "--to", "areal", "--gpus", "1x8xH100", "--model", "Qwen3-8B"};
  const Printed printed = run_sextant(words);
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("unknown task"));
  EXPECT_THAT(printed.err, HasSubstr("; --framework names the one that the plan is for"));
  std::vector<std::string> named = words;
  named.insert(named.end(), {"--framework", "verl"});
  const Printed other = run_sextant(named);
  EXPECT_EQ(other.exit_code, 2);  // the layers are those of a tiny model
  EXPECT_THAT(other.err, Not(HasSubstr("unknown task")));
}

// ROLL has no optimizer on the host, whose states then take the memory.
TEST_F(ExportedPlan, RefusesAScriptThatDoesNotFitIfThePlanDoes) {
  Plan plan = tiny_plan(1, 1, 1);
  for (auto& [name, task] : plan.tasks) task.execution.offload_weights = true;
  plan.tasks.at("actor_training").execution.offload_optimizer = true;
  save_document(folder_.file("plan.json"), plan);
  const auto exported = [&](double bytes) {
    const Cluster cores = test::two_cores();
    auto types = cores.device_types();
    for (auto& [name, type] : types) {
      type.memory_bytes = assumed(bytes);
      type.host_bytes_per_s = assumed(1e9);
    }
    save_document(folder_.file("cluster.json"),
                  Cluster(cores.name(), types, cores.nodes(), cores.levels(), cores.exceptions()));
    return run_sextant(arguments("roll"));
  };
  const Printed roomy = exported(16e9);
  EXPECT_EQ(roomy.exit_code, 0);
  // A twentieth more memory than the plan needs is less than the script does.
  constexpr double kMore = 1.05;
  const Printed printed = exported(kMore * planned_bytes(roomy.err));
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("roll cannot run the plan: as exported it needs "));
  EXPECT_THAT(printed.err, HasSubstr("; plan again with --framework roll."));
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
  const Printed table = run_sextant({"export", folder_.file("plan.json"), "--to", "csv"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, StartsWith("task,replica,"));
  const Printed csv = run_sextant({"export", data("coefficients.json"), "--to", "csv"});
  EXPECT_EQ(csv.exit_code, 0);
  EXPECT_THAT(csv.out, StartsWith("name,"));
}

}  // namespace
}  // namespace sextant::test
