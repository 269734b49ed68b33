#include "planner/two_phase/partition.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::inline planner {
namespace {

constexpr double kMaxListed = 50'000;

double bytes_per_s(const Cluster& cluster, std::uint16_t from, std::uint16_t to) {
  return cluster.link(DeviceId{from}, DeviceId{to}).bytes_per_s.value;
}

// The sum over all pairs of devices in the first k units, for every k.
std::vector<double> inner_bandwidths(const Cluster& cluster, const UnitClass& of_class) {
  std::vector<double> sums{0};
  const double devices = of_class.devices, pairs_inside = 0.5 * devices * (devices - 1);
  for (std::size_t k = 0; k < of_class.units.size(); ++k) {
    const std::vector<std::uint16_t>& unit = of_class.units[k];
    double added = unit.size() > 1 ? pairs_inside * bytes_per_s(cluster, unit[0], unit[1]) : 0;
    for (std::size_t other = 0; other < k; ++other)
      added += devices * devices * bytes_per_s(cluster, unit[0], of_class.units[other][0]);
    sums.push_back(sums.back() + added);
  }
  return sums;
}

}  // namespace

PartitionGraph::PartitionGraph(const PlanRequest& request, int wanted_units)
    : cluster_(request.cluster), classes_(unit_classes(request.cluster, wanted_units)) {
  for (const UnitClass& of_class : classes_) {
    const DeviceType& type = cluster_.type_of(DeviceId{of_class.units.front().front()});
    flop_per_s_.push_back(of_class.devices * type.flop_per_s.at(request.workflow.precision).value);
    memory_bytes_per_s_.push_back(of_class.devices * type.memory_bytes_per_s.value);
    inner_bandwidth_.push_back(inner_bandwidths(cluster_, of_class));
    all_flop_per_s_ += flop_per_s_.back() * of_class.count();
    all_memory_ += memory_bytes_per_s_.back() * of_class.count();
  }
  for (std::size_t a = 0; a < classes_.size(); ++a) {
    pair_bandwidth_.emplace_back();
    for (std::size_t b = 0; b < classes_.size(); ++b)
      pair_bandwidth_.back().push_back(a == b ? 0 : bandwidth_between(a, b));
  }
  for (const double flop : flop_per_s_)
    largest_unit_fraction_ = std::max(largest_unit_fraction_, flop / all_flop_per_s_);
  Partition all;
  for (const UnitClass& of_class : classes_) all.push_back(of_class.count());
  all_bandwidth_ = 1;  // guide() divides by it
  const double of_all = guide(all);
  if (of_all > 0) all_bandwidth_ = of_all;
  list_partitions();
}

double PartitionGraph::bandwidth_between(std::size_t a, std::size_t b) const {
  return bytes_per_s(cluster_, classes_[a].units.front().front(), classes_[b].units.front().front());
}

DeviceSplit PartitionGraph::split_of(const Partition& partition) const {
  return split_of(partition, Partition(classes_.size(), 0));
}

DeviceSplit PartitionGraph::split_of(const Partition& partition, const Partition& value) const {
  DeviceSplit split;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (int u = 0; u < classes_[c].count(); ++u) {
      std::vector<DeviceId>& side = u >= partition[c]              ? split.rollout
                                    : u >= partition[c] - value[c] ? split.value
                                                                   : split.training;
      for (const std::uint16_t device : classes_[c].units[static_cast<std::size_t>(u)])
        side.push_back(DeviceId{device});
    }
  }
  for (std::vector<DeviceId>* side : {&split.training, &split.rollout, &split.value})
    std::sort(side->begin(), side->end());
  return split;
}

double PartitionGraph::compute_fraction(const Partition& partition) const {
  double flop = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) flop += partition[c] * flop_per_s_[c];
  return flop / all_flop_per_s_;
}

double PartitionGraph::guide(const Partition& partition) const {
  double bandwidth = 0, memory = 0;
  for (std::size_t a = 0; a < classes_.size(); ++a) {
    bandwidth += inner_bandwidth_[a][static_cast<std::size_t>(partition[a])];
    for (std::size_t b = 0; b < a; ++b) {
      bandwidth +=
          pair_bandwidth_[a][b] * partition[a] * classes_[a].devices * partition[b] * classes_[b].devices;
    }
    memory += memory_bytes_per_s_[a] * (classes_[a].count() - partition[a]);
  }
  return bandwidth / all_bandwidth_ + memory / all_memory_;
}

bool PartitionGraph::leaves_none_empty(const Partition& partition) const {
  bool trains = false, rolls_out = false;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    trains = trains || partition[c] > 0;
    rolls_out = rolls_out || partition[c] < classes_[c].count();
  }
  return trains && rolls_out;
}

double PartitionGraph::count() const {
  double product = 1;
  for (const UnitClass& of_class : classes_) product *= of_class.count() + 1;
  return product - 2;
}

void PartitionGraph::list_partitions() {
  // If there are too many partitions, classes give units in steps, and none or all of them.
  int step = 1;
  const auto listed = [&] {
    double product = 1;
    for (const UnitClass& of_class : classes_) product *= std::ceil(1.0 * of_class.count() / step) + 1;
    return product;
  };
  const auto largest = [&] {
    int maximum = 0;
    for (const UnitClass& of_class : classes_) maximum = std::max(maximum, of_class.count());
    return maximum;
  };
  while (listed() > kMaxListed && step < largest()) ++step;
  std::vector<Partition> all{{}};
  for (const UnitClass& of_class : classes_) {
    std::vector<Partition> longer;
    for (const Partition& partition : all) {
      if (static_cast<double>(longer.size()) > 8 * kMaxListed) break;
      for (int units = 0;; units = std::min(units + step, of_class.count())) {
        longer.push_back(partition);
        longer.back().push_back(units);
        if (units == of_class.count()) break;
      }
    }
    all = std::move(longer);
  }
  for (Partition& partition : all) {
    if (leaves_none_empty(partition)) partitions_.push_back(std::move(partition));
  }
}

Partition PartitionGraph::best_at(double wanted) const {
  double nearest = 2;
  for (const Partition& partition : partitions_)
    nearest = std::min(nearest, std::abs(compute_fraction(partition) - wanted));
  const double within = std::max(nearest, 0.5 * largest_unit_fraction_) + 1e-12;
  const Partition* best = nullptr;
  double maximum = 0;
  for (const Partition& partition : partitions_) {
    if (std::abs(compute_fraction(partition) - wanted) > within) continue;
    const double value = guide(partition);
    if (best == nullptr || value > maximum) {
      best = &partition;
      maximum = value;
    }
  }
  return *best;
}

std::vector<Partition> PartitionGraph::neighbours(const Partition& partition) const {
  std::vector<Partition> found;
  const auto add = [&](const Partition& other) {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (other[c] < 0 || other[c] > classes_[c].count()) return;
    }
    if (other != partition && leaves_none_empty(other) &&
        std::find(found.begin(), found.end(), other) == found.end())
      found.push_back(other);
  };
  for (std::size_t a = 0; a < classes_.size(); ++a) {
    for (int units = 1; units <= classes_[a].count(); units *= 2) {
      for (const int sign : {-1, 1}) {
        Partition other = partition;
        other[a] += sign * units;
        add(other);
        // The replacement in another class: as much arithmetic, or all of its units.
        for (std::size_t b = 0; b < classes_.size(); ++b) {
          if (b == a) continue;
          const int as_much =
              std::max(1, static_cast<int>(std::lround(units * flop_per_s_[a] / flop_per_s_[b])));
          Partition exchanged = other;
          exchanged[b] = std::clamp(partition[b] - sign * as_much, 0, classes_[b].count());
          add(exchanged);
          exchanged[b] = std::clamp(partition[b] - sign * units, 0, classes_[b].count());
          add(exchanged);
        }
      }
    }
  }
  return found;
}

}  // namespace sextant::inline planner
