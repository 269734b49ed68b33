#include "planner/two_phase/training_search.h"

#include <algorithm>
#include <array>
#include <limits>

#include "planner/request/shapes.h"
#include "planner/two_phase/pipelines.h"

namespace sextant::inline planner {
namespace {

bool beats(const Choice& a, const Choice& b) {
  return a.time_s <= b.time_s && a.resident_fraction <= b.resident_fraction &&
         a.working_fraction <= b.working_fraction && a.sync_s <= b.sync_s;
}

// The fingerprint of the first `count` replicas of a plan.
Fingerprint print_of(const TaskPlan& plan, std::size_t count) {
  std::vector<std::uint64_t> words{plan.replicas.size()};
  for (std::size_t r = 0; r < count; ++r) {
    for (const Stage& stage : plan.replicas[r].stages) {
      words.push_back(static_cast<std::uint64_t>(stage.layers) << 32 | stage.devices.size());
      for (const DeviceId device : stage.devices) words.push_back(static_cast<std::uint64_t>(device.value));
    }
  }
  return DeviceClassHashes::of_words(words);
}

// The fingerprint that distinguishes plans of one task.
Fingerprint print_of(const Fingerprint& replicas, const TaskPlan& plan) {
  const std::array words{replicas.low, replicas.high, static_cast<std::uint64_t>(plan.micro_batch_sequences),
                         static_cast<std::uint64_t>(plan.decode_batch_sequences),
                         static_cast<std::uint64_t>(plan.recompute)};
  return DeviceClassHashes::of_words(words);
}

}  // namespace

void TrainingSearch::add_trials(std::vector<Replica> replicas, const TrainingQuery& asked) {
  const bool recomputes = asked.try_recompute && costing_->task(task_).kind == TaskKind::training;
  const int share = costing_->workflow().sequences() / static_cast<int>(replicas.size());
  Layout& layout = layouts_.emplace_back();
  layout.plan.replicas = std::move(replicas);
  layout.plan.execution = costing_->execution(task_);
  layout.plan.decode_batch_sequences = asked.decode_batch_sequences;
  layout.print = print_of(layout.plan, layout.plan.replicas.size());
  layout.print_of_first = print_of(layout.plan, 1);
  for (const int size : sizes_within(std::max(1, share), asked.micro_batch_sequences)) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      if (recompute == Recompute::full && !recomputes) continue;
      trials_.push_back({layouts_.size() - 1, size, recompute});
      trials_.back().min_s = min_s(trials_.back());
    }
  }
}

bool TrainingSearch::add_trials(const TrainingQuery& asked, const std::function<bool()>& is_over) {
  const Workflow& workflow = costing_->workflow();
  const std::vector<TypePool> pools = type_pools(costing_->cluster(), asked.devices, workflow.precision);
  const PipelineLimits pipelines{asked.tensor_parallel_limit, workflow.sequences()};
  layouts_.clear();
  trials_.clear();
  bool has_all = true;
  for (std::vector<Replica>& replicas :
       pipelines_of(pools, workflow.model_of(costing_->task(task_)), pipelines)) {
    has_all = !(is_over && is_over());
    if (!has_all) break;
    add_trials(std::move(replicas), asked);
  }
  std::stable_sort(trials_.begin(), trials_.end(),
                   [](const Trial& a, const Trial& b) { return a.min_s < b.min_s; });
  return has_all;
}

const TaskPlan& TrainingSearch::plan_of(const Trial& trial) {
  TaskPlan& plan = layouts_[trial.layout].plan;
  plan.micro_batch_sequences = trial.micro_batch_sequences;
  plan.recompute = trial.recompute;
  return plan;
}

double TrainingSearch::min_s(const Trial& trial) {
  // There is no bound for tasks whose replicas depend on each other.
  if (!costing_->model(task_).is_always_separable()) return 0;
  const TaskPlan& plan = plan_of(trial);
  const Fingerprint print = print_of(layouts_[trial.layout].print_of_first, plan);
  if (const double* known = known_min_s_.find(print)) return *known;
  const double min_s = costing_->first_replica_s(task_, plan);
  known_min_s_.insert(print, min_s);
  return min_s;
}

ChoicePtr TrainingSearch::cost(const Trial& trial) {
  const TaskPlan& plan = plan_of(trial);
  const Fingerprint print = print_of(layouts_[trial.layout].print, plan);
  if (const std::size_t* known = known_choices_.find(print)) return choices_[*known];
  constexpr std::size_t kMaxKept = 5'000'000;  // devices of all ways: some hundred megabytes
  const auto devices = static_cast<std::size_t>(costing_->cluster().device_count());
  ChoicePtr choice = costing_->cost(task_, plan);
  if (choices_.size() * devices > kMaxKept) return choice;
  known_choices_.insert(print, choices_.size());
  choices_.push_back(choice);
  return choice;
}

// Layouts in the order of what their first replica takes, which bounds what they take: the rest is not costed
// where that is clearly too slow.
std::vector<ChoicePtr> TrainingSearch::search(const std::vector<DeviceId>& devices,
                                              const TrainingLimits& limits) {
  TrainingQuery asked{devices, limits.micro_batch_sequences, limits.try_recompute,
                      limits.decode_batch_sequences, limits.tensor_parallel_limit};
  if (asked_ != asked) {
    asked_.reset();
    if (add_trials(asked, limits.is_over)) asked_ = std::move(asked);
  }
  double best_s = std::numeric_limits<double>::infinity();
  std::vector<ChoicePtr> found;
  for (Trial& trial : trials_) {
    if ((limits.is_over && limits.is_over()) || trial.min_s > limits.slack * best_s) break;
    if (trial.choice == nullptr) trial.choice = cost(trial);
    const bool fits = trial.choice->need_fraction <= limits.room_fraction;
    if (fits) best_s = std::min(best_s, trial.choice->time_s);
    if (fits || limits.keeps_what_does_not_fit) found.push_back(trial.choice);
  }
  return unbeaten(std::move(found));
}

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

}  // namespace sextant::inline planner
