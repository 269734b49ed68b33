#include "planner/baselines/subsets.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "planner/baselines/sweep.h"
#include "planner/exact/bound.h"
#include "sextant/search_space.h"

namespace sextant::inline planner {
namespace {

constexpr std::size_t kMaxFamilies = 12;  // zones and types; those with the most devices are taken

struct NodeDevices {
  std::string type;
  std::vector<std::uint16_t> devices;
};

std::vector<NodeDevices> node_devices_of(const Cluster& cluster) {
  std::vector<NodeDevices> nodes;
  std::uint16_t next = 0;
  for (const Node& node : cluster.nodes()) {
    NodeDevices& of = nodes.emplace_back(NodeDevices{node.device_type, {}});
    for (int d = 0; d < node.devices; ++d) of.devices.push_back(next++);
  }
  return nodes;
}

// Nodes by number that have a type, a zone or both in common, the largest families first.
std::vector<std::vector<std::size_t>> families_of(const Cluster& cluster) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> by_name;
  for (std::size_t n = 0; n < cluster.nodes().size(); ++n) {
    const Node& node = cluster.nodes()[n];
    const std::string zone = node.region + "/" + node.zone;
    for (const auto& name : {std::pair{node.device_type, std::string()}, std::pair{std::string(), zone},
                             std::pair{std::string(), node.region}, std::pair{node.device_type, zone}})
      by_name[name].push_back(n);
  }
  std::vector<std::vector<std::size_t>> families;
  for (auto& [name, nodes] : by_name) {
    if (std::find(families.begin(), families.end(), nodes) == families.end()) families.push_back(nodes);
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (families.size() > kMaxFamilies) families.resize(kMaxFamilies);
  return families;
}

// Equal pieces of a node, so that generation and training may have some each: `wanted`, or the next smaller number
// that divides its devices.
ClusterPart pieces_of(const NodeDevices& node, std::size_t wanted) {
  std::size_t count = std::min(wanted, node.devices.size());
  while (node.devices.size() % count != 0) --count;
  const auto size = static_cast<std::ptrdiff_t>(node.devices.size() / count);
  ClusterPart pieces;
  for (auto first = node.devices.begin(); first != node.devices.end(); first += size)
    pieces.emplace_back(first, first + size);
  return pieces;
}

// At least about four units and at most about 16, of neighbours that have one type.
ClusterPart part_of_nodes(const std::vector<NodeDevices>& nodes, const std::vector<std::size_t>& chosen,
                          std::size_t count) {
  constexpr std::size_t kMaxUnits = 16;
  const std::size_t together = (count + kMaxUnits - 1) / kMaxUnits;
  ClusterPart part;
  constexpr std::size_t kMinUnits = 4;
  if (count < kMinUnits) {
    for (std::size_t n = 0; n < count; ++n) {
      for (auto& piece : pieces_of(nodes[chosen[n]], kMinUnits / count)) part.push_back(std::move(piece));
    }
    return part;
  }
  std::size_t in_last = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const NodeDevices& node = nodes[chosen[n]];
    const bool joins = n > 0 && in_last < together && node.type == nodes[chosen[n - 1]].type;
    if (!joins) part.emplace_back();
    in_last = joins ? in_last + 1 : 1;
    part.back().insert(part.back().end(), node.devices.begin(), node.devices.end());
  }
  return part;
}

std::size_t devices_in(const ClusterPart& part) {
  std::size_t count = 0;
  for (const auto& unit : part) count += unit.size();
  return count;
}

std::vector<std::uint16_t> devices_of_part(const ClusterPart& part) {
  std::vector<std::uint16_t> devices;
  for (const auto& unit : part) devices.insert(devices.end(), unit.begin(), unit.end());
  return devices;
}

// The devices by their type.
std::map<std::string, std::vector<std::uint16_t>> by_type(const Cluster& cluster,
                                                          const std::vector<std::uint16_t>& devices) {
  std::map<std::string, std::vector<std::uint16_t>> types;
  for (const std::uint16_t device : devices) types[cluster.type_name(DeviceId{device})].push_back(device);
  return types;
}

// An estimate of the time with even shares, with which all devices are as slow as the slowest type.
double even_s(const PartBound& min_s_on, const Cluster& cluster, const std::vector<std::uint16_t>& devices) {
  double slowest_s = 0;
  for (const auto& [name, of_type] : by_type(cluster, devices)) {
    const double share = static_cast<double>(of_type.size()) / static_cast<double>(devices.size());
    slowest_s = std::max(slowest_s, min_s_on(of_type) * share);
  }
  return slowest_s;
}

// An estimate of the loss of a plan that uses all of these devices with even shares: seconds or dollars.
double even_loss(const PlanRequest& request, const PartBound& min_s_on,
                 const std::vector<std::uint16_t>& devices) {
  std::set<DeviceId> used;
  for (const std::uint16_t device : devices) used.insert(DeviceId{device});
  return loss_of(request.objective, even_s(min_s_on, request.cluster, devices),
                 rented_devices(used, request.cluster));
}

// A part with a lower bound of the time of its plans, and an estimate of their loss; both are 0 if the number of devices
// decides.
struct BoundedPart {
  ClusterPart part;
  double min_s = 0;
  double loss = 0;
};

// The part that may be best with even shares is the first; if the number of devices decides it is the smallest.
std::vector<BoundedPart> parts_in_order(const PlanRequest& request) {
  std::vector<BoundedPart> parts;
  for (ClusterPart& part : cluster_parts_of(request.cluster)) parts.push_back({std::move(part)});
  if (request.objective.goal == Goal::devices) return parts;
  const PartBound min_s_on = part_bound(request);
  for (BoundedPart& one : parts) {
    const std::vector<std::uint16_t> devices = devices_of_part(one.part);
    one.min_s = min_s_on(devices);
    one.loss = even_loss(request, min_s_on, devices);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const BoundedPart& a, const BoundedPart& b) { return a.loss < b.loss; });
  return parts;
}

std::vector<UnitClass> as_classes(const ClusterPart& part) {
  std::vector<UnitClass> classes;
  for (const auto& unit : part) classes.push_back({static_cast<int>(unit.size()), {unit}});
  return classes;
}

}  // namespace

std::vector<ClusterPart> cluster_parts_of(const Cluster& cluster) {
  const std::vector<NodeDevices> nodes = node_devices_of(cluster);
  std::vector<ClusterPart> parts;
  std::set<std::vector<std::uint16_t>> known;
  const auto add = [&](ClusterPart part) {
    std::vector<std::uint16_t> devices = devices_of_part(part);
    if (devices.size() == static_cast<std::size_t>(cluster.device_count())) return;
    if (known.insert(std::move(devices)).second) parts.push_back(std::move(part));
  };
  for (const std::vector<std::size_t>& family : families_of(cluster)) {
    const std::vector<std::uint16_t>& first = nodes[family.front()].devices;
    for (std::size_t count = 1; count < first.size(); count *= 2) {
      ClusterPart part;  // devices one by one: generation and training may have some each
      for (std::size_t d = 0; d < count; ++d) part.push_back({first[d]});
      add(std::move(part));
    }
    for (std::size_t count = 1; count < family.size(); count *= 2) {
      add(part_of_nodes(nodes, family, count));
      add(part_of_nodes(nodes, family, family.size() / count * count));
    }
    add(part_of_nodes(nodes, family, family.size()));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const ClusterPart& a, const ClusterPart& b) { return devices_in(a) < devices_in(b); });
  return parts;
}

PlanResult plan_by_subsets(const PlanRequest& request) {
  require_no_pins(request.limits.pins, "subsets");
  // A run without a start goes on for a while after its budget. The plan of one part is enough to end it.
  const auto began = std::chrono::steady_clock::now();
  const auto is_late = [&request, began] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
    return request.budget.seconds > 0 && elapsed.count() >= request.budget.seconds;
  };
  const bool is_time_alone = request.objective.is_time_alone();
  const std::vector<BoundedPart> parts = parts_in_order(request);
  const double start_s = request.start != nullptr ? request.start->prediction->iteration_s
                                                  : std::numeric_limits<double>::infinity();
  SearchRun run(request, 0);
  Sweep sweep(run);
  const TaskGrouping in_two =
      two_groups(request.workflow, [](const Task& task) { return task.kind == TaskKind::generation; });
  const bool may_overlap = request.workflow.mode != Mode::synchronous && in_two.groups == 2;
  for (const auto& [part, min_s, estimated_loss] : parts) {
    if (is_time_alone && min_s >= std::min(start_s, sweep.min_loss())) continue;
    const std::vector<UnitClass> units = as_classes(part);
    if (request.device_rules.apart.empty()) sweep.glance_at_one_set(units);
    if (may_overlap) sweep.glance_at_splits(in_two, units);
    // Costing a part takes longer than improving its plans, and good plans exclude further parts.
    if (request.objective.goal != Goal::devices) sweep.descend_from_best_glances();
    if (run.is_over() || (is_late() && sweep.min_loss() < std::numeric_limits<double>::infinity())) break;
  }
  sweep.descend_from_best_glances();
  return run.result("subsets");
}

bool is_type_first(const PlanRequest& request) {
  if (request.objective.goal == Goal::devices || request.objective.has_limits()) return false;
  std::vector<std::uint16_t> all(static_cast<std::size_t>(request.cluster.device_count()));
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const auto types = by_type(request.cluster, all);
  if (types.size() < 2) return false;
  const PartBound min_s_on = part_bound(request);
  double alone = std::numeric_limits<double>::infinity();
  for (const auto& [name, devices] : types) alone = std::min(alone, even_loss(request, min_s_on, devices));
  return alone < even_loss(request, min_s_on, all);
}

}  // namespace sextant::inline planner
