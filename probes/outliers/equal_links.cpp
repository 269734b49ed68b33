#include "probes/outliers/equal_links.h"

#include <algorithm>
#include <set>

#include "sextant/statistics.h"

namespace sextant::inline probes {

std::size_t EqualLinks::number_of(const std::string& member) {
  const auto found = std::find(members_.begin(), members_.end(), member);
  const auto number = static_cast<std::size_t>(found - members_.begin());
  if (found == members_.end()) members_.push_back(member);
  return number;
}

void EqualLinks::add(const LinkQuantity& quantity, const std::string& from, const std::string& to, double value,
                     double spread_fraction) {
  auto place = std::find_if(quantities_.begin(), quantities_.end(),
                            [&](const auto& known) { return known.first.name == quantity.name; });
  if (place == quantities_.end()) place = quantities_.insert(place, {quantity, {}});
  Ends ends = {number_of(from), 0};
  ends.second = number_of(to);
  Values& values = place->second[quantity.is_directed ? ends : Ends(std::minmax(ends.first, ends.second))];
  values.values.push_back(value);
  values.spreads.push_back(spread_fraction);
}

bool EqualLinks::is_enough() const {
  constexpr std::size_t kFewestMembers = 4;
  std::set<Ends> pairs;
  for (const auto& [quantity, values] : quantities_) {
    for (const auto& [ends, of_pair] : values) pairs.insert(std::minmax(ends.first, ends.second));
  }
  return members_.size() >= kFewestMembers && pairs.size() >= members_.size();
}

std::vector<std::string> EqualLinks::describe_outliers() const {
  std::vector<std::string> sentences;
  for (const auto& [quantity, values] : quantities_) {
    std::vector<PairRate> rates;
    for (const auto& [ends, of_pair] : values) {
      rates.push_back({ends.first, ends.second, median(of_pair.values), median(of_pair.spreads)});
    }
    for (const OddLink& odd : find_odd_links(members_, rates, quantity.rule)) {
      sentences.push_back(quantity.name + " " + where_ + ": " + describe(odd));
    }
  }
  return sentences;
}

}  // namespace sextant::inline probes
