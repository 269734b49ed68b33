// The second half of HetRL's integer program (section 3.5): a strategy for every task, memory (C3), and the
// workflow in time.
//
// A strategy is an option of a task on a block (exact/unit_space.h), one binary variable each; its times and
// bytes are the cost model's. Tasks have a start, a duration and an end; those of one kind in one slot follow
// each other in the workflow's order, phases follow each other unless generation overlaps
// (costmodel/iteration.h).
#pragma once

#include <array>
#include <optional>

#include "planner/exact/group_costs.h"
#include "planner/exact/ilp_deal.h"
#include "planner/exact/sync_cost.h"

namespace sextant {

class IlpModel {
 public:
  // Both must outlive it. Throws Error(bad_input) where parts of weight synchronization are not known
  // (SyncCost::decomposes). For plans whose generation has devices of its own the model has the least that
  // weight synchronization can take; see require_sync.
  IlpModel(UnitSpace& space, const SyncCost& sync);

  // Its objective is the iteration without what every plan pays (SyncCost::fixed_s).
  [[nodiscard]] const MilpProblem& problem() const { return problem_; }

  // From now on only plans with these groups are solutions.
  void fix_groups(const IlpGroups& groups) { deal_.fix_groups(groups); }

  [[nodiscard]] bool has_sync() const { return sync_ >= 0; }
  // What weight synchronization takes in a solution.
  [[nodiscard]] double sync_s(const std::vector<double>& values) const;
  // Adds a cut of Benders' decomposition: plans with the devices and the strategies of this choice, on which
  // weight synchronization depends, take at least so much for it. There must be one.
  void require_sync(const UnitChoice& choice, double sync_s);

  // Adds the same cut for the data that tasks hand on, which depends on the devices alone.
  [[nodiscard]] double data_s(const std::vector<double>& values) const;
  void require_data(const UnitChoice& choice, double data_s);

  // Of a solution.
  [[nodiscard]] UnitChoice choice(const std::vector<double>& values) const;
  // The other way round, of variables that decide all others.
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

  void add_strategies(int task);
  void add_memory(int slot, int block);
  void add_times();
  void add_phases();
  void add_order(int first, int second);
  void add_sync();
  void add_transfer(int shares, int transfer);
  [[nodiscard]] int add_sharing(int first, int second);
  [[nodiscard]] int add_alone();

  template <typename Value>
  [[nodiscard]] MilpTerms sum_over_strategies(int task, Value value) const;
  template <typename Value>
  [[nodiscard]] double most_of_strategies(int task, Value value) const;
  [[nodiscard]] TaskKind kind_of(int task) const;

  UnitSpace& space_;
  const SyncCost& parts_of_sync_;
  MilpProblem problem_;
  IlpDeal deal_;
  std::vector<std::vector<Strategy>> strategies_;  // by task
  std::vector<Times> times_;                       // by task
  int sync_ = -1, data_ = -1;                      // the variables; -1: there is none
  double horizon_s_ = 0;                           // no plan takes longer
};

}  // namespace sextant
