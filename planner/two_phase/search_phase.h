// Phase 1 of AReaL-Hex (section 4.2): the best plan found for devices that are dealt to the two sides.
//
// Rollout's side runs generation. Everything else runs on training's side: the paper counts reward and
// reference computation to C_I, a constant that "would not influence MILP results"; under our model an engine
// that shares its devices with another task cannot generate beside training (costmodel/iteration.h), so that
// inference on rollout devices would cost the overlap of the whole iteration. Where a task has several ways
// that fit, those of training's side are chosen together: from the fastest of each on, while a device has too
// little memory, the change that saves the most bytes for its time.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "planner/two_phase/costing.h"
#include "planner/two_phase/rollout_search.h"
#include "planner/two_phase/training_search.h"

namespace sextant {

// Devices of the two sides, ascending; together all that may be used, none in both.
struct DeviceSplit {
  std::vector<DeviceId> training, rollout;
  // For the critic alone, with the reward: taken from training's. None: it shares those.
  std::vector<DeviceId> value = {};
};

struct SearchPhaseLimits {
  std::vector<int> micro_batch_sequences;
  bool try_recompute = false;
  int tensor_parallel_limit = 64;
  std::function<bool()> is_over;  // asked now and then
};

// What was found for a split. Sides that do not fit have plans too, those that lack least.
struct SplitPlans {
  bool training_fits = false, rollout_fits = false;
  // One choice for every task; none where a task has no layout at all or the search was over. First that of the
  // fastest sides; the others are for weight synchronization, which no side decides alone.
  std::vector<Choices> plans;
};

class SearchPhase {
 public:
  // costing must outlive it. Tasks of both sides must be there: has_two_sides.
  SearchPhase(const Costing& costing, SearchPhaseLimits limits);

  [[nodiscard]] SplitPlans search(const DeviceSplit& split);

 private:
  using Lists = std::vector<std::vector<ChoicePtr>>;  // by task

  // patience: 0 the ways near the fastest, 1 also slower ones that need less memory, 2 all.
  [[nodiscard]] std::vector<ChoicePtr> dealt(int task, const std::vector<DeviceId>& devices, int patience);
  [[nodiscard]] std::vector<ChoicePtr> ways(int task, const std::vector<int>& tasks,
                                            const std::vector<DeviceId>& devices, int patience);
  [[nodiscard]] double room_fraction(int task, const std::vector<int>& tasks,
                                     const std::vector<DeviceId>& devices) const;
  [[nodiscard]] bool is_over() const { return limits_.is_over && limits_.is_over(); }
  enum class Side { fits, lacks_memory, has_no_layout };
  // tasks: all of the side.
  [[nodiscard]] Side choose_side(const std::vector<int>& tasks, const std::vector<DeviceId>& devices,
                                 Lists& lists, Choices& chosen);
  void fit(const std::vector<int>& tasks, const Lists& lists, Choices& chosen) const;
  void vary_for_sync(const Lists& lists, std::vector<Choices>& plans) const;

  // What was dealt to the devices that were asked about last: with more patience, nothing is made twice.
  struct Dealt {
    std::vector<DeviceId> devices;
    // By decode batch, micro-batch and least width; null where the batch does not fit.
    std::map<std::array<int, 3>, ChoicePtr> ways;
  };

  const Costing& costing_;
  SearchPhaseLimits limits_;
  // By task.
  std::vector<RolloutSearch> rollouts_;
  std::vector<TrainingSearch> trainings_;
  std::vector<double> state_bytes_;
  std::vector<Dealt> dealt_;
};

// It generates and does something else.
[[nodiscard]] bool has_two_sides(const Workflow& workflow);

// Which tasks a DeviceSplit's `value` is for: those of models with a value head, where one of them is trained.
[[nodiscard]] bool trains_values(const Workflow& workflow);

}  // namespace sextant
