// How a group runs, what it occupies, and what all groups together cost over time.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/coschedule/tail.h"

namespace sextant::coschedule {

struct GroupUse {
  std::vector<double> iteration_s;  // by member
  double rollout_nodes = 0, training_nodes = 0;
  double rollout_busy_nodes = 0, training_busy_nodes = 0;  // on average
};

// Members take turns phase by phase. Turns that repeat members were chosen at the bounds: they are taken if they gain
// something and keep all promises with the iterations that run, too.
[[nodiscard]] GroupUse use_by_turns(const RunningGroup& running, TailRule tails, double tail_threshold);

// The cost and the nodes of all groups, now and over the time that has passed.
class Account {
 public:
  explicit Account(const Pools& pools) : pools_(pools) {}

  void add(const std::string& group, const GroupUse& use);
  // The group must have been added.
  void remove(const std::string& group);
  void pass(double seconds);

  [[nodiscard]] double usd_per_hour() const { return usd_per_hour_; }
  [[nodiscard]] double rollout_nodes() const { return rollout_nodes_; }
  [[nodiscard]] double training_nodes() const { return training_nodes_; }
  // Nodes that work over all nodes; 0 without nodes.
  [[nodiscard]] double rollout_busy_fraction() const;
  [[nodiscard]] double training_busy_fraction() const;

  [[nodiscard]] double total_usd() const { return usd_; }
  // Over all time.
  [[nodiscard]] double total_rollout_busy_fraction() const;
  [[nodiscard]] double total_training_busy_fraction() const;

 private:
  struct Sums {
    double usd_per_hour = 0, rollout_nodes = 0, training_nodes = 0;
    double rollout_busy = 0, training_busy = 0;  // nodes, on average
  };
  void add(const Sums& sums, double sign);

  const Pools& pools_;
  std::unordered_map<std::string, Sums> groups_;
  double usd_per_hour_ = 0, rollout_nodes_ = 0, training_nodes_ = 0, rollout_busy_ = 0, training_busy_ = 0;
  double usd_ = 0, rollout_paid_s_ = 0, training_paid_s_ = 0, rollout_busy_s_ = 0, training_busy_s_ = 0;
};

}  // namespace sextant::coschedule
