#include "reports/import/shell_blocks.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace sextant::inline reports {
namespace {

using Holds = std::optional<bool>;

Holds not_of(Holds one) { return one ? Holds(!*one) : one; }

Holds both(Holds one, Holds other) {
  if (one == false || other == false) return false;
  return one && other ? Holds(true) : std::nullopt;
}

Holds either(Holds one, Holds other) { return not_of(both(not_of(one), not_of(other))); }

struct Token {
  std::string text;
  bool is_operator = false, is_quoted = false;
};

// Words with their values, and operators.
class Tokens {
 public:
  Tokens(std::string_view text, ShellVariables& variables) : text_(text), variables_(&variables) {}

  std::vector<Token> read() {
    while (at_ < text_.size()) step();
    end_word();
    return std::move(all_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\\') {
      if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') add(text_[at_ + 1]);
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '\'' || c == '"') {
      quoted(c);
    } else if (c == '$') {
      expansion();
    } else if (c == '`') {
      quoted(c);
      word_.text += "$";  // not known
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      ++at_;
    } else if (std::string_view("&|;\n()<>").find(c) != std::string_view::npos) {
      end_word();
      const bool is_double = at_ + 1 < text_.size() && text_[at_ + 1] == c && c != '\n';
      all_.push_back({std::string(is_double ? 2 : 1, c == '\n' ? ';' : c), true, false});
      at_ += is_double ? 2 : 1;
    } else {
      add(c);
      ++at_;
    }
  }

  void add(char c) {
    word_.text += c;
    is_open_ = true;
  }

  void quoted(char quote) {
    is_open_ = word_.is_quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != quote;) {
      if (quote == '"' && text_[at_] == '$') {
        expansion();
      } else {
        word_.text += text_[at_++];
      }
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void expansion() {
    is_open_ = true;
    for (const std::string& part : variables_->expand(text_, at_)) word_.text += part;
  }

  void end_word() {
    if (is_open_) all_.push_back(std::exchange(word_, {}));
    is_open_ = false;
  }

  std::string_view text_;
  ShellVariables* variables_;
  std::size_t at_ = 0;
  std::vector<Token> all_;
  Token word_;
  bool is_open_ = false;
};

std::optional<long long> whole_number(const std::string& text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Holds compared(const std::string& sign, const Token& left, const Token& right, bool has_patterns) {
  if (!is_known_word(left.text) || !is_known_word(right.text)) return std::nullopt;
  const bool is_pattern = has_patterns && !right.is_quoted;
  const Holds is_equal =
      is_pattern ? matches_shell_pattern(left.text, right.text) : Holds(left.text == right.text);
  if (sign == "=" || sign == "==") return is_equal;
  if (sign == "!=") return not_of(is_equal);
  const auto a = whole_number(left.text), b = whole_number(right.text);
  if (!a || !b) return std::nullopt;
  if (sign == "-eq") return *a == *b;
  if (sign == "-ne") return *a != *b;
  if (sign == "-lt") return *a < *b;
  if (sign == "-le") return *a <= *b;
  if (sign == "-gt") return *a > *b;
  if (sign == "-ge") return *a >= *b;
  return std::nullopt;
}

// The words between the brackets of a test.
Holds test_of(std::vector<Token> words, bool has_patterns) {
  const auto is_sign = [](const Token& word) { return word.text == "!" && !word.is_quoted; };
  const auto first = std::find_if_not(words.begin(), words.end(), is_sign);
  if (first != words.begin() && first != words.end()) {
    const bool is_negated = (first - words.begin()) % 2 == 1;
    words.erase(words.begin(), first);
    const Holds holds = test_of(std::move(words), has_patterns);
    return is_negated ? not_of(holds) : holds;
  }
  if (words.size() == 1) return is_known_word(words[0].text) ? Holds(!words[0].text.empty()) : std::nullopt;
  if (words.size() == 2 && is_known_word(words[1].text)) {
    if (words[0].text == "-n") return !words[1].text.empty();
    if (words[0].text == "-z") return words[1].text.empty();
  }
  if (words.size() == 3) return compared(words[1].text, words[0], words[2], has_patterns);
  return std::nullopt;
}

class Condition {
 public:
  explicit Condition(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Holds read() {
    const Holds holds = list(0);
    return at_ == tokens_.size() ? holds : std::nullopt;
  }

 private:
  [[nodiscard]] bool is_at(std::string_view text) const {
    return at_ < tokens_.size() && tokens_[at_].text == text && !tokens_[at_].is_quoted;
  }
  bool take(std::string_view text) {
    const bool is_there = is_at(text);
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  using Part = Holds (Condition::*)(int depth);

  // Commands one after the other: the last one counts.
  Holds list(int depth) {
    Holds holds = any_of(&Condition::command, depth);
    while (take(";")) {
      if (at_ == tokens_.size() || is_at("}") || is_at(")")) break;
      holds = any_of(&Condition::command, depth);
    }
    return holds;
  }

  // Inside [[ ]].
  Holds tests(int depth) { return any_of(&Condition::test, depth); }

  // Parts with "&&" and "||" between them.
  Holds any_of(Part part, int depth) {
    constexpr int kMaxBrackets = 50;
    if (depth > kMaxBrackets) return fail();
    Holds holds = all_of(part, depth);
    while (take("||")) holds = either(holds, all_of(part, depth));
    return holds;
  }

  Holds all_of(Part part, int depth) {
    Holds holds = (this->*part)(depth);
    while (take("&&")) holds = both(holds, (this->*part)(depth));
    return holds;
  }

  Holds command(int depth) {
    bool is_negated = false;
    while (take("!")) is_negated = !is_negated;
    const Holds holds = plain_command(depth);
    return is_negated ? not_of(holds) : holds;
  }

  Holds plain_command(int depth) {
    if (take("{")) return closed(list(depth + 1), "}");
    if (take("(")) return closed(list(depth + 1), ")");
    if (take("[[")) return closed(tests(depth + 1), "]]");
    if (take("[")) return closed(test_of(words_to("]"), false), "]");
    if (take("true") || take(":")) return true;
    if (take("false")) return false;
    while (at_ < tokens_.size() && !is_end()) ++at_;  // a program, with a pipe behind it or not
    return std::nullopt;
  }

  Holds test(int depth) {
    if (take("(")) return closed(tests(depth + 1), ")");
    return test_of(words_to("]]"), true);
  }

  [[nodiscard]] bool is_end() const {
    return is_at("&&") || is_at("||") || is_at(";") || is_at("}") || is_at(")");
  }

  Holds closed(Holds holds, std::string_view bracket) { return take(bracket) ? holds : fail(); }

  Holds fail() {
    at_ = tokens_.size() + 1;
    return std::nullopt;
  }

  std::vector<Token> words_to(std::string_view bracket) {
    std::vector<Token> words;
    while (at_ < tokens_.size() && !is_at(bracket) && !tokens_[at_].is_operator)
      words.push_back(tokens_[at_++]);
    return words;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_known_word(std::string_view word) { return word.find('$') == std::string_view::npos; }

std::optional<bool> matches_shell_pattern(const std::string& word, const std::string& pattern) {
  if (!is_known_word(word) || !is_known_word(pattern)) return std::nullopt;
  return ::fnmatch(pattern.c_str(), word.c_str(), 0) == 0;
}

std::optional<bool> shell_condition(std::string_view text, ShellVariables& variables) {
  return Condition(Tokens(text, variables).read()).read();
}

bool ShellBlocks::run() const { return blocks_.empty() || (blocks_.back().outer_run && blocks_.back().runs); }

bool ShellBlocks::are_certain() const {
  return blocks_.empty() || (blocks_.back().outer_are_certain && blocks_.back().is_certain);
}

void ShellBlocks::open(Block block) {
  block.outer_run = run();
  block.outer_are_certain = are_certain();
  blocks_.push_back(std::move(block));
}

// A branch that may run does not decide about those after it.
void ShellBlocks::choose(Block& block, std::optional<bool> holds) {
  block.runs = !block.is_decided && holds != false;
  block.is_certain = holds.has_value() && !block.was_unknown;
  block.was_unknown = block.was_unknown || !holds;
  block.is_decided = block.is_decided || holds == true;
}

void ShellBlocks::then(std::optional<bool> condition) {
  if (!blocks_.empty() && blocks_.back().kind == Kind::condition) choose(blocks_.back(), condition);
}

void ShellBlocks::otherwise() { then(true); }

void ShellBlocks::open_case(std::string word) {
  Block block{Kind::choice, false, true};
  block.word = std::move(word);
  block.is_between = true;
  open(std::move(block));
}

void ShellBlocks::begin_branch(const std::vector<std::string>& patterns) {
  if (!expects_pattern()) return;
  Block& block = blocks_.back();
  std::optional<bool> holds = false;
  for (const std::string& pattern : patterns) holds = either(holds, matches_shell_pattern(block.word, pattern));
  choose(block, holds);
  block.is_between = false;
}

void ShellBlocks::end_branch() {
  if (is_in_branch()) blocks_.back().is_between = true;
}

void ShellBlocks::close() {
  if (!blocks_.empty()) blocks_.pop_back();
}

bool ShellBlocks::expects_pattern() const {
  return !blocks_.empty() && blocks_.back().kind == Kind::choice && blocks_.back().is_between;
}

bool ShellBlocks::is_in_branch() const {
  return !blocks_.empty() && blocks_.back().kind == Kind::choice && !blocks_.back().is_between;
}

}  // namespace sextant::inline reports
