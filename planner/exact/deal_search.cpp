#include "planner/exact/deal_search.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sextant::inline planner {

void AssignmentSearch::begin(const TaskGrouping& grouping) {
  grouping_ = &grouping;
  const auto groups = static_cast<std::size_t>(grouping.groups);
  groups_.assign(groups, 0);
  for (std::size_t t = 0; t < grouping.group_of.size(); ++t)
    groups_[static_cast<std::size_t>(grouping.group_of[t])] |= TaskSet{1} << t;
  shares_.assign(groups, 0);
  group_costs_.assign(groups, {});
  order_.resize(groups);
  std::iota(order_.begin(), order_.end(), 0U);
  place_of_ = order_;
}

bool AssignmentSearch::keeps_rules(const TaskGrouping& grouping) const {
  const auto is_one_group = [&](std::size_t task, std::size_t other) {
    return grouping.group_of[task] == grouping.group_of[other];
  };
  return space_.request().device_rules.broken(is_one_group, is_one_group) == 0;
}

double AssignmentSearch::cheap_bound_s(const TaskGrouping& grouping) {
  begin(grouping);
  for (std::size_t t = 0; t < grouping.group_of.size(); ++t) {
    const GroupCost& alone = costs_.within(TaskSet{1} << t, all_);
    if (!alone.is_possible()) return kNever;
    GroupCost& cost = group_costs_[static_cast<std::size_t>(grouping.group_of[t])];
    for (std::size_t k = 0; k < kTaskKinds; ++k) cost.kind_s[k] += alone.kind_s[k];
    cost.sum_s += alone.sum_s;
  }
  return composition_.bound_s(groups_, group_costs_, 0);
}

double AssignmentSearch::bound_s(const TaskGrouping& grouping) {
  begin(grouping);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    group_costs_[g] = costs_.within(groups_[g], all_);
    if (!group_costs_[g].is_possible()) return kNever;
  }
  return composition_.bound_s(groups_, group_costs_, transfer_s(0, all_));
}

// Groups before `place` have their shares; the others may have any of the units left.
double AssignmentSearch::transfer_s(std::size_t place, int left) const {
  const int generating = composition_.group_with(groups_, sync_.generation());
  const int training = composition_.group_with(groups_, sync_.training());
  if (generating < 0 || generating == training) return 0;
  const auto share_of = [&](int group) {
    const auto g = static_cast<std::size_t>(group);
    return place_of_[g] < place ? shares_[g] : left;
  };
  return sync_.min_transfer_s(share_of(training), share_of(generating));
}

// Computes the costs of the groups from `place` on. Returns false if one of them cannot fit.
bool AssignmentSearch::rest_is_possible(std::size_t place, int left) {
  const bool takes_left = takes_all(place);
  for (; place < order_.size(); ++place) {
    const TaskSet group = groups_[order_[place]];
    const GroupCost& cost = takes_left ? costs_.of_share(group, left) : costs_.within(group, left);
    if (!cost.is_possible()) return false;
    group_costs_[order_[place]] = cost;
  }
  return true;
}

std::vector<AssignmentSearch::Child> AssignmentSearch::children(std::size_t place, int left) {
  const std::size_t group = order_[place];
  const int after = static_cast<int>(order_.size() - place) - 1;  // groups that need a unit each
  std::vector<Child> children;
  for (int share = takes_all(place) ? left : 1; share <= left && !progress_.is_stopped(); ++share) {
    if (!space_.is_within(share, left) || space_.size_of(left) - space_.size_of(share) < after) continue;
    if (!space_.may_have(groups_[group], share)) continue;
    const GroupCost& cost = costs_.of_share(groups_[group], share);
    if (!cost.is_possible() || !rest_is_possible(place + 1, left - share)) continue;
    group_costs_[group] = cost;
    shares_[group] = share;
    const double bound_s = composition_.bound_s(groups_, group_costs_, transfer_s(place + 1, left - share));
    if (progress_.is_open(bound_s)) children.push_back({share, bound_s});
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.bound_s < b.bound_s; });
  return children;
}

// bound_s: of all plans below this node.
void AssignmentSearch::deal(std::size_t place, int left, double bound_s) {
  const std::size_t group = order_[place];
  const std::vector<Child> found = progress_.is_interrupted() ? std::vector<Child>{} : children(place, left);
  if (progress_.is_stopped()) return progress_.leave_open(bound_s);  // the children's bounds are invalid
  for (const Child& child : found) {
    if (!progress_.is_open(child.bound_s)) return;  // nor are later ones
    if (!progress_.may_go_on()) return progress_.leave_open(child.bound_s);
    shares_[group] = child.share;
    group_costs_[group] = costs_.of_share(groups_[group], child.share);
    if (place + 1 < order_.size()) {
      deal(place + 1, left - child.share, child.bound_s);
    } else {
      finish(child.bound_s);
    }
  }
}

void AssignmentSearch::add_other_ways(AssignedTasks& dealt) {
  if (groups_.size() < 2 || space_.evaluator().other_uses().empty()) return;
  const auto devices = space_.devices_of_deal(shares_);
  for (const Evaluator::OtherUse& use : space_.evaluator().other_uses()) {
    const auto training = static_cast<std::size_t>(grouping_->group_of[use.trained]),
               used = static_cast<std::size_t>(grouping_->group_of[use.used]);
    if (training == used) continue;
    AssignedTasks::OtherWay way{&use, space_.bits_of(devices[training]), space_.bits_of(devices[used]), 0};
    double min_part = std::numeric_limits<double>::infinity();
    for (const ExactOption& option : space_.options(static_cast<int>(use.used), dealt.blocks[used]))
      min_part = std::min(min_part, option.value.largest_part);
    way.min_s = space_.evaluator().other_use_s(use, way.training, way.used, min_part);
    dealt.other_ways.push_back(std::move(way));
  }
}

// The location of the groups' units follows from all shares.
void AssignmentSearch::finish(double bound_s) {
  AssignedTasks dealt{*grouping_, groups_, shares_, space_.blocks_of_deal(shares_), 0};
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    group_costs_[g] = costs_.of_block(groups_[g], dealt.blocks[g]);
    if (!group_costs_[g].is_possible()) return;
  }
  if (progress_.is_stopped()) return progress_.leave_open(bound_s);
  const int generating = composition_.group_with(groups_, sync_.generation());
  const int training = composition_.group_with(groups_, sync_.training());
  dealt.data_s = space_.data_s(*grouping_, shares_);
  if (generating != training) {
    const auto devices = space_.devices_of_deal(shares_);
    const auto &trains = devices[static_cast<std::size_t>(training)],
               &generates = devices[static_cast<std::size_t>(generating)];
    dealt.transfer_s = sync_.transfer_s(trains, generates);
    dealt.training = space_.bits_of(trains);
    dealt.generation = space_.bits_of(generates);
  }
  add_other_ways(dealt);
  const double exact_s =
      composition_.bound_s(groups_, group_costs_, dealt.transfer_s, dealt.min_other_use_s()) + dealt.data_s;
  if (!progress_.is_open(exact_s)) return;
  options_.search(dealt);
  if (progress_.is_stopped()) progress_.leave_open(bound_s);
}

// Groups with the most work first, because their shares affect the bound most.
void AssignmentSearch::search(const TaskGrouping& grouping) {
  const double bound = bound_s(grouping);
  std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
    return group_costs_[a].sum_s > group_costs_[b].sum_s;
  });
  for (std::size_t place = 0; place < order_.size(); ++place) place_of_[order_[place]] = place;
  deal(0, all_, bound);
}

namespace {

struct Root {
  const TaskGrouping* grouping;
  double bound_s;
};

// Sorts groupings by their cheap bounds.
std::vector<Root> roots_of(const std::vector<TaskGrouping>& groupings, int units, AssignmentSearch& deals) {
  std::vector<Root> roots;
  for (const TaskGrouping& grouping : groupings) {
    if (grouping.groups <= units && deals.keeps_rules(grouping))
      roots.push_back({&grouping, deals.cheap_bound_s(grouping)});
  }
  std::stable_sort(roots.begin(), roots.end(),
                   [](const Root& a, const Root& b) { return a.bound_s < b.bound_s; });
  return roots;
}

}  // namespace

void search_groupings(UnitSpace& space, AssignmentSearch& deals, ProofProgress& progress) {
  const std::vector<TaskGrouping> groupings = task_groupings(space.tasks());
  const int units = space.size_of(deals.all());
  for (const Root& root : roots_of(groupings, units, deals)) {
    if (!progress.is_open(root.bound_s)) return;  // nor are later ones
    if (!progress.may_go_on()) return progress.leave_open(root.bound_s);
    const double bound_s = deals.bound_s(*root.grouping);
    if (progress.is_stopped()) return progress.leave_open(root.bound_s);
    if (progress.is_open(bound_s)) deals.search(*root.grouping);
  }
}

namespace {

struct Rental {
  int share;
  Rented rented;
  double bound_s, bound_loss;
};

Rented rent_of(const UnitSpace& space, int share) {
  std::set<DeviceId> used;  // the first units of each class
  for (std::size_t c = 0; c < space.classes().size(); ++c) {
    const UnitClass& units = space.classes()[c];
    for (int k = 0; k < space.units_of(share, c); ++k) {
      for (const int device : units.units[static_cast<std::size_t>(k)]) used.insert(DeviceId{device});
    }
  }
  return rented_devices(used, space.request().cluster);
}

bool has_pinned(const UnitSpace& space, int share) {
  for (int t = 0; t < space.tasks(); ++t) {
    if (!space.is_within(space.pinned_share(t), share)) return false;
  }
  return true;
}

// The rentals that may hold the best plan, by their lower bound of the loss.
std::vector<Rental> rentals_of(const UnitSpace& space, AssignmentSearch& deals, ProofProgress& progress) {
  // The grouping with one group per task has the smallest cheap bound: tasks of one group wait for each other,
  // and generation overlaps at best.
  const TaskGrouping finest = task_groupings(space.tasks()).back();
  std::vector<Rental> rentals;
  for (int share = 1; share < space.share_count(); ++share) {
    if (!has_pinned(space, share)) continue;
    Rental rental{share, rent_of(space, share), 0, 0};
    deals.use_exactly(share);
    rental.bound_s = deals.cheap_bound_s(finest);
    progress.begin_rent(rental.rented);
    if (!progress.is_open(rental.bound_s)) continue;
    rental.bound_loss = loss_of(space.request().objective, rental.bound_s, rental.rented);
    rentals.push_back(rental);
  }
  std::stable_sort(rentals.begin(), rentals.end(),
                   [](const Rental& a, const Rental& b) { return a.bound_loss < b.bound_loss; });
  return rentals;
}

}  // namespace

void search_rents(UnitSpace& space, AssignmentSearch& deals, ProofProgress& progress) {
  for (const Rental& rental : rentals_of(space, deals, progress)) {
    progress.begin_rent(rental.rented);
    if (!progress.is_open(rental.bound_s)) continue;
    if (progress.is_stopped()) {
      progress.leave_open(rental.bound_s);
      continue;
    }
    deals.use_exactly(rental.share);
    search_groupings(space, deals, progress);
  }
}

}  // namespace sextant::inline planner
