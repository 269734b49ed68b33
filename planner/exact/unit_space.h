// The search space of the exact planners' proofs: every task grouping, every assignment of units to its groups,
// every option of every task. Units may stay idle.
//
// A task's options on its devices exclude those that do not fit on their own, and those dominated by another
// option in time, each part of weight synchronization, and resident and working bytes of every single device.
// This keeps a best plan; only plans equal to it may be lost.
//
// A group's options depend on its number of units in each class and, if a class has several machines, on the
// offset of its units within the machines: a block. Blocks that differ in names of machines only are merged.
//
// Devices with pinned tasks are units of their own: the group of such a task has all of them and nothing else,
// and no other group has any.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "planner/request/groupings.h"
#include "planner/space/options.h"
#include "planner/space/units.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// A set of tasks, one bit each.
using TaskSet = std::uint32_t;

struct ExactOption {
  int shape = 0;  // position in the evaluator's table
  DeviceOrder order = DeviceOrder::by_replica;
  TaskValue value;
  std::vector<double> resident_bytes, working_bytes;  // by position in the devices of the group
};

// Consecutive units of one class.
struct UnitRun {
  int first = 0;  // canonical: as near to the start of the class as machines allow
  int count = 0;

  friend auto operator<=>(const UnitRun&, const UnitRun&) = default;  // NOLINT(modernize-use-nullptr)
};
using UnitBlock = std::vector<UnitRun>;  // by class

// Limit of the product over classes of the possible numbers of units: 16,384 is 14 machines that links
// distinguish, or 32 of five kinds. Options of many more would fill memory before anything is proved.
inline constexpr double kMaxShares = 16'384;

// An error message if the space has more shares than kMaxShares; otherwise empty.
[[nodiscard]] std::string size_limit_reason(const Cluster& cluster, int wanted_units, const Pins& pins = {});

// A plan of the space.
struct UnitChoice {
  TaskGrouping grouping;
  std::vector<int> shares;                 // by group
  std::vector<const ExactOption*> chosen;  // by task
};

class UnitSpace {
 public:
  // Throws Error(bad_input) for custom graphs, whose simulation has no bounds, for clusters that the evaluator
  // cannot handle, if the space is too large, for pins that check_pins refuses, and for two pins to overlapping
  // but different sets, which groups cannot represent. The request must outlive the object.
  UnitSpace(const PlanRequest& request, int wanted_units);

  [[nodiscard]] const PlanRequest& request() const { return request_; }
  [[nodiscard]] Evaluator& evaluator() { return evaluator_; }
  [[nodiscard]] int tasks() const { return evaluator_.task_count(); }
  [[nodiscard]] const std::vector<UnitClass>& classes() const { return classes_; }

  // Shares are numbers in mixed radix, the first class fastest; share 0 is empty, the last has all units.
  [[nodiscard]] int share_count() const { return share_count_; }
  [[nodiscard]] int units_of(int share, std::size_t of_class) const {
    return share / radix_[of_class] % (classes_[of_class].count() + 1);
  }
  [[nodiscard]] int radix(std::size_t of_class) const { return radix_[of_class]; }
  [[nodiscard]] UnitShare units_of(int share) const;
  [[nodiscard]] int size_of(int share) const { return sizes_[static_cast<std::size_t>(share)]; }  // units
  [[nodiscard]] bool is_within(int share, int other) const;  // in every class
  // True if pins allow a group with these tasks to have this share.
  [[nodiscard]] bool may_have(TaskSet tasks, int share) const;
  // The share to which the task is pinned; 0: not pinned.
  [[nodiscard]] int pinned_share(int task) const { return pinned_shares_[static_cast<std::size_t>(task)]; }
  // The reason why a task cannot run where it is pinned; empty if all can.
  [[nodiscard]] const std::string& infeasible_pin_reason() const { return infeasible_pin_reason_; }

  // Numbers of the blocks in which units of a group may lie: for a share, and for the groups of an assignment.
  [[nodiscard]] const std::vector<int>& blocks_of(int share);
  [[nodiscard]] std::vector<int> blocks_of_deal(const std::vector<int>& shares);
  // The groups in the order in which they take units of a class (devices_of_groups).
  [[nodiscard]] std::vector<std::size_t> order_in_class(const std::vector<int>& shares,
                                                        std::size_t of_class) const;
  [[nodiscard]] const UnitBlock& block(int number) const { return blocks_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] UnitRun canonical(std::size_t of_class, UnitRun run) const;
  [[nodiscard]] int block_count() const { return static_cast<int>(blocks_.size()); }

  // The block's devices, in the order of options' positions, and their free memory in bytes.
  [[nodiscard]] std::vector<std::uint16_t> devices_of_block(int block) const;
  [[nodiscard]] const std::vector<double>& rooms_of_block(int block);

  // The options after the exclusions, fastest first.
  [[nodiscard]] const std::vector<ExactOption>& options(int task, int block);

  // The candidate of an assignment with an option for every task.
  [[nodiscard]] Candidate candidate(const TaskGrouping& grouping, const std::vector<int>& shares,
                                    const std::vector<const ExactOption*>& chosen);
  // The inverse; nullopt if the candidate is not in the space.
  [[nodiscard]] std::optional<UnitChoice> choice_of(const Candidate& candidate);
  [[nodiscard]] std::vector<std::vector<std::uint16_t>> devices_of_deal(const std::vector<int>& shares) const;
  // Seconds of data transfers between tasks in any plan of an assignment; a group's tasks have its devices.
  [[nodiscard]] double data_s(const TaskGrouping& grouping, const std::vector<int>& shares);
  // A set of devices, one bit each.
  [[nodiscard]] std::vector<std::uint64_t> bits_of(const std::vector<std::uint16_t>& devices) const;

  // Free memory in bytes by device, as in the evaluator.
  [[nodiscard]] const std::vector<double>& rooms() const { return rooms_; }
  [[nodiscard]] const Problem<double>& frame() const { return *sync_problem_; }
  // True if weight synchronization is a sum of parts of both sides' options (exact/sync_cost.h).
  [[nodiscard]] bool decomposes_sync() const { return decomposes_sync_; }

 private:
  void pin(int task, const Pin& pin);
  // A group's devices in the order in which the task's options take them.
  [[nodiscard]] const std::vector<std::uint16_t>& in_order_of(int task,
                                                              const std::vector<std::uint16_t>& devices) const;
  [[nodiscard]] int number_of(const UnitBlock& block);
  [[nodiscard]] int share_with(const std::vector<std::uint16_t>& devices) const;
  [[nodiscard]] bool synchronizes(int task) const;
  [[nodiscard]] bool beats(int task, const ExactOption& a, const ExactOption& b) const;
  [[nodiscard]] std::vector<ExactOption> look(int task, int block);

  const PlanRequest& request_;
  Evaluator evaluator_;
  OptionTable table_;
  std::vector<UnitClass> classes_;
  std::vector<int> units_per_machine_;  // by class; all units if links do not distinguish machines
  std::vector<int> radix_;
  int share_count_ = 1;
  std::vector<int> sizes_;                                  // by share
  std::vector<int> pinned_shares_;                          // by task
  std::vector<std::vector<std::uint16_t>> pinned_layouts_;  // by task, its devices; empty: the search chooses
  std::string infeasible_pin_reason_;
  Plan sync_plan_;
  std::unique_ptr<const Problem<double>> sync_problem_;
  std::vector<double> rooms_;
  bool decomposes_sync_ = false;
  std::map<UnitBlock, int> numbers_;
  std::vector<UnitBlock> blocks_;
  std::vector<std::vector<int>> blocks_of_share_;
  std::deque<std::vector<double>> block_rooms_;                                  // references stay valid
  std::vector<std::vector<std::unique_ptr<std::vector<ExactOption>>>> options_;  // by task, then block
};

}  // namespace sextant::inline planner
