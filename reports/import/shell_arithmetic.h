// Integer arithmetic of a shell: the text between "$((" and "))".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sextant::inline reports {

// The integer value of a variable; absent: it has none.
using ShellInteger = std::function<std::optional<long long>(const std::string& name)>;

// Knows + - * / % and brackets. Absent: the text is something else, a variable has no value, or a number is too
// large.
[[nodiscard]] std::optional<long long> shell_arithmetic(std::string_view text, const ShellInteger& variable);

}  // namespace sextant::inline reports
