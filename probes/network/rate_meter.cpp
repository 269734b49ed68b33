#include "probes/network/rate_meter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

constexpr double kStillGrowing = 1.05;

bool is_growing(std::span<const double> rates) {
  const std::size_t half = rates.size() / 2;
  return half > 0 && median(rates.last(half)) > kStillGrowing * median(rates.first(half));
}

}  // namespace

RateMeter::RateMeter(const RateMeterOptions& options)
    : options_(options), counts_(static_cast<std::size_t>(options.streams)) {}

void RateMeter::add(int stream, double time_s, std::uint64_t bytes) {
  counts_[static_cast<std::size_t>(stream)].push_back({time_s, static_cast<double>(bytes)});
}

double RateMeter::begin_s() const {
  double begin_s = 0;
  for (const auto& counts : counts_) {
    if (counts.empty()) return std::numeric_limits<double>::infinity();
    begin_s = std::max(begin_s, counts.front().time_s);
  }
  return begin_s + options_.warm_up_s;
}

double RateMeter::end_s() const {
  double end_s = std::numeric_limits<double>::infinity();
  for (const auto& counts : counts_) end_s = std::min(end_s, counts.empty() ? 0.0 : counts.back().time_s);
  return end_s;
}

double RateMeter::bytes_until(const std::vector<Count>& counts, double time_s) const {
  const auto after = std::upper_bound(counts.begin(), counts.end(), time_s,
                                      [](double time, const Count& count) { return time < count.time_s; });
  if (after == counts.begin()) return counts.front().bytes;
  if (after == counts.end()) return counts.back().bytes;
  const Count& before = *std::prev(after);
  const double share = (time_s - before.time_s) / (after->time_s - before.time_s);
  return before.bytes + share * (after->bytes - before.bytes);
}

double RateMeter::slowest(double from_s, double to_s) const {
  double minimum = std::numeric_limits<double>::infinity();
  for (const auto& counts : counts_) {
    minimum = std::min(minimum, (bytes_until(counts, to_s) - bytes_until(counts, from_s)) / (to_s - from_s));
  }
  return minimum;
}

MeasuredRate RateMeter::rate() const {
  MeasuredRate result;
  const double first_s = begin_s();
  const double known_s = end_s() - first_s;
  if (!(known_s >= options_.bin_s)) return result;
  std::vector<double> rates(static_cast<std::size_t>(known_s / options_.bin_s));
  for (std::size_t bin = 0; bin < rates.size(); ++bin) {
    const double from_s = first_s + static_cast<double>(bin) * options_.bin_s;
    for (const auto& counts : counts_) {
      rates[bin] +=
          (bytes_until(counts, from_s + options_.bin_s) - bytes_until(counts, from_s)) / options_.bin_s;
    }
  }
  std::span<const double> used = rates;
  const auto minimum = static_cast<std::size_t>(options_.min_bins);
  while (used.size() >= 2 * minimum && is_growing(used)) used = used.last(used.size() - used.size() / 2);
  result.is_growing = is_growing(used);
  result.bins = static_cast<int>(used.size());
  result.seconds = static_cast<double>(used.size()) * options_.bin_s;
  result.bytes_per_s = median(used);
  result.spread_fraction = result.bytes_per_s > 0 ? relative_spread(used) : 1.0;
  const double last_s = first_s + static_cast<double>(rates.size()) * options_.bin_s;
  result.slowest_bytes_per_s = slowest(last_s - result.seconds, last_s);
  result.is_stable =
      used.size() >= minimum && !result.is_growing && result.spread_fraction <= options_.target_spread_fraction;
  return result;
}

}  // namespace sextant::inline probes
