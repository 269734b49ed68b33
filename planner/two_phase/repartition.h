// Phase 2 of AReaL-Hex (section 4.3 and Algorithm 1): alternates with phase 1 until the plan is stable.
//
// A binary search over gamma, training's fraction of all FLOP/s: decreased if C_T < C_I, otherwise increased.
// The paper stops when C_T is about C_I, takes the cheapest plan, and calls a plan converged after 20 stable
// iterations (section 4.3, Table 5). The partitions tried in these iterations are an addition of Sextant: those
// around the balance in the order of equation 3's guide, then neighbours of the best one (a few units moved,
// exchanges between classes). They are needed because degrees must divide numbers of devices, so that costs
// jump where gamma does not.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "planner/search/search_run.h"
#include "planner/two_phase/partition.h"
#include "planner/two_phase/search_phase.h"

namespace sextant::inline planner {

// Costs of the best plan of a partition.
struct PartitionCost {
  double training_s = 0;   // C_T; infinite if nothing fits
  double rollout_s = 0;    // C_I with the weight update
  double iteration_s = 0;  // best plan: max or sum of both, by the workflow's mode; infinite if nothing fits
};

class Repartition {
 public:
  // All must outlive the object. notes: report plans to the run; false for a window: only count them.
  // costs_every_layout: SearchPhaseLimits::costs_every_layout.
  Repartition(SearchRun& run, const Costing& costing, const PartitionGraph& graph, bool notes,
              bool costs_every_layout = false);

  // Runs phase 1 of a partition, once per partition; infinite if the run is over.
  const PartitionCost& cost(const Partition& partition);

  // Returns training's share of the FLOP/s at which the search ends.
  double binary_search();
  // Costs partitions around the best.
  void open_range();
  // Costs the best partitions of equation 3 at evenly spaced shares, in case a good one lies elsewhere.
  void scan();
  // Local search: costs neighbours of the best partition until none is better; then the same from other good
  // partitions that differ much from it in training's share, best first. `starts`: number of starts.
  void climb(std::size_t starts);

  // PPO (beyond the paper): splits training's devices again between policy and value, from halves to better
  // neighbours of both splits. Does nothing if no critic is trained.
  void deal_values();

  // Null until a partition fits.
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

}  // namespace sextant::inline planner
