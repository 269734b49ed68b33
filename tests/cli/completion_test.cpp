// Completion, asked of the shells themselves, and the manual pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder with the completion script of a shell.
class Completions : public ::testing::Test {
 protected:
  Completions()
      : folder_(std::filesystem::path(::testing::TempDir()) / ("completion." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Completions() override { std::filesystem::remove_all(folder_); }

  std::string script(const std::string& shell, const std::string& name) const {
    const Printed printed = run_sextant({"completion", shell});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    const std::filesystem::path file = folder_ / name;
    std::ofstream(file) << printed.out;
    return file;
  }

  // The lines that a shell prints.
  static std::vector<std::string> lines_of(const std::string& shell_command) {
    std::vector<std::string> lines;
    FILE* pipe = popen(shell_command.c_str(), "r");
    if (pipe == nullptr) return lines;
    char line[4096];
    while (std::fgets(line, sizeof line, pipe) != nullptr)
      lines.emplace_back(line, std::string(line).find('\n'));
    pclose(pipe);
    return lines;
  }

  // Returns the words that bash offers for the last of these words.
  std::vector<std::string> offered_by_bash(const std::vector<std::string>& words) const {
    std::string array;
    for (const std::string& word : words) array += " '" + word + "'";
    return lines_of(
        "cd " + folder_.string() + " && bash -c '. \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); " +
        "_sextant; printf \"%s\\n\" \"${COMPREPLY[@]}\"' " + script("bash", "sextant.bash") + array);
  }

  std::filesystem::path folder_;
};

TEST_F(Completions, BashOffersCommandsOptionsChoicesAndFiles) {
  EXPECT_THAT(offered_by_bash({"sextant", "pl"}), ElementsAre("plan"));
  EXPECT_THAT(offered_by_bash({"sextant", "plan", "--algo"}), ElementsAre("--algorithm"));
  EXPECT_THAT(offered_by_bash({"sextant", "plan", "--algorithm", ""}), ElementsAre("grpo", "ppo"));
  EXPECT_THAT(offered_by_bash({"sextant", "coschedule", "pl"}), ElementsAre("place"));
  EXPECT_THAT(offered_by_bash({"sextant", "predict", "--plan", "sext"}), ElementsAre("sextant.bash"));
  EXPECT_THAT(offered_by_bash({"sextant", "predict", "--planner"}), Not(Contains("--planner")));
}

TEST_F(Completions, ZshAndFishAcceptTheirScripts) {
  const std::string zsh = script("zsh", "_sextant"), fish = script("fish", "sextant.fish");
  bool is_any_there = false;
  if (std::system("command -v zsh >/dev/null") == 0) {
    is_any_there = true;
    EXPECT_EQ(std::system(("zsh -n " + zsh).c_str()), 0);
  }
  if (std::system("command -v fish >/dev/null") == 0) {
    is_any_there = true;
    EXPECT_THAT(
        lines_of("fish --no-config -c 'source " + fish + "; complete -C \"sextant plan --algorithm \"'"),
        ElementsAre("grpo", "ppo"));
    EXPECT_THAT(lines_of("fish --no-config -c 'source " + fish + "; complete -C \"sextant quick\"'"),
                ElementsAre(HasSubstr("quickstart\t")));
  }
  if (!is_any_there) GTEST_SKIP() << "neither zsh nor fish is installed";
}

TEST_F(Completions, EveryCommandHasAManualPage) {
  ASSERT_EQ(run_sextant({"manual", (folder_ / "man").string()}).exit_code, 0);
  for (const char* name : {"sextant", "sextant-plan", "sextant-coschedule", "sextant-completion"}) {
    std::ifstream page(folder_ / "man" / (std::string(name) + ".1"));
    std::stringstream text;
    text << page.rdbuf();
    EXPECT_THAT(text.str(), HasSubstr(".SH NAME")) << name;
    EXPECT_THAT(text.str(), HasSubstr("\\fB\\-\\-help\\fR")) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "man/sextant-agent.1"));  // hidden from the help
}

TEST(Help, OfACommandIsItsHelp) {
  EXPECT_EQ(run_sextant({"help", "plan"}).out, run_sextant({"plan", "--help"}).out);
  EXPECT_EQ(run_sextant({"help"}).out, run_sextant({"--help"}).out);
  const Printed wrong = run_sextant({"help", "dance"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("dance"));
}

}  // namespace
}  // namespace sextant::test
