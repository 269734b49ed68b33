#include "calibrate/import/records/names_in_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace sextant::inline calibrate {
namespace {

// Words that make another product of a name if the name does not have them itself.
constexpr std::array<std::string_view, 11> kOtherProducts{
    "3e", "ada", "d", "laptop", "max", "mobile", "nvl", "nvl2", "super", "ti", "workstation"};
// Words between a name and its form or memory.
constexpr std::array<std::string_view, 7> kSkippedWords{"tensor", "core", "gpu",  "gpus",
                                                        "hbm2",   "hbm3", "hbm3e"};

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_unit(const std::string& word) { return word == "g" || word == "gb" || word == "gib"; }

// "80gb" as 80e9; "80" counts only if a unit follows. A marketing GB is between 1e9 and 2^30 bytes.
std::optional<double> memory_bytes(const std::string& word, const std::string& next) {
  double size = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), size, std::chars_format::fixed);
  if (error != std::errc() || size <= 0) return std::nullopt;
  const std::string rest(end, word.data() + word.size());
  if (!is_unit(rest) && !(rest.empty() && is_unit(next))) return std::nullopt;
  return size * 1e9;
}

enum class Beside { agrees, contradicts, unrelated };

Beside compare(const std::string& word, const std::string& next, const CardTraits& traits) {
  constexpr double kMemoryTolerance = 0.1;  // 1e9 against 2^30 bytes is 7 %, and drivers keep up to 9 % back
  if (word == "pcie") return traits.is_pcie ? Beside::agrees : Beside::contradicts;
  if (word.starts_with("sxm")) return traits.is_pcie ? Beside::contradicts : Beside::agrees;
  if (is_one_of(kOtherProducts, word)) return Beside::contradicts;
  if (const auto memory = memory_bytes(word, next)) {
    return std::abs(traits.memory_bytes / *memory - 1) <= kMemoryTolerance ? Beside::agrees
                                                                           : Beside::contradicts;
  }
  return is_one_of(kSkippedWords, word) || is_unit(word) ? Beside::agrees : Beside::unrelated;
}

}  // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9')) {
      words.back() += small;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string without_separators(const std::string& name) {
  std::string all;
  for (const std::string& word : words_of(name)) all += word;
  return all;
}

std::vector<NameInText> names_in(const std::map<std::string, std::string>& by_name, const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  std::size_t maximum = 0;
  for (const auto& [name, value] : by_name) maximum = std::max(maximum, name.size());
  std::vector<NameInText> found;
  std::size_t end_of_last = 0;
  for (std::size_t begin = 0; begin < words.size();) {
    std::size_t end = begin + 1;
    std::string joined;
    const std::string* longest = nullptr;
    for (std::size_t word = begin; word < words.size() && joined.size() < maximum; ++word) {
      joined += words[word];
      const auto named = by_name.find(joined);
      if (named == by_name.end()) continue;
      longest = &named->second;
      end = word + 1;
    }
    if (longest != nullptr) {
      const auto after = words.begin() + static_cast<std::ptrdiff_t>(end);
      found.push_back({*longest, begin == end_of_last ? "" : words[begin - 1], {after, words.end()}});
      end_of_last = end;
    }
    begin = end;
  }
  return found;
}

bool names_another_card(const NameInText& name, const CardTraits& traits) {
  if (compare(name.word_before, "", traits) == Beside::contradicts) return true;
  for (std::size_t word = 0; word < name.words_after.size(); ++word) {
    const std::string next = word + 1 < name.words_after.size() ? name.words_after[word + 1] : "";
    const Beside beside = compare(name.words_after[word], next, traits);
    if (beside == Beside::contradicts) return true;
    // The number of "80 GB" is no unrelated word, and its unit was read with it.
    if (beside == Beside::unrelated) return false;
  }
  return false;
}

}  // namespace sextant::inline calibrate
