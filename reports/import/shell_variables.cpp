#include "reports/import/shell_variables.h"

#include <cctype>
#include <charconv>

#include "reports/import/shell_arithmetic.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr int kMaxExpansions = 50;  // inside one another

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string joined_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// Returns what a command prints that asks whether Ascend's module is there, "python3 -c 'import torch_npu' && echo npu || echo gpu":
// on the GPUs that plans are for it is not. Empty: it is another command.
std::string_view answer_without_npu(std::string_view command) {
  constexpr std::string_view kOtherwise = "|| echo ";
  const std::size_t at = command.rfind(kOtherwise);
  if (command.find("import torch_npu") == std::string_view::npos || at == std::string_view::npos) return {};
  const std::string_view answer = command.substr(at + kOtherwise.size());
  return answer.substr(0, shell_name_length(answer));
}

}  // namespace

std::size_t shell_name_length(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return 0;
  std::size_t length = 0;
  while (length < text.size() && is_name_character(text[length])) ++length;
  return length;
}

std::size_t closing_bracket(std::string_view text, std::size_t open) {
  const char up = text[open], down = up == '(' ? ')' : '}';
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      ++at;
    } else if (c == '\'' || c == '"') {
      const std::size_t end = text.find(c, at + 1);
      if (end == std::string_view::npos) return end;
      at = end;
    } else if (c == up) {
      ++depth;
    } else if (c == down && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

ShellVariables::ShellVariables(const std::map<std::string, std::string>& fixed)
    : fixed_(fixed), values_(fixed) {}

void ShellVariables::assign(const std::string& name, const std::string& value, bool appends) {
  if (fixed_.contains(name)) return;
  lists_.erase(name);
  values_[name] = appends ? values_[name] + value : value;
}

void ShellVariables::assign_list(const std::string& name, const std::vector<std::string>& values,
                                 bool appends) {
  if (fixed_.contains(name)) return;
  std::vector<std::string>& list = lists_[name];
  if (!appends) list.clear();
  list.insert(list.end(), values.begin(), values.end());
  values_[name] = list.empty() ? "" : list.front();
}

std::optional<std::string> ShellVariables::value_of(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::string ShellVariables::expand_arithmetic(std::string_view inside) {
  const auto value = shell_arithmetic(expand_all(inside), [&](const std::string& name) {
    const std::string text = value_of(name).value_or("");
    long long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole ? std::optional(number) : std::nullopt;
  });
  return value ? std::to_string(*value) : "$((" + std::string(inside) + "))";
}

std::string ShellVariables::expand_default(const std::string& name, std::string_view rest,
                                           std::string_view inside) {
  const bool counts_empty = rest.front() == ':';
  const char sign = rest.size() > (counts_empty ? 1U : 0U) ? rest[counts_empty ? 1 : 0] : '\0';
  const std::string_view other = sign == '\0' ? "" : rest.substr(counts_empty ? 2 : 1);
  const std::optional<std::string> value = value_of(name);
  const bool is_there = value && !(counts_empty && value->empty());
  if (sign == '+') return is_there ? expand_all(other) : "";
  if (is_there && (sign == '-' || sign == '=' || sign == '?')) return *value;
  if (sign == '-') return expand_all(other);
  if (sign == '=') {
    const std::string text = expand_all(other);
    assign(name, text, false);
    return text;
  }
  return "${" + std::string(inside) + "}";
}

std::vector<std::string> ShellVariables::expand_braces(std::string_view inside) {
  const std::string as_written = "${" + std::string(inside) + "}";
  const std::size_t length = shell_name_length(inside);
  if (length == 0) {
    const bool is_rest = inside.substr(0, 1) == "@" || inside.substr(0, 1) == "*";
    return is_rest ? std::vector<std::string>{} : std::vector<std::string>{as_written};
  }
  const std::string name(inside.substr(0, length));
  const std::string_view rest = inside.substr(length);
  if (rest == "[@]" || rest == "[*]") {
    const auto list = lists_.find(name);
    return list == lists_.end() ? std::vector<std::string>{as_written} : list->second;
  }
  if (rest.empty()) return {value_of(name).value_or(as_written)};
  if (rest == "##*/") {  // the last part of a path
    const std::string value = value_of(name).value_or(as_written);
    return {value.substr(value.rfind('/') + 1)};
  }
  const bool is_default = std::string_view(":-=?+").find(rest.front()) != std::string_view::npos;
  return {is_default ? expand_default(name, rest, inside) : as_written};
}

std::vector<std::string> ShellVariables::expand(std::string_view text, std::size_t& at) {
  const std::size_t begin = at++;
  if (at >= text.size()) return {"$"};
  const char c = text[at];
  if (c == '(' || c == '{') {
    const std::size_t end = closing_bracket(text, at);
    if (end == std::string_view::npos)
      throw_bad_input(std::string("the \"$") + c + "\" that begins here has no end");
    const std::size_t open = at;
    at = end + 1;
    if (c == '{') return expand_braces(text.substr(open + 1, end - open - 1));
    const bool is_arithmetic = end - open >= 3 && text[open + 1] == '(' && text[end - 1] == ')';
    if (is_arithmetic) return {expand_arithmetic(text.substr(open + 2, end - open - 3))};
    const std::string_view answer = answer_without_npu(text.substr(open + 1, end - open - 1));
    return {std::string(answer.empty() ? text.substr(begin, at - begin) : answer)};
  }
  if (c == '@' || c == '*') {
    ++at;
    return {};
  }
  const std::size_t length = shell_name_length(text.substr(at));
  if (length == 0) {
    const bool is_special = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '?' || c == '#';
    if (is_special) ++at;
    return {std::string(text.substr(begin, at - begin))};
  }
  const std::string name(text.substr(at, length));
  at += length;
  return {value_of(name).value_or("$" + name)};
}

std::string ShellVariables::expand_all(std::string_view text) {
  if (depth_ >= kMaxExpansions) throw_bad_input("variables are nested too deeply");
  ++depth_;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      if (text[at + 1] != '\n') out += text[at + 1];
      at += 2;
    } else if (c == '"') {
      ++at;
    } else if (c == '\'') {
      const std::size_t end = std::min(text.find('\'', at + 1), text.size());
      out += text.substr(at, end - at + 1);
      at = end + 1;
    } else if (c == '$') {
      out += joined_words(expand(text, at));
    } else {
      out += c;
      ++at;
    }
  }
  --depth_;
  return out;
}

}  // namespace sextant::inline reports
