#include "sextant/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sextant/error.h"

namespace sextant {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  SEXTANT_CHECK(!samples.empty());
  std::vector<double> out(samples.begin(), samples.end());
  std::sort(out.begin(), out.end());
  return out;
}

double quantile_of_sorted(const std::vector<double>& values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double weight = position - static_cast<double>(below);
  return weight == 0 ? values[below] : values[below] + weight * (values[above] - values[below]);
}

// The interval from order statistic k to n - 1 - k (counted from 0) misses the median with probability
// 2 P(Binomial(n, 1/2) <= k). The largest k whose tail is small enough; 0 when there is none.
std::size_t lowest_order_statistic(std::size_t n, double tail) {
  double log_mass = -static_cast<double>(n) * std::log(2.0);  // of exactly k
  double cumulative = std::exp(log_mass);                     // of k or fewer
  std::size_t k = 0;
  while (2 * (k + 1) < n) {
    log_mass += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
    cumulative += std::exp(log_mass);
    if (cumulative > tail) {
      break;
    }
    ++k;
  }
  return k;
}

// Rank of each value, 1 for the smallest; equal values share their mean rank.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    for (std::size_t i = begin; i < end; ++i) {
      out[order[i]] = 0.5 * static_cast<double>(begin + 1 + end);
    }
    begin = end;
  }
  return out;
}

}  // namespace

double mean(std::span<const double> samples) {
  SEXTANT_CHECK(!samples.empty());
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double quantile(std::span<const double> samples, double q) {
  SEXTANT_CHECK(q >= 0 && q <= 1);
  return quantile_of_sorted(sorted(samples), q);
}

double standard_deviation(std::span<const double> samples) {
  const double center = mean(samples);
  if (samples.size() < 2) {
    return 0;
  }
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - center) * (sample - center);
  }
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

Interval median_interval(std::span<const double> samples, double confidence) {
  SEXTANT_CHECK(confidence > 0 && confidence < 1);
  const std::vector<double> values = sorted(samples);
  const std::size_t low = lowest_order_statistic(values.size(), (1 - confidence) / 2);
  return {values[low], values[values.size() - 1 - low]};
}

double relative_spread(std::span<const double> samples, double confidence) {
  const Interval interval = median_interval(samples, confidence);
  const double half = 0.5 * (interval.high - interval.low);
  if (half == 0) {
    return 0;
  }
  const double center = std::fabs(median(samples));
  return center > 0 ? half / center : std::numeric_limits<double>::infinity();
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  SEXTANT_CHECK(!a.empty() && a.size() == b.size());
  const std::vector<double> rank_a = ranks(a);
  const std::vector<double> rank_b = ranks(b);
  const double center = 0.5 * static_cast<double>(a.size() + 1);
  double both = 0;
  double squares_a = 0;
  double squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (rank_a[i] - center) * (rank_b[i] - center);
    squares_a += (rank_a[i] - center) * (rank_a[i] - center);
    squares_b += (rank_b[i] - center) * (rank_b[i] - center);
  }
  return squares_a > 0 && squares_b > 0 ? both / std::sqrt(squares_a * squares_b) : 0;
}

std::vector<double> medians_in_rounds(std::span<const std::vector<double>> samples) {
  std::size_t rounds = samples.empty() ? 0 : samples.front().size();
  std::vector<double> medians;
  for (const std::vector<double>& of_one : samples) {
    rounds = std::min(rounds, of_one.size());
    medians.push_back(median(of_one));
  }
  std::vector<std::vector<double>> adjusted(samples.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < samples.size(); ++i) ratios.push_back(samples[i][round] / medians[i]);
    const double factor = median(ratios);
    for (std::size_t i = 0; i < samples.size(); ++i) adjusted[i].push_back(samples[i][round] / factor);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (rounds > 0) medians[i] = median(adjusted[i]);
  }
  return medians;
}

double kendall_tau(std::span<const double> a, std::span<const double> b) {
  SEXTANT_CHECK(a.size() == b.size());
  double agree = 0, untied_a = 0, untied_b = 0;
  const auto sign = [](double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : 0.0); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const double in_a = sign(a[i] - a[j]), in_b = sign(b[i] - b[j]);
      agree += in_a * in_b;
      untied_a += in_a * in_a;
      untied_b += in_b * in_b;
    }
  }
  return untied_a > 0 && untied_b > 0 ? agree / std::sqrt(untied_a * untied_b) : 0;
}

}  // namespace sextant
