// The lowest levels of branch and bound: options of all tasks for given devices. Weight synchronization is
// bounded by the minimum over the open options, and known once both sides are chosen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/exact/composition.h"
#include "planner/exact/proof_progress.h"

namespace sextant::inline planner {

struct AssignedTasks {
  const TaskGrouping& grouping;
  std::span<const TaskSet> groups;
  const std::vector<int>& shares;  // by group
  std::vector<int> blocks;         // by group
  double transfer_s = 0;           // of the weight sync, lower bound
  double data_s = 0;               // transfers of data between groups
  // A transfer of weights other than the actor's from one group to another.
  struct OtherWay {
    const Evaluator::OtherUse* use = nullptr;
    std::vector<std::uint64_t> training, used;  // devices, one bit each
    double min_s = 0;                           // lower bound over the user's options
  };
  std::vector<OtherWay> other_ways = {};

  [[nodiscard]] double min_other_use_s() const {
    double longest_s = 0;
    for (const OtherWay& way : other_ways) longest_s = std::max(longest_s, way.min_s);
    return longest_s;
  }
  // Devices of training and of generation, one bit each; empty if they are in one group.
  std::vector<std::uint64_t> training = {}, generation = {};
};

class OptionSearch {
 public:
  // All must outlive the object.
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
    // State before this task: the memory of its group, by position, and costs with this and later tasks at
    // their minimum.
    std::vector<double> resident_bytes, working_bytes;
    // Minimum memory of later tasks of its group, by position.
    std::vector<double> later_resident_bytes, later_working_bytes;
    std::vector<GroupCost> costs;
    double transfer_s = 0, other_use_s = 0;  // state before this task
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
  std::vector<Step> steps_;                 // by group, tasks with the longest times first, then an end marker
  std::vector<const ExactOption*> chosen_;  // by task
  // If training and generation are on different devices: their steps, and the minimum of their options.
  std::optional<std::size_t> training_at_, generation_at_;
  SyncSides minimum_;
};

}  // namespace sextant::inline planner
