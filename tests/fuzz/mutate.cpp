#include "tests/fuzz/mutate.h"

#include <algorithm>

#include "core/json_value.h"

namespace sextant {
namespace {

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

const std::vector<std::string>& awkward_tokens() {
  static const std::vector<std::string> tokens{"NaN",
                                               "-Infinity",
                                               "1e999",
                                               "1e308",
                                               "5e-324",
                                               "-0.0",
                                               "99999999999999999999",
                                               "2147483648",
                                               "[",
                                               "{",
                                               "]",
                                               "}",
                                               ",",
                                               ":",
                                               "null",
                                               "\"",
                                               "\\",
                                               "\\ud800",
                                               "\xff",
                                               "\xc3",
                                               "/*",
                                               "\"name\"",
                                               "\n",
                                               std::string(1, '\0'),
                                               "1.0",
                                               "1e3",
                                               "\"a/b\"",
                                               "\"~\""};
  return tokens;
}

const std::vector<Json>& awkward_values() {
  static const std::vector<Json> values{nullptr,
                                        true,
                                        0,
                                        -1,
                                        1,
                                        2,
                                        3,
                                        7,
                                        64,
                                        1000000,
                                        1000001,
                                        2147483647,
                                        2147483648,
                                        18446744073709551615ULL,
                                        -0.0,
                                        0.5,
                                        1e-300,
                                        1e300,
                                        1.7e308,
                                        "",
                                        "*",
                                        "actor",
                                        "h100",
                                        "/",
                                        "a/b",
                                        "virginia-0/1",
                                        Json::array(),
                                        Json::object()};
  return values;
}

// Every value inside, the root included.
void collect(Json& value, std::vector<Json*>& out) {
  out.push_back(&value);
  if (!value.is_structured()) return;
  for (auto& child : value) collect(child, out);
}

Json& pick(Json& root, Random& random) {
  std::vector<Json*> values;
  collect(root, values);
  return *values[below(random, values.size())];
}

void remove_member(Json& object, Random& random) {
  if (!object.is_structured() || object.empty()) return;
  auto at = object.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(below(random, object.size())));
  object.erase(at);
}

void rename_member(Json& object, Random& random) {
  if (!object.is_object() || object.empty()) return;
  auto at = object.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(below(random, object.size())));
  const Json moved = *at;
  object[at.key() + "/~"] = moved;
}

// The first line that begins after `at`, with its end; empty if there is none.
std::string line_after(const std::string& text, std::size_t at) {
  const std::size_t begin = text.find('\n', at);
  if (begin == std::string::npos) return "";
  return text.substr(begin + 1, text.find('\n', begin + 1) - begin);
}

// Replaces the first number after `at`.
void replace_number(std::string& text, std::size_t at, Random& random) {
  constexpr const char* kDigits = "0123456789";
  const std::size_t begin = text.find_first_of(kDigits, at);
  if (begin == std::string::npos) return;
  const std::size_t end = std::min(text.size(), text.find_first_not_of(kDigits, begin));
  static const std::vector<std::string> numbers{"0",   "-1",  "1e308",      "1e-308",
                                                "nan", "inf", "2147483648", "99999999999999999999"};
  text.replace(begin, end - begin, numbers[below(random, numbers.size())]);
}

}  // namespace

std::string mutate_text(const std::string& text, const std::string& other, Random& random) {
  std::string out = text;
  const std::size_t edits = 1 + below(random, 4);
  for (std::size_t edit = 0; edit < edits && !out.empty(); ++edit) {
    const std::size_t at = below(random, out.size());
    switch (random() % 7) {
      case 0:
        out[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        out.erase(at, 1 + below(random, 40));
        break;
      case 2:
        out.insert(at, awkward_tokens()[below(random, awkward_tokens().size())]);
        break;
      case 3:
        out.insert(at, other.substr(below(random, other.size()), below(random, 200)));
        break;
      case 4:
        replace_number(out, at, random);
        break;
      case 5:
        out.insert(std::min(out.size(), out.find('\n', at)),
                   "\n" + line_after(other, below(random, other.size())));
        break;
      default:
        out.resize(at);
    }
  }
  return out;
}

std::string mutate_value(const std::string& text, const std::string& other, Random& random) {
  Json root = parse_json(text);
  Json donor = parse_json(other);
  const std::size_t edits = 1 + below(random, 2);
  for (std::size_t edit = 0; edit < edits; ++edit) {
    Json& target = pick(root, random);
    switch (random() % 5) {
      case 0:
        remove_member(target, random);
        break;
      case 1:
        rename_member(target, random);
        break;
      case 2:
        target = Json(pick(donor, random));
        break;
      default:
        target = awkward_values()[below(random, awkward_values().size())];
    }
  }
  return format_json(root);
}

}  // namespace sextant
