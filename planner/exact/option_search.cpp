#include "planner/exact/option_search.h"

#include <algorithm>
#include <limits>

namespace sextant::inline planner {

// The evaluator, which decides, sums bytes in another order.
constexpr double kSmallestBytes = 1;

namespace {

void take_less(const TaskValue& value, bool trains, SyncSides& sides) {
  const auto minimum = [](double& so_far, double other) { so_far = std::min(so_far, other); };
  if (trains) {
    minimum(sides.fastest_gather_s, value.fastest_gather_s);
    minimum(sides.slowest_gather_s, value.slowest_gather_s);
    minimum(sides.trained_copied_s, value.copied_s);
  } else {
    minimum(sides.largest_part, value.largest_part);
    minimum(sides.generated_copied_s, value.copied_s);
  }
}

}  // namespace

double OptionSearch::sync_s(const Step& step, const ExactOption& option) const {
  return step.shares_sync ? sync_.together_s(step.task, option.value) : sync_.apart_s(step.task, option.value);
}

void OptionSearch::prepare(const AssignedTasks& dealt) {
  dealt_ = &dealt;
  steps_.clear();
  std::vector<GroupCost> costs(dealt.groups.size());
  const int training = composition_.group_with(dealt.groups, sync_.training());
  const bool shares = training >= 0 && training == composition_.group_with(dealt.groups, sync_.generation());
  for (int t = 0; t < space_.tasks(); ++t) {
    const auto group = static_cast<std::size_t>(dealt.grouping.group_of[static_cast<std::size_t>(t)]);
    Step step;
    step.task = t;
    step.group = group;
    step.kind = static_cast<std::size_t>(space_.request().workflow.tasks[static_cast<std::size_t>(t)].kind);
    step.shares_sync = shares && static_cast<int>(group) == training;
    step.options = &space_.options(t, dealt.blocks[group]);
    step.rooms = &space_.rooms_of_block(dealt.blocks[group]);
    step.min_sync_s = sync_s(step, step.options->front());
    for (const ExactOption& option : *step.options)
      step.min_sync_s = std::min(step.min_sync_s, sync_s(step, option));
    const double time_s = step.options->front().value.time_s;
    costs[group].kind_s[step.kind] += time_s;
    costs[group].sync_s += step.min_sync_s;
    costs[group].sum_s += time_s + (step.shares_sync ? step.min_sync_s : 0);
    steps_.push_back(std::move(step));
  }
  std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    if (a.group != b.group) return a.group < b.group;
    return a.options->front().value.time_s > b.options->front().value.time_s;
  });
  for (Step& step : steps_) {
    step.resident_bytes.assign(step.rooms->size(), 0);
    step.working_bytes.assign(step.rooms->size(), 0);
  }
  find_later_needs();
  find_min_sides();
  steps_.emplace_back();  // end marker
  steps_.front().costs = std::move(costs);
  steps_.front().transfer_s = dealt.transfer_s;
  steps_.front().other_use_s = dealt.min_other_use_s();
  chosen_.assign(static_cast<std::size_t>(space_.tasks()), nullptr);
}

void OptionSearch::find_min_sides() {
  training_at_.reset();
  generation_at_.reset();
  minimum_ = {kNever, kNever, kNever, kNever, kNever};
  if (dealt_->training.empty() || !sync_.decomposes()) return;
  for (std::size_t at = 0; at < steps_.size(); ++at) {
    const bool trains = steps_[at].task == sync_.training(), generates = steps_[at].task == sync_.generation();
    if (trains) training_at_ = at;
    if (generates) generation_at_ = at;
    if (!trains && !generates) continue;
    for (const ExactOption& option : *steps_[at].options) take_less(option.value, trains, minimum_);
  }
}

// Weight sync if this step's task has this option and later tasks have their minimum.
double OptionSearch::transfer_s(std::size_t at, const ExactOption& option) {
  if (!training_at_ || (at != *training_at_ && at != *generation_at_)) return steps_[at].transfer_s;
  const auto chosen = [&](std::size_t step, int task) -> const ExactOption* {
    if (step == at) return &option;
    return step < at ? chosen_[static_cast<std::size_t>(task)] : nullptr;
  };
  SyncSides sides = minimum_;
  if (const ExactOption* trained = chosen(*training_at_, sync_.training())) {
    sides.fastest_gather_s = trained->value.fastest_gather_s;
    sides.slowest_gather_s = trained->value.slowest_gather_s;
    sides.trained_copied_s = trained->value.copied_s;
  }
  if (const ExactOption* generated = chosen(*generation_at_, sync_.generation())) {
    sides.largest_part = generated->value.largest_part;
    sides.generated_copied_s = generated->value.copied_s;
  }
  const WeightPath path =
      space_.evaluator().weight_path(dealt_->training, dealt_->generation, sides.largest_part);
  return std::max(steps_[at].transfer_s, sync_.transfer_s(sides, path.ways));
}

// Time of weights that this task uses and another one trains, if this task has the option.
double OptionSearch::other_use_s(const Step& step, const ExactOption& option) {
  double longest_s = step.other_use_s;
  for (const AssignedTasks::OtherWay& way : dealt_->other_ways) {
    if (static_cast<int>(way.use->used) != step.task) continue;
    longest_s = std::max(
        longest_s, space_.evaluator().other_use_s(*way.use, way.training, way.used, option.value.largest_part));
  }
  return longest_s;
}

void OptionSearch::find_later_needs() {
  for (std::size_t at = steps_.size(); at-- > 0;) {
    Step& step = steps_[at];
    step.later_resident_bytes.assign(step.rooms->size(), 0);
    step.later_working_bytes = step.later_resident_bytes;
    if (at + 1 == steps_.size() || steps_[at + 1].group != step.group) continue;
    const Step& next = steps_[at + 1];
    for (std::size_t p = 0; p < step.rooms->size(); ++p) {
      double resident = std::numeric_limits<double>::infinity(), working = resident;
      for (const ExactOption& option : *next.options) {
        resident = std::min(resident, option.resident_bytes[p]);
        working = std::min(working, option.working_bytes[p]);
      }
      step.later_resident_bytes[p] = next.later_resident_bytes[p] + resident;
      step.later_working_bytes[p] = std::max(next.later_working_bytes[p], working);
    }
  }
}

// Cost of the step's group if the task has this option instead of its minimum.
GroupCost OptionSearch::with(const Step& step, const ExactOption& option) const {
  GroupCost cost = step.costs[step.group];
  const double slower_s = option.value.time_s - step.options->front().value.time_s;
  const double longer_sync_s = sync_s(step, option) - step.min_sync_s;
  cost.kind_s[step.kind] += slower_s;
  cost.sync_s += longer_sync_s;
  cost.sum_s += slower_s + (step.shares_sync ? longer_sync_s : 0);
  return cost;
}

// Adds the option's memory for the group's next task. Returns false if a device is too small.
bool OptionSearch::add(std::size_t at, const ExactOption& option) {
  const Step& step = steps_[at];
  Step& next = steps_[at + 1];
  const bool is_last = next.options == nullptr || next.group != step.group;
  for (std::size_t p = 0; p < step.rooms->size(); ++p) {
    const double resident = step.resident_bytes[p] + option.resident_bytes[p];
    const double working = std::max(step.working_bytes[p], option.working_bytes[p]);
    if (resident + step.later_resident_bytes[p] + std::max(working, step.later_working_bytes[p]) >
        (*step.rooms)[p] + kSmallestBytes)
      return false;
    if (is_last) continue;
    next.resident_bytes[p] = resident;
    next.working_bytes[p] = working;
  }
  return true;
}

void OptionSearch::offer() {
  const Candidate candidate = space_.candidate(dealt_->grouping, dealt_->shares, chosen_);
  progress_.offer(candidate, space_.evaluator().evaluate(candidate));
}

void OptionSearch::choose(std::size_t at) {
  Step& step = steps_[at];
  if (step.options == nullptr) return offer();
  Step& next = steps_[at + 1];
  for (std::size_t o = 0; o < step.options->size(); ++o) {
    const ExactOption& option = (*step.options)[o];
    next.costs = step.costs;
    next.costs[step.group] = with(step, option);
    next.transfer_s = transfer_s(at, option);
    next.other_use_s = other_use_s(step, option);
    const double bound_s =
        composition_.bound_s(dealt_->groups, next.costs, next.transfer_s, next.other_use_s) + dealt_->data_s;
    if (!progress_.is_open(bound_s)) continue;
    if (!progress_.may_go_on()) {
      progress_.leave_open(bound_s);
      continue;
    }
    if (!add(at, option)) continue;
    chosen_[static_cast<std::size_t>(step.task)] = &option;
    choose(at + 1);
  }
}

void OptionSearch::search(const AssignedTasks& dealt) {
  prepare(dealt);
  if (training_at_) {
    const WeightPath path =
        space_.evaluator().weight_path(dealt.training, dealt.generation, minimum_.largest_part);
    Step& first = steps_.front();
    first.transfer_s = std::max(first.transfer_s, sync_.transfer_s(minimum_, path.ways));
    if (!progress_.is_open(composition_.bound_s(dealt.groups, first.costs, first.transfer_s))) return;
  }
  choose(0);
}

}  // namespace sextant::inline planner
