// The commands of a program with their options, as completion scripts and manual pages need them.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sextant::cli {

struct OptionWords {
  std::vector<std::string> names;    // "-h", "--help"; empty: a positional argument
  std::string placeholder;           // of its value: "TEXT", "files TEXT"; empty for a flag
  std::vector<std::string> choices;  // the values that it accepts, where these are names
  std::string help, group;
  [[nodiscard]] bool takes_value() const { return !placeholder.empty(); }
};

struct CommandTree {
  std::string name, help, footer;
  std::vector<OptionWords> options;  // without hidden ones
  std::vector<CommandTree> commands;
};

[[nodiscard]] CommandTree command_tree(const CLI::App& app);

}  // namespace sextant::cli
