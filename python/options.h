// Options that Python passes by name, with checks of their types and ranges.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sextant::python {

// Both ends are included. A maximum above 1e9 is not shown in messages.
struct Range {
  std::int64_t minimum = 1;
  std::int64_t maximum = 1'000'000'000;
};

// An option that is missing or None leaves its destination. A value of another type raises TypeError, one outside
// the range ValueError; both name the option.
class Options {
 public:
  explicit Options(const pybind11::dict& given) : given_(given) {}

  void take(const char* name, std::string& value);
  void take(const char* name, bool& value);
  void take(const char* name, int& value, const Range& range);
  void take(const char* name, unsigned& value, const Range& range);
  void take(const char* name, std::uint64_t& value, const Range& range);
  void take(const char* name, std::optional<int>& value, const Range& range);
  void take(const char* name, std::optional<std::uint64_t>& value, const Range& range);
  // Accepts a finite number above zero.
  void take_positive(const char* name, double& value);
  void take_positive(const char* name, std::optional<double>& value);
  // Accepts a number from `minimum` to `maximum`.
  void take_between(const char* name, std::optional<double>& value, double minimum, double maximum);
  // A single text is a list of one.
  void take(const char* name, std::vector<std::string>& values);
  // Accepts a dictionary of texts.
  [[nodiscard]] std::map<std::string, std::string> texts(const char* name);
  // Accepts one of the names.
  template <typename Enum>
  void take_choice(const char* name, Enum& value, const std::map<std::string, Enum>& choices) {
    std::string text;
    take(name, text);
    if (text.empty()) return;
    const auto found = choices.find(text);
    if (found != choices.end()) {
      value = found->second;
      return;
    }
    std::string names;
    for (const auto& choice : choices) names += (names.empty() ? "" : ", ") + choice.first;
    refuse(name, "expected one of " + names, text);
  }

  // Raises TypeError for an option that nothing has taken.
  void expect_all_taken() const;

 private:
  // Throws Error(bad_input).
  [[noreturn]] static void refuse(const std::string& name, const std::string& expected, const std::string& got);

  // Returns null if the option is missing or None.
  [[nodiscard]] pybind11::object find(const char* name);
  [[nodiscard]] std::optional<std::int64_t> integer(const char* name, const Range& range);
  [[nodiscard]] std::optional<double> number(const char* name);

  const pybind11::dict& given_;
  std::set<std::string> known_;
};

}  // namespace sextant::python
