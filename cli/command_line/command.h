// Commands and their options. Only this and the neighbouring files use CLI11, because a compiler takes several
// seconds for each file that includes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/command_line/checks.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sextant::cli {

// Runs after parsing; returns the exit code.
using Action = std::function<int()>;

// The destination of an option's value, which holds the default.
template <typename... Types>
using OneOf = std::variant<std::reference_wrapper<Types>...>;
using Destination =
    OneOf<std::string, int, unsigned, double, std::uint64_t, std::optional<int>, std::optional<double>,
          std::optional<std::uint64_t>, std::vector<int>, std::vector<std::string>>;

// A handle to an option, valid as long as the command line. Each setter returns it again.
class Option {
 public:
  Option() = default;  // empty, which is never given
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required(bool is_required = true) const;
  Option check(const Check& check) const;
  Option shows_default() const;  // shows the current value of its destination in the help
  Option shows_default(const std::string& text) const;
  Option may_be_repeated() const;  // with one value each time
  Option parted_by_commas() const;
  Option in_group(const std::string& heading) const;  // heading in the help
  Option excludes(const Option& other) const;
  Option needs(const Option& other) const;

  [[nodiscard]] bool is_given() const;
  [[nodiscard]] std::string name() const;  // --out
  [[nodiscard]] std::string group() const;

 private:
  CLI::Option* option_ = nullptr;
};

// Names and their values, in the order of the help.
template <typename Enum>
using Choices = std::vector<std::pair<std::string, Enum>>;

// A file that a command writes, or a folder that it makes.
struct OutputPath {
  Option option;
  const std::string* path;
  bool is_folder = false;
};

// A handle to a subcommand, valid as long as the command line.
class Command {
 public:
  Command(CLI::App* app, Action& chosen, std::vector<OutputPath>& outputs)
      : app_(app), chosen_(&chosen), outputs_(&outputs) {}

  // Names: "--out", or "files" for a positional argument.
  Option add_option(const std::string& name, Destination value, const std::string& help) const;
  // A file to write, whose folder must exist. The program checks that it can be written before the command runs.
  Option add_output(const std::string& name, std::string& file, const std::string& help) const;
  // A folder for files, which the program makes before the command runs.
  Option add_output_folder(const std::string& name, std::string& folder, const std::string& help) const;
  Option add_flag(const std::string& name, bool& value, const std::string& help) const;  // "!--no-pin": false
  // `call` runs while the arguments are parsed, before required options are checked.
  Option add_flag(const std::string& name, const std::function<void()>& call, const std::string& help) const;
  // Accepts one of the names; the name of the current `value` is shown as the default.
  template <typename Enum>
  Option add_choice(const std::string& name, Enum& value, const Choices<Enum>& choices,
                    const std::string& help) const {
    std::string now;
    for (const auto& [text, choice] : choices) {
      if (choice == value) now = text;
    }
    const auto take = [&value, choices](const std::vector<std::string>& texts) {
      value = chosen_of(choices, texts.front());
    };
    return add_texts(name, 1, take, help).check(one_of(names_of(choices))).shows_default(now);
  }
  // Accepts one or more of the names.
  template <typename Enum>
  Option add_choices(const std::string& name, std::vector<Enum>& values, const Choices<Enum>& choices,
                     const std::string& help) const {
    const auto take = [&values, choices](const std::vector<std::string>& texts) {
      values.clear();
      for (const std::string& text : texts) values.push_back(chosen_of(choices, text));
    };
    return add_texts(name, kAnyNumber, take, help).check(one_of(names_of(choices)));
  }

  void footer(const std::string& text) const;
  void hide() const;  // from the help of the program
  void runs(Action action) const;

  [[nodiscard]] Option option(const std::string& name) const;
  [[nodiscard]] std::vector<Option> given_options() const;

 private:
  static constexpr int kAnyNumber = -1;

  template <typename Enum>
  static std::vector<std::string> names_of(const Choices<Enum>& choices) {
    std::vector<std::string> names;
    for (const auto& choice : choices) names.push_back(choice.first);
    return names;
  }
  // text: already checked.
  template <typename Enum>
  static Enum chosen_of(const Choices<Enum>& choices, const std::string& text) {
    return std::find_if(choices.begin(), choices.end(),
                        [&](const auto& choice) { return choice.first == text; })
        ->second;
  }

  Option add_texts(const std::string& name, int number,
                   const std::function<void(const std::vector<std::string>&)>& take,
                   const std::string& help) const;

  CLI::App* app_;
  Action* chosen_;
  std::vector<OutputPath>* outputs_;
};

}  // namespace sextant::cli
