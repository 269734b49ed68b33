// proxy on one rank, with a workflow of a few thousand parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "core/json_value.h"
#include "documents/experiments.h"
#include "planner/coschedule/group.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProxyCommand : public ::testing::Test {
 protected:
  // One run of the same plan for each name.
  void ask_for(const std::vector<std::string>& names) const {
    Experiments all;
    all.workflows["tiny"] = tiny_workflow();
    all.plans["alone"] = tiny_plan(1, 1, 1);
    for (const std::string& name : names) all.experiments.push_back({name, "tiny", "alone"});
    save_document(folder_.file("experiments.json"), all);
  }
  [[nodiscard]] Printed measure(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"proxy",
                                 "--cluster",
                                 folder_.file("cluster.json"),
                                 "--experiments",
                                 folder_.file("experiments.json"),
                                 "--out",
                                 out_,
                                 "--max-iterations",
                                 "3"};
    all.insert(all.end(), more.begin(), more.end());
    return run_sextant(all);
  }
  [[nodiscard]] Runs runs() const { return load_document<Runs>(out_).content; }

  TinyFolder folder_;
  std::string out_ = folder_.file("runs.json");
};

TEST_F(ProxyCommand, RefusesARankThatRanAlone) {
  const EnvironmentVariable two("SLURM_STEP_NUM_TASKS", "2"), first("SLURM_PROCID", "0");
  const Printed printed = run_sextant(folder_.with_plan("proxy", {"--out", out_, "--max-iterations", "3"}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("every process is a job of one rank: SLURM_STEP_NUM_TASKS=2 (srun)"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(ProxyCommand, MeasuresOnePlan) {
  const Printed printed =
      run_sextant(folder_.with_plan("proxy", {"--out", out_, "--max-iterations", "3", "--spread", "0"}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + out_ + "\n");
  EXPECT_THAT(printed.out, StartsWith("run "));
  const Runs measured = runs();
  ASSERT_EQ(measured.runs.size(), 1U);
  const sextant::Run& run = measured.runs.front();
  EXPECT_EQ(run.name, "tiny/" + tiny_plan(1, 1, 1).name);
  EXPECT_EQ(run.framework, "sextant-proxy");
  EXPECT_EQ(run.iteration.samples_s.size(), 3U);
  for (const Task& task : tiny_workflow().tasks) {
    ASSERT_EQ(run.tasks.at(task.name).samples_s.size(), 3U) << task.name;
    EXPECT_LT(run.tasks.at(task.name).samples_s[0], run.iteration.samples_s[0]) << task.name;
  }
}

// Plans of `sextant plan` have execution options; the document of runs says what was really run.
TEST_F(ProxyCommand, RunsAPlanWithoutTheOptionsItHasNoCodeForAndSaysSo) {
  Plan plan = tiny_plan(1, 1, 1);
  plan.tasks.at(task_names::kActorTraining).execution.fused_attention = true;
  save_document(folder_.file("plan.json"), plan);
  const Printed printed = run_sextant(folder_.with_plan("proxy", {"--out", out_, "--max-iterations", "1"}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("note: task 'actor_training' of plan '" + plan.name +
                                     "' runs without fused_attention: the proxy does not support this\n"));
  EXPECT_EQ(runs().plans.at(plan.name), tiny_plan(1, 1, 1));
}

TEST_F(ProxyCommand, JsonIsTheDocumentAndNothingElse) {
  const Printed printed =
      run_sextant(folder_.with_plan("proxy", {"--out", out_, "--json", "--max-iterations", "1"}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + out_ + "\n");
  EXPECT_EQ(parse_document<Runs>(printed.out).content, runs());
}

// The first run's time is replaced by one that no measurement would give.
TEST_F(ProxyCommand, ResumeKeepsWhatIsThereAndDoesTheRest) {
  constexpr double kImpossible_s = 12345;
  ask_for({"first"});
  ASSERT_EQ(measure({}).exit_code, 0);
  Runs changed = runs();
  changed.runs[0].iteration.samples_s = {kImpossible_s};
  save_document(out_, changed);
  ask_for({"first", "second"});
  EXPECT_EQ(measure({"--resume"}).exit_code, 0);
  const Runs resumed = runs();
  ASSERT_EQ(resumed.runs.size(), 2U);
  EXPECT_EQ(resumed.runs[0], changed.runs[0]);
  EXPECT_EQ(resumed.runs[1].name, "second");
  EXPECT_LT(resumed.runs[1].iteration.median_s(), kImpossible_s);
}

// Each pass measures again and its samples join those of the passes before.
TEST_F(ProxyCommand, PassesAddSamples) {
  ask_for({"first", "second"});
  ASSERT_EQ(measure({"--passes", "2", "--spread", "0"}).exit_code, 0);
  const Runs twice = runs();
  ASSERT_EQ(twice.runs.size(), 2U);
  for (const sextant::Run& run : twice.runs) EXPECT_EQ(run.iteration.samples_s.size(), 6U) << run.name;
  ASSERT_EQ(measure({"--passes", "3", "--spread", "0", "--resume"}).exit_code, 0);
  const Runs thrice = runs();
  ASSERT_EQ(thrice.runs.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& before = twice.runs[i].iteration.samples_s;
    const auto& after = thrice.runs[i].iteration.samples_s;
    ASSERT_EQ(after.size(), 9U);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  }
}

TEST_F(ProxyCommand, WithoutResumeItStartsAfresh) {
  ask_for({"first", "second"});
  ASSERT_EQ(measure({}).exit_code, 0);
  ask_for({"third"});
  ASSERT_EQ(measure({}).exit_code, 0);
  ASSERT_EQ(runs().runs.size(), 1U);
  EXPECT_EQ(runs().runs[0].name, "third");
}

TEST_F(ProxyCommand, InterleavedRunsHaveOneSampleARound) {
  ask_for({"a", "b", "c"});
  const Printed printed = measure({"--interleave", "--warmup", "0"});
  EXPECT_EQ(printed.exit_code, 0);
  std::vector<std::string> names;
  const Runs measured = runs();
  for (const sextant::Run& run : measured.runs) {
    names.push_back(run.name);
    EXPECT_EQ(run.iteration.samples_s.size(), 3U) << run.name;
    EXPECT_THAT(run.notes.at("stopped"), HasSubstr("3 rounds interleaved with 2 other plans"));
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
}

// A plan of two devices cannot run on one rank.
TEST_F(ProxyCommand, KeepGoingMeasuresTheOthers) {
  Experiments all;
  all.workflows["tiny"] = tiny_workflow();
  all.plans["alone"] = tiny_plan(1, 1, 1);
  all.plans["pair"] = tiny_plan(2, 1, 1);
  all.experiments = {{"bad", "tiny", "pair"}, {"good", "tiny", "alone"}};
  save_document(folder_.file("experiments.json"), all);
  EXPECT_EQ(measure({}).exit_code, 2);
  const Printed printed = measure({"--keep-going"});
  EXPECT_EQ(printed.exit_code, 3);
  EXPECT_THAT(printed.err, HasSubstr("experiment bad"));
  EXPECT_THAT(printed.err, HasSubstr("1 of 2 experiments failed"));
  ASSERT_EQ(runs().runs.size(), 1U);
  EXPECT_EQ(runs().runs[0].name, "good");
}

// The tiny cluster has cores. Where there is a GPU it does not take the workflow's fp32.
TEST_F(ProxyCommand, GpusAreAskedForByName) {
  const auto on = [&](const std::string& device) {
    return run_sextant(
        folder_.with_plan("proxy", {"--out", out_, "--max-iterations", "1", "--device", device}));
  };
  EXPECT_EQ(on("cpu").exit_code, 0);
  EXPECT_EQ(on("auto").exit_code, 0);
  const Printed printed = on("gpu");
  EXPECT_TRUE(printed.exit_code == 3 || printed.exit_code == 2) << printed.exit_code;
  EXPECT_THAT(printed.err, ::testing::AnyOf(HasSubstr("--device gpu and"), HasSubstr("bf16")));
  EXPECT_EQ(on("tpu").exit_code, 2);
}

TEST_F(ProxyCommand, NeedsAClusterUnlessItChecksTheDevice) {
  const Printed printed = run_sextant({"proxy", "--workflow", "w.json", "--plan", "p.json"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("--cluster"));
}

TEST_F(ProxyCommand, APlanOfTwoDevicesNeedsTwoRanks) {
  save_document(folder_.file("plan.json"), tiny_plan(2, 1, 1));
  const Printed printed = run_sextant(folder_.with_plan("proxy", {"--out", out_}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("start it with mpirun -n 2"));
  EXPECT_EQ(lines_of(printed.err).size(), 1U) << printed.err;
  EXPECT_FALSE(std::filesystem::exists(out_));
}

// All plans are checked before the first is run.
TEST_F(ProxyCommand, ABadPlanIsRefusedBeforeAnythingIsMeasured) {
  ask_for({"good", "bad"});
  auto all = load_document<Experiments>(folder_.file("experiments.json")).content;
  all.plans["beyond"] = tiny_plan(4, 1, 1);
  all.experiments[1].plan = "beyond";
  save_document(folder_.file("experiments.json"), all);
  const Printed printed = measure({});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, StartsWith("sextant: " + folder_.file("experiments.json") +
                                      ": experiment bad: plan beyond: /tasks/"));
  EXPECT_THAT(printed.err, HasSubstr("unknown device 2"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(ProxyCommand, NeedsExperimentsOrAPlan) {
  const Printed neither = run_sextant({"proxy", "--cluster", folder_.file("cluster.json")});
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_EQ(neither.err, "sextant: give either --experiments FILE or both --workflow FILE and --plan FILE\n");
  ask_for({"a"});
  const Printed both =
      run_sextant(folder_.with_plan("proxy", {"--experiments", folder_.file("experiments.json")}));
  EXPECT_EQ(both.err, neither.err);
}

// Two proxies are jobs of a group: every phase of both has a permit, and none is given twice at a time.
TEST_F(ProxyCommand, TakesPermitsForItsPhases) {
  coschedule::Placement placement;
  placement.pools.rollout = {"r", 1, 0, 1, 0};
  placement.pools.training = {"t", 1, 0, 1, 0};
  coschedule::Group group{"pair", 1, 1, {}};
  for (const char* name : {"a", "b"}) {
    coschedule::Job job;
    job.name = name;
    job.rollout_s = job.training_s = 1;
    group.members.push_back({job, {0}});
  }
  placement.groups.push_back(group);
  save_document(folder_.file("placement.json"), placement);
  const std::string socket = folder_.file("permits"), log = folder_.file("phases.csv");
  std::future<Printed> server = std::async(std::launch::async, [&] {
    return run_sextant({"coschedule", "run", "--state", folder_.file("placement.json"), "--socket", socket,
                        "--until-left", "--out", log});
  });
  while (!std::filesystem::exists(socket)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto job = [&](const std::string& name) {
    return run_sextant(folder_.with_plan(
        "proxy", {"--out", folder_.file(name + ".json"), "--warmup", "0", "--min-iterations", "4",
                  "--max-iterations", "4", "--permits", socket, "--permit-job", name, "--rollout-cores", "0"}));
  };
  std::future<Printed> other = std::async(std::launch::async, [&] { return job("b"); });
  const Printed first = job("a"), second = other.get(), served = server.get();
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(served.exit_code, 0) << served.err;
  std::map<std::string, int> granted, held;
  for (const std::string& line : lines_of(read_text_file(log))) {
    const std::size_t comma = line.rfind(',');
    const std::string phase = line.substr(comma + 1);
    if (line.find(",granted,") != std::string::npos) {
      ++granted[phase];
      EXPECT_EQ(++held[phase], 1) << line;
    }
    if (line.find(",released,") != std::string::npos) --held[phase];
  }
  EXPECT_EQ(granted, (std::map<std::string, int>{{"rollout", 8}, {"sync", 8}, {"training", 8}}));
}

TEST_F(ProxyCommand, RefusesPermitsThatLackSomething) {
  const auto refusal = [&](const std::vector<std::string>& more, int exit_code) {
    std::vector<std::string> all{"--out", out_};
    all.insert(all.end(), more.begin(), more.end());
    const Printed printed = run_sextant(folder_.with_plan("proxy", all));
    EXPECT_EQ(printed.exit_code, exit_code);
    return printed.err;
  };
  EXPECT_THAT(refusal({"--permits", "nowhere"}, 2), HasSubstr("--permit-job is required"));
  EXPECT_THAT(refusal({"--permit-job", "a"}, 2), HasSubstr("need --permits"));
  EXPECT_THAT(refusal({"--permits", "nowhere", "--permit-job", "a"}, 3), HasSubstr("no permit server"));
  EXPECT_THAT(refusal({"--permits", "nowhere", "--permit-job", "a", "--rollout-cores", "1000000"}, 2),
              HasSubstr("cores are numbers from 0 to"));
}

}  // namespace
}  // namespace sextant::test
