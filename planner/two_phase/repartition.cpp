#include "planner/two_phase/repartition.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::inline planner {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kStable = 20;  // K of Algorithm 1, as in Table 5

SearchPhaseLimits limits_of(const SearchRun& run, bool costs_every_layout) {
  const ShapeLimits shapes = shape_limits_of(run.request());
  return {shapes.micro_batch_sequences, shapes.try_recompute, shapes.tensor_parallel_limit,
          [&run] { return run.is_over(); }, costs_every_layout};
}

// The time of one side: the tasks of the other side take no time.
double side_s(const Costing& costing, Choices choices, bool rollout) {
  for (std::size_t t = 0; t < choices.size(); ++t) {
    const bool generates = costing.task(static_cast<int>(t)).kind == TaskKind::generation;
    if (generates != rollout) choices[t] = nullptr;
  }
  return costing.working_s(choices);
}

}  // namespace

Repartition::Repartition(SearchRun& run, const Costing& costing, const PartitionGraph& graph, bool notes,
                         bool costs_every_layout)
    : run_(run),
      costing_(costing),
      graph_(graph),
      notes_(notes),
      phase_(costing, limits_of(run, costs_every_layout)) {}

PartitionCost Repartition::look(const DeviceSplit& split) {
  const SplitPlans found = phase_.search(split);
  PartitionCost cost{found.training_fits ? 0 : kInfinite, found.rollout_fits ? 0 : kInfinite, kInfinite};
  for (const Choices& choices : found.plans) {
    if (run_.is_over()) break;
    const double time_s = costing_.iteration_s(choices);
    const Score score{time_s, std::max(0.0, costing_.excess_bytes(choices)), time_s};
    if (notes_) {
      run_.note(score, [&] { return costing_.plan_of(choices); });
    } else {
      run_.spend(1);
    }
    if (!score.fits() || score.time_s >= cost.iteration_s) continue;
    cost = {side_s(costing_, choices, false), side_s(costing_, choices, true) + costing_.moved_s(choices),
            score.time_s};
  }
  return cost;
}

const PartitionCost& Repartition::cost(const Partition& partition) {
  static const PartitionCost over{kInfinite, kInfinite, kInfinite};
  if (const auto known = known_.find(partition); known != known_.end()) return known->second;
  if (run_.is_over()) return over;
  const auto entry = known_.emplace(partition, look(graph_.split_of(partition))).first;
  if (entry->second.iteration_s < best_s()) best_ = &entry->first;
  return entry->second;
}

double Repartition::best_s() const { return best_ == nullptr ? kInfinite : known_.at(*best_).iteration_s; }

double Repartition::binary_search() {
  double low = 0, high = 1;         // q and r
  constexpr double kFinest = 0.25;  // of a unit: nothing else is nearer
  while (high - low > kFinest * graph_.largest_unit_fraction() && !run_.is_over()) {
    const double gamma = 0.5 * (low + high);
    const PartitionCost& at = cost(graph_.best_at(gamma));
    (at.training_s < at.rollout_s ? high : low) = gamma;
  }
  return 0.5 * (low + high);
}

void Repartition::open_range() {
  if (best_ == nullptr) return;
  constexpr double kUnits = 2;  // to either side
  const double middle = graph_.compute_fraction(*best_);
  const double width = kUnits * graph_.largest_unit_fraction();
  std::vector<std::pair<double, const Partition*>> around;
  for (const Partition& partition : graph_.partitions()) {
    if (std::abs(graph_.compute_fraction(partition) - middle) <= width)
      around.emplace_back(-graph_.guide(partition), &partition);
  }
  std::stable_sort(around.begin(), around.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  int stable = 0;
  for (const auto& [guide, partition] : around) {
    if (stable == kStable || run_.is_over()) return;
    const double before_s = best_s();
    (void)cost(*partition);
    stable = best_s() < before_s ? 0 : stable + 1;
  }
}

void Repartition::scan() {
  constexpr int kPoints = 8;
  for (int i = 1; i < kPoints && !run_.is_over(); ++i) (void)cost(graph_.best_at(1.0 * i / kPoints));
}

void Repartition::climb_from(Partition partition) {
  for (bool improved = true; improved && !run_.is_over();) {
    improved = false;
    Partition best = partition;
    for (const Partition& other : graph_.neighbours(partition)) {
      if (cost(other).iteration_s < cost(best).iteration_s) best = other;
    }
    improved = best != partition;
    partition = std::move(best);
  }
}

void Repartition::climb(std::size_t starts) {
  std::vector<std::pair<double, Partition>> by_time;
  for (const auto& [partition, of] : known_) {
    if (std::isfinite(of.iteration_s)) by_time.emplace_back(of.iteration_s, partition);
  }
  std::sort(by_time.begin(), by_time.end());
  std::vector<double> fractions;
  for (const auto& [seconds, partition] : by_time) {
    if (fractions.size() == starts) break;
    const double fraction = graph_.compute_fraction(partition);
    constexpr double kApart = 0.08;  // of the arithmetic
    const bool is_near = std::any_of(fractions.begin(), fractions.end(),
                                     [&](double other) { return std::abs(other - fraction) < kApart; });
    if (is_near) continue;
    fractions.push_back(fraction);
    climb_from(partition);
  }
}

double Repartition::value_cost_s(const ValueSplit& deal) {
  int value = 0, policy = 0;
  for (std::size_t c = 0; c < deal.value.size(); ++c) {
    if (deal.value[c] > deal.partition[c]) return kInfinite;
    value += deal.value[c];
    policy += deal.partition[c] - deal.value[c];
  }
  if (value == 0 || policy == 0) return kInfinite;
  if (const auto known = known_deals_s_.find(deal); known != known_deals_s_.end()) return known->second;
  if (run_.is_over()) return kInfinite;
  const double cost_s = look(graph_.split_of(deal.partition, deal.value)).iteration_s;
  return known_deals_s_.emplace(deal, cost_s).first->second;
}

std::vector<Repartition::ValueSplit> Repartition::value_neighbours(const ValueSplit& deal) const {
  std::vector<ValueSplit> found;
  for (Partition& value : graph_.neighbours(deal.value)) found.push_back({deal.partition, std::move(value)});
  for (Partition& partition : graph_.neighbours(deal.partition)) {
    // The units that rollout gives or takes belong to the policy, or to the value model.
    Partition value = deal.value;
    for (std::size_t c = 0; c < value.size(); ++c) value[c] += partition[c] - deal.partition[c];
    if (std::all_of(value.begin(), value.end(), [](int units) { return units >= 0; }))
      found.push_back({partition, std::move(value)});
    found.push_back({std::move(partition), deal.value});
  }
  return found;
}

void Repartition::deal_values() {
  if (best_ == nullptr || !trains_values(costing_.workflow())) return;
  std::vector<ValueSplit> starts(1, {*best_, *best_});
  for (int& units : starts.front().value) units /= 2;
  // A class of its own for the critic, where others are left.
  for (std::size_t c = 0; c < best_->size(); ++c) {
    ValueSplit of_class{*best_, Partition(best_->size(), 0)};
    of_class.value[c] = (*best_)[c];
    starts.push_back(std::move(of_class));
  }
  ValueSplit best = starts.front();
  for (const ValueSplit& start : starts) {
    if (value_cost_s(start) < value_cost_s(best)) best = start;
  }
  // The first that is better is taken: deals have many neighbours.
  constexpr std::size_t kMaxDeals = 400;
  for (bool improved = true; improved && !run_.is_over();) {
    improved = false;
    for (const ValueSplit& other : value_neighbours(best)) {
      if (known_deals_s_.size() >= kMaxDeals) return;
      if (value_cost_s(other) >= value_cost_s(best)) continue;
      best = other;
      improved = true;
      break;
    }
  }
}

}  // namespace sextant::inline planner
