// How the command line itself answers: help, version, and what it cannot parse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kCommands[] = {"probe", "proxy",  "calibrate",    "validate",   "predict",
                                 "plan",  "report", "coefficients", "quickstart", "reproduce"};

TEST(Usage, HelpNamesEveryCommandAndTheExitCodes) {
  const Printed printed = run_sextant({"--help"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  for (const char* command : kCommands)
    EXPECT_THAT(printed.out, HasSubstr("\n  " + std::string(command) + " "));
  EXPECT_THAT(printed.out, HasSubstr("Exit codes: 0 done, 1 the answer is no, 2 bad input or usage, 3"));
}

TEST(Usage, EveryCommandHasHelpWithAnExample) {
  for (const std::string command : kCommands) {
    const Printed printed = run_sextant({command, "--help"});
    EXPECT_EQ(printed.exit_code, 0) << command;
    EXPECT_EQ(printed.err, "") << command;
    EXPECT_THAT(printed.out, AllOf(HasSubstr("Usage: sextant " + command), HasSubstr("--json"))) << command;
    const std::size_t example = printed.out.find("Example: ");
    ASSERT_NE(example, std::string::npos) << command;
    EXPECT_THAT(printed.out.substr(example), HasSubstr("sextant " + command + " ")) << command;
  }
}

TEST(Usage, OptionsThatWereRenamedStillWorkAndNoHelpShowsThem) {
  const TinyFolder folder;
  const Printed old_name = run_sextant({"validate", folder.file("runs.json"), "--most-task-error", "-1"});
  const Printed new_name = run_sextant({"validate", folder.file("runs.json"), "--max-task-error", "-1"});
  EXPECT_EQ(old_name.exit_code, 2);
  EXPECT_EQ(old_name.err, new_name.err);
  EXPECT_THAT(run_sextant({"validate", "--help"}).out, ::testing::Not(HasSubstr("--most")));
}

TEST(Usage, VersionIsOneLine) {
  const Printed printed = run_sextant({"--version"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.out, current_provenance().tool_version + "\n");
  EXPECT_EQ(printed.err, "");
}

TEST(Usage, IncompleteCommandsEndWithAnExample) {
  for (const char* command : {"check", "calibrate", "import", "validate", "export", "diff", "coschedule"}) {
    const Printed printed = run_sextant({command});
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_THAT(printed.err, HasSubstr("\nExample: sextant " + std::string(command) + " ")) << command;
  }
}

TEST(Usage, MisspeltWordsGetASuggestion) {
  struct Misspelt {
    std::vector<std::string> arguments;
    const char* first_line;
  };
  for (const Misspelt& misspelt : std::initializer_list<Misspelt>{
           {{"plann"}, "sextant: unknown argument plann; did you mean plan?"},
           {{"plan", "--modell", "x"}, "sextant: unknown argument --modell; did you mean --model?"},
           {{"plan", "--buget=3"}, "sextant: unknown argument --buget=3; did you mean --budget?"},
           // Not a name that is near, but a word of their help.
           {{"plan", "--seconds", "3"},
            "sextant: unknown argument --seconds; did you mean --budget, --deadline or --change-seconds?"},
           {{"plan", "--gaol", "time"}, "sextant: unknown argument --gaol; did you mean --goal?"},
           {{"plan", "--fast"}, "sextant: unknown argument --fast"},
           // Its value is no action.
           {{"coschedule", "simulate", "--sede", "3"},
            "sextant: unknown argument --sede; did you mean --seed?"},
           {{"coschedule", "simulte"}, "sextant: action: expected one of "}}) {
    const Printed printed = run_sextant(misspelt.arguments);
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_THAT(lines_of(printed.err).front(), StartsWith(misspelt.first_line));
  }
  EXPECT_THAT(lines_of(run_sextant({"export", "plan.json", "--to", "vrel"}).err).front(),
              AllOf(StartsWith("sextant: --to: expected one of json, csv, "),
                    HasSubstr("got \"vrel\"; did you mean verl?")));
  EXPECT_THAT(lines_of(run_sextant({"coschedule", "simulte"}).err).front(),
              HasSubstr("did you mean simulate?"));
}

struct Wrong {
  const char* name;
  std::vector<std::string> arguments;
  const char* first_line;
  const char* usage;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class WrongUsage : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongUsage, ExitsWith2AndSaysHow) {
  const Printed printed = run_sextant(GetParam().arguments);
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  const auto lines = lines_of(printed.err);
  ASSERT_GE(lines.size(), 2U) << printed.err;
  EXPECT_THAT(lines[0], StartsWith(GetParam().first_line));
  EXPECT_EQ(lines[1], GetParam().usage);
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, WrongUsage,
    ::testing::Values(
        Wrong{"nothing", {}, "sextant: A subcommand is required", "Usage: sextant SUBCOMMAND [OPTIONS]"},
        Wrong{"unknown_command",
              {"navigate"},
              "sextant: unknown argument navigate",
              "Usage: sextant SUBCOMMAND [OPTIONS]"},
        Wrong{"unknown_option",
              {"plan", "--fast"},
              "sextant: unknown argument --fast",
              "Usage: sextant plan [OPTIONS]"},
        Wrong{"unknown_option_of_the_program",
              {"--fast", "report"},
              "sextant: unknown argument --fast",
              "Usage: sextant report [OPTIONS]"},
        Wrong{"missing_option",
              {"validate", "runs.json"},
              "sextant: --coefficients is required",
              "Usage: sextant validate [OPTIONS]"},
        Wrong{"missing_positional",
              {"validate", "--coefficients", "c.json"},
              "sextant: runs is required",
              "Usage: sextant validate [OPTIONS]"},
        Wrong{"missing_value", {"report", "--out"}, "sextant: --out", "Usage: sextant report [OPTIONS]"},
        Wrong{"not_a_number",
              {"calibrate", "r.json", "--hold-out", "half"},
              "sextant: --hold-out",
              "Usage: sextant calibrate [OPTIONS]"},
        Wrong{"out_of_range",
              {"calibrate", "r.json", "--hold-out", "0.95"},
              "sextant: --hold-out",
              "Usage: sextant calibrate [OPTIONS]"},
        Wrong{"unknown_choice",
              {"calibrate", "r.json", "--hold-out-by", "moon"},
              "sextant: --hold-out-by",
              "Usage: sextant calibrate [OPTIONS]"},
        Wrong{"negative_warmup",
              {"proxy", "--cluster", "c.json", "--warmup", "-1"},
              "sextant: --warmup",
              "Usage: sextant proxy [OPTIONS]"},
        Wrong{"negative_before_a_command",
              {"trace", "--seconds", "-1", "--", "true"},
              "sextant: --seconds",
              "Usage: sextant trace [OPTIONS]"},
        Wrong{"no_steps",
              {"trace", "--steps", "0", "--", "true"},
              "sextant: --steps: expected a number above 0",
              "Usage: sextant trace [OPTIONS]"},
        Wrong{"no_whole_number",
              {"plan", "--micro-batches", "1,0.5"},
              "sextant: --micro-batches: expected a whole number, got \"0.5\"",
              "Usage: sextant plan [OPTIONS]"},
        Wrong{"no_micro_batch",
              {"plan", "--micro-batches", "1,0"},
              "sextant: --micro-batches: expected an integer from 1 to 1000000, got \"0\"",
              "Usage: sextant plan [OPTIONS]"},
        // Zero would mean "not asked" and accept any error.
        Wrong{"no_error_at_all",
              {"validate", "r.json", "--coefficients", "c.json", "--max-task-error", "0"},
              "sextant: --max-task-error",
              "Usage: sextant validate [OPTIONS]"}),
    [](const auto& wrong) { return std::string(wrong.param.name); });

}  // namespace
}  // namespace sextant::test
