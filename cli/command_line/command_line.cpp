#include "cli/command_line/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace sextant::cli {
namespace {

// The arguments that CLI11 could not assign. The "--" before a command is not one of them. If the value of an
// option is wrong, CLI11 stops before it has assigned the rest.
std::vector<std::string> unknown_arguments(const CLI::App* app, const CLI::Error& error) {
  if (error.get_name() == "ValidationError" || error.get_name() == "ConversionError") return {};
  std::vector<std::string> unknown = app->remaining(true);
  std::erase(unknown, "--");
  return unknown;
}

// "sextant: unknown argument --bogus" and the command's usage line. CLI11 itself would name what is missing
// first and not the word that it could not place.
std::string explain_usage(const CLI::App* app, const CLI::Error& error) {
  const std::vector<std::string> unknown = unknown_arguments(app, error);
  const auto chosen = app->get_subcommands();
  const std::string& program = app->get_name();
  const std::string command = chosen.empty() ? program : program + " " + chosen.front()->get_name();
  return program + ": " +
         (unknown.empty() ? std::string(error.what()) : "unknown argument " + unknown.front()) +
         "\nUsage: " + command + (chosen.empty() ? " SUBCOMMAND" : "") + " [OPTIONS]\nRun " + command +
         " --help for more information.\n";
}

struct RenamedOption {
  std::string_view old_name, new_name;
};

// Options that had other names in earlier versions. The old names still work; no help shows them.
constexpr std::array<RenamedOption, 8> kRenamedOptions{{
    {"--least", "--min-iterations"},
    {"--most", "--max-iterations"},
    {"--most-events", "--max-events"},
    {"--most-iteration-error", "--max-iteration-error"},
    {"--most-mib", "--max-mib"},
    {"--most-plans", "--max-plans"},
    {"--most-slowdown", "--max-slowdown"},
    {"--most-task-error", "--max-task-error"},
}};

// "--most-plans=8" as "--max-plans=8".
std::string with_current_name(const std::string& word) {
  const std::size_t end = std::min(word.find('='), word.size());
  for (const RenamedOption& option : kRenamedOptions) {
    if (word.compare(0, end, option.old_name) == 0) return std::string(option.new_name) + word.substr(end);
  }
  return word;
}

}  // namespace

CommandLine::CommandLine(const std::string& program, const std::string& description, const std::string& version,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>(description)) {
  app_->name(program);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->failure_message(explain_usage);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add_command(const std::string& name, const std::string& help) {
  return {app_->add_subcommand(name, help), chosen_};
}

bool CommandLine::is_command(const std::string& name) const {
  return !app_->get_subcommands([&](const CLI::App* app) { return app->get_name() == name; }).empty();
}

bool CommandLine::parse(int argc, const char* const* argv) {
  // Words after "--" belong to the traced program. CLI11 takes them last first, without the program's name.
  std::vector<std::string> words;
  bool is_ours = true;
  const bool asks_help = argc > 1 && std::string_view(argv[1]) == "help";  // "help plan" is "plan --help"
  for (int i = asks_help ? 2 : 1; i < argc; ++i) {
    is_ours = is_ours && std::string_view(argv[i]) != "--";
    words.push_back(is_ours ? with_current_name(argv[i]) : argv[i]);
  }
  if (asks_help && (words.empty() || is_command(words.front()))) words.emplace_back("--help");
  std::reverse(words.begin(), words.end());
  try {
    app_->parse(words);
    return true;
  } catch (const CLI::ParseError& error) {
    end_ = std::current_exception();
    is_wrong_ = error.get_exit_code() != 0;
    return false;
  }
}

CommandTree CommandLine::tree() const { return command_tree(*app_); }

bool CommandLine::is_wrong() const { return is_wrong_; }

void CommandLine::say() const {
  try {
    std::rethrow_exception(end_);
  } catch (const CLI::ParseError& error) {
    static_cast<void>(app_->exit(error));
  }
}

}  // namespace sextant::cli
