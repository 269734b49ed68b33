// Checks for option values, with messages that people can read. NaN and infinity fail all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class Validator;
}

namespace sextant::cli {

class Check {
 public:
  explicit Check(const CLI::Validator& validator);

  [[nodiscard]] const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};

// Accepts numbers above zero.
[[nodiscard]] Check positive_number();
// Accepts numbers from zero.
[[nodiscard]] Check non_negative_number();
// Accepts numbers from `minimum` to `maximum`, both included.
[[nodiscard]] Check number_between(double minimum, double maximum);
// Accepts integers from `minimum` to `maximum`, both included. A message does not show a maximum above 1e9.
[[nodiscard]] Check integer_between(std::int64_t minimum, std::int64_t maximum);
// Accepts integers, for options that another check limits; its message comes before that of a failed conversion.
[[nodiscard]] Check whole_number();
// Accepts texts that are not empty: the value may come from a variable of a script that is not set.
[[nodiscard]] Check not_empty();
[[nodiscard]] Check one_of(const std::vector<std::string>& names);

}  // namespace sextant::cli
