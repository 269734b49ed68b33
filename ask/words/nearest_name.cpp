#include "ask/words/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace sextant::inline ask {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Changed, added and omitted letters, and swaps of two neighbours (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), last, before_last;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
  }
  return row.back();
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

std::string nearest_name(std::string_view written, std::span<const std::string_view> names) {
  const std::string wanted = lower(written);
  if (wanted.empty()) return "";
  std::string_view nearest, begins;
  std::size_t minimum = 0, prefix = 0;
  for (const std::string_view name : names) {
    const std::string known = lower(name);
    const std::size_t changes = distance(wanted, known), common = common_prefix(wanted, known);
    if (begins.empty() && common == wanted.size()) begins = name;
    const bool is_nearer = changes < minimum || (changes == minimum && common > prefix);
    if (changes * 3 <= name.size() && (nearest.empty() || is_nearer)) {
      nearest = name;
      minimum = changes;
      prefix = common;
    }
  }
  return std::string(nearest.empty() ? begins : nearest);
}

std::string did_you_mean(std::string_view written, std::span<const std::string_view> names) {
  const std::string nearest = nearest_name(written, names);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::string did_you_mean(std::string_view written, std::span<const std::string> names) {
  return did_you_mean(written, std::vector<std::string_view>(names.begin(), names.end()));
}

}  // namespace sextant::inline ask
