#include "planner/two_phase/training_search.h"

#include <algorithm>

#include "planner/two_phase/pipelines.h"

namespace sextant {
namespace {

// Sizes that the smallest share of a batch can fill: a larger one is the same as all of it.
std::vector<int> sizes_within(int share, const std::vector<int>& wanted) {
  std::vector<int> sizes;
  for (const int size : wanted) sizes.push_back(std::min(size, share));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

bool beats(const Choice& a, const Choice& b, double slower = 1) {
  return slower * a.time_s <= b.time_s && a.resident_fraction <= b.resident_fraction &&
         a.working_fraction <= b.working_fraction;
}

class Search {
 public:
  Search(const Costing& costing, int task, const TrainingLimits& limits)
      : costing_(costing), task_(task), limits_(limits) {}

  std::vector<ChoicePtr> run(const std::vector<DeviceId>& devices) {
    const Workflow& workflow = costing_.workflow();
    const std::vector<TypePool> pools = type_pools(costing_.cluster(), devices, workflow.precision);
    const PipelineLimits limits{limits_.most_tensor_parallel, workflow.sequences()};
    for (std::vector<Replica>& replicas :
         pipelines_of(pools, workflow.model_of(costing_.task(task_)), limits)) {
      if (limits_.is_over && limits_.is_over()) break;
      try_sizes(std::move(replicas));
    }
    return unbeaten(std::move(found_));
  }

 private:
  // A middle size first: where that is beaten clearly, other sizes of the layout are not looked at.
  void try_sizes(std::vector<Replica> replicas) {
    constexpr double kClearly = 1.5;  // time of the layout over that of a better one
    const Workflow& workflow = costing_.workflow();
    const int share = workflow.sequences() / static_cast<int>(replicas.size());
    const bool recomputes = limits_.try_recompute && costing_.task(task_).kind == TaskKind::training;
    const std::vector<int> sizes = sizes_within(std::max(1, share), limits_.micro_batch_sequences);
    TaskPlan plan;
    plan.decode_batch_sequences = limits_.decode_batch_sequences;
    plan.replicas = std::move(replicas);
    const auto look = [&](int size, Recompute recompute) {
      plan.micro_batch_sequences = size;
      plan.recompute = recompute;
      found_.push_back(costing_.cost(task_, plan));
    };
    const std::size_t middle = sizes.size() / 2;
    look(sizes[middle], Recompute::none);
    const ChoicePtr first = found_.back();
    if (recomputes) look(sizes[middle], Recompute::full);
    const bool is_beaten = std::any_of(found_.begin(), found_.end(),
                                       [&](const ChoicePtr& other) { return beats(*other, *first, kClearly); });
    for (std::size_t s = 0; s < sizes.size() && !is_beaten; ++s) {
      if (s == middle) continue;
      look(sizes[s], Recompute::none);
      if (recomputes) look(sizes[s], Recompute::full);
    }
  }

  const Costing& costing_;
  int task_;
  const TrainingLimits& limits_;
  std::vector<ChoicePtr> found_;
};

}  // namespace

std::vector<ChoicePtr> unbeaten(std::vector<ChoicePtr> choices) {
  std::stable_sort(choices.begin(), choices.end(),
                   [](const ChoicePtr& a, const ChoicePtr& b) { return a->time_s < b->time_s; });
  std::vector<ChoicePtr> kept;
  for (ChoicePtr& choice : choices) {
    const bool beaten =
        std::any_of(kept.begin(), kept.end(), [&](const ChoicePtr& other) { return beats(*other, *choice); });
    if (!beaten) kept.push_back(std::move(choice));
  }
  return kept;
}

std::vector<ChoicePtr> search_training(const Costing& costing, int task, const std::vector<DeviceId>& devices,
                                       const TrainingLimits& limits) {
  return Search(costing, task, limits).run(devices);
}

}  // namespace sextant
