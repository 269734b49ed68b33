#include "planner/two_phase/search_phase.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sextant::inline planner {
namespace {

bool generates(const Task& task) { return task.kind == TaskKind::generation; }

// All of a replica's share, then ever fewer: each needs half the cache of the one before.
std::vector<int> decode_batches(const Task& task, int sequences) {
  std::vector<int> batches{0};
  if (!generates(task)) return batches;
  int size = 1;
  while (2 * size < sequences) size *= 2;
  for (; size >= 1; size /= 2) batches.push_back(size);
  return batches;
}

}  // namespace

bool has_two_sides(const Workflow& workflow) {
  const auto& tasks = workflow.tasks;
  return std::any_of(tasks.begin(), tasks.end(), generates) &&
         !std::all_of(tasks.begin(), tasks.end(), generates);
}

bool trains_values(const Workflow& workflow) {
  return std::any_of(workflow.tasks.begin(), workflow.tasks.end(), [&](const Task& task) {
    return task.kind == TaskKind::training && workflow.model_of(task).value_head;
  });
}

SearchPhase::SearchPhase(const Costing& costing, SearchPhaseLimits limits)
    : costing_(costing), limits_(std::move(limits)) {
  for (int t = 0; t < costing_.task_count(); ++t) {
    rollouts_.emplace_back(costing_, t);
    trainings_.emplace_back(costing_, t);
    state_bytes_.push_back(costing_.state_bytes(t));
  }
  dealt_.resize(rollouts_.size());
}

// Replicas of any width, by the integer program; decoding as many sequences at once as memory holds.
std::vector<ChoicePtr> SearchPhase::dealt(int task, const std::vector<DeviceId>& devices, int patience) {
  std::vector<ChoicePtr> found;
  if (!costing_.model(task).is_always_separable()) return found;
  const std::vector<PieceClass> pieces = pieces_of(costing_.cluster(), devices);
  RolloutSearch& rollouts = rollouts_[static_cast<std::size_t>(task)];
  Dealt& known = dealt_[static_cast<std::size_t>(task)];
  if (known.devices != devices) known = {devices, {}};
  const int widest = patience > 0 ? limits_.tensor_parallel_limit : 1;
  for (const int batch : decode_batches(costing_.task(task), costing_.workflow().sequences())) {
    for (const int size : limits_.micro_batch_sequences) {
      for (int minimum = 1; minimum <= widest; minimum *= 2) {
        if (is_over()) return found;
        const auto [entry, is_new] = known.ways.try_emplace({batch, size, minimum});
        if (is_new) {
          auto plan = rollouts.plan(pieces, {{size, batch}, minimum, limits_.tensor_parallel_limit});
          if (plan) entry->second = costing_.cost(task, std::move(*plan));
        }
        if (entry->second != nullptr) found.push_back(entry->second);
      }
    }
    if (!found.empty()) break;
  }
  return found;
}

// The fraction of a side's memory that is free when all its other tasks hold their states once.
double SearchPhase::room_fraction(int task, const std::vector<int>& tasks,
                                  const std::vector<DeviceId>& devices) const {
  double room = 0, others = 0;
  for (const DeviceId device : devices) room += costing_.free_memory_bytes(device);
  for (const int t : tasks) {
    if (t != task) others += state_bytes_[static_cast<std::size_t>(t)];
  }
  return 1 - others / room;
}

std::vector<ChoicePtr> SearchPhase::ways(int task, const std::vector<int>& tasks,
                                         const std::vector<DeviceId>& devices, int patience) {
  const bool trains = costing_.task(task).kind == TaskKind::training;
  std::vector<ChoicePtr> found;
  if (!trains) found = dealt(task, devices, patience);
  if (!trains && !found.empty() && patience < 2) return unbeaten(std::move(found));
  constexpr std::array kSlack = {1.3, 2.5, std::numeric_limits<double>::infinity()};
  TrainingLimits limits;
  limits.micro_batch_sequences = limits_.micro_batch_sequences;
  limits.try_recompute = limits_.try_recompute;
  limits.tensor_parallel_limit = limits_.tensor_parallel_limit;
  limits.slack = kSlack[static_cast<std::size_t>(patience)];
  limits.keeps_what_does_not_fit = patience == 2;
  limits.room_fraction = patience < 2 ? room_fraction(task, tasks, devices) : 1;
  limits.is_over = limits_.is_over;
  for (const int batch : decode_batches(costing_.task(task), costing_.workflow().sequences())) {
    limits.decode_batch_sequences = batch;
    for (ChoicePtr& choice : trainings_[static_cast<std::size_t>(task)].search(devices, limits))
      found.push_back(std::move(choice));
    const bool fits = std::any_of(found.begin(), found.end(),
                                  [](const ChoicePtr& choice) { return choice->need_fraction <= 1; });
    if (fits) break;
  }
  return unbeaten(std::move(found));
}

// From the fastest of each on, while they need too much: the change that saves the most bytes for its time.
void SearchPhase::fit(const std::vector<int>& tasks, const Lists& lists, Choices& chosen) const {
  for (const int t : tasks) chosen[static_cast<std::size_t>(t)] = lists[static_cast<std::size_t>(t)].front();
  for (double excess = costing_.excess_bytes(chosen); excess > 0;) {
    double minimum = std::numeric_limits<double>::infinity();
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
        if (const double price = (choice->time_s - before->time_s) / saved; price < minimum) {
          minimum = price;
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
SearchPhase::Side SearchPhase::choose_side(const std::vector<int>& tasks, const std::vector<DeviceId>& devices,
                                           Lists& lists, Choices& chosen) {
  Side side = Side::has_no_layout;
  for (int patience = limits_.costs_every_layout ? 2 : 0; patience <= 2; ++patience) {
    double fastest_s = 0, taken_s = 0;
    bool has_all = true;
    for (const int t : tasks) {
      std::vector<ChoicePtr>& list = lists[static_cast<std::size_t>(t)];
      if (has_all) list = ways(t, tasks, devices, patience);
      has_all = has_all && !list.empty();
    }
    if (!has_all) continue;
    Choices of_side(chosen.size());
    fit(tasks, lists, of_side);
    for (const int t : tasks) {
      chosen[static_cast<std::size_t>(t)] = of_side[static_cast<std::size_t>(t)];
      fastest_s += lists[static_cast<std::size_t>(t)].front()->time_s;
      taken_s += chosen[static_cast<std::size_t>(t)]->time_s;
    }
    const bool fits = costing_.excess_bytes(of_side) <= 0;
    side = fits ? Side::fits : Side::lacks_memory;
    constexpr double kDear = 1.1;  // what memory costs in time: slower ways may be better together
    if (fits && (patience > 0 || taken_s <= kDear * fastest_s)) return side;
  }
  return side;
}

SplitPlans SearchPhase::search(const DeviceSplit& split) {
  Lists lists(static_cast<std::size_t>(costing_.task_count()));
  Choices chosen(lists.size());
  std::vector<int> rollout_tasks, training_tasks, value_tasks;
  for (int t = 0; t < costing_.task_count(); ++t) {
    const Task& task = costing_.task(t);
    const bool is_value = !split.value.empty() && costing_.workflow().model_of(task).value_head;
    (generates(task) ? rollout_tasks : is_value ? value_tasks : training_tasks).push_back(t);
  }
  const Side rollout = choose_side(rollout_tasks, split.rollout, lists, chosen);
  const Side training = choose_side(training_tasks, split.training, lists, chosen);
  const Side value = value_tasks.empty() ? Side::fits : choose_side(value_tasks, split.value, lists, chosen);
  SplitPlans found{training == Side::fits && value == Side::fits, rollout == Side::fits, {}};
  if (std::count(chosen.begin(), chosen.end(), nullptr) > 0) return found;
  found.plans.push_back(chosen);
  if (found.training_fits && found.rollout_fits && costing_.workflow().has_weight_sync())
    vary_for_sync(lists, found.plans);
  return found;
}

// Other ways of the two tasks that weights travel between: slower, but with less to put together or to spread.
void SearchPhase::vary_for_sync(const Lists& lists, std::vector<Choices>& plans) const {
  const Choices chosen = plans.front();
  const auto position = [&](const Task& task) {
    return static_cast<std::size_t>(&task - costing_.workflow().tasks.data());
  };
  const auto vary = [&](std::size_t task, const Choices& from) {
    for (const ChoicePtr& choice : lists[task]) {
      if (choice->sync_s >= from[task]->sync_s || choice->time_s < from[task]->time_s) continue;
      Choices other = from;
      other[task] = choice;
      if (costing_.excess_bytes(other) <= 0) plans.push_back(std::move(other));
    }
  };
  vary(position(costing_.workflow().actor_training()), chosen);
  const std::vector<Choices> trained = plans;
  for (const Choices& choices : trained) vary(position(costing_.workflow().actor_generation()), choices);
}

}  // namespace sextant::inline planner
