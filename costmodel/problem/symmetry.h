// Which parts of a plan differ in the names of devices only.
//
// A device's place is its type, its node, zone and region; numbered as they first appear in a part, places give
// a signature, and parts with equal signatures cost the same. On a cluster with exceptional links, or with
// trunks that replicas share, every replica is a class of its own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "costmodel/problem/work.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"

namespace sextant {

[[nodiscard]] std::vector<ReplicaClass> replica_classes(const TaskPlan& plan,
                                                        const std::vector<ReplicaWork>& work,
                                                        const Cluster& cluster);

// By stage, the first device of each device type.
[[nodiscard]] std::vector<std::vector<DeviceId>> device_kinds(const Replica& replica, const Cluster& cluster);

[[nodiscard]] bool are_on_one_node(const Cluster& cluster, std::span<const DeviceId> devices);

// Of every node the first of the devices: the others have the same links. All where links tell them apart.
[[nodiscard]] std::vector<DeviceId> unlike_devices(const Cluster& cluster, std::span<const DeviceId> devices);

// Where no inner link is slower than an outer one: members that are as far apart as any two, whose link is the
// slowest edge of every ring over them. Nothing where one has to search (terms/ring.h), or for fewer than two.
[[nodiscard]] std::optional<RingEdge> outermost_edge(const Cluster& cluster, std::span<const DeviceId> members);

// Two members of the node that holds more than half of them, where others are elsewhere: a ring that has to
// pass a link between such two. Any other ring can do without links inside nodes.
[[nodiscard]] std::optional<RingEdge> edge_inside(const Cluster& cluster, std::span<const DeviceId> members);

// Likewise the nearest pair of two sets, whose link is the fastest between them; from == to where a device is
// in both. Nothing where one has to compare all pairs.
[[nodiscard]] std::optional<RingEdge> innermost_edge(const Cluster& cluster, std::span<const DeviceId> from,
                                                     std::span<const DeviceId> to);

[[nodiscard]] RingNodes nodes_of_ring(const Cluster& cluster, std::span<const DeviceId> members);

// The gradient all-reduces of a training task, one for each class. Where replicas are cut into different
// stages the layers are grouped into segments that no replica cuts; shard k of a segment is reduced over the
// device that holds it in each replica (shard floor(k TP_i / TP_max) where degrees differ). In order of layers;
// of one segment all groups follow each other. stages: that reduce at the same time, where the plan has one of
// them alone; else those of its first replica.
[[nodiscard]] std::vector<GradientGroup> gradient_groups(const TaskPlan& plan, const Cluster& cluster,
                                                         std::optional<int> stages = std::nullopt);

}  // namespace sextant
