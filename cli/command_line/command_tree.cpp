#include "cli/command_line/command_tree.h"

#include <CLI/CLI.hpp>

namespace sextant::cli {
namespace {

// The names in "TEXT:{grpo,ppo}", which is how CLI11 describes an option with a choice.
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find(":{"), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return choices;
  for (std::size_t from = open + 2; from < close;) {
    const std::size_t comma = std::min(type.find(',', from), close);
    choices.push_back(type.substr(from, comma - from));
    from = comma + 1;
  }
  return choices;
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    words.choices = choices_in(type);
    const std::string kind = type.substr(0, type.find(':'));
    words.placeholder = option.get_positional() ? option.get_name(true) : kind.empty() ? "TEXT" : kind;
  }
  words.help = option.get_description();
  words.group = option.get_group();
  return words;
}

}  // namespace

CommandTree command_tree(const CLI::App& app) {
  CommandTree tree{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) tree.options.push_back(words_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) tree.commands.push_back(command_tree(*command));
  }
  return tree;
}

}  // namespace sextant::cli
