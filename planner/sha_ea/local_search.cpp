#include "planner/sha_ea/local_search.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "planner/sha_ea/polish.h"
#include "planner/sha_ea/recombination.h"

namespace sextant::inline planner {
namespace {

constexpr std::size_t kRefined = 1;     // results of local search that are refined down to single devices
constexpr std::size_t kRemembered = 8;  // number of near-best plans
// Chain steps per evaluation of the round; a step costs a hundredth of an evaluation or less.
constexpr std::uint64_t kDeepSteps = 256, kShortSteps = 64, kOwnSteps = 16;
// Polishing steps per evaluation; polishing usually ends earlier. Above kFewDevices devices there are fewer,
// because each takes longer and its results are cached.
constexpr std::uint64_t kPolishSteps = 64, kFewDevices = 64;
// Evaluations of a partial local search, and steps of the chain before it, ahead of the first round.
constexpr std::uint64_t kFirstLooks = 32, kFewestLooks = 4, kFirstSteps = 2048;
constexpr int kMaxTimes = 3;
constexpr double kWorthwhile = 1e-3;  // relative: the chain stops at smaller gains

// Equal scores: the same plan up to names of devices.
bool is_same(const Score& a, const Score& b) {
  constexpr double kSame = 1e-9;  // relative
  return a.fits() == b.fits() && std::abs(a.loss - b.loss) <= kSame * b.loss;
}

// The structure of the sets: equal sets of tasks, and overlaps of sets.
std::vector<int> structure_of(const DeviceSets& sharing) {
  std::set<SetMask> masks;
  for (const std::vector<Region>& of_class : sharing.regions) {
    for (const Region& region : of_class) masks.insert(region.sets);
  }
  std::vector<int> structure = sharing.set_of;
  for (const SetMask mask : masks) {  // which may not fit into one int
    structure.push_back(static_cast<int>(mask & 0x7FFFFFFF));
    structure.push_back(static_cast<int>(mask >> 31U & 0x7FFFFFFF));
  }
  return structure;
}

}  // namespace

LocalSearch::LocalSearch(SearchRun& run, Arranger& arranger, const std::vector<std::vector<UnitClass>>& levels,
                         std::mt19937_64& random)
    : run_(run), arranger_(arranger), levels_(levels), random_(random) {}

LocalSearch::LocalOptimum LocalSearch::climbed(const DeviceSets& sharing, std::size_t level,
                                               std::uint64_t looks) {
  LocalOptimum best{normalized(sharing), level, {}};
  bool has_score = false;
  const auto look = [&](const DeviceSets& other) {
    if (is_within_unit_space() && !is_disjoint(other)) return false;
    --looks;
    Scored scored;
    if (!arranger_.arrange(levels_[level], other, scored, has_score ? &best.scored.score : nullptr))
      return false;
    remember(scored);
    if (has_score && !scored.is_better_than(best.scored)) return false;
    best.scored = std::move(scored);
    return has_score = true;
  };
  (void)look(best.sharing);
  const ClimbedSets sets = is_within_unit_space() ? ClimbedSets::disjoint : ClimbedSets::overlapping;
  climb(best.sharing, sets, random_, look, [&] { return looks == 0 || run_.is_over(); });
  return best;
}

LocalSearch::LocalOptimum LocalSearch::refined_in_smaller_units(LocalOptimum from) {
  const std::size_t level = from.level + 1;
  LocalOptimum on =
      climbed(in_finer_units(std::move(from.sharing), levels_[from.level], levels_[level]), level);
  on.in_whole_units = from.in_whole_units;
  return on;
}

void LocalSearch::polish_one(Scored scored, std::uint64_t budget) {
  if (run_.is_over() || scored.candidate.tasks.empty()) return;
  const bool may_move = !is_within_unit_space();
  const auto devices = static_cast<std::uint64_t>(run_.request().cluster.device_count());
  const std::uint64_t steps = kPolishSteps * budget * kFewDevices / std::max(kFewDevices, devices);
  polish(run_, {affordable(steps), may_move && run_.request().limits.balances_load, may_move}, random_, scored);
}

// Stores the best few different plans, because the best one after polishing is not known in advance.
void LocalSearch::remember(const Scored& scored) {
  const auto at = std::find_if(near_best_.begin(), near_best_.end(),
                               [&](const Scored& other) { return !other.score.is_better_than(scored.score); });
  if (at != near_best_.end() && is_same(at->score, scored.score)) return;
  if (near_best_.size() == kRemembered && at == near_best_.end()) return;
  near_best_.insert(at, scored);
  if (near_best_.size() > kRemembered) near_best_.pop_back();
}

// No chain takes more than a fixed part of the remaining evaluations.
std::uint64_t LocalSearch::affordable(std::uint64_t steps) const {
  constexpr std::uint64_t kPart = 4;
  return std::min(steps, run_.evaluations_left() / kPart);
}

DeviceSets LocalSearch::sharing_of_plan(const Scored& scored) const {
  std::vector<std::vector<std::uint16_t>> devices;
  for (const int task : run_.dealt_tasks()) {
    devices.push_back(scored.candidate.tasks[static_cast<std::size_t>(task)].devices);
    std::sort(devices.back().begin(), devices.back().end());
  }
  return device_sets_of(levels_.front(), devices);
}

// A chain from a plan, a local search from its sets, repeated as long as chains find improvements.
void LocalSearch::chain_and_climb(Scored scored, std::uint64_t steps, int times, std::uint64_t polishing) {
  for (int time = 0; time < times && !run_.is_over() && !scored.candidate.tasks.empty(); ++time) {
    const Score before = scored.score;
    recombine(run_, arranger_.seen(), affordable(steps), random_, scored);
    if (time > 0 && !scored.score.is_better_than(before, kWorthwhile)) break;
    remember(scored);
    Scored end = climb_and_polish(sharing_of_plan(scored), polishing);
    if (!end.candidate.tasks.empty() && end.is_better_than(scored)) scored = std::move(end);
  }
}

// Alternates partial local searches with short chains, which combine the sets costed so far, and ends with a
// complete local search.
void LocalSearch::climb_in_turns(Scored scored, std::size_t islands, std::uint64_t polishing) {
  const std::uint64_t looks = std::max<std::uint64_t>(kFewestLooks, kFirstLooks / islands);
  const std::uint64_t steps = std::max<std::uint64_t>(1, kFirstSteps / islands);
  for (bool improved = true; improved && !run_.is_over() && !scored.candidate.tasks.empty();) {
    const Score before = scored.score;
    recombine(run_, arranger_.seen(), affordable(steps), random_, scored);
    remember(scored);
    Scored end = climbed(sharing_of_plan(scored), 0, looks).scored;
    if (!end.candidate.tasks.empty() && end.is_better_than(scored)) scored = std::move(end);
    improved = scored.score.is_better_than(before, kWorthwhile);
  }
  if (!run_.is_over() && !scored.candidate.tasks.empty())
    (void)climb_and_polish(sharing_of_plan(scored), polishing);
}

// Local search in whole units, then in half units: a task may need less than a whole machine, and the other
// tasks the rest of it, which no single step in whole units reaches. Searches with the same result in whole
// units are merged.
Scored LocalSearch::climb_and_polish(const DeviceSets& sharing, std::uint64_t polishing) {
  LocalOptimum end = climbed(sharing, 0);
  end.in_whole_units = end.scored.score;
  const auto same = std::find_if(climbed_.begin(), climbed_.end(), [&](const LocalOptimum& other) {
    return is_same(other.in_whole_units, end.in_whole_units);
  });
  if (same != climbed_.end()) return same->scored;
  if (levels_.size() > 1 && !run_.is_over()) end = refined_in_smaller_units(std::move(end));
  climbed_.push_back(std::move(end));
  polish_one(climbed_.back().scored, polishing);
  return climbed_.back().scored;
}

void LocalSearch::start_from(const DeviceSets& sharing, std::uint64_t budget) {
  const std::uint64_t polishing = budget / kStarts;
  Scored scored;
  if (is_within_unit_space()) {
    (void)climb_and_polish(sharing, polishing);
  } else if (arranger_.arrange(levels_.front(), normalized(sharing), scored)) {
    remember(scored);
    chain_and_climb(std::move(scored), kShortSteps * budget, 1, polishing);
  }
}

// Refines the best result in smaller and smaller units; structures refined in earlier rounds come last.
void LocalSearch::refine_best(std::uint64_t budget) {
  std::stable_sort(climbed_.begin(), climbed_.end(), [this](const LocalOptimum& a, const LocalOptimum& b) {
    const std::size_t before = refined_[structure_of(a.sharing)], other = refined_[structure_of(b.sharing)];
    return before != other ? before < other : a.scored.is_better_than(b.scored);
  });
  climbed_.resize(std::min(climbed_.size(), kRefined));
  for (LocalOptimum& one : climbed_) {
    ++refined_[structure_of(one.sharing)];
    while (one.level + 1 < levels_.size() && !run_.is_over()) one = refined_in_smaller_units(std::move(one));
    polish_one(one.scored, budget / kRefined);
  }
}

void LocalSearch::recombine_best(std::uint64_t budget) {
  if (is_within_unit_space()) {
    for (Scored& near : near_best_) {
      if (!run_.is_over())
        recombine(run_, arranger_.seen(), kOwnSteps * budget / kRemembered, random_, near, RecombinedSets::own);
    }
  } else if (!near_best_.empty() && !run_.is_over()) {
    Scored recombined = near_best_.front();
    recombine(run_, arranger_.seen(), affordable(kDeepSteps * budget), random_, recombined);
    polish_one(std::move(recombined), budget / kRefined);
  }
}

void LocalSearch::improve_once(const Scored& best, const DeviceSets& start, std::uint64_t budget,
                               std::size_t islands) {
  near_best_.clear();
  climbed_.clear();
  if (is_within_unit_space()) {
    (void)climb_and_polish(start, budget / kStarts);
  } else {
    climb_in_turns(best, islands, budget / kStarts);
  }
}

void LocalSearch::improve(const Scored& best, const std::vector<DeviceSets>& starts, std::uint64_t budget,
                          std::uint64_t own, std::size_t polished) {
  near_best_.clear();
  climbed_.clear();
  if (!is_within_unit_space()) chain_and_climb(best, kDeepSteps * own, kMaxTimes, budget / kStarts);
  for (const DeviceSets& sharing : starts) {
    if (run_.is_over()) break;
    start_from(sharing, budget);
  }
  refine_best(budget);
  recombine_best(own);
  // Near-best plans are polished too.
  for (std::size_t n = 0; n < std::min(near_best_.size(), polished); ++n)
    polish_one(near_best_[n], budget / kStarts);
}

}  // namespace sextant::inline planner
