// The second half of HetRL's integer program (section 3.5): a strategy for every task, memory (C3), and the
// schedule of the workflow.
//
// A strategy is an option of a task on a block (exact/unit_space.h), with one binary variable each; its times
// and bytes are the cost model's. Tasks have a start, a duration and an end. Tasks of one kind in one slot run
// in the workflow's order, and phases run one after the other unless generation overlaps
// (costmodel/iteration.h).
#pragma once

#include <array>
#include <map>
#include <optional>

#include "planner/exact/group_costs.h"
#include "planner/exact/ilp_deal.h"
#include "planner/exact/ilp_reduction.h"
#include "planner/exact/sync_cost.h"

namespace sextant::inline planner {

class IlpModel {
 public:
  // Both must outlive the object. Throws Error(bad_input) if the parts of weight synchronization are unknown
  // (SyncCost::decomposes). For plans whose generation has devices of its own the model has a lower bound of
  // the weight synchronization; see require_transfer. Options that `reduction` excludes are not in the program.
  IlpModel(UnitSpace& space, const SyncCost& sync, const IlpReduction* reduction = nullptr);

  // The objective is the iteration without SyncCost::overhead_s.
  [[nodiscard]] const MilpProblem& problem() const { return problem_; }

  // From now on only plans with these groups are solutions.
  void fix_groups(const IlpGroups& groups) { deal_.fix_groups(groups); }

  // Time of a transfer of weights in a solution, by position in Evaluator::transfers(); the first is the actor's.
  [[nodiscard]] double transfer_s(const std::vector<double>& values, std::size_t transfer) const;
  // Adds a cut of Benders' decomposition: plans with the devices of this choice, and with its strategies of the two
  // tasks on which the transfer depends, take at least `time_s` for it.
  void require_transfer(const UnitChoice& choice, std::size_t transfer, double time_s);

  // True if the choice's training and generation of the actor are in different groups.
  [[nodiscard]] bool is_apart(const UnitChoice& choice) const;
  // Adds a cut with a lower bound for all strategies on the devices of this choice's training and generation.
  // It excludes at once what require_transfer excludes strategy by strategy. Requires devices apart.
  void require_sync_between(const UnitChoice& choice);

  // Adds the cut of require_transfer for the data transfers between tasks, which depend on the devices only.
  [[nodiscard]] double data_s(const std::vector<double>& values) const;
  void require_data(const UnitChoice& choice, double data_s);

  // The choice of a solution.
  [[nodiscard]] UnitChoice choice(const std::vector<double>& values) const;
  // The inverse: values of variables that determine all others.
  [[nodiscard]] std::vector<MilpValue> values_of(const UnitChoice& choice) const;

 private:
  struct Strategy {
    int slot = 0, block = 0;
    const ExactOption* option = nullptr;
    int variable = 0;
  };
  struct Times {
    int start = 0, duration = 0, end = 0;
  };

  void add_strategies(int task, const IlpReduction* reduction);
  void add_memory(int slot, int block);
  void add_times();
  void add_phases();
  void add_order(int first, int second);
  [[nodiscard]] int sharing(int first, int second);
  void add_transfers();
  void add_actor_transfer(int transfer);
  void add_way(int shares, int transfer);
  void add_finish(int longest, double eta);
  [[nodiscard]] int add_begin(const WeightTransfer<double>& transfer);
  [[nodiscard]] int add_sharing(int first, int second);
  [[nodiscard]] int add_alone();

  template <typename Value>
  [[nodiscard]] MilpTerms sum_over_strategies(int task, Value value) const;
  template <typename Value>
  [[nodiscard]] double max_of_strategies(int task, Value value) const;
  [[nodiscard]] TaskKind kind_of(int task) const;
  [[nodiscard]] bool is_on(const Strategy& strategy, int slot, int block) const {
    return strategy.slot == slot && strategy.block == block;
  }

  UnitSpace& space_;
  const SyncCost& parts_of_sync_;
  MilpProblem problem_;
  IlpAssignment deal_;
  std::vector<std::vector<Strategy>> strategies_;  // by task
  std::vector<Times> times_;                       // by task
  // Phi of a kind, its start and its makespan; the end of all tasks; whether generation is apart from the others.
  std::array<int, kTaskKinds> phase_{}, begin_{}, makespan_{};
  int end_ = 0, alone_ = 0;
  std::vector<int> transfers_;                   // by position in Evaluator::transfers()
  std::map<std::pair<int, int>, int> sharings_;  // by two tasks
  int data_ = -1;                                // -1: none
  double horizon_s_ = 0;                         // upper bound of any plan's time
};

}  // namespace sextant::inline planner
