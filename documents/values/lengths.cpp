#include "sextant/lengths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/json_value.h"
#include "documents/values/names.h"
#include "sextant/error.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"fixed", "empirical", "lognormal"};
constexpr double kLargestSigma = 10;  // the mean is then exp(50) medians; beyond it overflows

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// E[min(X, max)] of a lognormal X.
double truncated_lognormal_mean(double median, double sigma, double max) {
  if (sigma == 0) {
    return std::min(median, max);
  }
  const double z = std::log(max / median) / sigma;
  const double untruncated = median * std::exp(0.5 * sigma * sigma);
  return untruncated * normal_below(z - sigma) + max * normal_below(-z);
}

// E[min(X, max)^2] of a lognormal X.
double truncated_lognormal_square(double median, double sigma, double max) {
  if (sigma == 0) {
    return std::min(median, max) * std::min(median, max);
  }
  const double z = std::log(max / median) / sigma;
  const double untruncated = median * median * std::exp(2 * sigma * sigma);
  return untruncated * normal_below(z - 2 * sigma) + max * max * normal_below(-z);
}

// The integral of 1 - F(x)^n from 0 to max, in log(x) by Simpson's rule; below e^-9 deviations from the median
// the integrand is x itself.
double longest_of_lognormal(double median, double sigma, double max, double n) {
  if (sigma == 0) {
    return std::min(median, max);
  }
  constexpr int kIntervals = 256;
  constexpr double kDeviations = 9;
  const double from = std::log(median) - kDeviations * sigma;
  const double to =
      std::min(std::log(max), std::log(median) + (kDeviations + std::sqrt(2 * std::log(n))) * sigma);
  if (to <= from) {
    return max;
  }
  const double step = (to - from) / kIntervals;
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const double y = from + i * step;
    const double beyond = -std::expm1(n * std::log(normal_below((y - std::log(median)) / sigma)));
    const double weight = i == 0 || i == kIntervals ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * beyond * std::exp(y);
  }
  return std::exp(from) + sum * step / 3;
}

// The mass, mean and mean square of a lognormal X between two deviations z of its logarithm.
LengthCell lognormal_cell(double median, double sigma, double from, double to) {
  LengthCell cell;
  cell.mass = normal_below(to) - normal_below(from);
  if (cell.mass <= 0) return {};
  const auto moment = [&](double order) {
    const double shift = order * sigma;
    return std::pow(median, order) * std::exp(0.5 * shift * shift) *
           (normal_below(to - shift) - normal_below(from - shift)) / cell.mass;
  };
  cell.mean = moment(1);
  cell.mean_square = moment(2);
  return cell;
}

// Cells of equal width in log(x), with the little that lies beyond at both ends, and what is cut off at max.
std::vector<LengthCell> lognormal_cells(double median, double sigma, double max, int maximum) {
  constexpr double kDeviations = 5;
  const double infinity = std::numeric_limits<double>::infinity();
  const double cut = std::log(max / median) / sigma;
  const double to = std::min(kDeviations, cut), step = (to + kDeviations) / maximum;
  std::vector<LengthCell> cells{lognormal_cell(median, sigma, -infinity, -kDeviations)};
  for (int i = 0; i < maximum; ++i)
    cells.push_back(lognormal_cell(median, sigma, -kDeviations + i * step, -kDeviations + (i + 1) * step));
  if (cut > to) cells.push_back(lognormal_cell(median, sigma, to, cut));
  cells.push_back({normal_below(-cut), max, max * max});
  std::erase_if(cells, [](const LengthCell& cell) { return cell.mass <= 0; });
  return cells;
}

// Neighbours of a support that has more points than cells are one.
std::vector<LengthCell> empirical_cells(const std::vector<double>& tokens, const std::vector<double>& weights,
                                        int maximum) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::size_t together =
      (tokens.size() + static_cast<std::size_t>(maximum) - 1) / static_cast<std::size_t>(maximum);
  std::vector<LengthCell> cells;
  for (std::size_t first = 0; first < tokens.size(); first += together) {
    LengthCell cell;
    for (std::size_t i = first; i < std::min(tokens.size(), first + together); ++i) {
      const double mass = weights[i] / sum;
      if (mass <= 0) continue;
      cell.mass += mass;
      cell.mean += mass * tokens[i];
      cell.mean_square += mass * tokens[i] * tokens[i];
    }
    if (cell.mass <= 0) continue;
    cell.mean /= cell.mass;
    cell.mean_square /= cell.mass;
    cells.push_back(cell);
  }
  return cells;
}

// z with normal_below(z) = p.
double normal_quantile(double p) {
  double low = -10, high = 10;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (normal_below(middle) < p ? low : high) = middle;
  }
  return high;
}

// A length that no context has is a mistake of the document, and sums over a batch of them leave the numbers.
double checked_length(const JsonView& view, double tokens) {
  constexpr double kMaxTokens = 1e9;
  if (tokens > kMaxTokens) view.fail("expected at most 1e9 tokens");
  return tokens;
}

std::vector<double> parse_support(const JsonView& view) {
  std::vector<double> tokens;
  for (const JsonView& item : view.items()) {
    const double length = checked_length(item, item.positive());
    if (!tokens.empty() && length <= tokens.back()) {
      item.fail("expected lengths in ascending order");
    }
    tokens.push_back(length);
  }
  if (tokens.empty()) {
    view.fail("expected at least one length");
  }
  return tokens;
}

std::vector<double> parse_weights(const JsonView& view, std::size_t count) {
  std::vector<double> weights;
  for (const JsonView& item : view.items()) {
    weights.push_back(item.non_negative());
  }
  if (weights.size() != count) {
    view.fail("expected " + std::to_string(count) + " weights, one for each length, got " +
              std::to_string(weights.size()));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0) || !std::isfinite(sum)) {
    view.fail("expected weights with a sum that is finite and > 0");
  }
  return weights;
}

Lengths parse_empirical(const JsonView& view) {
  view.allow_only({"kind", "tokens", "weights"});
  Lengths out;
  out.kind = LengthKind::empirical;
  out.tokens = parse_support(view.required("tokens"));
  const auto weights = view.optional("weights");
  out.weights =
      weights ? parse_weights(*weights, out.tokens.size()) : std::vector<double>(out.tokens.size(), 1.0);
  return out;
}

Lengths parse_lognormal(const JsonView& view) {
  view.allow_only({"kind", "median", "sigma", "max"});
  Lengths out;
  out.kind = LengthKind::lognormal;
  out.median = view.required("median").positive();
  const JsonView sigma = view.required("sigma");
  out.sigma = sigma.non_negative();
  if (out.sigma > kLargestSigma) {
    sigma.fail("expected a number from 0 to 10: the deviation of the logarithm of the length");
  }
  const JsonView max = view.required("max");
  out.max = checked_length(max, max.positive());
  if (out.max < out.median) {
    max.fail("expected at least the median");
  }
  return out;
}

}  // namespace

double Lengths::mean_tokens() const {
  if (kind == LengthKind::lognormal) {
    return truncated_lognormal_mean(median, sigma, max);
  }
  if (kind == LengthKind::fixed) {
    return tokens.at(0);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double mean = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    mean += tokens[i] * (weights[i] / sum);
  }
  return mean;
}

double Lengths::mean_square_tokens() const {
  if (kind == LengthKind::lognormal) {
    return truncated_lognormal_square(median, sigma, max);
  }
  if (kind == LengthKind::fixed) {
    return tokens.at(0) * tokens.at(0);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double square = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    square += tokens[i] * tokens[i] * (weights[i] / sum);
  }
  return square;
}

double Lengths::longest_of(double n) const {
  SEXTANT_CHECK(n >= 1);
  if (kind == LengthKind::lognormal) {
    return longest_of_lognormal(median, sigma, max, n);
  }
  if (kind == LengthKind::fixed) {
    return tokens.at(0);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double below = 0, before = 0, longest = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    below = std::min(1.0, below + weights[i] / sum);
    const double all_below = std::pow(below, n);
    longest += tokens[i] * (all_below - before);
    before = all_below;
  }
  return longest;
}

double Lengths::max_live(double base) const {
  double maximum = 0;
  if (kind == LengthKind::lognormal && sigma > 0) {
    constexpr int kPoints = 256;
    constexpr double kDeviations = 4;
    const double from = std::log(median) - kDeviations * sigma, to = std::log(max);
    for (int i = 0; i <= kPoints; ++i) {
      const double y = from + (to - from) * i / kPoints;
      const double live = normal_below((std::log(median) - y) / sigma);
      maximum = std::max(maximum, live * (base + std::exp(y)));
    }
    return std::max(maximum, base);
  }
  if (kind != LengthKind::empirical) return base + max_tokens();
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double live = 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    maximum = std::max(maximum, live * (base + tokens[i]));
    live -= weights[i] / sum;
  }
  return std::max(maximum, base);
}

std::vector<LengthCell> Lengths::cells(int maximum) const {
  SEXTANT_CHECK(maximum >= 1);
  if (kind == LengthKind::empirical) return empirical_cells(tokens, weights, maximum);
  if (kind == LengthKind::lognormal && sigma > 0) return lognormal_cells(median, sigma, max, maximum);
  const double only = max_tokens();
  return {{1, only, only * only}};
}

double Lengths::max_tokens() const {
  if (kind == LengthKind::lognormal) {
    return sigma == 0 ? std::min(median, max) : max;
  }
  if (kind == LengthKind::fixed) {
    return tokens.at(0);
  }
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (weights[i] > 0) {
      return tokens[i];
    }
  }
  SEXTANT_CHECK(false && "an empirical distribution has a positive weight");
  return 0;
}

Lengths Lengths::parse(const JsonView& view) {
  switch (parse_name<LengthKind>(view.required("kind"), kKinds)) {
    case LengthKind::empirical:
      return parse_empirical(view);
    case LengthKind::lognormal:
      return parse_lognormal(view);
    case LengthKind::fixed:
      break;
  }
  view.allow_only({"kind", "tokens"});
  const JsonView tokens = view.required("tokens");
  return fixed_length(checked_length(tokens, tokens.non_negative()));
}

Json Lengths::to_json() const {
  Json out = {{"kind", name_in(kKinds, kind)}};
  if (kind == LengthKind::fixed) {
    out["tokens"] = tokens.at(0);
  } else if (kind == LengthKind::empirical) {
    out["tokens"] = tokens;
    out["weights"] = weights;
  } else {
    out["median"] = median;
    out["sigma"] = sigma;
    out["max"] = max;
  }
  return out;
}

Lengths fixed_length(double tokens) {
  Lengths out;
  out.tokens = {tokens};
  return out;
}

Lengths scaled(Lengths lengths, double factor) {
  SEXTANT_CHECK(factor > 0);
  for (double& tokens : lengths.tokens) tokens *= factor;
  lengths.median = std::min(lengths.max, lengths.median * factor);
  return lengths;
}

double Lengths::quantile(double p) const {
  SEXTANT_CHECK(p > 0 && p <= 1);
  if (kind == LengthKind::fixed) return tokens.front();
  if (kind == LengthKind::lognormal) return std::min(max, median * std::exp(sigma * normal_quantile(p)));
  constexpr double kRounding = 1e-12;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double below = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    below += weights[i];
    if (weights[i] > 0 && below >= (p - kRounding) * sum) return tokens[i];
  }
  return max_tokens();
}

Lengths cut_at(Lengths lengths, double tokens) {
  for (double& length : lengths.tokens) length = std::min(length, tokens);
  lengths.max = std::min(lengths.max, tokens);
  return lengths;
}

}  // namespace sextant
