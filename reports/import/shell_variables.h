// Variables of a shell, and the text that an expansion such as "${NODES:-4}" stands for.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline reports {

class ShellVariables {
 public:
  // `fixed`: values that assignments do not change.
  explicit ShellVariables(const std::map<std::string, std::string>& fixed);

  void assign(const std::string& name, const std::string& value, bool appends);
  void assign_list(const std::string& name, const std::vector<std::string>& values, bool appends);

  // The words of the expansion that begins with the "$" at `at`, which is moved behind it. One that has no
  // value is its own text. Only lists, "${ARGS[@]}", have more or fewer than one word. Throws
  // Error(bad_input) if a bracket has no end.
  [[nodiscard]] std::vector<std::string> expand(std::string_view text, std::size_t& at);
  // Text as between double quotes.
  [[nodiscard]] std::string expand_all(std::string_view text);
  [[nodiscard]] std::optional<std::string> value_of(const std::string& name) const;

 private:
  [[nodiscard]] std::vector<std::string> expand_braces(std::string_view inside);
  [[nodiscard]] std::string expand_default(const std::string& name, std::string_view rest,
                                           std::string_view inside);
  [[nodiscard]] std::string expand_arithmetic(std::string_view inside);

  std::map<std::string, std::string> fixed_, values_;
  std::map<std::string, std::vector<std::string>> lists_;
  int depth_ = 0;
};

// The length of the name of a variable at the beginning of the text; 0: there is none.
[[nodiscard]] std::size_t shell_name_length(std::string_view text);

// Position of the bracket that closes the one at `open`; quotes are skipped. npos: there is none.
[[nodiscard]] std::size_t closing_bracket(std::string_view text, std::size_t open);

}  // namespace sextant::inline reports
