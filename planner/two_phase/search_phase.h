// Phase 1 of AReaL-Hex (section 4.2): the best plan for a given split of the devices between the two sides.
//
// The rollout side runs generation, the training side everything else. The paper counts reward and reference
// computation to C_I, a constant that "would not influence MILP results". Under our model an engine that shares
// its devices with another task cannot overlap training (costmodel/iteration.h), so inference on rollout
// devices would cost the overlap of the whole iteration. If a task has several options that fit, those of the
// training side are chosen together: from the fastest of each, while a device has too little memory, the change
// that saves the most bytes per time is applied.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "planner/two_phase/costing.h"
#include "planner/two_phase/rollout_search.h"
#include "planner/two_phase/training_search.h"

namespace sextant::inline planner {

// Devices of the two sides, ascending, without overlap; together all usable devices.
struct DeviceSplit {
  std::vector<DeviceId> training, rollout;
  // Only for the critic and the reward, taken from training's. Empty: they share training's.
  std::vector<DeviceId> value = {};
};

struct SearchPhaseLimits {
  std::vector<int> micro_batch_sequences;
  bool try_recompute = false;
  int tensor_parallel_limit = 64;
  std::function<bool()> is_over;  // polled during the search
  bool costs_every_layout = false;
};

// The result for a split. A side that does not fit has a plan too, the one with the smallest excess.
struct SplitPlans {
  bool training_fits = false, rollout_fits = false;
  // One choice for every task; empty if a task has no layout at all or the search was over. The first plan has
  // the fastest sides; the others are alternatives for weight synchronization, which depends on both sides.
  std::vector<Choices> plans;
};

class SearchPhase {
 public:
  // costing must outlive the object. The workflow must have tasks on both sides: has_two_sides.
  SearchPhase(const Costing& costing, SearchPhaseLimits limits);

  [[nodiscard]] SplitPlans search(const DeviceSplit& split);

 private:
  using Lists = std::vector<std::vector<ChoicePtr>>;  // by task

  // patience: 0 the options near the fastest, 1 also slower ones that need less memory, 2 all.
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

  // Cached options for the devices of the last call, so that a call with more patience repeats nothing.
  struct Dealt {
    std::vector<DeviceId> devices;
    // Choices by decode batch, micro-batch and minimum width; null if the batch does not fit.
    std::map<std::array<int, 3>, ChoicePtr> ways;
  };

  const Costing& costing_;
  SearchPhaseLimits limits_;
  // Members by task.
  std::vector<RolloutSearch> rollouts_;
  std::vector<TrainingSearch> trainings_;
  std::vector<double> state_bytes_;
  std::vector<Dealt> dealt_;
};

// True if the workflow has generation and other tasks.
[[nodiscard]] bool has_two_sides(const Workflow& workflow);

// True if a model with a value head is trained: the tasks of such models use DeviceSplit::value.
[[nodiscard]] bool trains_values(const Workflow& workflow);

}  // namespace sextant::inline planner
