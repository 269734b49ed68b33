#include "planner/two_phase/training_search.h"

#include <algorithm>
#include <limits>

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

bool beats(const Choice& a, const Choice& b) {
  return a.time_s <= b.time_s && a.resident_fraction <= b.resident_fraction &&
         a.working_fraction <= b.working_fraction && a.sync_s <= b.sync_s;
}

// Layouts in the order of what their first replica takes, which bounds what they take: the rest is not costed
// where that is clearly too slow.
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
      if (is_over()) break;
      add_trials(std::move(replicas));
    }
    std::stable_sort(trials_.begin(), trials_.end(),
                     [](const Trial& a, const Trial& b) { return a.least_s < b.least_s; });
    for (const Trial& trial : trials_) {
      if (is_over() || trial.least_s > limits_.slack * best_s_) break;
      look(trial);
    }
    return unbeaten(std::move(found_));
  }

 private:
  struct Trial {
    std::size_t layout = 0;
    int micro_batch_sequences = 1;
    Recompute recompute = Recompute::none;
    double least_s = 0;
  };

  [[nodiscard]] bool is_over() const { return limits_.is_over && limits_.is_over(); }

  void add_trials(std::vector<Replica> replicas) {
    const bool recomputes = limits_.try_recompute && costing_.task(task_).kind == TaskKind::training;
    const int share = costing_.workflow().sequences() / static_cast<int>(replicas.size());
    layouts_.emplace_back().replicas = std::move(replicas);
    layouts_.back().execution = costing_.execution(task_);
    layouts_.back().decode_batch_sequences = limits_.decode_batch_sequences;
    for (const int size : sizes_within(std::max(1, share), limits_.micro_batch_sequences)) {
      for (const Recompute recompute : {Recompute::none, Recompute::full}) {
        if (recompute == Recompute::full && !recomputes) continue;
        Trial trial{layouts_.size() - 1, size, recompute, 0};
        // Nothing is known before of tasks whose replicas depend on each other.
        if (costing_.model(task_).is_separable())
          trial.least_s = costing_.first_replica_s(task_, plan_of(trial));
        trials_.push_back(trial);
      }
    }
  }

  [[nodiscard]] const TaskPlan& plan_of(const Trial& trial) {
    TaskPlan& plan = layouts_[trial.layout];
    plan.micro_batch_sequences = trial.micro_batch_sequences;
    plan.recompute = trial.recompute;
    return plan;
  }

  void look(const Trial& trial) {
    ChoicePtr choice = costing_.cost(task_, plan_of(trial));
    const bool fits = choice->need_fraction <= limits_.room_fraction;
    if (fits) best_s_ = std::min(best_s_, choice->time_s);
    if (fits || !(limits_.room_fraction < 1)) found_.push_back(std::move(choice));
  }

  const Costing& costing_;
  int task_;
  const TrainingLimits& limits_;
  double best_s_ = std::numeric_limits<double>::infinity();
  std::vector<TaskPlan> layouts_;
  std::vector<Trial> trials_;
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
