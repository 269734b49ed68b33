#include "cli/command_line/command.h"

#include <CLI/CLI.hpp>

namespace sextant::cli {
namespace {

template <typename T>
constexpr bool is_integer = std::is_integral_v<T>;
template <typename T>
constexpr bool is_integer<std::optional<T>> = std::is_integral_v<T>;
template <typename T>
constexpr bool is_integer<std::vector<T>> = std::is_integral_v<T>;

}  // namespace

Option Option::required(bool is_required) const {
  option_->required(is_required);
  return *this;
}

Option Option::check(const Check& check) const {
  option_->check(check.validator());
  return *this;
}

Option Option::shows_default() const {
  option_->capture_default_str();
  return *this;
}

Option Option::shows_default(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

Option Option::may_be_repeated() const {
  option_->expected(1)->take_all();
  return *this;
}

Option Option::parted_by_commas() const {
  option_->delimiter(',');
  return *this;
}

Option Option::in_group(const std::string& heading) const {
  option_->group(heading);
  return *this;
}

Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}

bool Option::is_given() const { return option_ != nullptr && option_->count() > 0; }

std::string Option::name() const { return option_->get_name(); }

std::string Option::group() const { return option_->get_group(); }

Option Command::add_option(const std::string& name, Destination value, const std::string& help) const {
  return std::visit(
      [&](auto into) {
        const Option option(app_->add_option(name, into.get(), help));
        using Value = typename decltype(into)::type;
        if constexpr (is_integer<Value>) option.check(whole_number());
        // An empty text comes from a variable of a script that is not set.
        if constexpr (std::is_same_v<Value, std::string>) option.check(not_empty());
        return option;
      },
      value);
}

Option Command::add_output(const std::string& name, std::string& file, const std::string& help) const {
  const Option option = add_option(name, std::ref(file), help);
  outputs_->push_back({option, &file});
  return option;
}

Option Command::add_output_folder(const std::string& name, std::string& folder, const std::string& help) const {
  const Option option = add_option(name, std::ref(folder), help);
  outputs_->push_back({option, &folder, true});
  return option;
}

Option Command::add_flag(const std::string& name, bool& value, const std::string& help) const {
  return Option(app_->add_flag(name, value, help));
}

Option Command::add_flag(const std::string& name, const std::function<void()>& call,
                         const std::string& help) const {
  return Option(app_->add_flag_callback(name, call, help));
}

Option Command::add_texts(const std::string& name, int number,
                          const std::function<void(const std::vector<std::string>&)>& take,
                          const std::string& help) const {
  CLI::Option* option = app_->add_option_function<std::vector<std::string>>(name, take, help);
  if (number != kAnyNumber) option->expected(number);
  return Option(option);
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::hide() const { app_->group(""); }

void Command::runs(Action action) const {
  app_->callback([chosen = chosen_, action = std::move(action)] { *chosen = action; });
}

Option Command::option(const std::string& name) const { return Option(app_->get_option(name)); }

std::vector<Option> Command::given_options() const {
  std::vector<Option> given;
  for (CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) given.emplace_back(option);
  }
  return given;
}

}  // namespace sextant::cli
