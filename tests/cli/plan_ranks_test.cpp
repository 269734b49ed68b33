// sextant plan on several ranks: one answer, said once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json_value.h"
#include "sextant/search.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

// Lines of mpirun about ranks that exit with another code than 0 are not ours.
int own_lines(const std::string& err) {
  const std::vector<std::string> lines = lines_of(err);
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("sextant") || line.starts_with("Usage");
  }));
}

std::vector<std::string> plan_arguments(const TinyFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = folder.without_plan("plan", {"--coefficients", "none"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(PlanOnRanks, GivesThePlanOfOneProcessAndWritesItOnce) {
  const TinyFolder folder;
  const std::string out = folder.file("best.json"), search = folder.file("search.json");
  const std::vector<std::string> how = {"--planner", "sha-ea", "--evaluations", "400", "--threads", "1"};
  std::vector<std::string> files = how;
  files.insert(files.end(), {"--out", out, "--search-out", search});
  const Printed alone = run_sextant(plan_arguments(folder, files));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const Plan plan_alone = load_document<Plan>(out).content;
  const auto search_alone = load_document<SearchRecord>(search).content;

  const Printed printed = run_on_ranks(2, plan_arguments(folder, files));
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(printed.err, "wrote " + out + "\nwrote " + search + "\n");
  EXPECT_THAT(printed.out, HasSubstr(", on 2 ranks; "));
  EXPECT_EQ(printed.out.find("\niteration "), printed.out.rfind("\niteration "));
  EXPECT_EQ(load_document<Plan>(out).content, plan_alone);
  const auto record = load_document<SearchRecord>(search).content;
  EXPECT_EQ(record.threads, 2);
  EXPECT_EQ(record.candidates, search_alone.candidates);
  EXPECT_EQ(record.iteration_s, search_alone.iteration_s);
  ASSERT_EQ(record.curve.size(), search_alone.curve.size());
  for (std::size_t i = 0; i < record.curve.size(); ++i) {
    EXPECT_EQ(record.curve[i].evaluations, search_alone.curve[i].evaluations);
    EXPECT_EQ(record.curve[i].iteration_s, search_alone.curve[i].iteration_s);
  }

  std::vector<std::string> json = how;
  json.emplace_back("--json");
  EXPECT_EQ(parse_document<Plan>(run_on_ranks(2, plan_arguments(folder, json)).out).content, plan_alone);
}

TEST(PlanOnRanks, BadInputIsSaidOnce) {
  const TinyFolder folder;
  const std::string file = data("bad/negative.json");
  const Printed printed =
      run_on_ranks(2, {"plan", "--cluster", file, "--workflow", folder.file("workflow.json")});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(own_lines(printed.err), 1) << printed.err;
  EXPECT_THAT(printed.err,
              HasSubstr("sextant: " + file + ": /nodes/1/devices: expected an integer >= 1, got -2\n"));
}

// Found out by the search itself.
TEST(PlanOnRanks, MissingPricesAreSaidOnce) {
  const TinyFolder folder;
  const Printed printed =
      run_on_ranks(2, plan_arguments(folder, {"--goal", "cost", "--out", folder.file("best.json")}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(own_lines(printed.err), 1) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("price_usd_per_hour"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("best.json")));
}

TEST(PlanOnRanks, BadUsageIsSaidOnce) {
  const TinyFolder folder;
  const Printed printed = run_on_ranks(2, plan_arguments(folder, {"--bogus"}));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(own_lines(printed.err), 2) << printed.err;  // and how it is used
  EXPECT_THAT(printed.err, HasSubstr("sextant: unknown argument --bogus\n"));
}

// Only rank 0 writes, and the others hear how that went.
TEST(PlanOnRanks, AFileThatCannotBeWrittenIsSaidOnce) {
  const TinyFolder folder;
  const std::string out = folder.file("plan.json") + "/best.json";  // below a file
  const Printed printed = run_on_ranks(2, plan_arguments(folder, {"--evaluations", "400", "--out", out}));
  EXPECT_EQ(printed.exit_code, 3);
  EXPECT_EQ(own_lines(printed.err), 1) << printed.err;
}

TEST(PlanOnRanks, NoPlanThatFitsIsSaidOnce) {
  const TinyFolder folder;
  save_document(folder.file("cluster.json"), with_memory(test::two_cores(), 1000));
  const Printed printed = run_on_ranks(2, plan_arguments(folder, {"--evaluations", "400"}));
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(own_lines(printed.err), 1) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("fits"));
}

struct Refused {
  const char* name;
  std::vector<std::string> arguments;
  const char* says;
};

class PlanOnRanksRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(PlanOnRanksRefuses, WhatRunsInOneProcess) {
  const TinyFolder folder;
  const Printed printed = run_on_ranks(2, plan_arguments(folder, GetParam().arguments));
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(own_lines(printed.err), 1) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr(std::string("sextant: ") + GetParam().says));
  EXPECT_THAT(printed.err, HasSubstr("start without mpirun"));
}

INSTANTIATE_TEST_SUITE_P(
    Options, PlanOnRanksRefuses,
    ::testing::Values(Refused{"exact", {"--planner", "exact"}, "--planner: exact runs in a single process"},
                      Refused{"pareto", {"--pareto", "3"}, "--pareto and --compare-modes run "},
                      Refused{"modes", {"--compare-modes"}, "--pareto and --compare-modes run "}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sextant::test
