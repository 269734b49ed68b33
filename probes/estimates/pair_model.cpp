#include "probes/estimates/pair_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "probes/estimates/held_out.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

// The margin by which a less simple kind of fit must be better, so that it is not chosen by chance.
constexpr double kBetterBy = 0.02;

struct Candidate {
  PairRule rule;
  FitKind fit;
};

// The simplest first.
constexpr std::array<Candidate, 4> kCandidates{{
    {PairRule::places, {SegmentRule::slowest, FitStart::usual, false}},
    {PairRule::slowest_part, {SegmentRule::slowest, FitStart::usual, true}},
    {PairRule::slowest_part, {SegmentRule::slowest, FitStart::fastest, true}},
    {PairRule::sum_of_parts, {SegmentRule::sum, FitStart::usual, true}},
}};

void check(const PairSample& sample, std::size_t hosts) {
  const RankPair& pair = sample.pair;
  const std::string what =
      "the measured pair of hosts " + std::to_string(pair.low) + " and " + std::to_string(pair.high);
  if (pair.low < 0 || pair.low >= pair.high || static_cast<std::size_t>(pair.high) >= hosts)
    throw_bad_input(what + " is not one of the " + std::to_string(hosts) + " hosts given");
  if (!(sample.value > 0) || !std::isfinite(sample.value) || !(sample.spread_fraction >= 0))
    throw_bad_input(what + ": expected a value > 0 and a spread >= 0, got " + std::to_string(sample.value) +
                    " and " + std::to_string(sample.spread_fraction));
}

std::vector<CostSample> costs_from(std::span<const PairSample> samples, PairQuantity quantity) {
  std::vector<double> spreads;
  for (const PairSample& sample : samples) spreads.push_back(sample.spread_fraction);
  const double usual = median(spreads);
  std::vector<CostSample> costs;
  costs.reserve(samples.size());
  for (const PairSample& sample : samples) {
    const double cost = quantity == PairQuantity::latency_s ? sample.value : 1 / sample.value;
    const double weight = sample.spread_fraction > usual ? usual / sample.spread_fraction : 1;
    costs.push_back({sample.pair, cost, std::max(weight, 0.01)});
  }
  return costs;
}

// The mean of errors that are at most 1, so that a few that are far off do not choose.
double score(std::span<const double> errors) {
  double sum = 0;
  for (const double error : errors) sum += std::min(error, 1.0);
  return sum / static_cast<double>(errors.size());
}

}  // namespace

PairModel PairModel::fit(std::span<const HostPlace> places, std::span<const PairSample> samples,
                         PairQuantity quantity, std::uint64_t seed) {
  if (samples.empty()) throw_bad_input("no pair of hosts was measured, so no other can be estimated");
  std::vector<RankPair> pairs;
  for (const PairSample& sample : samples) {
    check(sample, places.size());
    pairs.push_back(sample.pair);
  }
  const std::vector<CostSample> costs = costs_from(samples, quantity);
  PairModel model(PartTable(group_hosts(places), pairs), quantity);
  std::vector<double> min_errors;
  FitKind chosen;
  for (const Candidate& candidate : kCandidates) {
    std::vector<double> errors = held_out_errors(model.groups(), costs, candidate.fit, seed);
    if (!min_errors.empty() && score(errors) >= (1 - kBetterBy) * score(min_errors)) continue;
    min_errors = std::move(errors);
    model.rule_ = candidate.rule;
    chosen = candidate.fit;
  }
  model.costs_ = fit_costs(model.table_, costs, chosen);
  fill_levels(model.costs_);
  model.held_out_error_ = median(min_errors);
  model.log_error_90_ = errors_90(model.groups(), costs, min_errors);
  return model;
}

double PairModel::value_of(double cost) const { return quantity_ == PairQuantity::latency_s ? cost : 1 / cost; }

double PairModel::cost_of(const PairParts& parts) const { return costs_.of_pair(table_.classes(), parts); }

double PairModel::predict(const RankPair& pair) const { return value_of(cost_of(table_.parts_of(pair))); }

double PairModel::predict_without_hosts(const RankPair& pair) const {
  PairParts parts = table_.parts_of(pair);
  parts.ends[2] = parts.ends[3] = kNoPart;
  return value_of(cost_of(parts));
}

PairParts PairModel::parts_of_host(int host) const {
  const int zone = groups().zone_of[static_cast<std::size_t>(host)];
  const auto& neighbours = groups().hosts_of_zone[static_cast<std::size_t>(zone)];
  PairParts parts;
  parts.pair_class = level_class(LinkLevel::within_zone);
  if (neighbours.size() > 1) {
    const int neighbour = neighbours.front() == host ? neighbours.back() : neighbours.front();
    parts = table_.parts_of(pair_of(host, neighbour));
  }
  parts.ends = {kNoPart, kNoPart, table_.first_host() + host, kNoPart};
  return parts;
}

double PairModel::with_usual_neighbour(int host) const { return value_of(cost_of(parts_of_host(host))); }

double PairModel::between_usual_neighbours(int host) const {
  PairParts parts = parts_of_host(host);
  parts.ends[2] = kNoPart;
  return value_of(cost_of(parts));
}

bool PairModel::has_uplink_of_its_own(int zone) const {
  const int part = table_.first_uplink() + zone;
  return costs_.of_part[static_cast<std::size_t>(part)] != 0;
}

}  // namespace sextant::inline probes
