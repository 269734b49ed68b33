// Checks of what options are given, with sentences that a person can read. NaN and infinity pass none of them.
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

// Above zero.
[[nodiscard]] Check positive_number();
// Zero or above.
[[nodiscard]] Check non_negative_number();
// From `least` to `most`, both included.
[[nodiscard]] Check number_between(double minimum, double maximum);
[[nodiscard]] Check integer_between(std::int64_t minimum, std::int64_t maximum);
[[nodiscard]] Check one_of(const std::vector<std::string>& names);

}  // namespace sextant::cli
