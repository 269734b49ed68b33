#include "planner/baselines/subsets.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "planner/baselines/sweep.h"
#include "planner/exact/bound.h"
#include "sextant/search_space.h"

namespace sextant {
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

// At most about 16 units, of neighbours that have one type.
ClusterPart part_of_nodes(const std::vector<NodeDevices>& nodes, const std::vector<std::size_t>& chosen,
                          std::size_t count) {
  constexpr std::size_t kMaxUnits = 16;
  const std::size_t together = (count + kMaxUnits - 1) / kMaxUnits;
  ClusterPart part;
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

// A part with a lower bound of the time of its plans; 0 if another goal decides.
struct BoundedPart {
  ClusterPart part;
  double min_s = 0;
};

// The part whose plans may be fastest is the first; for other goals it is the smallest.
std::vector<BoundedPart> parts_in_order(const PlanRequest& request) {
  std::vector<BoundedPart> parts;
  for (ClusterPart& part : cluster_parts_of(request.cluster)) parts.push_back({std::move(part), 0});
  if (request.objective.goal != Goal::time) return parts;
  const PartBound min_s_on = part_bound(request);
  for (BoundedPart& one : parts) one.min_s = min_s_on(devices_of_part(one.part));
  std::stable_sort(parts.begin(), parts.end(),
                   [](const BoundedPart& a, const BoundedPart& b) { return a.min_s < b.min_s; });
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
    for (std::size_t count = 1; count < family.size(); count *= 2) add(part_of_nodes(nodes, family, count));
    add(part_of_nodes(nodes, family, family.size()));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const ClusterPart& a, const ClusterPart& b) { return devices_in(a) < devices_in(b); });
  return parts;
}

PlanResult plan_by_subsets(const PlanRequest& request) {
  require_no_pins(request.limits.pins, "subsets");
  const bool is_time_alone = request.objective.is_time_alone();
  const std::vector<BoundedPart> parts = parts_in_order(request);
  const double start_s = request.start != nullptr ? request.start->prediction->iteration_s
                                                  : std::numeric_limits<double>::infinity();
  SearchRun run(request, 0);
  Sweep sweep(run);
  const TaskGrouping in_two =
      two_groups(request.workflow, [](const Task& task) { return task.kind == TaskKind::generation; });
  const bool may_overlap = request.workflow.mode != Mode::synchronous && in_two.groups == 2;
  for (const auto& [part, min_s] : parts) {
    if (is_time_alone && min_s >= std::min(start_s, sweep.min_loss())) break;  // nor can later ones be faster
    const std::vector<UnitClass> units = as_classes(part);
    if (request.device_rules.apart.empty()) sweep.glance_at_one_set(units);
    if (may_overlap) sweep.glance_at_splits(in_two, units);
    // Costing a part takes longer than improving its plans, and good plans exclude further parts.
    if (is_time_alone) sweep.descend_from_best_glances();
    if (run.is_over()) break;
  }
  sweep.descend_from_best_glances();
  return run.result("subsets");
}

bool is_type_first(const PlanRequest& request) {
  if (!request.objective.is_time_alone()) return false;
  std::map<std::string, std::vector<std::uint16_t>> types;
  for (const NodeDevices& node : node_devices_of(request.cluster)) {
    std::vector<std::uint16_t>& all = types[node.type];
    all.insert(all.end(), node.devices.begin(), node.devices.end());
  }
  if (types.size() < 2) return false;
  const PartBound min_s_on = part_bound(request);
  double alone_s = std::numeric_limits<double>::infinity(), slowest_s = 0;
  for (const auto& [name, devices] : types) {
    const double min_s = min_s_on(devices);
    const double share = static_cast<double>(devices.size()) / request.cluster.device_count();
    alone_s = std::min(alone_s, min_s);
    slowest_s = std::max(slowest_s, min_s * share);  // all devices as slow as these
  }
  return alone_s < slowest_s;
}

}  // namespace sextant
