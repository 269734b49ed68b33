#include "planner/exact/unit_space.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>

#include "planner/evaluate/task_model.h"
#include "planner/search/engine_rules.h"
#include "planner/search/search_run.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

bool overlap(const std::set<DeviceId>& some, const std::set<DeviceId>& others) {
  return std::any_of(some.begin(), some.end(), [&](DeviceId device) { return others.contains(device); });
}

const PlanRequest& checked(const PlanRequest& request, int wanted_units) {
  if (request.workflow.algorithm == Algorithm::custom) {
    throw_bad_input("exact planners plan PPO and GRPO workflows; " + request.workflow.name +
                    " is a custom graph");
  }
  const Pins& pins = request.limits.pins;
  check_pins(pins, request.workflow, request.cluster, request.choices);
  for (auto pin = pins.begin(); pin != pins.end(); ++pin) {
    for (auto other = pins.begin(); other != pin; ++other) {
      if (pin->second.devices != other->second.devices && overlap(pin->second.devices, other->second.devices))
        throw_bad_input("tasks " + other->first + " and " + pin->first +
                        " are pinned to device sets that overlap partly; exact planners need identical or "
                        "disjoint sets, sha-ea does not");
    }
  }
  const std::string reason = size_limit_reason(request.cluster, wanted_units, pins);
  if (!reason.empty()) throw_bad_input(reason);
  return request;
}

}  // namespace

std::string size_limit_reason(const Cluster& cluster, int wanted_units, const Pins& pins) {
  const std::vector<UnitClass> classes = unit_classes(cluster, wanted_units, marks_of(pins, cluster));
  double shares = 1;
  for (const UnitClass& of_class : classes) shares *= of_class.count() + 1;
  if (shares <= kMaxShares) return "";
  std::ostringstream reason;
  reason << "too many parts of the cluster to prove anything about: " << classes.size()
         << " classes of machines that links or devices tell apart can be dealt to a group in " << shares
         << " ways, of which exact planners hold " << kMaxShares << "; sha-ea plans such clusters";
  return reason.str();
}

UnitSpace::UnitSpace(const PlanRequest& request, int wanted_units)
    : request_(checked(request, wanted_units)),
      evaluator_({request.cluster,
                  request.workflow,
                  request.coefficients,
                  request.framework,
                  request.choices,
                  request.weight_sync,
                  request.objective,
                  {},
                  request.memory_share,
                  one_copy_of(request.engine_rules, request.workflow),
                  one_copy_on_devices(request)}),
      table_(evaluator_, request.cluster, request.workflow, shape_limits_of(request)),
      classes_(unit_classes(request.cluster, wanted_units, marks_of(request.limits.pins, request.cluster))) {
  if (request.limits.balances_load) table_.balance_load();
  const Cluster& cluster = request.cluster;
  for (const UnitClass& of_class : classes_) {
    const NodeId first = cluster.node_of(DeviceId{of_class.units.front().front()});
    const auto of_machine =
        static_cast<int>(std::count_if(of_class.units.begin(), of_class.units.end(), [&](const auto& unit) {
          return cluster.node_of(DeviceId{unit.front()}) == first;
        }));
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
  sync_plan_.weight_sync = request.weight_sync;
  Hardware<double> hardware(cluster, request.workflow.precision);
  CoefficientValues<double> values = resolve(request.coefficients, hardware, request.framework);
  sync_problem_ = std::make_unique<const Problem<double>>(request.workflow, sync_plan_, std::move(hardware),
                                                          std::move(values));
  for (int d = 0; d < cluster.device_count(); ++d) {
    rooms_.push_back(request.memory_share * sync_problem_->hardware.memory_bytes(DeviceId{d}) -
                     sync_problem_->coefficient(CoefficientId::memory_context_bytes, DeviceId{d}));
  }
  decomposes_sync_ = request.weight_sync.method != WeightSyncMethod::per_replica;
  for (int t = 0; t < tasks(); ++t) {
    const auto& executions = choices_for(request.choices, static_cast<std::size_t>(t)).executions;
    if (synchronizes(t)) {
      decomposes_sync_ =
          decomposes_sync_ && std::all_of(executions.begin(), executions.end(),
                                          [](const auto& one) { return TaskModel::is_separable(one); });
    }
  }
  pinned_shares_.assign(static_cast<std::size_t>(tasks()), 0);
  pinned_layouts_.resize(static_cast<std::size_t>(tasks()));
  for (int t = 0; t < tasks(); ++t) {
    const auto pin_of = request.limits.pins.find(request.workflow.tasks[static_cast<std::size_t>(t)].name);
    if (pin_of != request.limits.pins.end()) pin(t, pin_of->second);
  }
}

void UnitSpace::pin(int task, const Pin& pin) {
  const auto t = static_cast<std::size_t>(task);
  std::vector<std::uint16_t> devices;
  for (const DeviceId device : pin.devices) devices.push_back(static_cast<std::uint16_t>(device.value));
  pinned_shares_[t] = share_with(devices);
  if (pin.layout) {
    CanonicalLayout seat = *canonical_layout_in_search(task, *pin.layout, request_);
    table_.fix(task, evaluator_.shapes(task).add(seat.shape));
    pinned_layouts_[t] = std::move(seat.devices);
  } else if (infeasible_pin_reason_.empty()) {
    infeasible_pin_reason_ = sextant::infeasible_pin_reason(request_, task, static_cast<int>(devices.size()));
  }
}

bool UnitSpace::may_have(TaskSet group, int share) const {
  const auto has_any_of = [&](int pinned) {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (units_of(pinned, c) > 0 && units_of(share, c) > 0) return true;
    }
    return false;
  };
  for (int t = 0; t < tasks(); ++t) {
    const int pinned = pinned_share(t);
    const bool is_here = (group >> t & 1U) != 0;
    if (pinned != 0 && (is_here ? share != pinned : has_any_of(pinned))) return false;
  }
  return true;
}

const std::vector<std::uint16_t>& UnitSpace::in_order_of(int task,
                                                         const std::vector<std::uint16_t>& devices) const {
  const std::vector<std::uint16_t>& pinned = pinned_layouts_[static_cast<std::size_t>(task)];
  return pinned.empty() ? devices : pinned;
}

bool UnitSpace::synchronizes(int task) const {
  const Workflow& workflow = request_.workflow;
  const Task* of = &workflow.tasks[static_cast<std::size_t>(task)];
  return workflow.has_weight_sync() && (of == &workflow.actor_training() || of == &workflow.actor_generation());
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

UnitRun UnitSpace::canonical(std::size_t of_class, UnitRun run) const {
  const int of_machine = units_per_machine_[of_class];
  if (run.count == 0) return {};
  if (!request_.cluster.has_zonal_links()) return run;
  run.first %= of_machine;
  if (run.first + run.count <= of_machine) run.first = 0;
  return run;
}

int UnitSpace::number_of(const UnitBlock& block) {
  const auto [entry, is_new] = numbers_.try_emplace(block, block_count());
  if (is_new) blocks_.push_back(block);
  return entry->second;
}

// Groups take their units after those that have as many or more: a run begins at 0 or at an offset of at least
// its length.
const std::vector<int>& UnitSpace::blocks_of(int share) {
  std::vector<int>& known = blocks_of_share_[static_cast<std::size_t>(share)];
  if (!known.empty()) return known;
  std::vector<UnitBlock> begun{{}};
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const int count = units_of(share, c);
    std::set<UnitRun> runs{canonical(c, {0, count})};
    for (int first = count; first + count <= classes_[c].count(); ++first)
      runs.insert(canonical(c, {first, count}));
    std::vector<UnitBlock> longer;
    for (const UnitBlock& block : begun) {
      for (const UnitRun& run : runs) {
        longer.push_back(block);
        longer.back().push_back(run);
      }
    }
    begun = std::move(longer);
  }
  for (const UnitBlock& block : begun) known.push_back(number_of(block));
  return known;
}

std::vector<std::size_t> UnitSpace::order_in_class(const std::vector<int>& shares, std::size_t c) const {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return units_of(shares[a], c) > units_of(shares[b], c);
  });
  return order;
}

std::vector<int> UnitSpace::blocks_of_deal(const std::vector<int>& shares) {
  std::vector<UnitBlock> blocks(shares.size(), UnitBlock(classes_.size()));
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    int next = 0;
    for (const std::size_t group : order_in_class(shares, c)) {
      const int count = units_of(shares[group], c);
      blocks[group][c] = canonical(c, {next, count});
      next += count;
    }
  }
  std::vector<int> numbers;
  numbers.reserve(blocks.size());
  for (const UnitBlock& block : blocks) numbers.push_back(number_of(block));
  return numbers;
}

std::vector<std::uint16_t> UnitSpace::devices_of_block(int number) const {
  std::vector<std::uint16_t> devices;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const UnitRun run = block(number)[c];
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

// If the path of the actor's weights depends on the layouts of both sides, an option of these tasks can only
// beat one with the same layout.
bool UnitSpace::beats(int task, const ExactOption& a, const ExactOption& b) const {
  const TaskValue &of_a = a.value, &of_b = b.value;
  if (of_a.time_s > of_b.time_s || of_a.max_resident_bytes > of_b.max_resident_bytes ||
      of_a.max_working_bytes > of_b.max_working_bytes || of_a.fastest_gather_s > of_b.fastest_gather_s ||
      of_a.slowest_gather_s > of_b.slowest_gather_s || of_a.copied_s > of_b.copied_s ||
      of_a.fetched_s > of_b.fetched_s || of_a.max_host_bytes > of_b.max_host_bytes ||
      of_a.max_sleeping_bytes > of_b.max_sleeping_bytes || of_a.largest_part > of_b.largest_part)
    return false;
  const auto none_is_more = [](const std::vector<double>& some, const std::vector<double>& others) {
    return std::equal(some.begin(), some.end(), others.begin(), [](double x, double y) { return x <= y; });
  };
  if (!none_is_more(a.resident_bytes, b.resident_bytes) || !none_is_more(a.working_bytes, b.working_bytes))
    return false;
  if (decomposes_sync_ || !synchronizes(task)) return true;
  const ShapeTable& shapes = evaluator_.shapes(task);
  return a.order == b.order && shapes.cut(a.shape) == shapes.cut(b.shape) &&
         shapes.at(a.shape).sequences == shapes.at(b.shape).sequences &&
         shapes.at(a.shape).length_ranks == shapes.at(b.shape).length_ranks;
}

std::vector<ExactOption> UnitSpace::look(int task, int block) {
  const std::vector<std::uint16_t> devices = devices_of_block(block);
  const std::vector<double>& rooms = rooms_of_block(block);
  std::vector<std::size_t> position_of(rooms_.size());
  for (std::size_t p = 0; p < devices.size(); ++p) position_of[devices[p]] = p;
  std::vector<ExactOption> fitting;
  const std::vector<std::uint16_t>& in_order = in_order_of(task, devices);
  table_.for_each(task, in_order, [&](const Option& option) {
    const Placement placement =
        placed(evaluator_.shapes(task).at(option.shape), option.shape, option.order, in_order);
    ExactOption exact{option.shape, option.order, option.value, {}, {}};
    exact.resident_bytes.resize(devices.size());
    exact.working_bytes.resize(devices.size());
    std::size_t next = 0;
    for (const ReplicaValue* replica : evaluator_.replicas(task)) {
      const PositionBytes& bytes = *replica->bytes;
      for (std::size_t p = 0; p < bytes.resident.size(); ++p) {
        const std::size_t at = position_of[placement.devices[next++]];
        if (bytes.resident[p] + bytes.working[p] > rooms[at]) return;
        exact.resident_bytes[at] = bytes.resident[p];
        exact.working_bytes[at] = bytes.working[p];
      }
    }
    fitting.push_back(std::move(exact));
  });
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const ExactOption& a, const ExactOption& b) { return a.value.time_s < b.value.time_s; });
  std::vector<ExactOption> kept;  // only earlier options can beat one
  std::set<int> shapes;
  for (ExactOption& option : fitting) {
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const ExactOption& other) { return beats(task, other, option); }))
      continue;
    shapes.insert(option.shape);
    kept.push_back(std::move(option));
  }
  table_.keep_alone(task, shapes);
  return kept;
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
  units.reserve(shares.size());
  for (const int share : shares) units.push_back(units_of(share));
  return devices_of_groups(classes_, units);
}

std::vector<std::uint64_t> UnitSpace::bits_of(const std::vector<std::uint16_t>& devices) const {
  constexpr std::size_t kBits = 64;
  const auto count = static_cast<std::size_t>(request_.cluster.device_count());
  std::vector<std::uint64_t> bits((count + kBits - 1) / kBits, 0);
  for (const std::uint16_t device : devices) bits[device / kBits] |= std::uint64_t{1} << device % kBits;
  return bits;
}

double UnitSpace::data_s(const TaskGrouping& grouping, const std::vector<int>& shares) {
  if (shares.size() < 2) return 0;
  std::vector<std::vector<std::uint64_t>> bits;
  bits.reserve(shares.size());
  for (const auto& devices : devices_of_deal(shares)) bits.push_back(bits_of(devices));
  double sum = 0;
  for (const DataEdge& edge : evaluator_.data_edges()) {
    const auto made = static_cast<std::size_t>(grouping.group_of[edge.made]),
               needed = static_cast<std::size_t>(grouping.group_of[edge.needed]);
    if (made != needed) sum += evaluator_.data_s(edge, bits[made], bits[needed]);
  }
  return sum;
}

Candidate UnitSpace::candidate(const TaskGrouping& grouping, const std::vector<int>& shares,
                               const std::vector<const ExactOption*>& chosen) {
  const auto devices = devices_of_deal(shares);
  Candidate candidate;
  for (std::size_t t = 0; t < chosen.size(); ++t) {
    const Shape& shape = evaluator_.shapes(static_cast<int>(t)).at(chosen[t]->shape);
    const auto& of_group = devices[static_cast<std::size_t>(grouping.group_of[t])];
    candidate.tasks.push_back(
        placed(shape, chosen[t]->shape, chosen[t]->order, in_order_of(static_cast<int>(t), of_group)));
  }
  return candidate;
}

// The share of all units whose first device is in `devices`.
int UnitSpace::share_with(const std::vector<std::uint16_t>& devices) const {
  int share = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (const auto& unit : classes_[c].units) {
      if (std::binary_search(devices.begin(), devices.end(), unit.front())) share += radix_[c];
    }
  }
  return share;
}

std::optional<UnitChoice> UnitSpace::choice_of(const Candidate& candidate) {
  UnitChoice choice;
  std::vector<std::vector<std::uint16_t>> sets;  // by group
  for (const Placement& task : candidate.tasks) {
    std::vector<std::uint16_t> devices = task.devices;
    std::sort(devices.begin(), devices.end());
    const auto known = std::find(sets.begin(), sets.end(), devices);
    choice.grouping.group_of.push_back(static_cast<int>(known - sets.begin()));
    if (known == sets.end()) sets.push_back(std::move(devices));
  }
  choice.grouping.groups = static_cast<int>(sets.size());
  std::vector<TaskSet> groups(sets.size());
  for (std::size_t t = 0; t < choice.grouping.group_of.size(); ++t)
    groups[static_cast<std::size_t>(choice.grouping.group_of[t])] |= TaskSet{1} << t;
  int left = share_count_ - 1;
  for (std::size_t g = 0; g < sets.size(); ++g) {
    const int share = share_with(sets[g]);
    if (share == 0 || !is_within(share, left)) return std::nullopt;  // sets overlap
    if (!may_have(groups[g], share)) return std::nullopt;
    choice.shares.push_back(share);
    left -= share;
  }
  const auto dealt = devices_of_deal(choice.shares);
  const std::vector<int> blocks = blocks_of_deal(choice.shares);
  for (std::size_t t = 0; t < candidate.tasks.size(); ++t) {
    const auto group = static_cast<std::size_t>(choice.grouping.group_of[t]);
    const ExactOption* taken = nullptr;
    for (const ExactOption& option : options(static_cast<int>(t), blocks[group])) {
      const Shape& shape = evaluator_.shapes(static_cast<int>(t)).at(option.shape);
      const auto& in_order = in_order_of(static_cast<int>(t), dealt[group]);
      if (placed(shape, option.shape, option.order, in_order) == candidate.tasks[t]) taken = &option;
    }
    if (taken == nullptr) return std::nullopt;
    choice.chosen.push_back(taken);
  }
  return choice;
}

}  // namespace sextant::inline planner
