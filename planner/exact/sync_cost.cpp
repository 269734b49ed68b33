#include "planner/exact/sync_cost.h"

#include <algorithm>
#include <limits>

#include "costmodel/iteration.h"
#include "costmodel/terms/weight_sync.h"
#include "planner/evaluate/task_model.h"

namespace sextant::inline planner {
namespace {

std::vector<DeviceId> ascending(const std::vector<std::uint16_t>& devices) {
  std::vector<DeviceId> ids;
  ids.reserve(devices.size());
  for (const std::uint16_t device : devices) ids.push_back(DeviceId{device});
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::uint16_t> devices_of(const UnitClass& of_class) {
  std::vector<std::uint16_t> devices;
  for (const auto& unit : of_class.units) devices.insert(devices.end(), unit.begin(), unit.end());
  return devices;
}

}  // namespace

SyncCost::SyncCost(const UnitSpace& space) : space_(space) {
  const PlanRequest& request = space.request();
  const Workflow& workflow = request.workflow;
  overhead_s_ = iteration_overhead_s(workflow, space.frame().coefficients);
  may_be_hidden_ = std::count_if(workflow.tasks.begin(), workflow.tasks.end(),
                                 [](const Task& task) { return task.kind == TaskKind::training; }) > 1;
  eta_ = space.frame().coefficient(CoefficientId::task_overlap);
  if (!workflow.has_weight_sync()) return;
  generation_ = static_cast<int>(&workflow.actor_generation() - workflow.tasks.data());
  training_ = static_cast<int>(&workflow.actor_training() - workflow.tasks.data());
  const auto& executions = choices_for(request.choices, static_cast<std::size_t>(training_)).executions;
  const TaskModel training(workflow.actor_training(), executions, executions.front(), space.frame());
  handover_s_ = training.handover_s();
  woken_s_ = training.woken_s();
  sent_bytes_ = training.sent_bytes();
  decomposes_ = space.decomposes_sync();
  for (const Node& node : request.cluster.nodes()) max_per_node_ = std::max(max_per_node_, node.devices);
  if (decomposes_) find_min_transfers();
}

int SyncCost::devices_of_share(int share) const {
  int devices = 0;
  const UnitShare units = space_.units_of(share);
  for (std::size_t c = 0; c < space_.classes().size(); ++c)
    devices += units[c] * static_cast<int>(space_.classes()[c].units.front().size());
  return devices;
}

// If links do not distinguish machines, all machines of a class have the same links as the first.
void SyncCost::find_min_transfers() {
  const std::vector<UnitClass>& classes = space_.classes();
  for (const UnitClass& from : classes) {
    min_s_.emplace_back();
    const bool is_like_first = space_.request().cluster.has_zonal_links();
    const std::vector<std::uint16_t> senders = is_like_first ? from.units.front() : devices_of(from);
    for (const UnitClass& to : classes) {
      double minimum = std::numeric_limits<double>::infinity();
      for (const std::uint16_t device : senders) {
        std::vector<std::uint16_t> others = devices_of(to);
        std::erase(others, device);
        if (others.empty()) continue;
        const std::vector<DeviceId> from_one{DeviceId{device}}, to_others = ascending(others);
        minimum = std::min(minimum, terms::fastest_transfer_s(
                                        space_.frame(), std::span<const DeviceId>(from_one),
                                        std::span<const DeviceId>(to_others), sent_bytes_,
                                        space_.frame().coefficient(CoefficientId::weight_sync_efficiency)));
      }
      min_s_.back().push_back(minimum);
    }
  }
}

double SyncCost::together_s(int task, const TaskValue& value) const {
  if (!decomposes_) return 0;
  if (task == training_) return value.slowest_gather_s + value.copied_s + value.fetched_s + woken_s_;
  return task == generation_ ? value.copied_s : 0;
}

double SyncCost::apart_s(int task, const TaskValue& value) const {
  if (!decomposes_) return 0;
  return task == training_ ? value.fetched_s : 0;
}

double SyncCost::transfer_s(const std::vector<std::uint16_t>& from,
                            const std::vector<std::uint16_t>& to) const {
  if (!decomposes_) return 0;
  const std::vector<DeviceId> senders = ascending(from), receivers = ascending(to);
  // A single replica on all devices fetches the smallest parts; gathers are separate.
  const terms::WeightWays<double> ways = terms::weight_ways(
      space_.frame(), std::span<const DeviceId>(senders), std::span<const DeviceId>(receivers),
      1.0 / static_cast<double>(receivers.size()), sent_bytes_);
  return terms::between_pools_s(space_.frame().plan.weight_sync.method, ways, terms::Gathers<double>{});
}

double SyncCost::transfer_s(const SyncSides& sides, const terms::WeightWays<double>& ways) const {
  return terms::between_pools_s(space_.frame().plan.weight_sync.method, ways,
                                terms::Gathers<double>{sides.fastest_gather_s, sides.slowest_gather_s}) +
         std::max(sides.trained_copied_s, sides.generated_copied_s);
}

double SyncCost::min_between_s(std::size_t from_class, std::size_t to_class) const {
  if (!decomposes_) return 0;
  const int links = std::max(space_.request().cluster.device_count() / 2, max_per_node_);
  return min_s_[from_class][to_class] / links;
}

// A copy is fetched over at most as many parallel links as either side has devices, or passes a ring over as
// many rails as a node has.
double SyncCost::min_transfer_s(int from_share, int to_share) const {
  if (!decomposes_) return 0;
  double minimum = std::numeric_limits<double>::infinity();
  for (std::size_t from = 0; from < min_s_.size(); ++from) {
    if (space_.units_of(from_share, from) == 0) continue;
    for (std::size_t to = 0; to < min_s_.size(); ++to) {
      if (space_.units_of(to_share, to) > 0) minimum = std::min(minimum, min_s_[from][to]);
    }
  }
  const int links = std::min(devices_of_share(from_share), devices_of_share(to_share));
  return minimum / std::max(links, max_per_node_);
}

SyncBetween::SyncBetween(UnitSpace& space, const SyncCost& sync, int training_block,
                         const std::vector<std::uint16_t>& training,
                         const std::vector<std::uint16_t>& generation)
    : space_(space), sync_(sync), training_(space.bits_of(training)), generation_(space.bits_of(generation)) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  minimum_.fastest_gather_s = minimum_.slowest_gather_s = minimum_.trained_copied_s = min_apart_s_ = kNone;
  for (const ExactOption& option : space.options(sync.training(), training_block)) {
    minimum_.fastest_gather_s = std::min(minimum_.fastest_gather_s, option.value.fastest_gather_s);
    minimum_.slowest_gather_s = std::min(minimum_.slowest_gather_s, option.value.slowest_gather_s);
    minimum_.trained_copied_s = std::min(minimum_.trained_copied_s, option.value.copied_s);
    min_apart_s_ = std::min(min_apart_s_, sync.apart_s(sync.training(), option.value));
  }
}

double SyncBetween::min_s(const TaskValue& generated) const {
  SyncSides sides = minimum_;
  sides.largest_part = generated.largest_part;
  sides.generated_copied_s = generated.copied_s;
  const WeightPath path = space_.evaluator().weight_path(training_, generation_, sides.largest_part);
  return sync_.transfer_s(sides, path.ways) + min_apart_s_ + sync_.apart_s(sync_.generation(), generated);
}

}  // namespace sextant::inline planner
