// Finds the parts of a plan that differ only in the names of their devices.
//
// A device's place is its type, its node, zone and region; numbered in order of first appearance in a part,
// places give a signature, and parts with equal signatures cost the same. On a cluster with exceptional links,
// or with trunks that replicas share, every replica is a class of its own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "costmodel/problem/work.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"

namespace sextant::inline costmodel {

[[nodiscard]] std::vector<ReplicaClass> replica_classes(const TaskPlan& plan,
                                                        const std::vector<ReplicaWork>& work,
                                                        const Cluster& cluster);

// Returns, by stage, the first device of each device type.
[[nodiscard]] std::vector<std::vector<DeviceId>> device_kinds(const Replica& replica, const Cluster& cluster);

[[nodiscard]] bool are_on_one_node(const Cluster& cluster, std::span<const DeviceId> devices);

// Returns the first device of every node, because the others have the same links; all if links differ.
[[nodiscard]] std::vector<DeviceId> unlike_devices(const Cluster& cluster, std::span<const DeviceId> devices);

// If no inner link is slower than an outer one, returns the two members that are farthest apart, whose link is
// the slowest edge of every ring. Returns nullopt if a search is needed (terms/ring.h), or for fewer than two.
[[nodiscard]] std::optional<RingEdge> outermost_edge(const Cluster& cluster, std::span<const DeviceId> members);

// Returns two members of the node that holds more than half of them, if others are elsewhere: every ring has to
// pass a link between two such members. Otherwise a ring can avoid links inside nodes, and it returns nullopt.
[[nodiscard]] std::optional<RingEdge> edge_inside(const Cluster& cluster, std::span<const DeviceId> members);

// Returns the nearest pair of two sets, whose link is the fastest between them; from == to if a device is in
// both. Returns nullopt if all pairs must be compared.
[[nodiscard]] std::optional<RingEdge> innermost_edge(const Cluster& cluster, std::span<const DeviceId> from,
                                                     std::span<const DeviceId> to);

[[nodiscard]] RingNodes nodes_of_ring(const Cluster& cluster, std::span<const DeviceId> members);

// Returns the gradient all-reduces of a training task, one per class. If replicas are cut into different stages
// the layers are grouped into segments that no replica cuts; shard k of a segment is reduced over the device
// that holds it in each replica (shard floor(k TP_i / TP_max) if degrees differ). In order of layers; all
// groups of one segment are adjacent. stages: the stages that reduce at the same time, if the plan is given
// with one of them only; else those of its first replica. With sharded_over a part of the devices: groups of
// neighbours that share what ZeRO shards, or devices of all of these that hold the same shard.
enum class GroupPart { whole, shards, copies };
[[nodiscard]] std::vector<GradientGroup> gradient_groups(const TaskPlan& plan, const Cluster& cluster,
                                                         std::optional<int> stages = std::nullopt,
                                                         GroupPart part = GroupPart::whole);

// Sets the groups of a task's work. stages: as above.
void set_gradient_groups(const TaskPlan& plan, const Cluster& cluster, TaskWork& work,
                         std::optional<int> stages = std::nullopt);

}  // namespace sextant::inline costmodel
