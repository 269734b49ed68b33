// The lowest levels of branch and bound: options of all tasks once their devices are dealt. What weight
// synchronization takes is bounded by the least of the options that are open, and known once both are chosen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/exact/composition.h"
#include "planner/exact/proof_progress.h"

namespace sextant {

struct AssignedTasks {
  const TaskGrouping& grouping;
  std::span<const TaskSet> groups;
  const std::vector<int>& shares;  // by group
  std::vector<int> blocks;         // by group
  double transfer_s = 0;           // of the weight sync, at least
  double data_s = 0;               // that tasks hand on between groups
  // Weights other than the actor's that go from one group to another.
  struct OtherWay {
    const Evaluator::OtherUse* use = nullptr;
    std::vector<std::uint64_t> training, used;  // devices, a bit each
    double min_s = 0;                           // whatever option the user has
  };
  std::vector<OtherWay> other_ways = {};

  [[nodiscard]] double min_other_use_s() const {
    double longest_s = 0;
    for (const OtherWay& way : other_ways) longest_s = std::max(longest_s, way.min_s);
    return longest_s;
  }
  // Devices of training and of generation, a bit each; none where they are in one group.
  std::vector<std::uint64_t> training = {}, generation = {};
};

class OptionSearch {
 public:
  // All must outlive it.
  OptionSearch(UnitSpace& space, const SyncCost& sync, const Composition& composition, ProofProgress& progress)
      : space_(space), sync_(sync), composition_(composition), progress_(progress) {}

  // Offers `progress` every choice that fits and whose bound is open. Every task must have an option.
  void search(const AssignedTasks& dealt);

 private:
  struct Step {  // one task
    int task = 0;
    std::size_t group = 0, kind = 0;
    bool shares_sync = false;  // its group has both sides of the weight sync
    const std::vector<ExactOption>* options = nullptr;
    const std::vector<double>* rooms = nullptr;
    double min_sync_s = 0;
    // Before this task: what its group holds, by position, and costs that have this and later tasks at their
    // least.
    std::vector<double> resident_bytes, working_bytes;
    // What later tasks of its group need at least, likewise.
    std::vector<double> later_resident_bytes, later_working_bytes;
    std::vector<GroupCost> costs;
    double transfer_s = 0, other_use_s = 0;  // likewise
  };

  void prepare(const AssignedTasks& dealt);
  void find_later_needs();
  void find_min_sides();
  [[nodiscard]] double transfer_s(std::size_t step, const ExactOption& option);
  [[nodiscard]] double other_use_s(const Step& step, const ExactOption& option);
  void choose(std::size_t step);
  [[nodiscard]] double sync_s(const Step& step, const ExactOption& option) const;
  [[nodiscard]] bool add(std::size_t step, const ExactOption& option);
  [[nodiscard]] GroupCost with(const Step& step, const ExactOption& option) const;
  void offer();

  UnitSpace& space_;
  const SyncCost& sync_;
  const Composition& composition_;
  ProofProgress& progress_;
  const AssignedTasks* dealt_ = nullptr;
  std::vector<Step> steps_;  // by group, tasks with the longest times first; one more for the end
  std::vector<const ExactOption*> chosen_;  // by task
  // Where training and generation are apart: their steps, and the least of their options.
  std::optional<std::size_t> training_at_, generation_at_;
  SyncSides minimum_;
};

}  // namespace sextant
