// The cost-guided graph partition of AReaL-Hex (section 4.3): the devices that train, for a given share of the
// arithmetic.
//
// Equation 3 maximises the fraction of all link bandwidth between devices of training plus the fraction of all
// memory bandwidth of rollout, subject to training having a fraction gamma of all FLOP/s. Devices are assigned
// in units (planner/space/units.h) and machines that are alike form one class. Training takes its units of a
// class from the front, rollout from the back, so that a partition is a number of units per class. Bandwidth
// between two units is that between their first devices.
#pragma once

#include <vector>

#include "planner/space/units.h"
#include "planner/two_phase/search_phase.h"
#include "sextant/planner.h"

namespace sextant::inline planner {

// Units of each class that train; the others roll out.
using Partition = UnitShare;

class PartitionGraph {
 public:
  // Units are single devices if the cluster has at most `wanted_units` devices.
  PartitionGraph(const PlanRequest& request, int wanted_units);

  [[nodiscard]] const std::vector<UnitClass>& classes() const { return classes_; }
  [[nodiscard]] DeviceSplit split_of(const Partition& partition) const;
  // The last `value` units of training in each class go to the critic; fewer than all of them.
  [[nodiscard]] DeviceSplit split_of(const Partition& partition, const Partition& value) const;
  [[nodiscard]] double compute_fraction(const Partition& partition) const;  // of training
  [[nodiscard]] double guide(const Partition& partition) const;             // objective of equation 3
  [[nodiscard]] double largest_unit_fraction() const { return largest_unit_fraction_; }

  // Number of partitions that leave no side empty.
  [[nodiscard]] double count() const;
  // All partitions, or an evenly spaced subset of them if there are too many.
  [[nodiscard]] const std::vector<Partition>& partitions() const { return partitions_; }

  // Equation 3: the partition with the best guide among those within half a unit of the wanted fraction, or, if
  // there is none, among the nearest.
  [[nodiscard]] Partition best_at(double compute_fraction) const;

  // Partitions in which one class gains or loses a few units, or two classes exchange some.
  [[nodiscard]] std::vector<Partition> neighbours(const Partition& partition) const;

 private:
  [[nodiscard]] double bandwidth_between(std::size_t a, std::size_t b) const;
  [[nodiscard]] bool leaves_none_empty(const Partition& partition) const;
  void list_partitions();

  const Cluster& cluster_;
  std::vector<UnitClass> classes_;
  std::vector<double> flop_per_s_;                    // of a unit, by class
  std::vector<double> memory_bytes_per_s_;            // likewise
  std::vector<std::vector<double>> inner_bandwidth_;  // by class, then number of units from the front
  std::vector<std::vector<double>> pair_bandwidth_;   // between single devices of two classes
  double all_flop_per_s_ = 0, all_memory_ = 0, all_bandwidth_ = 0;
  double largest_unit_fraction_ = 0;
  std::vector<Partition> partitions_;
};

}  // namespace sextant::inline planner
