#include "ask/words/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace sextant {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Levenshtein: row by row of the table of prefixes.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view written, std::span<const std::string_view> names) {
  const std::string wanted = lower(written);
  if (wanted.empty()) return "";
  std::string_view nearest, begins;
  std::size_t minimum = 0;
  for (const std::string_view name : names) {
    const std::size_t changes = distance(wanted, lower(name));
    if (begins.empty() && lower(name).starts_with(wanted)) begins = name;
    if (changes * 3 <= name.size() && (nearest.empty() || changes < minimum)) {
      nearest = name;
      minimum = changes;
    }
  }
  return std::string(nearest.empty() ? begins : nearest);
}

}  // namespace sextant
