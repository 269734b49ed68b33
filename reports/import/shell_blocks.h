// Which commands of a script run: its "if", "case" and loops, as far as their conditions are known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/import/shell_variables.h"

namespace sextant::inline reports {

// Whether a condition holds, the text between "if" and "then". Knows tests of words and numbers ([ ], [[ ]]), "!", "&&",
// "||" and brackets. Absent: a word of it has no value, or it runs a program or looks for a file.
[[nodiscard]] std::optional<bool> shell_condition(std::string_view text, ShellVariables& variables);

// Whether a word of the script has its value, and is not written as "$NAME" or "$(command)".
[[nodiscard]] bool is_known_word(std::string_view word);

// Whether the word matches a pattern with "*", "?" and "[...]". Absent: one of them is not known.
[[nodiscard]] std::optional<bool> matches_shell_pattern(const std::string& word, const std::string& pattern);

// The blocks around the place where a script is read.
class ShellBlocks {
 public:
  // Whether the commands here run, as far as it is known. Where it is not known they do.
  [[nodiscard]] bool run() const;
  // Whether that is known.
  [[nodiscard]] bool are_certain() const;

  void open_if() { open({}); }
  // An "if" or "elif" with this condition; absent: not known.
  void then(std::optional<bool> condition);
  void otherwise();
  // A body is read once, and may run more often or never.
  void open_loop() { open({Kind::loop, true, false}); }
  void open_case(std::string word);
  // The next branch of a "case", with all its patterns.
  void begin_branch(const std::vector<std::string>& patterns);
  void end_branch();
  // "fi", "done", "esac". Without an open block it does nothing.
  void close();

  // Between the branches of a "case", where a pattern stands.
  [[nodiscard]] bool expects_pattern() const;
  [[nodiscard]] bool is_in_branch() const;

 private:
  enum class Kind { condition, loop, choice };
  struct Block {
    Kind kind = Kind::condition;
    bool runs = true;
    bool is_certain = true;
    bool is_decided = false;  // a branch before this one surely runs
    bool was_unknown = false;
    std::string word = {};  // of a "case"
    bool is_between = false;
    bool outer_run = true, outer_are_certain = true;  // the blocks around it, when it was opened
  };
  void open(Block block);
  static void choose(Block& block, std::optional<bool> holds);

  std::vector<Block> blocks_;
};

}  // namespace sextant::inline reports
