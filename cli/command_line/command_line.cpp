#include "cli/command_line/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <vector>

#include "ask/words/nearest_name.h"
#include "core/text.h"

namespace sextant::cli {
namespace {

// The arguments that CLI11 could not assign. The "--" before a command is not one of them. If the value of an
// option is wrong, CLI11 stops before it has assigned the rest: then these are the options that the command has not, whose
// values may have been taken for something else.
std::vector<std::string> unknown_arguments(const CLI::App* app, const CLI::Error& error,
                                           const std::vector<std::string>& words) {
  if (error.get_name() == "ValidationError" || error.get_name() == "ConversionError") {
    std::vector<std::string> unknown;
    if (app->get_subcommands().empty()) return unknown;
    for (const std::string& word : words) {
      if (word == "--") break;
      if (word.starts_with("--") &&
          app->get_subcommands().front()->get_option_no_throw(word.substr(0, word.find('='))) == nullptr)
        unknown.push_back(word);
    }
    return unknown;
  }
  std::vector<std::string> unknown = app->remaining(true);
  std::erase(unknown, "--");
  return unknown;
}

// Options with `word` in their help: --budget for "seconds". At most three.
std::vector<std::string> options_about(const CLI::App* command, const std::string& word) {
  constexpr std::size_t kMinLetters = 4, kMaxShown = 3;
  std::vector<std::string> found;
  if (word.size() < kMinLetters) return found;
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (const CLI::Option* option : command->get_options()) {
    const std::string& help = option->get_description();
    const std::size_t at = help.find(word), end = at + word.size();
    const bool is_whole = at != std::string::npos && (at == 0 || !is_letter(help[at - 1])) &&
                          (end == help.size() || !is_letter(help[end]));
    if (is_whole && !option->get_lnames().empty() && found.size() < kMaxShown)
      found.push_back(option->get_name());
  }
  return found;
}

// "; did you mean --model?" for an unknown option or command.
std::string suggestion(const CLI::App* command, const std::string& unknown) {
  std::vector<std::string> names;
  if (!unknown.starts_with("--")) {
    for (const CLI::App* known : command->get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(known->get_name());
    return did_you_mean(unknown, names);
  }
  const std::string word = unknown.substr(2, unknown.find('=') - 2);
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  const std::string near = nearest_name(word, std::vector<std::string_view>(names.begin(), names.end()));
  std::vector<std::string> meant = near.empty() ? options_about(command, word) : std::vector{"--" + near};
  std::string text;
  for (std::size_t i = 0; i < meant.size(); ++i)
    text += (i == 0 ? "" : i + 1 == meant.size() ? " or " : ", ") + meant[i];
  return text.empty() ? "" : "; did you mean " + text + "?";
}

// The first example of a command's help, for those who gave too little: "Example: sextant check runs.json\n".
std::string example_of(const CLI::App* command) {
  const std::string footer = command->get_footer();
  const std::size_t at = footer.find("Example");
  if (at == std::string::npos) return "";
  const std::size_t colon = footer.find(": ", at);
  std::size_t end = footer.find('\n', at);
  // Lines that go on with options belong to it.
  while (end != std::string::npos) {
    const std::size_t next = footer.find_first_not_of(' ', end + 1);
    if (next == std::string::npos || footer[next] != '-') break;
    end = footer.find('\n', next);
  }
  return colon > end ? ""
                     : "Example" + footer.substr(colon, end == std::string::npos ? end : end - colon) + "\n";
}

// "sextant: unknown argument --bogus" and the command's usage line. CLI11 itself would name what is missing
// first and not the word that it could not place.
std::string explain_usage(const CLI::App* app, const CLI::Error& error, const std::vector<std::string>& words) {
  const std::vector<std::string> unknown = unknown_arguments(app, error, words);
  const auto chosen = app->get_subcommands();
  const std::string& program = app->get_name();
  const std::string command = chosen.empty() ? program : program + " " + chosen.front()->get_name();
  const bool is_incomplete = unknown.empty() && error.get_name() == "RequiredError" && !chosen.empty();
  return program + ": " +
         printable_lines((unknown.empty()
                              ? std::string(error.what())
                              : "unknown argument " + unknown.front() +
                                    suggestion(chosen.empty() ? app : chosen.front(), unknown.front()))) +
         "\nUsage: " + command + (chosen.empty() ? " SUBCOMMAND" : "") + " [OPTIONS]\n" +
         (is_incomplete ? example_of(chosen.front()) : "") + "Run " + command +
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
  app_->failure_message(
      [this](const CLI::App* app, const CLI::Error& error) { return explain_usage(app, error, words_); });
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add_command(const std::string& name, const std::string& help) {
  return {app_->add_subcommand(name, help), chosen_, outputs_};
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
  words_ = words;
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

std::vector<OutputPath> CommandLine::given_outputs() const {
  std::vector<OutputPath> given;
  std::copy_if(outputs_.begin(), outputs_.end(), std::back_inserter(given),
               [](const OutputPath& output) { return output.option.is_given(); });
  return given;
}

bool CommandLine::is_wrong() const { return is_wrong_; }

void CommandLine::say() const {
  try {
    std::rethrow_exception(end_);
  } catch (const CLI::ParseError& error) {
    static_cast<void>(app_->exit(error));
  }
}

}  // namespace sextant::cli
