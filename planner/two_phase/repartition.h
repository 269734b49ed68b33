// Phase 2 of AReaL-Hex (section 4.3 and Algorithm 1): the two phases in turn, until the plan is stable.
//
// A binary search over gamma, training's fraction of all FLOP/s: less where C_T < C_I, else more. The paper
// ends where C_T is about C_I and takes the plan of the least cost; it calls a plan converged when it was
// stable for 20 iterations (section 4.3, Table 5). What these iterations try is ours: partitions around the
// balance in the order of equation 3's guide, then neighbours of the best one (a few units to the other side,
// exchanges between classes), since degrees must divide numbers of devices, so that costs jump where gamma does
// not.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/two_phase/partition.h"
#include "planner/two_phase/search_phase.h"

namespace sextant {

// Costs of a partition's best plan.
struct PartitionCost {
  double training_s = 0;   // C_T; infinite where nothing fits
  double rollout_s = 0;    // C_I with the weight update
  double iteration_s = 0;  // of the best plan: max or sum of both, by the workflow's mode; infinite likewise
};

class Repartition {
 public:
  // All must outlive it. notes: plans are answers to the request; false: of a window, which only count.
  Repartition(SearchRun& run, const Costing& costing, const PartitionGraph& graph, bool notes);

  // Phase 1 of a partition, once; infinite where the run is over.
  const PartitionCost& cost(const Partition& partition);

  // The share of training at which it ends.
  double binary_search();
  // Partitions around the best.
  void open_range();
  // Equation 3 at evenly spaced shares, for where else a good partition may lie.
  void scan();
  // Neighbours of the best, and of each that is better, until none is; then the same from others that are far
  // from it in what trains, the best of them first: from as many starts in all.
  void climb(std::size_t starts);

  // PPO: training's devices dealt once more, to policy and value, from halves on to better neighbours of both
  // deals. Beyond the paper, whose training has one set of devices; nothing where no critic is trained.
  void deal_values();

  // Null before one fits.
  [[nodiscard]] const Partition* best() const { return best_; }
  [[nodiscard]] double best_s() const;
  [[nodiscard]] std::size_t looked_at() const { return known_.size(); }

 private:
  [[nodiscard]] PartitionCost look(const DeviceSplit& split);
  struct ValueSplit {
    Partition partition, value;
    friend bool operator<(const ValueSplit& a, const ValueSplit& b) {
      return std::tie(a.partition, a.value) < std::tie(b.partition, b.value);
    }
  };
  [[nodiscard]] double value_cost_s(const ValueSplit& deal);
  [[nodiscard]] std::vector<ValueSplit> value_neighbours(const ValueSplit& deal) const;
  void climb_from(Partition partition);

  SearchRun& run_;
  const Costing& costing_;
  const PartitionGraph& graph_;
  bool notes_;
  SearchPhase phase_;
  std::map<Partition, PartitionCost> known_;
  std::map<ValueSplit, double> known_deals_s_;
  const Partition* best_ = nullptr;
};

}  // namespace sextant
