#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/reproduce/reproduction.h"
#include "sextant/document.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ReproduceCommand, OneCellToADocumentAndAPage) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "r.json").string(), page = (folder.path() / "r.md").string();
  const Printed printed =
      run_sextant({"reproduce", "areal-hex", "--only", "8-h20-generation/1.5B", "--budget", "0.1", "--threads",
                   "1", "--coefficients", "none", "--out", out, "--markdown", page});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "wrote " + out + "\nwrote " + page + "\n");
  EXPECT_THAT(printed.out, StartsWith("areal-hex: AReaL-Hex"));
  EXPECT_THAT(printed.out, HasSubstr("\n8-h20-generation/1.5B"));
  EXPECT_THAT(printed.out, HasSubstr("\nassumed, because the paper does not state it"));
  const auto document = load_document<Reproduction>(out).content;
  ASSERT_EQ(document.experiments.size(), 1U);
  ASSERT_EQ(document.experiments[0].cells.size(), 1U);
  EXPECT_EQ(document.experiments[0].cells[0].devices, 8);
  EXPECT_EQ(document.experiments[0].coefficients, "none");
  EXPECT_GT(document.experiments[0].cells[0].plans.at(0).tokens_per_s, 0);
  EXPECT_EQ(document.budget_s, 0.1);
  EXPECT_EQ(document.budget_evaluations, 0U);
  EXPECT_THAT(read_text_file(page), HasSubstr("--only 8-h20-generation/1.5B"));
}

// The plans of a number of candidates do not depend on the machine.
TEST(ReproduceCommand, EvaluationsGiveTheSamePlansAgain) {
  const auto once = [] {
    const Printed printed =
        run_sextant({"reproduce", "areal-hex", "--only", "8-h20-generation/1.5B", "--evaluations", "2000",
                     "--threads", "1", "--coefficients", "none", "--json"});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    return parse_document<Reproduction>(printed.out).content;
  };
  const Reproduction first = once(), second = once();
  EXPECT_EQ(first.budget_s, 0);
  EXPECT_EQ(first.budget_evaluations, 2000U);
  ASSERT_EQ(first.experiments.at(0).cells.size(), 1U);
  EXPECT_EQ(first.experiments[0].comparisons, second.experiments.at(0).comparisons);
  const auto &plans = first.experiments[0].cells[0].plans, &again = second.experiments[0].cells.at(0).plans;
  ASSERT_EQ(plans.size(), again.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_EQ(plans[i].layout, again[i].layout);
    EXPECT_EQ(plans[i].iteration_s, again[i].iteration_s);
  }
}

TEST(ReproduceCommand, BothBudgetsAreRefused) {
  const Printed printed = run_sextant({"reproduce", "areal-hex", "--budget", "1", "--evaluations", "9"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("--evaluations"));
}

TEST(ReproduceCommand, PublishedPlansOfRealBesideTheirTimes) {
  const Printed printed = run_sextant(
      {"reproduce", "real", "--only", "7b7b/cudagraph", "--budget", "0.1", "--threads", "1", "--json"});
  EXPECT_EQ(printed.exit_code, 0);
  const auto document = parse_document<Reproduction>(printed.out).content;
  const ReproducedExperiment& real = document.experiments.at(0);
  EXPECT_EQ(real.coefficients, "real.json");
  int iterations = 0;
  for (const Comparison& one : real.comparisons) {
    if (one.group != "iteration of the published plans") continue;
    ++iterations;
    EXPECT_TRUE(one.published_low == 64.0 || one.published_low == 122.6);
    // The coefficients that ship were fitted to these.
    constexpr double kOff = 1.25;
    EXPECT_LT(*one.ours, kOff * one.published_low) << one.sentence;
    EXPECT_GT(*one.ours, one.published_low / kOff) << one.sentence;
  }
  EXPECT_EQ(iterations, 2);
}

// Figure 4 of HetRL, one cell.
TEST(ReproduceCommand, LoadBalancingBesideEvenLoad) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "r.md").string();
  const Printed printed = run_sextant({"reproduce", "hetrl-balance", "--only", "single-region/Qwen3-4B/grpo",
                                       "--budget", "0.2", "--threads", "1", "--json", "--markdown", page});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  const auto document = parse_document<Reproduction>(printed.out).content;
  ASSERT_EQ(document.experiments.size(), 1U);
  const ReproducedExperiment& experiment = document.experiments[0];
  ASSERT_EQ(experiment.cells.size(), 1U);
  ASSERT_EQ(experiment.cells[0].plans.size(), 3U);
  const ReproducedPlan &balanced = experiment.cells[0].plans[0], &even = experiment.cells[0].plans[1];
  EXPECT_EQ(even.name, "sha-ea, even load");
  ASSERT_EQ(experiment.comparisons.size(), 2U);  // the cell's, and the largest of the network
  EXPECT_DOUBLE_EQ(*experiment.comparisons[0].ours, balanced.sequences_per_s / even.sequences_per_s);
  EXPECT_EQ(experiment.comparisons[0].published_high, 1.12);
  EXPECT_THAT(
      read_text_file(page),
      HasSubstr(
          "| cell | sha-ea | sha-ea, even load | sha-ea, batches balanced in the rollout alone | from the best "
          "at most |\n"));
}

TEST(ReproduceCommand, WrongInputExits2) {
  Printed printed = run_sextant({"reproduce", "hetrl", "--only", "mars"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err,
              StartsWith("sextant: --only: no cell's name contains \"mars\" (there are single-region/"));
  EXPECT_EQ(lines_of(printed.err).size(), 1U);
  printed = run_sextant({"reproduce", "mars"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("expected one of hetrl,"));
  EXPECT_EQ(run_sextant({"reproduce"}).exit_code, 2);
  EXPECT_EQ(run_sextant({"reproduce", "real", "--budget", "0"}).exit_code, 2);
  printed = run_sextant({"reproduce", "real", "--only", "7b7b/cuda", "--coefficients", "/nowhere.json"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("/nowhere.json"));
}

TEST(ReproduceCommand, CtrlCKeepsTheCellsThatAreDone) {
  const Printed printed = interrupt_sextant(
      {"reproduce", "real", "--only", "7b7b", "--budget", "60", "--threads", "1", "--json"}, 0.5);
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("interrupted: these are the finished cells\n"));
  const auto document = parse_document<Reproduction>(printed.out).content;
  EXPECT_TRUE(document.was_interrupted);
  EXPECT_TRUE(document.experiments.empty());  // the first search alone takes a minute
}

}  // namespace
}  // namespace sextant::test
