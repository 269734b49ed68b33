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

// A branch of which nothing says whether it runs is read; the note names what depends on it, and nothing else.
TEST(ShellScriptReader, NotesWhatUnknownBranchesAssign) {
  const ShellScript read = read_shell("M=1\nif [ $A = 1 ]; then\n  N=1; M=1\nelse\n  N=2\nfi\nrun $N $M",
                                      "a.sh", {}, starts_with_run);
  EXPECT_EQ(read.commands.back()[1].text, "2");
  EXPECT_THAT(read.notes,
              ElementsAre("a.sh:2: which branches and loops run is not known, so the last assignment "
                          "counts of N (--set NAME=VALUE states one)"));
  EXPECT_THAT(launched("if [ $A = 1 ]; then\n  N=1\nelse\n  N=2\nfi\nrun $N", {{"A", "1"}}),
              ElementsAre("run", "1"));
}

TEST(ShellScriptReader, FollowsConditionsThatTheScriptDecides) {
  const auto chosen = [](const std::string& condition) {
    const ShellScript read = read_shell(
        "A=gpu\nB=4\nE=\nif " + condition + "; then\n X=yes; L=(1 2)\nelse\n X=no; L=(3)\nfi\nrun $X ${L[@]}",
        "a.sh", {}, starts_with_run);
    EXPECT_THAT(read.notes, IsEmpty()) << condition;
    const ShellCommand& last = read.commands.back();
    EXPECT_THAT(last, SizeIs(last[1].text == "yes" ? 4 : 3)) << condition;
    return last[1].text;
  };
  for (const char* holds :
       {"[ $A = gpu ]", "[ \"$A\" == \"gpu\" ]", "[ \"${DEVICE:-gpu}\" = gpu ]", "[ $B -gt 3 ]",
        "[ -n \"$A\" ]", "[ -z \"$E\" ]", "[[ $A == g* ]]", "[[ $A != npu && $B -le 4 ]]", "! [ $A = npu ]",
        "[ ! $A = npu ]", "[ $A = npu ] || { [ $B = 4 ] && true; }", "[ $A = gpu ] || ask", "true"})
    EXPECT_EQ(chosen(holds), "yes") << holds;
  for (const char* fails : {"[ $A = npu ]", "[ $A = npu ] && ask", "[[ $A == \"g*\" ]]", "[ $B -lt 4 ]",
                            "[ -z $A ]", "[[ ( $A == gpu && $B == 5 ) || -n $E ]]", "false"})
    EXPECT_EQ(chosen(fails), "no") << fails;
}

TEST(ShellScriptReader, FollowsElifAndNestedBranches) {
  const std::string script =
      "if [ $A = 1 ]; then X=1\nelif [ $A = 2 ]\nthen\n  if [ $B = 1 ]; then X=21; else X=22; fi\n"
      "elif [ $A = 3 ]; then X=3\nelse X=0; fi\nrun $X";
  EXPECT_THAT(launched(script, {{"A", "1"}, {"B", "1"}}), ElementsAre("run", "1"));
  EXPECT_THAT(launched(script, {{"A", "2"}, {"B", "1"}}), ElementsAre("run", "21"));
  EXPECT_THAT(launched(script, {{"A", "2"}, {"B", "5"}}), ElementsAre("run", "22"));
  EXPECT_THAT(launched(script, {{"A", "3"}, {"B", "1"}}), ElementsAre("run", "3"));
  EXPECT_THAT(launched(script, {{"A", "4"}, {"B", "1"}}), ElementsAre("run", "0"));
}

TEST(ShellScriptReader, FollowsCases) {
  const std::string script =
      "X=0\ncase \"${D}\" in\n  gpu | rocm) ;;\n  npu)\n    X=1; A+=(--n)\n    ;;\n"
      "  (v[0-9]*) X=2;;\n  *)\n    case $E in a) X=3;; *) X=4 ;; esac\nesac\nrun $X";
  EXPECT_THAT(launched(script, {{"D", "gpu"}}), ElementsAre("run", "0"));
  EXPECT_THAT(launched(script, {{"D", "rocm"}}), ElementsAre("run", "0"));
  EXPECT_THAT(launched(script, {{"D", "npu"}}), ElementsAre("run", "1"));
  EXPECT_THAT(launched(script, {{"D", "v2x"}}), ElementsAre("run", "2"));
  EXPECT_THAT(launched(script, {{"D", "x"}, {"E", "a"}}), ElementsAre("run", "3"));
  EXPECT_THAT(launched(script, {{"D", "x"}, {"E", "b"}}), ElementsAre("run", "4"));
}

// The launch, here-documents and lists of a branch that does not run are not there.
TEST(ShellScriptReader, LeavesOutWhatDoesNotRun) {
  const ShellScript read = read_shell(
      "D=gpu\nif [ $D = npu ]; then\ncat <<E\nx\nE\nrun no\nfi\nfor i in 1 2; do echo $i; done\nrun yes",
      "a.sh", {}, starts_with_run);
  EXPECT_EQ(read.commands.back()[1].text, "yes");
  EXPECT_THAT(read.documents, IsEmpty());
  EXPECT_THAT(read.notes, IsEmpty());
}

// However deep, and however many.
TEST(ShellScriptReader, ConditionsMayBeNestedAndLong) {
  const auto times = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  constexpr int kMany = 100'000;
  for (const char* part : {"( ", "! ", "{ "}) {
    EXPECT_THAT(launched("if " + times(part, kMany) + "[ a ]; then X=1; fi\nrun $X"), ElementsAre("run", "1"));
    EXPECT_THAT(launched("if [[ " + times(part, kMany) + "a ]]; then X=1; fi\nrun $X"),
                ElementsAre("run", "1"));
  }
  EXPECT_THAT(launched(times("if [ a ]; then ", kMany) + "X=1\n" + times("fi\n", kMany) + "run $X"),
              ElementsAre("run", "1"));
  EXPECT_THAT(launched("if [ a ]\n" + times("then X=1\n", kMany) + "fi\nrun $X"), ElementsAre("run", "1"));
  EXPECT_THAT(launched("if ! ! [ ! ! a ]; then X=1; else X=2; fi\nrun $X"), ElementsAre("run", "1"));
}

TEST(ShellScriptReader, NamesAFewOfManyChoices) {
  std::string script = "if ask; then\n";
  for (int i = 0; i < 30; ++i) script += "A" + std::to_string(i) + "=(x)\n";
  const ShellScript read = read_shell(script + "fi\nrun", "a.sh", {}, starts_with_run);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr(" and 18 others (--set")));
}

TEST(ShellScriptReader, AProbeForAscendFindsNone) {
  EXPECT_THAT(launched("D=${D:-$(python3 -c 'import torch_npu' 2>/dev/null && echo npu || echo gpu)}\nrun $D"),
              ElementsAre("run", "gpu"));
}

TEST(ShellScriptReader, RefusesWhatHasNoEndWithItsLine) {
  EXPECT_EQ(refusal_of("a\nrun 'b\nc"), "a.sh:2: the quote ' that begins here has no end");
  EXPECT_EQ(refusal_of("\n\nrun \"b"), "a.sh:3: the quote \" that begins here has no end");
  EXPECT_EQ(refusal_of("run ${b"), "a.sh:1: the \"${\" that begins here has no end");
  EXPECT_EQ(refusal_of("A=(\n1"), "a.sh:1: the list that begins here has no end");
  EXPECT_EQ(refusal_of("cat <<X\n1"), "a.sh:2: the here-document has no line \"X\"");
  EXPECT_THAT(launched("run x\n'"), ElementsAre("run", "x"));  // after the launch
}

TEST(ShellScriptReader, AColonAloneIsNoDefault) {
  EXPECT_THAT(launched("A=1\nrun ${A:} ${B:}"), ElementsAre("run", "${A:}", "${B:}"));
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
      "2>&1\nif [[ $N == 1* ]] && ! { [ -z x ]; }; then\n case $N in a|b*) x ;; esac\nfi";
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
