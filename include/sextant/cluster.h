// A cluster document: the device types, the nodes and the links between them.
//
// Links are hierarchical. The rate between two devices is the first match in this list:
//   1. an exception for the two devices, 2. for their nodes, 3. for their zones, 4. for their regions,
//   5. the node's own link (both devices in it),
//   6. the level at which the devices meet: within a node, within a zone (two nodes), within a region
//      (two zones), between regions;
// so ten thousand devices need a handful of numbers, and a bad cable one exception.
// An exception from a zone to itself applies to pairs of nodes of that zone, and one from a region to itself to
// pairs of its zones. Links further inside keep their own rate.
//
// The nodes of a zone can form one island, for example a rack whose NVLink switch joins all of them. They do if
// each has several devices, states the total rate of its adapters, and reaches the others faster than that
// total and at least half as fast as its devices reach each other: such links do not pass the adapters. Any
// other node is an island of its own. Adapters carry the traffic that leaves an island.
//
// A rate is that of two devices that transfer alone. If all devices of two nodes, two zones or two regions
// share one connection, the rate has a capacity as well (Trunk).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/ids.h"
#include "sextant/json.h"
#include "sextant/precision.h"
#include "sextant/quantity.h"

namespace sextant {

enum class DeviceKind { cpu, gpu };

// Any other measurement of a device: the bandwidth of a copy, the latency of a launch, the products of a model.
struct DeviceMeasurement {
  std::string unit;  // "flop/s", "bytes/s", "bytes" or "s"
  Quantity quantity;

  friend bool operator==(const DeviceMeasurement&, const DeviceMeasurement&) = default;
};

struct DeviceType {
  DeviceKind kind = DeviceKind::gpu;
  Quantity memory_bytes;                       // capacity, mem_d of HetRL B.1
  Quantity memory_bytes_per_s;                 // rate of reading device memory, hbm_d
  std::map<Precision, Quantity> flop_per_s;    // dense GEMM rate, comp_d
  std::optional<Quantity> host_bytes_per_s;    // rate of the link to the host, one direction
  std::optional<Quantity> price_usd_per_hour;  // for one device
  // Keys are names of probes ("launch/kernel", "attention/decode/64x4096"). The cost model does not read them.
  std::map<std::string, DeviceMeasurement> measurements = {};

  friend bool operator==(const DeviceType&, const DeviceType&) = default;
};

// One direction of a link between two devices. The time of n bytes is latency_s + n / bytes_per_s.
struct LinkRate {
  Quantity latency_s;    // alpha of HetRL B.1
  Quantity bytes_per_s;  // beta
  // The total rate of all transfers between the two nodes, zones or regions; absent: no limit.
  std::optional<Quantity> capacity_bytes_per_s = {};

  friend bool operator==(const LinkRate&, const LinkRate&) = default;
  static LinkRate parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

struct Node {
  std::string name;
  std::string region;
  std::string zone;
  std::string device_type;
  int devices = 1;
  std::optional<double> host_memory_bytes;
  std::optional<LinkRate> link;  // between devices of this node, if it differs from the level's
  std::optional<double> network_bytes_per_s = {};  // all adapters together, one direction; absent: no limit
  bool rented_whole = false;  // a plan that uses one of its devices pays for all, as for an instance of a cloud

  friend bool operator==(const Node&, const Node&) = default;
};

// The innermost level that contains both devices, from the inside out.
enum class LinkLevel { within_node, within_zone, within_region, between_regions };
inline constexpr int kLinkLevelCount = 4;

// The kind of object that the two names of an exception refer to.
enum class LinkScope { device, node, zone, region };
inline constexpr int kLinkScopeCount = 4;

// `from` and `to` are names: "node/3" for the fourth device of a node, otherwise a node, zone or region.
struct LinkException {
  LinkScope scope = LinkScope::node;
  std::string from;
  std::string to;
  LinkRate rate;
  bool both_ways = true;

  friend bool operator==(const LinkException&, const LinkException&) = default;
};

// A connection that all devices of two nodes, zones or regions share in one direction.
struct Trunk {
  LinkScope scope = LinkScope::node;
  int from = 0;  // number of the node, zone or region
  int to = 0;
  double bytes_per_s = 0;

  friend auto operator<=>(const Trunk&, const Trunk&) = default;
};

class Cluster {
 public:
  static constexpr std::string_view kKind = "cluster";
  // 1.1: measurements of devices and links, environment. 1.2: capacities of links.
  static constexpr SchemaVersion kVersion{1, 3};

  Cluster() = default;
  // Checks the whole cluster: node types exist, names are unique, links cover every pair of devices. Throws
  // Error(bad_input) with the JSON path in the document.
  Cluster(std::string name, std::map<std::string, DeviceType> device_types, std::vector<Node> nodes,
          std::map<LinkLevel, LinkRate> levels, std::vector<LinkException> exceptions = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::map<std::string, DeviceType>& device_types() const { return device_types_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<LinkLevel, LinkRate>& levels() const { return levels_; }
  [[nodiscard]] const std::vector<LinkException>& exceptions() const { return exceptions_; }
  // Settings of NCCL, MPI and network plug-ins during the measurement, by name. They are information for
  // people; no computation uses them.
  [[nodiscard]] const std::map<std::string, std::string>& environment() const { return environment_; }
  void set_environment(std::map<std::string, std::string> environment) {
    environment_ = std::move(environment);
  }

  // Devices are numbered 0 .. device_count() - 1 through the nodes in order.
  [[nodiscard]] int device_count() const { return static_cast<int>(node_of_.size()); }
  [[nodiscard]] bool contains(DeviceId device) const {
    return device.value >= 0 && device.value < device_count();
  }
  [[nodiscard]] NodeId node_of(DeviceId device) const {
    SEXTANT_CHECK(contains(device));
    return node_of_[device.index()];
  }
  [[nodiscard]] const std::string& type_name(DeviceId device) const;
  [[nodiscard]] const DeviceType& type_of(DeviceId device) const;
  [[nodiscard]] std::string device_name(DeviceId device) const;  // "node/3"
  [[nodiscard]] LinkLevel level_between(DeviceId from, DeviceId to) const;
  // True if there are no exceptions, so that devices differ only by the class of their node and their location.
  [[nodiscard]] bool has_uniform_links() const { return exceptions_.empty(); }
  // True if some exception is between two devices, so that devices of one node may differ.
  [[nodiscard]] bool has_links_of_devices() const {
    return !exception_of_[static_cast<std::size_t>(LinkScope::device)].empty();
  }
  // True if all exceptions, if any, are between zones or regions, so that devices of one zone differ only by
  // the class of their node.
  [[nodiscard]] bool has_zonal_links() const;
  // True if links depend on the level alone, no inner level is slower than an outer one, and all nodes have the
  // same network. Then the slowest edge of any ring joins two members that are as far apart as any two.
  [[nodiscard]] bool has_monotone_links() const { return monotone_; }
  // Number of the node's class. Nodes of one class have the same devices, link and network.
  [[nodiscard]] int node_class(NodeId node) const { return class_of_[node.index()]; }
  [[nodiscard]] int zone_number(NodeId node) const { return zone_of_[node.index()]; }
  [[nodiscard]] int region_number(NodeId node) const { return region_of_[node.index()]; }
  // True if some island has several nodes.
  [[nodiscard]] bool has_islands() const { return has_islands_; }
  // Number of the node's island. Nodes of one island have the same number; a node on its own has its own.
  [[nodiscard]] int island(NodeId node) const { return island_of_[node.index()]; }
  [[nodiscard]] bool is_one_island(DeviceId a, DeviceId b) const {
    return island(node_of(a)) == island(node_of(b));
  }
  // The rate between two devices; requires from != to.
  [[nodiscard]] const LinkRate& link(DeviceId from, DeviceId to) const;
  // True if some link has a capacity.
  [[nodiscard]] bool has_trunks() const { return has_trunks_; }
  // The shared connection that carries the link between two devices, if it has a capacity; requires from != to.
  [[nodiscard]] std::optional<Trunk> trunk(DeviceId from, DeviceId to) const;
  // Number of the node, zone or region of a device; LinkScope::device is not allowed.
  [[nodiscard]] int place_number(LinkScope scope, DeviceId device) const;

  friend bool operator==(const Cluster&, const Cluster&) = default;
  static Cluster parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;

  // The constructor refuses a cluster with more devices, so that a typing error cannot fill the memory.
  static constexpr int kMaxDevices = 1'000'000;

 private:
  // Index of the exception by directed pair of devices, nodes, zones or regions.
  using ExceptionIndex = std::unordered_map<std::uint64_t, std::size_t>;

  // Numbers of the nodes, zones and regions by name.
  using NumberOf = std::array<std::unordered_map<std::string, int>, kLinkScopeCount>;

  void index_devices();
  void index_exceptions();
  [[nodiscard]] bool find_monotone() const;
  void find_islands();
  [[nodiscard]] int find_class(std::size_t node) const;
  void check_nodes() const;
  void check_levels() const;
  [[nodiscard]] NumberOf number_by_scope() const;
  [[nodiscard]] int find_in_scope(const NumberOf& numbers, LinkScope scope, const std::string& name) const;
  [[nodiscard]] const LinkRate* exception_between(LinkScope scope, int from, int to) const;
  void check_capacities() const;
  // A rate and the scope (node, zone, ...) at which it holds.
  struct FoundLink {
    const LinkRate* rate;
    LinkScope between;
  };
  [[nodiscard]] FoundLink find_link(DeviceId from, DeviceId to) const;

  std::string name_;
  std::map<std::string, DeviceType> device_types_;
  std::vector<Node> nodes_;
  std::map<LinkLevel, LinkRate> levels_;
  std::vector<LinkException> exceptions_;
  std::map<std::string, std::string> environment_;
  // Derived from the members above, so that link() is a few look-ups.
  std::vector<NodeId> node_of_;    // by device
  std::vector<int> first_device_;  // by node
  std::vector<int> zone_of_;       // by node; zones and regions are numbered as they appear
  std::vector<int> region_of_;     // by node
  std::vector<int> class_of_;      // by node
  std::vector<int> island_of_;     // by node
  bool monotone_ = true;
  bool has_trunks_ = false;
  bool has_islands_ = false;
  std::array<ExceptionIndex, kLinkScopeCount> exception_of_;  // by scope
};

}  // namespace sextant
