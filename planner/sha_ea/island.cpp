#include "planner/sha_ea/island.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planner/sha_ea/polish.h"

namespace sextant {
namespace {

constexpr int kWantedUnits = 8;
constexpr std::size_t kMostArms = 64;  // of a grouping
constexpr std::size_t kPopulation = 8;
constexpr std::size_t kPolished = 4;  // plans at the end of a round
constexpr double kTrainingMutation = 0.3;

ShapeLimits shape_limits(const PlanRequest& request) {
  ShapeLimits limits;
  limits.micro_batch_sequences = request.limits.micro_batch_sequences;
  limits.try_recompute = request.limits.try_recompute;
  limits.most_tensor_parallel = 1;
  for (const Node& node : request.cluster.nodes())
    limits.most_tensor_parallel = std::max(limits.most_tensor_parallel, node.devices);
  return limits;
}

EvaluatedProblem evaluated(const PlanRequest& request) {
  return {request.cluster,   request.workflow,   request.coefficients,
          request.framework, request.executions, request.weight_sync};
}

std::vector<double> memory_of_devices(const Cluster& cluster) {
  std::vector<double> bytes;
  for (int d = 0; d < cluster.device_count(); ++d)
    bytes.push_back(cluster.type_of(DeviceId{d}).memory_bytes.value);
  return bytes;
}

std::uint64_t rounds_of(std::size_t count) {
  return count < 2 ? 1 : static_cast<std::uint64_t>(std::ceil(std::log2(static_cast<double>(count))));
}

// Keeps the better half, in the order of their losses.
template <typename Item>
void keep_best_half(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.loss() < b.loss(); });
  items.resize((items.size() + 1) / 2);
}

// Infeasible plans come after all others, those that lack less before those that lack more.
double loss_of(const Score& score) {
  constexpr double kNeverAsSlow = 1e30;
  return score.fits() ? score.time_s : kNeverAsSlow * (1 + score.excess_bytes);
}

}  // namespace

double Island::Arm::loss() const {
  const Individual* first = best();
  return first == nullptr ? std::numeric_limits<double>::infinity() : loss_of(first->scored.score);
}

const Island::Individual* Island::Arm::best() const {
  const Individual* first = nullptr;
  for (const Individual& individual : population) {
    if (first == nullptr || loss_of(individual.scored.score) < loss_of(first->scored.score))
      first = &individual;
  }
  return first;
}

double Island::Group::loss() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Arm& arm : arms) least = std::min(least, arm.loss());
  return least;
}

Island::Island(const PlanRequest& request, std::uint64_t seed, const Budget& budget,
               std::chrono::steady_clock::time_point start)
    : request_(request),
      budget_(budget),
      start_(start),
      random_(seed),
      evaluator_(evaluated(request)),
      options_(evaluator_, request.cluster, request.workflow, shape_limits(request)),
      arranger_(evaluator_, options_, memory_of_devices(request.cluster)),
      classes_(unit_classes(request.cluster, kWantedUnits)) {
  for (const UnitClass& of_class : classes_) {
    const DeviceId first{of_class.units.front().front()};
    const auto& rates = request.cluster.type_of(first).flop_per_s;
    flop_per_s_.push_back(of_class.devices * rates.at(request.workflow.precision).value);
    nearness_.emplace_back();
    for (const UnitClass& other : classes_) {
      const DeviceId second{other.units.back().back()};
      const LinkLevel level =
          first == second ? LinkLevel::within_node : request.cluster.level_between(first, second);
      nearness_.back().push_back(static_cast<double>(kLinkLevelCount - static_cast<int>(level)));
    }
  }
}

double Island::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Island::is_over() const {
  if (request_.is_cancelled != nullptr && request_.is_cancelled->load(std::memory_order_relaxed)) return true;
  if (budget_.evaluations > 0 && evaluations_ >= budget_.evaluations) return true;
  return budget_.seconds > 0 && seconds() >= budget_.seconds;
}

void Island::note(const Scored& scored) {
  if (scored.score.fits()) ++feasible_;
  if (has_best_ && !scored.is_better_than(best_)) return;
  best_ = scored;
  has_best_ = true;
  if (scored.score.fits()) improvements_.push_back({evaluations_, seconds(), scored.score.time_s});
}

void Island::look_at(const Group& group, Arm& arm, Deal deal) {
  Arrangement arrangement{group.grouping, devices_of_groups(classes_, gathered(deal, nearness_))};
  Individual individual{std::move(deal), {}};
  ++evaluations_;
  if (!arranger_.arrange(arrangement, individual.scored)) {
    individual.scored.score = {0, std::numeric_limits<double>::max()};
  } else {
    note(individual.scored);
  }
  // HetRL 3.4: an offspring that is better takes the place of the worst.
  if (arm.population.size() < kPopulation) {
    arm.population.push_back(std::move(individual));
    return;
  }
  const auto worst = std::max_element(arm.population.begin(), arm.population.end(),
                                      [](const Individual& a, const Individual& b) {
                                        return loss_of(a.scored.score) < loss_of(b.scored.score);
                                      });
  if (loss_of(individual.scored.score) < loss_of(worst->scored.score)) *worst = std::move(individual);
}

void Island::evolve(const Group& group, Arm& arm, std::uint64_t evaluations) {
  for (std::uint64_t k = 0; k < evaluations && !is_over(); ++k) {
    // With one class of units there is one deal.
    if (classes_.size() == 1 && !arm.population.empty()) return;
    if (arm.population.size() < kPopulation / 2) {
      look_at(group, arm, random_deal(classes_, arm.sizes, random_));
      continue;
    }
    Deal deal = arm.population[random_() % arm.population.size()].deal;
    const bool trains = static_cast<double>(random_()) < kTrainingMutation * static_cast<double>(random_.max());
    if (!(trains && give_faster_unit(deal, group.trains, flop_per_s_, random_)) &&
        !exchange_units(deal, random_))
      return;  // all deals are the same
    look_at(group, arm, std::move(deal));
  }
}

// Lines 17 to 29 of Algorithm 1.
void Island::halve_arms(Group& group, std::uint64_t budget) {
  std::vector<Arm> arms = group.arms;
  std::vector<Arm> out;
  const std::uint64_t rounds = rounds_of(arms.size());
  for (std::uint64_t n = 0; n < rounds && !is_over(); ++n) {
    const std::uint64_t each = std::max<std::uint64_t>(1, budget / (arms.size() * rounds));
    for (Arm& arm : arms) evolve(group, arm, each);
    std::stable_sort(arms.begin(), arms.end(), [](const Arm& a, const Arm& b) { return a.loss() < b.loss(); });
    const std::size_t kept = (arms.size() + 1) / 2;
    for (std::size_t a = kept; a < arms.size(); ++a) out.push_back(std::move(arms[a]));
    arms.resize(kept);
  }
  for (Arm& arm : out) arms.push_back(std::move(arm));
  group.arms = std::move(arms);
  keep_best_half(group.arms);
}

std::vector<Island::Group> Island::groups() {
  int units = 0;
  for (const UnitClass& of_class : classes_) units += of_class.count();
  std::vector<Group> groups;
  for (Arms& arms : arms_of(evaluator_.task_count(), units, kMostArms, random_)) {
    Group group{std::move(arms.grouping), {}, {}};
    group.trains.resize(static_cast<std::size_t>(group.grouping.groups));
    for (std::size_t t = 0; t < group.grouping.group_of.size(); ++t) {
      if (request_.workflow.tasks[t].kind == TaskKind::training)
        group.trains[static_cast<std::size_t>(group.grouping.group_of[t])] = true;
    }
    for (std::vector<int>& sizes : arms.sizes) group.arms.push_back({std::move(sizes), {}});
    groups.push_back(std::move(group));
  }
  return groups;
}

void Island::polish_best(const std::vector<Group>& groups, std::uint64_t budget) {
  std::vector<const Individual*> best;
  for (const Group& group : groups) {
    for (const Arm& arm : group.arms) {
      if (const Individual* first = arm.best()) best.push_back(first);
    }
  }
  std::stable_sort(best.begin(), best.end(), [](const Individual* a, const Individual* b) {
    return loss_of(a->scored.score) < loss_of(b->scored.score);
  });
  best.resize(std::min(best.size(), kPolished));
  for (const Individual* individual : best) {
    if (is_over() || individual->scored.candidate.tasks.empty()) return;
    Scored scored = individual->scored;
    PolishLimits limits{budget / kPolished, true, [this] { return is_over(); }};
    if (budget_.evaluations > 0)
      limits.evaluations = std::min(limits.evaluations, budget_.evaluations - evaluations_);
    evaluations_ += polish(evaluator_, options_, limits, random_, scored);
    note(scored);
  }
}

// Algorithm 1, lines 14 to 32, and the polishing of its best.
void Island::round(std::uint64_t budget) {
  std::vector<Group> all = groups(), out;
  const std::uint64_t rounds = rounds_of(all.size());
  for (std::uint64_t m = 0; m < rounds && !is_over(); ++m) {
    const std::uint64_t each = std::max<std::uint64_t>(1, budget / (all.size() * rounds));
    for (Group& group : all) halve_arms(group, each);
    keep_best_half(all);
  }
  polish_best(all, budget);
}

void Island::run() {
  constexpr std::uint64_t kFirstRound = 4096;
  for (std::uint64_t budget = kFirstRound; !is_over(); budget *= 2) round(budget);
}

}  // namespace sextant
