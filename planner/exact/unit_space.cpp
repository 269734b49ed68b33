#include "planner/exact/unit_space.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>

#include "core/error.h"
#include "planner/search_run.h"

namespace sextant {
namespace {

const PlanRequest& checked(const PlanRequest& request, int wanted_units) {
  if (request.workflow.algorithm == Algorithm::custom) {
    throw_bad_input("exact planners plan PPO and GRPO workflows; " + request.workflow.name +
                    " is a custom graph");
  }
  const std::string reason = why_too_large(request.cluster, wanted_units);
  if (!reason.empty()) throw_bad_input(reason);
  return request;
}

// The groups in the order in which they take units of a class (devices_of_groups).
std::vector<std::size_t> order_in_class(const UnitSpace& space, const std::vector<int>& shares, std::size_t c) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return space.units_of(shares[a], c) > space.units_of(shares[b], c);
  });
  return order;
}

}  // namespace

std::string why_too_large(const Cluster& cluster, int wanted_units) {
  const std::vector<UnitClass> classes = unit_classes(cluster, wanted_units);
  double shares = 1;
  for (const UnitClass& of_class : classes) shares *= of_class.count() + 1;
  if (shares <= kMostShares) return "";
  std::ostringstream reason;
  reason << "too many parts of the cluster to prove anything about: " << classes.size()
         << " classes of machines that links or devices tell apart can be dealt to a group in " << shares
         << " ways, of which exact planners hold " << kMostShares << "; sha-ea plans such clusters";
  return reason.str();
}

UnitSpace::UnitSpace(const PlanRequest& request, int wanted_units)
    : request_(checked(request, wanted_units)),
      evaluator_({request.cluster, request.workflow, request.coefficients, request.framework,
                  request.executions, request.weight_sync}),
      table_(evaluator_, request.cluster, request.workflow, shape_limits_of(request)),
      classes_(unit_classes(request.cluster, wanted_units)) {
  const Cluster& cluster = request.cluster;
  for (const UnitClass& of_class : classes_) {
    const NodeId first = cluster.node_of(DeviceId{of_class.units.front().front()});
    const int of_machine = cluster.nodes()[first.index()].devices / of_class.devices;
    units_per_machine_.push_back(cluster.has_zonal_links() ? of_machine : of_class.count());
    radix_.push_back(share_count_);
    share_count_ *= of_class.count() + 1;
  }
  for (int share = 0; share < share_count_; ++share) {
    const UnitShare units = units_of(share);
    sizes_.push_back(std::accumulate(units.begin(), units.end(), 0));
  }
  blocks_of_share_.resize(static_cast<std::size_t>(share_count_));
  options_.resize(static_cast<std::size_t>(tasks()));
  frame_plan_.weight_sync = request.weight_sync;
  Hardware<double> hardware(cluster, request.workflow.precision);
  CoefficientValues<double> values = resolve(request.coefficients, hardware, request.framework);
  frame_ = std::make_unique<const Problem<double>>(request.workflow, frame_plan_, std::move(hardware),
                                                   std::move(values));
  for (int d = 0; d < cluster.device_count(); ++d) {
    rooms_.push_back(frame_->hardware.memory_bytes(DeviceId{d}) -
                     frame_->coefficient(CoefficientId::memory_context_bytes, DeviceId{d}));
  }
}

UnitShare UnitSpace::units_of(int share) const {
  UnitShare units;
  for (std::size_t c = 0; c < classes_.size(); ++c) units.push_back(units_of(share, c));
  return units;
}

bool UnitSpace::is_within(int share, int other) const {
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    if (units_of(share, c) > units_of(other, c)) return false;
  }
  return true;
}

Run UnitSpace::canonical(std::size_t of_class, Run run) const {
  const int of_machine = units_per_machine_[of_class];
  if (run.count == 0) return {};
  if (!request_.cluster.has_zonal_links()) return run;
  run.first %= of_machine;
  if (run.first + run.count <= of_machine) run.first = 0;
  return run;
}

int UnitSpace::number_of(const Block& block) {
  const auto [entry, is_new] = numbers_.try_emplace(block, block_count());
  if (is_new) blocks_.push_back(block);
  return entry->second;
}

// Groups take their units after those that have as many or more: a run begins at 0 or no earlier than its
// count.
const std::vector<int>& UnitSpace::blocks_of(int share) {
  std::vector<int>& known = blocks_of_share_[static_cast<std::size_t>(share)];
  if (!known.empty()) return known;
  std::vector<Block> begun{{}};
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const int count = units_of(share, c);
    std::set<Run> runs{canonical(c, {0, count})};
    for (int first = count; first + count <= classes_[c].count(); ++first)
      runs.insert(canonical(c, {first, count}));
    std::vector<Block> longer;
    for (const Block& block : begun) {
      for (const Run& run : runs) {
        longer.push_back(block);
        longer.back().push_back(run);
      }
    }
    begun = std::move(longer);
  }
  for (const Block& block : begun) known.push_back(number_of(block));
  return known;
}

std::vector<int> UnitSpace::blocks_of_deal(const std::vector<int>& shares) {
  std::vector<Block> blocks(shares.size(), Block(classes_.size()));
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    int next = 0;
    for (const std::size_t group : order_in_class(*this, shares, c)) {
      const int count = units_of(shares[group], c);
      blocks[group][c] = canonical(c, {next, count});
      next += count;
    }
  }
  std::vector<int> numbers;
  for (const Block& block : blocks) numbers.push_back(number_of(block));
  return numbers;
}

std::vector<std::uint16_t> UnitSpace::devices_of_block(int number) const {
  std::vector<std::uint16_t> devices;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const Run run = block(number)[c];
    for (int unit = run.first; unit < run.first + run.count; ++unit) {
      const std::vector<std::uint16_t>& of_unit = classes_[c].units[static_cast<std::size_t>(unit)];
      devices.insert(devices.end(), of_unit.begin(), of_unit.end());
    }
  }
  return devices;
}

const std::vector<double>& UnitSpace::rooms_of_block(int number) {
  const auto at = static_cast<std::size_t>(number);
  if (block_rooms_.size() <= at) block_rooms_.resize(at + 1);
  std::vector<double>& rooms = block_rooms_[at];
  if (rooms.empty()) {
    for (const std::uint16_t device : devices_of_block(number)) rooms.push_back(rooms_[device]);
  }
  return rooms;
}

std::vector<ExactOption> UnitSpace::look(int task, int block) {
  const std::vector<std::uint16_t> devices = devices_of_block(block);
  const std::vector<double>& rooms = rooms_of_block(block);
  std::vector<std::size_t> position_of(rooms_.size());
  for (std::size_t p = 0; p < devices.size(); ++p) position_of[devices[p]] = p;
  std::vector<ExactOption> options;
  for (const Option& option : table_.of(task, devices)) {
    const Placement placement =
        placed(evaluator_.shapes(task).at(option.shape), option.shape, option.order, devices);
    ExactOption exact{option.shape, option.order, evaluator_.value_of(task, placement), {}, {}};
    exact.resident_bytes.resize(devices.size());
    exact.working_bytes.resize(devices.size());
    std::size_t next = 0;
    bool fits = true;
    for (const ReplicaValue* replica : evaluator_.replicas(task)) {
      const PositionBytes& bytes = *replica->bytes;
      for (std::size_t p = 0; p < bytes.resident.size(); ++p) {
        const std::size_t at = position_of[placement.devices[next++]];
        exact.resident_bytes[at] = bytes.resident[p];
        exact.working_bytes[at] = bytes.working[p];
        fits = fits && bytes.resident[p] + bytes.working[p] <= rooms[at];
      }
    }
    if (fits) options.push_back(std::move(exact));
  }
  return options;
}

const std::vector<ExactOption>& UnitSpace::options(int task, int block) {
  auto& of_task = options_[static_cast<std::size_t>(task)];
  const auto at = static_cast<std::size_t>(block);
  if (of_task.size() <= at) of_task.resize(at + 1);
  if (!of_task[at]) of_task[at] = std::make_unique<std::vector<ExactOption>>(look(task, block));
  return *of_task[at];
}

std::vector<std::vector<std::uint16_t>> UnitSpace::devices_of_deal(const std::vector<int>& shares) const {
  std::vector<UnitShare> units;
  for (const int share : shares) units.push_back(units_of(share));
  return devices_of_groups(classes_, units);
}

Candidate UnitSpace::candidate(const TaskGrouping& grouping, const std::vector<int>& shares,
                               const std::vector<const ExactOption*>& chosen) {
  const auto devices = devices_of_deal(shares);
  Candidate candidate;
  for (std::size_t t = 0; t < chosen.size(); ++t) {
    const Shape& shape = evaluator_.shapes(static_cast<int>(t)).at(chosen[t]->shape);
    candidate.tasks.push_back(placed(shape, chosen[t]->shape, chosen[t]->order,
                                     devices[static_cast<std::size_t>(grouping.group_of[t])]));
  }
  return candidate;
}

}  // namespace sextant
