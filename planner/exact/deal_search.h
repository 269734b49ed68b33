// The upper levels of branch and bound: assigns shares of units to the groups of one grouping, one group after
// the other.
#pragma once

#include <vector>

#include "planner/exact/option_search.h"

namespace sextant::inline planner {

class AssignmentSearch {
 public:
  // All must outlive the object.
  AssignmentSearch(UnitSpace& space, const SyncCost& sync, GroupCosts& costs, ProofProgress& progress)
      : space_(space),
        sync_(sync),
        costs_(costs),
        progress_(progress),
        composition_(space, sync, costs),
        options_(space, sync, composition_, progress),
        all_(space.share_count() - 1) {}

  // From now on plans use exactly this share. Before that they may use any units.
  void use_exactly(int share) {
    all_ = share;
    uses_all_ = true;
  }
  // The share that plans may use.
  [[nodiscard]] int all() const { return all_; }

  // Lower bounds of the time of any plan with this grouping: from its tasks alone (cheap), and with the memory
  // of groups. Infinite if none fits.
  [[nodiscard]] double cheap_bound_s(const TaskGrouping& grouping);
  [[nodiscard]] double bound_s(const TaskGrouping& grouping);

  // True if the grouping respects PlanRequest::device_rules, given that groups have disjoint devices.
  [[nodiscard]] bool keeps_rules(const TaskGrouping& grouping) const;

  // Offers `progress` every plan of the grouping that the bounds do not exclude.
  void search(const TaskGrouping& grouping);

 private:
  struct Child {
    int share;
    double bound_s;
  };

  void begin(const TaskGrouping& grouping);
  [[nodiscard]] bool takes_all(std::size_t place) const { return uses_all_ && place + 1 == order_.size(); }
  void deal(std::size_t place, int left, double bound_s);
  [[nodiscard]] std::vector<Child> children(std::size_t place, int left);
  [[nodiscard]] bool rest_is_possible(std::size_t place, int left);
  [[nodiscard]] double transfer_s(std::size_t place, int left) const;
  void add_other_ways(AssignedTasks& dealt);
  void finish(double bound_s);

  UnitSpace& space_;
  const SyncCost& sync_;
  GroupCosts& costs_;
  ProofProgress& progress_;
  Composition composition_;
  OptionSearch options_;
  int all_;
  bool uses_all_ = false;
  // The state for the current grouping:
  const TaskGrouping* grouping_ = nullptr;
  std::vector<TaskSet> groups_;
  std::vector<std::size_t> order_;      // in which groups get their shares
  std::vector<std::size_t> place_of_;   // position in that order, by group
  std::vector<int> shares_;             // by group
  std::vector<GroupCost> group_costs_;  // by group: with its share, or minimum without one
};

// Searches every grouping, the most promising first.
void search_groupings(UnitSpace& space, AssignmentSearch& deals, ProofProgress& progress);

// Searches every share that plans can rent, with its price: for objectives that depend on devices
// (sextant/objective.h).
void search_rents(UnitSpace& space, AssignmentSearch& deals, ProofProgress& progress);

}  // namespace sextant::inline planner
