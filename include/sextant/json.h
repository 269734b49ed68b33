// JSON as Sextant reads and writes it: strict, and every error message has the JSON path.
//
// A JsonView is a value together with its JSON Pointer (RFC 6901). Reading through it either gives
// a usable value or throws Error(bad_input) such as "/nodes/3/devices: expected an integer >= 1, got -2".
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/error.h"

namespace sextant {

// The order of members is kept. This header only declares the type; core/json_value.h, which defines it, is for
// code that builds or reads values, because it compiles more slowly than all other headers of a file together.
using Json = nlohmann::ordered_json;

// Parses text. Refuses duplicate keys, numbers that overflow a double, nesting deeper than
// 200 and anything after the value; the message names the JSON path reached and the line.
[[nodiscard]] Json parse_json(std::string_view text);

// Serialises with two spaces of indentation and shortest round-trip doubles. Throws
// Error(bad_input) with the path of any NaN or infinity, which JSON cannot hold.
[[nodiscard]] std::string format_json(const Json& value);

class JsonView {
 public:
  explicit JsonView(const Json& value, std::string path = "") : value_(&value), path_(std::move(path)) {}

  [[nodiscard]] const Json& json() const { return *value_; }
  // The path as in RFC 6901; "" is the whole document.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Objects. allow_only refuses members that are not in `keys`, so that a misspelt key is an error.
  void allow_only(const std::vector<std::string_view>& keys) const;
  [[nodiscard]] JsonView required(std::string_view key) const;
  [[nodiscard]] std::optional<JsonView> optional(std::string_view key) const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonView>> members() const;

  // Arrays.
  [[nodiscard]] std::vector<JsonView> items() const;
  [[nodiscard]] std::vector<double> numbers() const;

  // Scalars.
  [[nodiscard]] double number() const;        // finite
  [[nodiscard]] double positive() const;      // > 0: 1e-24 to 1e24
  [[nodiscard]] double non_negative() const;  // 0 to 1e24
  [[nodiscard]] double fraction() const;      // in [0, 1]
  [[nodiscard]] std::int64_t integer(std::int64_t minimum = std::numeric_limits<std::int64_t>::min(),
                                     std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] int count(int minimum = 0) const;  // an integer that fits an int
  [[nodiscard]] std::string text() const;          // a string that is not empty
  [[nodiscard]] std::string any_text() const;      // a string, also an empty one
  [[nodiscard]] bool flag() const;
  // Accepts one of the given names and returns its position.
  [[nodiscard]] std::size_t one_of(const std::vector<std::string_view>& names) const;

  // Throws Error(bad_input) with "path: reason".
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  [[nodiscard]] JsonView child(std::string_view token, const Json& value) const;
  [[nodiscard]] std::string shown() const;
  void expect_object() const;

  const Json* value_;
  std::string path_;
};

// Runs check() and puts `path` before the path of any Error that it throws.
template <typename Check>
auto within(const std::string& path, Check&& check) {
  try {
    return check();
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool has_path = what.starts_with('/');
    throw Error(error.kind(), path.empty() || has_path ? path + what : path + ": " + what);
  }
}

}  // namespace sextant
