#include "lab/reproduce/headlines.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/units.h"
#include "lab/reproduce/compare.h"

namespace sextant::inline lab {
namespace {

std::vector<double> ours_of(const Headline& headline, const std::vector<Comparison>& comparisons) {
  std::vector<double> all;
  for (const Comparison& one : comparisons) {
    const bool is_of_it =
        std::find(headline.groups.begin(), headline.groups.end(), one.group) != headline.groups.end();
    if (is_of_it && one.ours) all.push_back(*one.ours);
  }
  return all;
}

}  // namespace

std::vector<Comparison> compare_headlines(const std::vector<Headline>& headlines,
                                          const std::vector<Comparison>& comparisons) {
  std::vector<Comparison> all;
  for (const Headline& headline : headlines) {
    const std::vector<double> ours = ours_of(headline, comparisons);
    if (ours.empty()) continue;
    Comparison one;
    one.group = headline.name;
    one.cell = "all " + std::to_string(ours.size()) + " figures";
    one.source = headline.source;
    one.unit = "x";
    one.ours = headline.of == Headline::Of::largest
                   ? *std::max_element(ours.begin(), ours.end())
                   : std::accumulate(ours.begin(), ours.end(), 0.0) / static_cast<double>(ours.size());
    one.published_low = one.published_high = headline.published;
    one.agrees = is_agreeing(one);
    if (!one.agrees)
      one.sentence =
          "ours " + shown_ours(one) + ", published " + shown_published(one) + ": the cells are above";
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace sextant::inline lab
