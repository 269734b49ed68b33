// The device topology graph of HetRL B.1 as the formulas see it: comp_d, hbm_d, alpha and beta.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/ids.h"
#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/precision.h"

namespace sextant {

// T is double for planning and ceres::Jet for exact derivatives.
template <typename T>
struct LinkCost {
  T latency_s;    // alpha
  T bytes_per_s;  // beta

  // Time of n bytes.
  [[nodiscard]] T transfer_s(const T& bytes) const { return latency_s + bytes / bytes_per_s; }
};

// Rates of the devices and links of one cluster at one precision. Keeps a reference to the cluster.
template <typename T>
class Hardware {
 public:
  // Throws Error(bad_input) when a device type has no rate for the precision.
  Hardware(const Cluster& cluster, Precision precision) : cluster_(&cluster) {
    std::map<std::string, int> index_of;
    for (const auto& [name, type] : cluster.device_types()) {
      index_of[name] = static_cast<int>(types_.size());
      const auto rate = type.flop_per_s.find(precision);
      types_.push_back({name, rate == type.flop_per_s.end() ? T(0.0) : T(rate->second.value),
                        T(type.memory_bytes_per_s.value), type.memory_bytes.value,
                        rate != type.flop_per_s.end()});
    }
    for (int device = 0; device < cluster.device_count(); ++device) {
      const int index = index_of.at(cluster.type_name(DeviceId{device}));
      if (!types_[static_cast<std::size_t>(index)].has_rate) {
        throw_bad_input("cluster " + cluster.name() + ": device type " +
                        types_[static_cast<std::size_t>(index)].name + " has no flop_per_s for " +
                        std::string(name_of(precision)) + ", the workflow's precision");
      }
      type_of_.push_back(index);
    }
  }

  [[nodiscard]] int type_count() const { return static_cast<int>(types_.size()); }
  [[nodiscard]] int type_index(DeviceId device) const { return type_of_[device.index()]; }
  [[nodiscard]] const std::string& type_name(int index) const {
    return types_[static_cast<std::size_t>(index)].name;
  }
  [[nodiscard]] const T& flop_per_s(DeviceId device) const { return type(device).flop_per_s; }
  [[nodiscard]] const T& memory_bytes_per_s(DeviceId device) const { return type(device).memory_bytes_per_s; }
  [[nodiscard]] double memory_bytes(DeviceId device) const { return type(device).memory_bytes; }
  [[nodiscard]] LinkCost<T> link(DeviceId from, DeviceId to) const {
    const LinkRate& rate = cluster_->link(from, to);
    return {T(rate.latency_s.value), T(rate.bytes_per_s.value)};
  }
  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }

 private:
  struct Type {
    std::string name;
    T flop_per_s;
    T memory_bytes_per_s;
    double memory_bytes;
    bool has_rate;
  };
  [[nodiscard]] const Type& type(DeviceId device) const {
    return types_[static_cast<std::size_t>(type_of_[device.index()])];
  }

  const Cluster* cluster_;
  std::vector<Type> types_;
  std::vector<int> type_of_;  // by device
};

}  // namespace sextant
