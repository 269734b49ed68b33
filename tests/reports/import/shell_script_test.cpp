#include "reports/import/shell_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/import/shell_arithmetic.h"
#include "sextant/error.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool starts_with_run(const ShellCommand& command) { return command.front().text == "run"; }

// The words of the command "run".
std::vector<std::string> launched(const std::string& script,
                                  const std::map<std::string, std::string>& variables = {}) {
  const ShellScript read = read_shell(script, "a.sh", variables, starts_with_run);
  std::vector<std::string> words;
  if (read.commands.empty()) return words;
  for (const ShellWord& word : read.commands.back()) words.push_back(word.text);
  return words;
}

std::string refusal_of(const std::string& script) {
  try {
    (void)launched(script);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ShellScriptReader, SplitsWordsAsAShellDoes) {
  EXPECT_THAT(launched("run a  'b c' \"d e\" f\\ g \\\n  h # i\nrun no"),
              ElementsAre("run", "a", "b c", "d e", "f g", "h"));
  EXPECT_THAT(launched("set -x; cd /tmp && run x=['p','q'] | tee log"), ElementsAre("run", "x=[p,q]"));
  EXPECT_THAT(launched("run a 2>&1 > out.txt b &"), ElementsAre("run", "a", "b"));
}

TEST(ShellScriptReader, FillsInVariables) {
  const std::string script =
      "N=4\nexport SIZE=${N}k LIST=\"--a 1  --b 2\"\n"
      "run $N \"$SIZE\" $LIST ${M:-8} ${N:-9} ${UNKNOWN} $HOME/x '$N' $@ \"$@\"";
  EXPECT_THAT(launched(script),
              ElementsAre("run", "4", "4k", "--a", "1", "--b", "2", "8", "4", "${UNKNOWN}", "$HOME/x", "$N"));
}

TEST(ShellScriptReader, GivenValuesReplaceAssignments) {
  EXPECT_THAT(launched("N=4\nrun $N ${M:-1}", {{"N", "2"}, {"M", "3"}}), ElementsAre("run", "2", "3"));
}

TEST(ShellScriptReader, ComputesIntegers) {
  EXPECT_THAT(launched("A=1024\nB=$((A * 2))\nrun $(((A + $B) * 2)) $((A / 3)) $((A / 0)) $((X + 1))"),
              ElementsAre("run", "6144", "341", "$((A / 0))", "$((X + 1))"));
}

TEST(ShellScriptReader, KnowsLists) {
  const std::string script =
      "ARGS=(\n  --a 1  # one\n  \"b c\"\n)\nARGS+=(--d)\nrun \"${ARGS[@]}\" ${ARGS[@]} e";
  EXPECT_THAT(launched(script), ElementsAre("run", "--a", "1", "b c", "--d", "--a", "1", "b", "c", "--d", "e"));
}

TEST(ShellScriptReader, ReadsHereDocuments) {
  const ShellScript read =
      read_shell("N=3\ncat > f <<'EOF'\na: $N\nEOF\ncat <<-E\n\tb: $N\n\tE\nrun", "a.sh", {}, starts_with_run);
  ASSERT_THAT(read.documents, SizeIs(2));
  EXPECT_EQ(read.documents[0].text, "a: $N\n");
  EXPECT_EQ(read.documents[0].line, 3);
  EXPECT_EQ(read.documents[1].text, "b: 3\n");
}

TEST(ShellScriptReader, CountsLines) {
  const ShellScript read = read_shell("a=\"1\n2\"\n\nrun \\\n  x \\\n  y", "a.sh", {}, starts_with_run);
  ASSERT_THAT(read.commands, SizeIs(1));
  EXPECT_EQ(read.commands[0][0].line, 4);
  EXPECT_EQ(read.commands[0][2].line, 6);
}

TEST(ShellScriptReader, NotesBranches) {
  const ShellScript read =
      read_shell("if [ $A = 1 ]; then\n  N=1\nelse\n  N=2\nfi\nrun $N", "a.sh", {}, starts_with_run);
  EXPECT_EQ(read.commands.back()[1].text, "2");
  ASSERT_THAT(read.notes, SizeIs(1));
  EXPECT_THAT(read.notes[0], HasSubstr("a.sh:1: \"if\""));
}

TEST(ShellScriptReader, RefusesWhatHasNoEndWithItsLine) {
  EXPECT_EQ(refusal_of("a\nrun 'b\nc"), "a.sh:2: the quote ' that begins here has no end");
  EXPECT_EQ(refusal_of("\n\nrun \"b"), "a.sh:3: the quote \" that begins here has no end");
  EXPECT_EQ(refusal_of("run ${b"), "a.sh:1: the \"${\" that begins here has no end");
  EXPECT_EQ(refusal_of("A=(\n1"), "a.sh:1: the list that begins here has no end");
  EXPECT_EQ(refusal_of("cat <<X\n1"), "a.sh:2: the here-document has no line \"X\"");
  EXPECT_THAT(launched("run x\n'"), ElementsAre("run", "x"));  // after the launch
}

TEST(ShellScriptReader, StopsAtEndlessDefaults) {
  EXPECT_THAT(launched("A='${A}'\nB=$A\nrun $B"), ElementsAre("run", "${A}"));
  std::string deep = "x";
  for (int i = 0; i < 200; ++i) deep = "${V:-" + deep + "}";
  EXPECT_THAT(refusal_of("run " + deep), HasSubstr("nested too deeply"));
}

TEST(ShellScriptReader, EveryBeginningOfAScriptIsReadOrRefused) {
  const std::string script =
      "set -x\nN=${N:-\"$((1024 * 2))\"}\nA=(a \"b c\" 'd')\ncat <<E\n$N ${A[@]}\nE\nrun \"${A[@]}\" x=$N \\\n "
      "2>&1";
  for (std::size_t length = 0; length <= script.size(); ++length) {
    try {
      (void)launched(script.substr(0, length));
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.sh:"));
    }
  }
}

TEST(ShellArithmetic, RefusesWhatIsTooLarge) {
  const ShellInteger none = [](const std::string&) { return std::nullopt; };
  EXPECT_EQ(shell_arithmetic("2 + 3 * 4 - -1", none), 15);
  EXPECT_EQ(shell_arithmetic("7 % 4", none), 3);
  EXPECT_EQ(shell_arithmetic("9223372036854775807 + 1", none), std::nullopt);
  EXPECT_EQ(shell_arithmetic("9223372036854775807 * 2", none), std::nullopt);
  EXPECT_EQ(shell_arithmetic("1 +", none), std::nullopt);
  EXPECT_EQ(shell_arithmetic(std::string(1000, '('), none), std::nullopt);
}

}  // namespace
}  // namespace sextant::test
