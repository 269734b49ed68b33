// Reads a launch script as far as it takes to know the words of its launch: assignments, arrays, quotes,
// variables with defaults, integer arithmetic, here-documents, and "if" and "case" whose conditions follow from what the
// script itself assigns. It runs nothing. Branches of which it is not known whether they run are read in their order, and
// bodies of loops once; a note names the variables that depend on it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline reports {

struct ShellWord {
  std::string
      text;  // variables without a value and outputs of commands as they are written: "$HOME", "$(nproc)"
  int line = 0;
};
using ShellCommand = std::vector<ShellWord>;

struct HereDocument {
  std::string text;
  int line = 0;  // of its first line
};

struct ShellScript {
  std::vector<ShellCommand> commands;  // without assignments
  std::vector<HereDocument> documents;
  std::vector<std::string> notes;
};

// Reads until `is_last` is true for a command, or to the end. Values in `variables` count whatever the script
// assigns. Throws Error(bad_input) with "file:line: reason" for a quote, bracket or here-document without an end.
[[nodiscard]] ShellScript read_shell(std::string_view text, const std::string& file,
                                     const std::map<std::string, std::string>& variables,
                                     const std::function<bool(const ShellCommand&)>& is_last);

}  // namespace sextant::inline reports
