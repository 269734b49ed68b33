#include "planner/evaluate/task_part.h"

#include <algorithm>
#include <bit>

#include "costmodel/terms/smooth.h"

namespace sextant::inline planner {

namespace {

// Number of cached states: with many more, a state would rarely be met again before the other caches drop it
// too. Large clusters have fewer, so that they take some tens of megabytes.
std::size_t max_known(const DeviceClasses& seating) {
  constexpr std::size_t kBytes = 32U << 20U, kBytesPerDevice = 32, kMaximum = 512, kMinimum = 64;
  return std::clamp(kBytes / (kBytesPerDevice * seating.class_of.size()), kMinimum, kMaximum);
}

// Entries by device class can be dropped, because values are also cached by location. On large clusters most of
// them are met only once, so the table is cleared when it is full.
template <typename Value>
void insert_one_of_many(KnownParts<Value>& known, const Fingerprint& print, const Value& value) {
  constexpr std::size_t kMaximum = std::size_t{3} << 15U;  // a table of three megabytes
  if (known.size() == kMaximum) known.clear();
  known.insert(print, value);
}

}  // namespace

TaskPart::TaskPart(TaskModel model, const Problem<double>& frame, const DeviceClasses& seating)
    : model_(std::move(model)),
      sync_problem_(&frame),
      seating_(&seating),
      now_(&own_),
      max_known_(max_known(seating)) {
  own_.used.resize(seating.used_words);
}

// ---- looking up ----

std::uint64_t TaskPart::head_of(int number, int shape) const {
  const int head = is_separable(shape) ? shapes_.kind(shape) : shape;
  return static_cast<std::uint64_t>(head) << 32 | static_cast<std::uint32_t>(number);
}

// Without gradient sharding there is one reduction per mini-batch, for any micro-batches.
std::uint64_t TaskPart::head_of_stage(int stage, int shape) const {
  if (!is_separable(shape)) return head_of(0, shape);
  if (model_.execution(shapes_.at(shape)).zero_stage >= 2) return head_of(stage, shape);
  return static_cast<std::uint64_t>(shapes_.cut(shape)) << 32 | static_cast<std::uint32_t>(stage);
}

std::span<const std::uint16_t> TaskPart::of_replica(const std::vector<std::uint16_t>& all, int replica,
                                                    const Shape& shape) const {
  if (!model_.is_separable(shape)) return all;
  const auto size = static_cast<std::size_t>(shape.replica_devices());
  return std::span<const std::uint16_t>(all).subspan(static_cast<std::size_t>(replica) * size, size);
}

// Nodes, zones and regions numbered by first appearance (except zones and regions with links of their own), and
// the class of each node.
Fingerprint TaskPart::alike_print(std::uint64_t head, std::span<const std::uint16_t> devices) {
  const Cluster& cluster = sync_problem_->cluster();
  nodes_.clear();
  zones_.clear();
  regions_.clear();
  const auto number = [](std::vector<int>& seen, int key) {
    const auto found = std::find(seen.begin(), seen.end(), key);
    const auto position = static_cast<std::uint64_t>(found - seen.begin());
    if (found == seen.end()) seen.push_back(key);
    return position;
  };
  words_.assign(1, head);
  NodeId last{-1};
  for (const std::uint16_t device : devices) {
    const NodeId node = cluster.node_of(DeviceId{device});
    if (node != last) {
      const int zone = cluster.zone_number(node), region = cluster.region_number(node);
      const bool renumbers = seating_->zones_are_alike;
      words_.push_back(static_cast<std::uint64_t>(cluster.node_class(node)) << 48 |
                       number(nodes_, node.value) << 32 |
                       (renumbers ? number(zones_, zone) : static_cast<std::uint64_t>(zone)) << 16 |
                       (renumbers ? number(regions_, region) : static_cast<std::uint64_t>(region)));
      last = node;
    } else {
      words_.push_back(words_.back());
    }
  }
  return DeviceClassHashes::of_words(words_);
}

ReplicaValue& TaskPart::stored(ReplicaValue value) {
  constexpr std::size_t kInBlock = 256;
  if (values_.empty() || values_.back().size() == kInBlock) values_.emplace_back().reserve(kInBlock);
  return values_.back().emplace_back(std::move(value));
}

const ReplicaValue* TaskPart::ask(const Shape& shape, std::span<const std::uint16_t> devices, int replica) {
  ++asked_;
  ReplicaValue& value = stored(model_.is_separable(shape) ? model_.replica(shape, devices, replica)
                                                          : model_.whole(shape, devices));
  words_.clear();
  for (const double bytes : value.bytes->resident) words_.push_back(std::bit_cast<std::uint64_t>(bytes));
  for (const double bytes : value.bytes->working) words_.push_back(std::bit_cast<std::uint64_t>(bytes));
  const Fingerprint needs = DeviceClassHashes::of_words(words_);
  if (const auto* alike = alike_bytes_.find(needs)) {
    value.bytes = (*alike)->bytes;
  } else {
    alike_bytes_.insert(needs, &value);
  }
  return &value;
}

const ReplicaValue* TaskPart::value_of(int replica, const Fingerprint& print, const State& state) {
  const auto* known = known_values_.find(print);
  return known != nullptr ? *known : new_value_of(replica, print, state);
}

const ReplicaValue* TaskPart::new_value_of(int replica, const Fingerprint& print, const State& state) {
  const int position = state.placement.shape;
  const Shape& shape = shapes_.at(position);
  const auto devices = of_replica(state.placement.devices, replica, shape);
  const std::uint32_t share = shapes_.shares(position)[static_cast<std::size_t>(replica)];
  const ReplicaValue* value = nullptr;
  if (seating_->parts_are_alike) {
    const Fingerprint places =
        alike_print(head_of(model_.is_separable(shape) ? static_cast<int>(share) : 0, position), devices);
    if (const auto* known = alike_.find(places)) value = *known;
    if (value == nullptr) alike_.insert(places, value = ask(shape, devices, replica));
    insert_one_of_many(known_values_, print, value);
  } else {
    known_values_.insert(print, value = ask(shape, devices, replica));
  }
  return value;
}

// Neighbours are often on one machine: a run of equal ones is looked up once.
void TaskPart::look_up_all(State& state) {
  const Shape& cut = shapes_.at(state.placement.shape);
  const bool is_separable = model_.is_separable(cut);
  const std::size_t count = is_separable ? cut.sequences.size() : 1;
  const std::size_t size = seats_.size() / count;
  const std::uint64_t base = head_of(0, state.placement.shape);
  const std::vector<std::uint32_t>& shares = shapes_.shares(state.placement.shape);
  state.replicas.resize(count);
  state.replica_sums.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t head = is_separable ? base | shares[i] : base;
    const Fingerprint sum = seating_->prints.sum(head, std::span(seats_).subspan(i * size, size));
    state.replica_sums[i] = sum;
    state.replicas[i] = i > 0 && sum == state.replica_sums[i - 1]
                            ? state.replicas[i - 1]
                            : value_of(static_cast<int>(i), DeviceClassHashes::of_sum(sum), state);
  }
  const std::size_t stages = is_separable ? cut.layers.size() : 1;
  state.reduction_s.assign(model_.is_training() ? stages : 0, 0.0);
  state.stage_sums.clear();
  if (!has_reductions(cut)) return;
  for (int j = 0; j < static_cast<int>(stages); ++j) {
    gather(j, cut, seats_, stage_seats_);
    const Fingerprint sum = seating_->prints.sum(head_of_stage(j, state.placement.shape), stage_seats_);
    state.stage_sums.push_back(sum);
    state.reduction_s[static_cast<std::size_t>(j)] = reduction_of(j, DeviceClassHashes::of_sum(sum), state);
  }
}

bool TaskPart::has_reductions(const Shape& shape) const {
  return model_.is_training() && (!model_.is_separable(shape) || shape.data_parallel() > 1 ||
                                  model_.execution(shape).context_parallel > 1);
}

// Collects the positions of one stage from all positions, replica by replica.
void TaskPart::gather(int stage, const Shape& shape, const std::vector<std::uint16_t>& all,
                      std::vector<std::uint16_t>& of_stage) const {
  of_stage.clear();
  const auto width = static_cast<std::size_t>(shape.tensor_parallel);
  const auto size = static_cast<std::size_t>(shape.replica_devices());
  const bool is_separable = model_.is_separable(shape);
  const auto first = is_separable ? static_cast<std::size_t>(stage) * width : 0;
  const auto count = is_separable ? width : size;
  for (std::size_t at = first; at < all.size(); at += size) {
    for (std::size_t k = 0; k < count; ++k) of_stage.push_back(all[at + k]);
  }
}

double TaskPart::reduction_of(int stage, const Fingerprint& print, const State& state) {
  const double* known = known_reductions_.find(print);
  return known != nullptr ? *known : new_reduction_of(stage, print, state);
}

double TaskPart::new_reduction_of(int stage, const Fingerprint& print, const State& state) {
  const Shape& cut = shapes_.at(state.placement.shape);
  gather(stage, cut, state.placement.devices, stage_devices_);
  const auto ask = [&] {
    ++asked_;
    return model_.is_separable(cut) ? model_.reduction_s(cut, stage, stage_devices_)
                                    : model_.reductions_s(cut, stage_devices_);
  };
  double reduction_s = 0;
  if (seating_->parts_are_alike) {
    const Fingerprint places = alike_print(head_of_stage(stage, state.placement.shape), stage_devices_);
    const double* known = alike_reductions_.find(places);
    reduction_s = known != nullptr ? *known : ask();
    if (known == nullptr) alike_reductions_.insert(places, reduction_s);
    insert_one_of_many(known_reductions_, print, reduction_s);
  } else {
    known_reductions_.insert(print, reduction_s = ask());
  }
  return reduction_s;
}

// ---- summing up (costmodel/task.h) ----

double TaskPart::exposed_reductions_s(const State& state, double compute_s) const {
  const double reduction_s = *std::max_element(state.reduction_s.begin(), state.reduction_s.end());
  if (!(reduction_s > 0)) return 0;
  constexpr double kBackwardShare = 2.0 / 3.0;  // in forward and backward
  const double mini_batches = sync_problem_->workflow.mini_batches;
  const double micro_batches = state.replicas.front()->micro_batches / mini_batches;
  const bool reduces_every_time =
      model_.execution(shapes_.at(state.placement.shape)).zero_stage >= 2 && micro_batches > 1;
  const double beside_s =
      kBackwardShare * compute_s / (mini_batches * (reduces_every_time ? 1.0 : micro_batches));
  return mini_batches * terms::exposed(reduction_s / mini_batches, beside_s,
                                       sync_problem_->coefficient(CoefficientId::data_parallel_overlap));
}

void TaskPart::sum_up(State& state) const {
  const ReplicaValue* slowest = state.replicas.front();
  double optimizer_s = slowest->optimizer_s;
  TaskValue value{0,
                  slowest->gather_s,
                  slowest->gather_s,
                  slowest->copied_s,
                  slowest->fetched_s,
                  slowest->max_resident_bytes,
                  slowest->max_working_bytes,
                  slowest->max_host_bytes,
                  slowest->max_sleeping_bytes,
                  model_.largest_part(shapes_.at(state.placement.shape))};
  terms::TrunkLoads<double> all;
  const auto time_of = [&all](const ReplicaValue& replica) {
    if (!replica.trunk_loads) return replica.time_s;
    return replica.time_s + terms::trunk_wait_s(all, *replica.trunk_loads, replica.time_s);
  };
  for (const ReplicaValue* replica : state.replicas) {
    if (replica->trunk_loads) terms::add_loads(all, *replica->trunk_loads);
  }
  double slowest_s = time_of(*slowest);
  for (const ReplicaValue* replica : state.replicas) {
    const double time_s = time_of(*replica);
    if (slowest_s < time_s) {
      slowest_s = time_s;
      slowest = replica;
    }
    optimizer_s = std::max(optimizer_s, replica->optimizer_s);
    value.fastest_gather_s = std::min(value.fastest_gather_s, replica->gather_s);
    value.slowest_gather_s = std::max(value.slowest_gather_s, replica->gather_s);
    value.copied_s = std::max(value.copied_s, replica->copied_s);
    value.fetched_s = std::max(value.fetched_s, replica->fetched_s);
    value.max_resident_bytes = std::max(value.max_resident_bytes, replica->max_resident_bytes);
    value.max_working_bytes = std::max(value.max_working_bytes, replica->max_working_bytes);
    value.max_host_bytes = std::max(value.max_host_bytes, replica->max_host_bytes);
    value.max_sleeping_bytes = std::max(value.max_sleeping_bytes, replica->max_sleeping_bytes);
  }
  value.time_s = slowest_s * (1.0 + seating_->straggler_factor[state.placement.devices.size()]);
  if (model_.is_training()) value.time_s += exposed_reductions_s(state, slowest->compute_s) + optimizer_s;
  state.value = value;
}

// ---- placements and moves ----

const TaskPart::State* TaskPart::known(const Fingerprint& print) const {
  const std::uint32_t* at = known_placements_.find(print);
  return at == nullptr ? nullptr : &store_[*at];
}

// Returns a new state to be filled in, which the fingerprint finds from then on.
TaskPart::State& TaskPart::fresh(const Fingerprint& print) {
  if (store_.capacity() == 0) store_.reserve(max_known_);
  if (known_states_ == max_known_) forget_known();
  if (known_states_ == store_.size()) store_.emplace_back();
  known_placements_.insert(print, static_cast<std::uint32_t>(known_states_));
  return store_[known_states_++];
}

// Keeps only the state that a move may be undone to, since the current one is being replaced. The memory of the
// states is reused.
void TaskPart::forget_known() {
  if (before_ != nullptr && before_ != &own_) {
    spare_ = *before_;
    before_ = &spare_;
  }
  known_states_ = 0;
  known_placements_.clear();
}

void TaskPart::fill_costs(const Placement& placement, State& state) {
  state.placement.shape = placement.shape;
  state.placement.devices.assign(placement.devices.begin(), placement.devices.end());
  state.used.assign(seating_->used_words, 0);
  seats_.resize(placement.devices.size());
  for (std::size_t p = 0; p < placement.devices.size(); ++p) {
    const std::uint16_t device = placement.devices[p];
    seats_[p] = seating_->class_of[device];
    state.used[device / 64U] |= 1ULL << (device % 64U);
  }
  look_up_all(state);
  sum_up(state);
}

void TaskPart::fill_bytes(State& state) const {
  state.resident_bytes.assign(seating_->class_of.size(), 0.0);
  state.working_bytes.assign(seating_->class_of.size(), 0.0);
  std::size_t position = 0;
  for (const ReplicaValue* replica : state.replicas) {
    const PositionBytes& bytes = *replica->bytes;
    for (std::size_t p = 0; p < bytes.resident.size(); ++p) {
      const std::uint16_t device = state.placement.devices[position++];
      state.resident_bytes[device] = bytes.resident[p];
      state.working_bytes[device] = bytes.working[p];
    }
  }
}

void TaskPart::load(const Placement& placement) {
  const Fingerprint print =
      DeviceClassHashes::of_devices(static_cast<std::uint64_t>(placement.shape), placement.devices);
  const State* state = known(print);
  if (state != nullptr && state->placement == placement) {
    now_ = state;
    return;
  }
  State& filled = fresh(print);
  fill_costs(placement, filled);
  fill_bytes(filled);
  now_ = &filled;
}

void TaskPart::cost_without_caching(const Placement& placement) {
  fill_costs(placement, glanced_at_);
  now_ = &glanced_at_;
}

}  // namespace sextant::inline planner
