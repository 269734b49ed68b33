#include "planner/two_phase/search_phase.h"

#include <algorithm>
#include <limits>

namespace sextant {
namespace {

bool generates(const Task& task) { return task.kind == TaskKind::generation; }

// Decode batches from the largest that is not the whole share on: each needs half the cache of the one before.
std::vector<int> decode_batches(int sequences) {
  std::vector<int> batches;
  for (int size = 1; size < sequences; size *= 2) batches.push_back(size);
  std::reverse(batches.begin(), batches.end());
  return batches;
}

}  // namespace

bool has_two_sides(const Workflow& workflow) {
  const auto& tasks = workflow.tasks;
  return std::any_of(tasks.begin(), tasks.end(), generates) &&
         !std::all_of(tasks.begin(), tasks.end(), generates);
}

SearchPhase::SearchPhase(const Costing& costing, SearchPhaseLimits limits)
    : costing_(costing), limits_(std::move(limits)) {
  for (int t = 0; t < costing_.task_count(); ++t) rollouts_.emplace_back(costing_, t);
}

// Replicas of any width, by the integer program.
std::vector<ChoicePtr> SearchPhase::dealt(int task, const std::vector<DeviceId>& devices, bool thrifty) {
  std::vector<ChoicePtr> found;
  if (!costing_.model(task).is_separable()) return found;
  const std::vector<PieceClass> pieces = pieces_of(costing_.cluster(), devices);
  RolloutSearch& rollouts = rollouts_[static_cast<std::size_t>(task)];
  const auto look = [&](const RolloutLimits& limits) {
    if (limits_.is_over && limits_.is_over()) return;
    if (auto plan = rollouts.plan(pieces, limits)) found.push_back(costing_.cost(task, std::move(*plan)));
  };
  const int widest = thrifty ? limits_.most_tensor_parallel : 1;
  for (const int size : limits_.micro_batch_sequences) {
    for (int least = 1; least <= widest; least *= 2) look({{size, 0}, least, limits_.most_tensor_parallel});
  }
  if (!thrifty || !generates(costing_.task(task))) return found;
  for (const int batch : decode_batches(costing_.workflow().sequences())) {
    for (int least = 1; least <= widest; least *= 2)
      look({{limits_.micro_batch_sequences.front(), batch}, least, limits_.most_tensor_parallel});
  }
  return found;
}

std::vector<ChoicePtr> SearchPhase::ways(int task, const std::vector<DeviceId>& devices, bool thrifty) {
  std::vector<ChoicePtr> found;
  const bool trains = costing_.task(task).kind == TaskKind::training;
  if (!trains) found = dealt(task, devices, thrifty);
  if (trains || found.empty() || thrifty) {
    TrainingLimits limits{limits_.micro_batch_sequences, limits_.try_recompute, 0, limits_.most_tensor_parallel,
                          limits_.is_over};
    const auto look = [&] {
      for (ChoicePtr& choice : search_training(costing_, task, devices, limits))
        found.push_back(std::move(choice));
    };
    look();
    if (generates(costing_.task(task)) && thrifty) {
      for (limits.decode_batch_sequences = 1; limits.decode_batch_sequences < costing_.workflow().sequences();
           limits.decode_batch_sequences *= 4)
        look();
    }
  }
  return unbeaten(std::move(found));
}

// From the fastest of each on, while they need too much: the change that saves the most bytes for its time.
void SearchPhase::fit(const std::vector<int>& tasks, const Lists& lists, Choices& chosen) const {
  for (const int t : tasks) chosen[static_cast<std::size_t>(t)] = lists[static_cast<std::size_t>(t)].front();
  for (double excess = costing_.excess_bytes(chosen); excess > 0;) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = chosen.size();
    ChoicePtr better;
    for (const int t : tasks) {
      const auto at = static_cast<std::size_t>(t);
      const ChoicePtr before = chosen[at];
      for (const ChoicePtr& choice : lists[at]) {
        if (choice->time_s < before->time_s || choice == before) continue;
        chosen[at] = choice;
        // More than what is lacking is of no use.
        const double saved = excess - std::max(0.0, costing_.excess_bytes(chosen));
        if (saved <= 0) continue;
        if (const double price = (choice->time_s - before->time_s) / saved; price < least) {
          least = price;
          best = at;
          better = choice;
        }
      }
      chosen[at] = before;
    }
    if (better == nullptr) return;
    chosen[best] = better;
    excess = costing_.excess_bytes(chosen);
  }
}

// Ways that need less memory are looked up where the fastest do not fit.
SearchPhase::Side SearchPhase::choose_side(bool rollout, const std::vector<DeviceId>& devices, Lists& lists,
                                           Choices& chosen) {
  std::vector<int> tasks;
  for (int t = 0; t < costing_.task_count(); ++t) {
    if (generates(costing_.task(t)) == rollout) tasks.push_back(t);
  }
  Side side = Side::has_no_layout;
  for (const bool thrifty : {false, true}) {
    bool has_all = true;
    for (const int t : tasks) {
      std::vector<ChoicePtr>& list = lists[static_cast<std::size_t>(t)];
      if (has_all) list = ways(t, devices, thrifty);
      has_all = has_all && !list.empty();
    }
    if (!has_all) continue;
    Choices of_side(chosen.size());
    fit(tasks, lists, of_side);
    for (const int t : tasks) chosen[static_cast<std::size_t>(t)] = of_side[static_cast<std::size_t>(t)];
    if (costing_.excess_bytes(of_side) <= 0) return Side::fits;
    side = Side::lacks_memory;
  }
  return side;
}

SplitPlans SearchPhase::search(const Split& split) {
  Lists lists(static_cast<std::size_t>(costing_.task_count()));
  Choices chosen(lists.size());
  const Side rollout = choose_side(true, split.rollout, lists, chosen);
  const Side training = choose_side(false, split.training, lists, chosen);
  SplitPlans found{training == Side::fits, rollout == Side::fits, {}};
  if (rollout == Side::has_no_layout || training == Side::has_no_layout) return found;
  found.plans.push_back(chosen);
  if (found.training_fits && found.rollout_fits && costing_.workflow().has_weight_sync())
    vary_for_sync(lists, found.plans);
  return found;
}

// Other ways of the two tasks that weights travel between.
void SearchPhase::vary_for_sync(const Lists& lists, std::vector<Choices>& plans) const {
  constexpr std::size_t kMostTried = 3;  // of each, next to the fastest that fits
  const Choices chosen = plans.front();
  for (const Task* task : {&costing_.workflow().actor_training(), &costing_.workflow().actor_generation()}) {
    const auto at = static_cast<std::size_t>(task - costing_.workflow().tasks.data());
    std::size_t tried = 0;
    for (const ChoicePtr& choice : lists[at]) {
      if (choice == chosen[at] || choice->time_s < chosen[at]->time_s) continue;
      if (++tried > kMostTried) break;
      Choices other = chosen;
      other[at] = choice;
      if (costing_.excess_bytes(other) <= 0) plans.push_back(std::move(other));
    }
  }
}

}  // namespace sextant
