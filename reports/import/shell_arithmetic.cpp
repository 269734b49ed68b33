#include "reports/import/shell_arithmetic.h"

#include <cctype>
#include <charconv>

namespace sextant::inline reports {
namespace {

constexpr int kMaxNesting = 100;

class ArithmeticReader {
 public:
  ArithmeticReader(std::string_view text, const ShellInteger& variable) : text_(text), variable_(&variable) {}

  std::optional<long long> read() {
    const long long value = sum(0);
    skip_blanks();
    return is_good_ && at_ == text_.size() ? std::optional(value) : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  char next() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  long long fail() {
    is_good_ = false;
    at_ = text_.size();
    return 0;
  }

  long long sum(int depth) {
    long long value = product(depth);
    while (is_good_ && (next() == '+' || next() == '-')) {
      const bool is_minus = text_[at_++] == '-';
      const long long other = product(depth);
      if (is_minus ? __builtin_sub_overflow(value, other, &value)
                   : __builtin_add_overflow(value, other, &value))
        return fail();
    }
    return value;
  }

  long long product(int depth) {
    long long value = factor(depth);
    while (is_good_ && (next() == '*' || next() == '/' || next() == '%')) {
      const char sign = text_[at_++];
      const long long other = factor(depth);
      if (sign == '*') {
        if (__builtin_mul_overflow(value, other, &value)) return fail();
        continue;
      }
      if (other == 0 || other == -1) return fail();  // -1: the smallest number has no opposite
      value = sign == '/' ? value / other : value % other;
    }
    return value;
  }

  long long factor(int depth) {
    if (depth > kMaxNesting) return fail();
    const char c = next();
    if (c == '(') {
      ++at_;
      const long long value = sum(depth + 1);
      if (next() != ')') return fail();
      ++at_;
      return value;
    }
    if (c == '-') {
      ++at_;
      long long value = factor(depth + 1);
      return __builtin_sub_overflow(0, value, &value) ? fail() : value;
    }
    return std::isdigit(static_cast<unsigned char>(c)) != 0 ? number() : name();
  }

  long long number() {
    long long value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return fail();
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  long long name() {
    const std::size_t first = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (at_ == first) return fail();
    const auto value = (*variable_)(std::string(text_.substr(first, at_ - first)));
    return value ? *value : fail();
  }

  std::string_view text_;
  const ShellInteger* variable_;
  std::size_t at_ = 0;
  bool is_good_ = true;
};

}  // namespace

std::optional<long long> shell_arithmetic(std::string_view text, const ShellInteger& variable) {
  return ArithmeticReader(text, variable).read();
}

}  // namespace sextant::inline reports
