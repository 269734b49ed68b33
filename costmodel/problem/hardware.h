// The device topology graph of HetRL B.1 as the formulas see it: comp_d, hbm_d, alpha and beta.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/error.h"
#include "sextant/ids.h"
#include "sextant/precision.h"

namespace sextant::inline costmodel {

// T is double for planning and ceres::Jet for exact derivatives.
template <typename T>
struct LinkCost {
  T latency_s;    // alpha
  T bytes_per_s;  // beta

  // Returns the time of a transfer of n bytes.
  [[nodiscard]] T transfer_s(const T& bytes) const { return latency_s + bytes / bytes_per_s; }
};

// Rates of the devices and links of one cluster. Keeps a reference to the cluster.
template <typename T>
class Hardware {
 public:
  // Rates that the cluster does not state are zero: check_plan says whether a plan needs one of them.
  explicit Hardware(const Cluster& cluster) : cluster_(&cluster) {
    std::map<std::string, int> index_of;
    auto rates = std::make_shared<Rates>();
    for (const auto& [name, type] : cluster.device_types()) {
      index_of[name] = static_cast<int>(rates->types.size());
      Type entry{name, {}, {}, T(type.memory_bytes_per_s.value), type.memory_bytes.value, T(0.0)};
      for (const auto& [format, rate] : type.flop_per_s) {
        entry.flop_per_s[static_cast<std::size_t>(format)] = T(rate.value);
        entry.has_rate[static_cast<std::size_t>(format)] = true;
      }
      if (type.host_bytes_per_s) entry.host_bytes_per_s = T(type.host_bytes_per_s->value);
      rates->types.push_back(std::move(entry));
    }
    for (const Node& node : cluster.nodes()) rates->type_of_node.push_back(index_of.at(node.device_type));
    rates_ = std::move(rates);
  }
  // Constructor for plans that may use any device: throws Error(bad_input) if one of them has no rate for the
  // workflow's precision.
  Hardware(const Cluster& cluster, Precision precision) : Hardware(cluster) {
    for (const int index : rates_->type_of_node) {
      const Type& type = rates_->types[static_cast<std::size_t>(index)];
      if (!type.has_rate[static_cast<std::size_t>(precision)]) {
        throw_bad_input("cluster " + cluster.name() + ": device type " + type.name + " has no flop_per_s for " +
                        std::string(name_of(precision)) + ", the workflow's precision");
      }
    }
  }

  [[nodiscard]] int type_count() const { return static_cast<int>(rates_->types.size()); }
  [[nodiscard]] int type_index(DeviceId device) const {
    return rates_->type_of_node[cluster_->node_of(device).index()];
  }
  [[nodiscard]] const std::string& type_name(int index) const {
    return rates_->types[static_cast<std::size_t>(index)].name;
  }
  [[nodiscard]] const T& flop_per_s(DeviceId device, Precision precision) const {
    return type(device).flop_per_s[static_cast<std::size_t>(precision)];
  }
  [[nodiscard]] const T& memory_bytes_per_s(DeviceId device) const { return type(device).memory_bytes_per_s; }
  [[nodiscard]] double memory_bytes(DeviceId device) const { return type(device).memory_bytes; }
  // The rate of the link to the host; zero if the cluster does not state it.
  [[nodiscard]] const T& host_bytes_per_s(DeviceId device) const { return type(device).host_bytes_per_s; }
  [[nodiscard]] LinkCost<T> link(DeviceId from, DeviceId to) const {
    const LinkRate& rate = cluster_->link(from, to);
    return {T(rate.latency_s.value), T(rate.bytes_per_s.value)};
  }
  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }

 private:
  struct Type {
    std::string name;
    std::array<T, kPrecisionCount> flop_per_s;
    std::array<bool, kPrecisionCount> has_rate;
    T memory_bytes_per_s;
    double memory_bytes;
    T host_bytes_per_s;
  };
  [[nodiscard]] const Type& type(DeviceId device) const {
    return rates_->types[static_cast<std::size_t>(type_index(device))];
  }

  struct Rates {
    std::vector<Type> types;
    std::vector<int> type_of_node;
  };

  const Cluster* cluster_;
  std::shared_ptr<const Rates> rates_;  // shared by copies: a fit uses one cluster many times
};

}  // namespace sextant::inline costmodel
