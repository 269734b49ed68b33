#include "planner/sha_ea/island.h"

#include <algorithm>
#include <cmath>

#include "planner/request/counts.h"
#include "planner/sha_ea/halving.h"

namespace sextant::inline planner {
namespace {

constexpr int kWantedUnits = 8;
constexpr std::size_t kMaxArms = 64;        // per grouping
constexpr std::size_t kMaxSampled = 4096;   // groupings of a round, if there are too many to list
constexpr std::size_t kPolished = 8;        // near-best plans that are polished at the end of a round
constexpr std::uint64_t kFirstRound = 512;  // evaluations; every round has twice as many as the one before
constexpr std::uint64_t kGlance = 16;       // evaluations before the first round
constexpr std::uint64_t kLooks = 2;         // approximate evaluations per grouping, if there are few
constexpr double kTrainingMutation = 0.3;
constexpr double kDefaultSeconds = 1;

// Nearness in octaves of the bandwidth of the slower direction, because links of one level differ too.
double nearness(const Cluster& cluster, DeviceId first, DeviceId second) {
  return std::log2(
      std::min(cluster.link(first, second).bytes_per_s.value, cluster.link(second, first).bytes_per_s.value));
}

}  // namespace

const Individual* Island::Group::best() const {
  const Individual* best = nullptr;
  for (const Arm& arm : arms) {
    const Individual* of_arm = arm.population.best();
    if (best == nullptr || (of_arm != nullptr && of_arm->scored.is_better_than(best->scored))) best = of_arm;
  }
  return best;
}

Score Island::Group::score() const {
  const Individual* found = best();
  return found == nullptr ? kNoScore : found->scored.score;
}

Island::Island(const PlanRequest& request, const IslandTeam& team, OptionExchange* exchange)
    : run_(request, kDefaultSeconds),
      team_(team),
      is_told_(exchange != nullptr),
      random_(request.seed),
      arranger_(run_),
      ascent_(run_, arranger_, levels_, random_) {
  levels_ = unit_levels(request.cluster, kWantedUnits, marks_of(request.limits.pins, request.cluster));
  if (is_within_unit_space()) {
    const int units = count_of(unit_classes(request.cluster, kWantedUnits));
    std::erase_if(levels_, [&](const std::vector<UnitClass>& level) { return count_of(level) > units; });
  }
  if (request.limits.balances_load) {
    run_.options().balance_load();
    if (!is_within_unit_space()) run_.options().balance_load_by_cost();
  }
  if (exchange != nullptr) run_.options().share_through(*exchange);
  for (const UnitClass& of_class : classes()) {
    const DeviceId first{of_class.units.front().front()};
    const auto& rates = request.cluster.type_of(first).flop_per_s;
    flop_per_s_.push_back(of_class.devices * rates.at(request.workflow.precision).value);
    nearness_.emplace_back();
    for (const UnitClass& other : classes()) {
      const DeviceId second{other.units.back().back()};
      nearness_.back().push_back(first == second ? 0 : nearness(request.cluster, first, second));
    }
  }
}

bool Island::look_at(const Group& group, Arm& arm, UnitAssignment deal) {
  UnitAssignment near = gathered(deal, nearness_);
  return arm.population.look_at(std::move(deal), std::move(near), [&](const UnitAssignment& phenotype) {
    Scored scored;
    if (!arranger_.arrange(classes(), normalized(device_sets_of(group.grouping, phenotype)), scored)) {
      scored.score = kNoScore;
      run_.spend(1);  // otherwise the search never ends if tasks have layouts on few set sizes only
    }
    return scored;
  });
}

UnitAssignment Island::offspring(const Group& group, const Arm& arm) {
  const std::vector<Individual>& parents = arm.population.individuals();
  if (parents.size() < Population::kMaximum / 2) return random_assignment(classes(), arm.sizes, random_);
  UnitAssignment deal = parents[random_() % parents.size()].deal;
  const bool trains = static_cast<double>(random_()) < kTrainingMutation * static_cast<double>(random_.max());
  if (!(trains && give_faster_unit(deal, group.trains, flop_per_s_, random_)))
    (void)exchange_units(deal, random_);
  return deal;
}

// Evolves the arm until about all of its assignments were seen: affinity search maps many of them to one.
void Island::evolve(const Group& group, Arm& arm, std::uint64_t evaluations) {
  constexpr int kMaxInVain = 8;
  int in_vain = 0;
  for (std::uint64_t k = 0; k < evaluations && in_vain < kMaxInVain && !run_.is_over(); ++k)
    in_vain = look_at(group, arm, offspring(group, arm)) ? 0 : in_vain + 1;
}

// Lines 17 to 29 of Algorithm 1.
void Island::halve_arms(Group& group, std::uint64_t budget) {
  halve_successively<Arm>(
      group.arms, budget, [&](Arm& arm, std::uint64_t each) { evolve(group, arm, each); },
      [this] { return run_.is_over(); });
  sort_by_score(group.arms);
  group.arms.resize(half_of(group.arms.size()));
}

// If idle devices can improve a plan, or if pinned tasks already occupy devices, some arms leave units idle, as
// an additional part of the assignment.
std::vector<Island::Group> Island::groups(const ArmLimits& limits) {
  int units = 0;
  for (const UnitClass& of_class : classes()) units += of_class.count();
  std::vector<Group> groups;
  add_arms(units, 0, limits, groups);
  if (run_.request().objective.needs_devices()) {
    for (int used = units / 2; used > 0; used /= 2) add_arms(used, units - used, limits, groups);
  }
  const int taken = arranger_.pinned_units(classes());
  if (taken > 0 && taken < units) add_arms(units - taken, taken, limits, groups);
  return own_of(std::move(groups));
}

// Removes random groups; the others keep their order.
void Island::draw(std::vector<Group>& groups, std::size_t maximum) {
  while (groups.size() > maximum) {
    const auto out = static_cast<std::ptrdiff_t>(random_() % groups.size());
    groups.erase(groups.begin() + out);
  }
}

std::size_t Island::share_of(std::size_t count) const {
  const auto size = static_cast<std::size_t>(team_.size);
  return (count + size - 1) / size;
}

// In every round each grouping belongs to one island, and it rotates over all islands, because another island
// may find what one did not. With too few groupings each island gets all.
std::vector<Island::Group> Island::own_of(std::vector<Group> groups) const {
  const auto size = static_cast<std::size_t>(team_.size);
  if (groups.size() < size) return groups;
  std::vector<Group> own;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if ((g + round_) % size == static_cast<std::size_t>(team_.number)) own.push_back(std::move(groups[g]));
  }
  return own;
}

void Island::add_arms(int used, int idle, const ArmLimits& limits, std::vector<Group>& groups) {
  for (Arms& arms : arms_of(static_cast<int>(run_.dealt_tasks().size()), used, limits, random_)) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& other) { return other.grouping == arms.grouping; });
    if (group == groups.end()) {
      groups.push_back({arms.grouping, trains(arms.grouping), {}});
      group = groups.end() - 1;
    }
    for (std::vector<int>& sizes : arms.sizes) {
      if (idle > 0) sizes.push_back(idle);
      group->arms.push_back({std::move(sizes), {}});
    }
  }
}

// True for each part of an assignment that trains; idle units do not.
std::vector<bool> Island::trains(const TaskGrouping& grouping) const {
  std::vector<bool> trains(static_cast<std::size_t>(grouping.groups) + 1);
  for (std::size_t t = 0; t < grouping.group_of.size(); ++t) {
    const auto task = static_cast<std::size_t>(run_.dealt_tasks()[t]);
    if (run_.request().workflow.tasks[task].kind == TaskKind::training)
      trains[static_cast<std::size_t>(grouping.group_of[t])] = true;
  }
  return trains;
}

// Niches: one assignment per grouping, so that a single good local optimum does not take all local searches.
// Groupings that were starting points in earlier rounds come last.
std::vector<DeviceSets> Island::starts_from(const std::vector<Group>& groups) {
  struct Found {
    const Group* group;
    const Individual* best;
    std::size_t climbs;  // in earlier rounds
  };
  std::vector<Found> found;
  for (const Group& group : groups) {
    if (const Individual* best = group.best())
      found.push_back({&group, best, climbs_[group.grouping.group_of]});
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.climbs != b.climbs ? a.climbs < b.climbs : a.best->scored.is_better_than(b.best->scored);
  });
  found.resize(std::min(found.size(), share_of(LocalSearch::kStarts)));
  std::vector<DeviceSets> starts;
  for (const auto& [group, best, climbs] : found) {
    starts.push_back(device_sets_of(group->grouping, gathered(best->deal, nearness_)));
    if (!best->scored.score.fits() && !is_within_unit_space())
      give_all_units(starts.back(), sets_that_want_all(starts.back()));
    ++climbs_[group->grouping.group_of];
  }
  return starts;
}

// If disjoint groups do not fit, training and generation, whose states are the largest, may each use all units,
// while inference keeps its own: no local step leads there from disjoint groups.
SetMask Island::sets_that_want_all(const DeviceSets& sharing) const {
  SetMask sets = 0;
  for (std::size_t t = 0; t < sharing.set_of.size(); ++t) {
    const Task& task = run_.request().workflow.tasks[static_cast<std::size_t>(run_.dealt_tasks()[t])];
    if (task.kind == TaskKind::training || task.kind == TaskKind::generation)
      sets |= SetMask{1} << sharing.set_of[t];
  }
  return sets;
}

const Individual* Island::halve(std::vector<Group>& groups, std::uint64_t budget) {
  halve_successively<Group>(
      groups, budget, [this](Group& group, std::uint64_t each) { halve_arms(group, each); },
      [this] { return run_.is_over(); });
  const Individual* best = nullptr;
  for (const Group& group : groups) {
    const Individual* of_group = group.best();
    if (best == nullptr || (of_group != nullptr && of_group->scored.is_better_than(best->scored)))
      best = of_group;
  }
  return best;
}

// Halves a few groupings, then runs a chain and a local search from the best of them. If evaluations are
// expensive, halving all groupings would take a second before its results are used.
void Island::warm_start() {
  std::vector<Group> some = groups({kGlance / kLooks, 1});
  draw(some, share_of(kGlance / kLooks));
  const Individual* best = halve(some, share_of(kGlance));
  const auto telling = static_cast<std::size_t>(is_told_ ? team_.size : 1);
  if (best != nullptr)
    ascent_.improve_once(best->scored, starts_from(some).front(), share_of(kGlance), telling);
}

// Algorithm 1, lines 14 to 32, and the polishing of its best. The groupings, their evaluations and the steps of
// long chains are split between the islands of the team, so that each takes a part of the time; the effort of
// polishing per plan is not split.
void Island::round(std::uint64_t budget) {
  // If there are very many groupings, each round uses another sample.
  const std::size_t sampled = std::min<std::uint64_t>(budget / kLooks, kMaxSampled);
  const auto tasks = static_cast<int>(run_.dealt_tasks().size());
  const double groupings = tasks <= kMaxListedTasks ? bell_number(tasks) : static_cast<double>(sampled);
  const auto maximum = static_cast<std::size_t>(static_cast<double>(budget) / (kLooks * groupings));
  std::vector<Group> all = groups({sampled, std::clamp<std::size_t>(maximum, 1, kMaxArms)});
  const Individual* best = halve(all, share_of(budget));
  if (best != nullptr)
    ascent_.improve(best->scored, starts_from(all), budget, share_of(budget), share_of(kPolished));
  arranger_.look_closer();
  ++round_;
}

void Island::take(IslandScheduler::Slot& turn) {
  constexpr std::uint64_t kTimes = 64;
  run_.pause_every(run_.evaluations_left() / kTimes, [this, &turn] { turn.pass(run_.evaluations_left()); });
}

void Island::run() {
  warm_start();
  for (std::uint64_t budget = kFirstRound; !run_.is_over(); budget *= 2) round(budget);
}

}  // namespace sextant::inline planner
