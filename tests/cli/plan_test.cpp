#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json_value.h"
#include "sextant/planners.h"
#include "sextant/predict.h"
#include "sextant/search.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(PlanCommand, TheSearchRecordHasTheBudgetThatWasAskedFor) {
  const TinyFolder folder;
  const Printed printed =
      run_sextant({"plan", "--gpus", "1x8xH100", "--model", "Qwen3-4B", "--framework", "verl", "--evaluations",
                   "3000", "--search-out", folder.file("asked.json")});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(load_document<SearchRecord>(folder.file("asked.json")).content.budget_evaluations, 3000U);
}

TEST(PlanCommand, WritesAPlanThatPredictReads) {
  const TinyFolder folder;
  const std::string plan = folder.file("best.json"), prediction = folder.file("prediction.json");
  const Printed printed = run_sextant(folder.without_plan(
      "plan", {"--coefficients", "none", "--evaluations", "2000", "--out", plan, "--prediction", prediction}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + plan + "\nwrote " + prediction + "\n");
  EXPECT_THAT(printed.out, HasSubstr("portfolio: best of "));
  EXPECT_THAT(printed.out, ContainsRegex("any plan with these execution options takes at least [0-9.]+ "));
  EXPECT_THAT(printed.out, HasSubstr("\nactor_generation"));
  const Printed again =
      run_sextant(folder.without_plan("predict", {"--coefficients", "none", "--plan", plan, "--json"}));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(parse_document<Prediction>(again.out).content, load_document<Prediction>(prediction).content);
}

// The best is no slower than the plan that a person would write first.
TEST(PlanCommand, BeatsTheObviousPlan) {
  const TinyFolder folder;
  const std::string best = folder.file("best.json");
  ASSERT_EQ(run_sextant(folder.without_plan("plan", {"--prediction", best})).exit_code, 0);
  const Printed obvious = run_sextant(folder.with_plan("predict", {"--json"}));
  EXPECT_LE(load_document<Prediction>(best).content.iteration_s,
            parse_document<Prediction>(obvious.out).content.iteration_s);
}

TEST(PlanCommand, JsonIsTheDocumentAndNothingElse) {
  const TinyFolder folder;
  const Printed printed = run_sextant(folder.without_plan(
      "plan", {"--coefficients", "none", "--evaluations", "2000", "--json", "--micro-batches", "2"}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  const Plan plan = parse_document<Plan>(printed.out).content;
  check_plan(plan, tiny_workflow(), test::two_cores());
  for (const auto& [name, task] : plan.tasks) {
    if (name == "actor_generation") continue;
    EXPECT_EQ(task.micro_batch_sequences, 2) << name;
  }
}

TEST(PlanCommand, ABudgetThatEndsBeforeAnyPlanNamesWhatFindsOne) {
  const TinyFolder folder;
  const Printed exact = run_sextant(
      folder.without_plan("plan", {"--coefficients", "none", "--planner", "exact", "--evaluations", "1"}));
  EXPECT_EQ(exact.exit_code, 1);
  EXPECT_THAT(exact.err,
              HasSubstr("the search ended before a plan that fits was found; a larger --budget finds one"));
  EXPECT_THAT(exact.err, Not(HasSubstr("--planner exact")));
}

// A planner with a proof says what is short; for a search that finds nothing, branch and bound says it.
TEST(PlanCommand, Exits1WhenNothingFits) {
  const TinyFolder folder;
  const std::string out = folder.file("best.json"), search = folder.file("search.json");
  save_document(folder.file("cluster.json"), with_memory(test::two_cores(), 1e4));
  const std::pair<const char*, const char*> cases[] = {
      {"exhaustive", "sextant: no plan fits: task actor_training needs at least "},
      {"exact", "sextant: no plan of the space fits: task "},
      {"random", " fits; the nearest lacks "},
      {"sha-ea", " fits; the nearest lacks "}};
  for (const auto& [planner, says] : cases) {
    std::vector<std::string> more{"--coefficients", "none", "--planner",    planner,
                                  "--out",          out,    "--search-out", search};
    if (find_planner(planner)->traits.has_budget) more.insert(more.end(), {"--evaluations", "2000"});
    const Printed printed = run_sextant(folder.without_plan("plan", more));
    EXPECT_EQ(printed.exit_code, 1) << planner;
    EXPECT_EQ(printed.out, "");
    EXPECT_THAT(printed.err, HasSubstr(says));
    EXPECT_THAT(printed.err, StartsWith("sextant: no plan "));
    EXPECT_EQ(lines_of(printed.err).size(), 2U);
    EXPECT_EQ(lines_of(printed.err).back(), "wrote " + search);
    EXPECT_FALSE(std::filesystem::exists(out));
    const SearchRecord record = load_document<SearchRecord>(search).content;
    EXPECT_EQ(record.outcome, PlanOutcome::infeasible);
    EXPECT_EQ(record.proof == Proof::optimal, find_planner(planner)->traits.proves) << planner;
  }
}

// Links distinguish machines into too many parts for branch and bound to say why nothing fits.
TEST(PlanCommand, Exits1WhenNothingFitsOnManyMeasuredHosts) {
  const TinyFolder folder;
  const Cluster two = with_memory(test::two_cores(), 1e4);
  for (const int hosts : {20, 32}) {
    std::vector<Node> nodes;
    for (int host = 0; host < hosts; ++host) {
      nodes.push_back(two.nodes().front());
      nodes.back().name = "host-" + std::to_string(host);
      nodes.back().devices = 1;
    }
    const LinkRate rate{assumed(1e-5), assumed(1e9)};
    const Cluster measured("measured", two.device_types(), nodes,
                           {{LinkLevel::within_node, rate}, {LinkLevel::within_zone, rate}},
                           {{LinkScope::node, "host-0", "host-1", {assumed(1e-5), assumed(2e9)}, true}});
    save_document(folder.file("cluster.json"), measured);
    const Printed printed =
        run_sextant(folder.without_plan("plan", {"--coefficients", "none", "--evaluations", "200"}));
    EXPECT_EQ(printed.exit_code, 1) << printed.err;
    EXPECT_THAT(printed.err, StartsWith("sextant: no plan of "));
    EXPECT_THAT(printed.err, HasSubstr("; a longer search (--budget, --evaluations) may find one"));
    const Printed exact =
        run_sextant(folder.without_plan("plan", {"--coefficients", "none", "--planner", "exact"}));
    EXPECT_EQ(exact.exit_code, 2);
    EXPECT_THAT(exact.err, HasSubstr("too many parts of the cluster to prove anything about"));
  }
}

std::string planned(const TinyFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> all{"--coefficients", "none", "--json", "--evaluations", "3000"};
  all.insert(all.end(), more.begin(), more.end());
  const Printed printed = run_sextant(folder.without_plan("plan", all));
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  return format_json(parse_document<Plan>(printed.out).content.to_json());
}

TEST(PlanCommand, SameEvaluationsSamePlanOnAnyNumberOfThreads) {
  const TinyFolder folder;
  save_document(folder.file("cluster.json"), load_document<Cluster>(data("cluster.json")).content);
  save_document(folder.file("workflow.json"), load_document<Workflow>(data("workflow_ppo.json")).content);
  for (const char* seed : {"1", "2"}) {
    const std::string search = folder.file("search.json");
    const std::string one = planned(folder, {"--seed", seed, "--threads", "1", "--search-out", search});
    const auto alone = load_document<SearchRecord>(search).content;
    EXPECT_EQ(alone.threads, 1);
    for (const char* threads : {"2", "7"}) {
      EXPECT_EQ(planned(folder, {"--seed", seed, "--threads", threads, "--search-out", search}), one);
      const auto several = load_document<SearchRecord>(search).content;
      EXPECT_EQ(several.threads, std::min(std::stoi(threads), 4));  // of as many islands
      EXPECT_EQ(several.candidates, alone.candidates);
      EXPECT_EQ(several.iteration_s, alone.iteration_s);
    }
  }
}

// The limits of the space reach the planner.
TEST(PlanCommand, ExhaustiveTakesLimitsOfItsSpace) {
  const TinyFolder folder;
  const auto candidates = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"--planner", "exhaustive",   "--micro-batches",
                                 "1",         "--search-out", folder.file("search.json")};
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_EQ(run_sextant(folder.without_plan("plan", all)).exit_code, 0);
    return load_document<SearchRecord>(folder.file("search.json")).content.candidates;
  };
  const std::uint64_t plain = candidates({});
  EXPECT_GT(candidates({"--recompute"}), plain);
  // Four layers may be dealt to two stages in three ways.
  Workflow workflow = tiny_workflow();
  workflow.models.at("actor").layers = workflow.models.at("reference").layers = 4;
  save_document(folder.file("workflow.json"), workflow);
  EXPECT_GT(candidates({"--uneven-stages"}), candidates({}));
}

TEST(PlanCommand, ABudgetOfSecondsIsKeptInTheSearch) {
  const TinyFolder folder;
  const std::string search = folder.file("search.json");
  ASSERT_EQ(run_sextant(folder.without_plan("plan", {"--budget", "0.05", "--search-out", search})).exit_code,
            0);
  const auto record = load_document<SearchRecord>(search).content;
  EXPECT_EQ(record.budget_s, 0.05);
  EXPECT_GE(record.wall_s, 0.05);
  EXPECT_FALSE(record.was_interrupted);
}

// TRL counts micro-batches in sequences. 72B trains on 64 H100 with one sequence at a time and recomputation alone,
// which is slower than without but all that fits.
TEST(PlanCommand, FindsTheMicroBatchThatFits) {
  const Printed printed =
      run_sextant({"plan", "--gpus", "16x8xH100", "--model", "Qwen2.5-72B", "--framework", "trl", "--mode",
                   "asynchronous", "--prompts", "128", "--evaluations", "3000"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, ContainsRegex("actor_training .*full recomputation"));
}

// A node of eight GPUs is cut 4:4 at best, and half of them wait. On eight nodes the cut is finer.
TEST(PlanCommand, SaysIfGenerationAndTrainingShouldShareTheirGpus) {
  const auto asked = [](const char* gpus, const char* mode) {
    return run_sextant({"plan", "--gpus", gpus, "--model", "Qwen3-8B", "--framework", "verl", "--mode", mode,
                        "--evaluations", "3000"});
  };
  const Printed small = asked("1x8xH100", "one_step_off");
  EXPECT_EQ(small.exit_code, 0);
  EXPECT_THAT(small.err, HasSubstr("with --mode synchronous an iteration would take"));
  EXPECT_THAT(asked("8x8xH100", "one_step_off").err, Not(HasSubstr("would take")));
  EXPECT_THAT(asked("1x8xH100", "synchronous").err, Not(HasSubstr("would take")));
}

// verl splits the 4096 sequences of training evenly, which 24 GPUs cannot; 4104 they can. 16 GPUs can share both.
TEST(PlanCommand, SaysWhichBatchAllDevicesCouldShare) {
  const auto asked = [](const char* gpus, const char* prompts) {
    return run_sextant({"plan", "--gpus", gpus, "--model", "Qwen3-14B", "--framework", "verl", "--prompts",
                        prompts, "--evaluations", "6000"});
  };
  EXPECT_THAT(asked("3x8xH100", "512").err,
              HasSubstr("with --prompts 513, which all 24 devices can share evenly, "));
  EXPECT_THAT(asked("3x8xH100", "513").err, Not(HasSubstr("can share evenly")));
  EXPECT_THAT(asked("2x8xH100", "512").err, Not(HasSubstr("can share evenly")));
}

// FSDP of verl gathers all experts for each micro-batch, and 8 GPUs cannot hold the states of a dense 72B: Megatron can do
// both, and is said. Who names a trainer is told nothing.
TEST(PlanCommand, SaysIfAnotherTrainerOfTheFrameworkIsFaster) {
  const auto asked = [](const char* model, const char* framework) {
    return run_sextant({"plan", "--gpus", "1x8xH100", "--model", model, "--framework", framework, "--prompts",
                        "64", "--response-tokens", "mean=1000,max=4096", "--evaluations", "4000"});
  };
  const Printed mixture = asked("Qwen3-30B-A3B", "verl");
  EXPECT_EQ(mixture.exit_code, 0);
  EXPECT_THAT(mixture.err, ContainsRegex("with --framework verl-megatron, another trainer of verl, an "
                                         "iteration would take"));
  EXPECT_THAT(asked("Qwen3-30B-A3B", "verl-fsdp").err, Not(HasSubstr("another trainer")));
  EXPECT_THAT(asked("Qwen3-1.7B", "verl").err, Not(HasSubstr("another trainer")));
  const Printed large = asked("Qwen2.5-72B", "verl");
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.err, ContainsRegex("; --framework verl-megatron has a plan of [0-9]+ s an iteration"));
}

// The start of exact is its answer if it finds no better one.
TEST(PlanCommand, ExactStartsFromAPlan) {
  const TinyFolder folder;
  const std::string first = folder.file("first.json"), second = folder.file("second.json");
  ASSERT_EQ(run_sextant(folder.without_plan("plan", {"--coefficients", "none", "--planner", "exhaustive",
                                                     "--uneven-stages", "--out", first}))
                .exit_code,
            0);
  const Printed printed = run_sextant(folder.without_plan(
      "plan", {"--coefficients", "none", "--planner", "exact", "--warm-start", first, "--out", second}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("exact: nothing better than the plan it began with; "));
  EXPECT_THAT(printed.out, HasSubstr("\nproved: "));
  EXPECT_EQ(load_document<Plan>(second).content, load_document<Plan>(first).content);
}

TEST(PlanCommand, CtrlCKeepsTheBestSoFar) {
  const TinyFolder folder;
  const std::string out = folder.file("best.json"), search = folder.file("search.json");
  constexpr double kUntilOneIsFound_s = 0.5;  // of a core; the first takes milliseconds
  const Printed printed = interrupt_sextant(
      folder.without_plan("plan",
                          {"--coefficients", "none", "--budget", "110", "--out", out, "--search-out", search}),
      kUntilOneIsFound_s);
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err,
            "interrupted: this is the best plan so far\nwrote " + out + "\nwrote " + search + "\n");
  EXPECT_THAT(printed.out, AllOf(HasSubstr("portfolio: best of "), HasSubstr("\niteration ")));
  check_plan(load_document<Plan>(out).content, tiny_workflow(), test::two_cores());
  const auto record = load_document<SearchRecord>(search).content;
  EXPECT_TRUE(record.was_interrupted);
  EXPECT_EQ(record.outcome, PlanOutcome::found);
}

}  // namespace
}  // namespace sextant::test
