#include "planner/evaluate/evaluator.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/error.h"
#include "costmodel/iteration.h"

namespace sextant {
namespace {

constexpr std::uint64_t kOfWhole = 1ULL << 62;  // heads of keys

std::uint64_t head_of(int kind, int number) {
  return static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint32_t>(number);
}

}  // namespace

Evaluator::Evaluator(const EvaluatedProblem& problem)
    : workflow_(problem.workflow), executions_(problem.executions) {
  const int devices = problem.cluster.device_count();
  if (devices > 65536) {
    throw_bad_input("cluster " + problem.cluster.name() + ": " + std::to_string(devices) +
                    " devices, more than the 65536 that can be planned");
  }
  executions_.resize(workflow_.tasks.size());
  frame_plan_.weight_sync = problem.weight_sync;
  Hardware<double> hardware(problem.cluster, workflow_.precision);
  CoefficientValues<double> values = resolve(problem.coefficients, hardware, problem.framework);
  frame_ = std::make_unique<Problem<double>>(workflow_, frame_plan_, std::move(hardware), std::move(values));
  parts_.reserve(workflow_.tasks.size());
  const Execution* training = &executions_.front();
  for (std::size_t t = 0; t < workflow_.tasks.size(); ++t) {
    if (workflow_.has_weight_sync() && workflow_.tasks[t].name == workflow_.actor_training().name)
      training = &executions_[t];
  }
  for (std::size_t t = 0; t < workflow_.tasks.size(); ++t) {
    const Task& task = workflow_.tasks[t];
    parts_.emplace_back(TaskModel(task, executions_[t], *training, *frame_), task.kind);
    if (!workflow_.has_weight_sync()) continue;
    if (task.name == workflow_.actor_generation().name) generation_ = static_cast<int>(t);
    if (task.name == workflow_.actor_training().name) training_ = static_cast<int>(t);
  }
  decomposes_sync_ = training_ >= 0 && problem.weight_sync.method == WeightSyncMethod::shortest &&
                     parts_[static_cast<std::size_t>(training_)].model.is_separable() &&
                     parts_[static_cast<std::size_t>(generation_)].model.is_separable();
  used_words_ = (static_cast<std::size_t>(devices) + 63) / 64;
  const bool devices_differ =
      std::any_of(problem.cluster.exceptions().begin(), problem.cluster.exceptions().end(),
                  [](const LinkException& exception) { return exception.scope == LinkScope::device; });
  straggler_factor_.push_back(0);
  for (int d = 0; d < devices; ++d) {
    const DeviceId device{d};
    seat_of_.push_back(static_cast<std::uint16_t>(devices_differ ? d : problem.cluster.node_of(device).value));
    room_bytes_.push_back(
        frame_->hardware.memory_bytes(device) -
        frame_->coefficients.at(CoefficientId::memory_context_bytes, frame_->hardware.type_index(device)));
    straggler_factor_.push_back(terms::expected_largest(d + 1) *
                                frame_->coefficient(CoefficientId::straggler_spread));
  }
  least_room_bytes_ = *std::min_element(room_bytes_.begin(), room_bytes_.end());
  resident_bytes_.resize(room_bytes_.size());
  working_bytes_.resize(room_bytes_.size());
  eta_ = frame_->coefficient(CoefficientId::task_overlap);
  overhead_s_ = iteration_overhead_s(workflow_, frame_->coefficients);
}

Evaluator::~Evaluator() = default;

// ---- keys ----

Words Evaluator::places_key(std::uint64_t head, std::span<const std::uint16_t> devices) {
  constexpr std::size_t kInAWord = 4;
  key_.assign(1 + (devices.size() + kInAWord - 1) / kInAWord, 0);
  key_[0] = head;
  for (std::size_t p = 0; p < devices.size(); ++p) {
    key_[1 + p / kInAWord] |= static_cast<std::uint64_t>(seat_of_[devices[p]]) << (16 * (p % kInAWord));
  }
  return key_;
}

// Nodes, zones and regions numbered as they first appear, and the class of each node (costmodel/symmetry.h).
Words Evaluator::alike_key(std::uint64_t head, std::span<const std::uint16_t> devices) {
  const Cluster& cluster = frame_->cluster();
  std::vector<int> nodes, zones, regions;
  const auto number = [](std::vector<int>& seen, int key) {
    const auto found = std::find(seen.begin(), seen.end(), key);
    if (found == seen.end()) seen.push_back(key);
    return static_cast<std::uint64_t>(found == seen.end() ? seen.size() - 1
                                                          : static_cast<std::size_t>(found - seen.begin()));
  };
  alike_key_.assign(1, head);
  for (const std::uint16_t device : devices) {
    const NodeId node = cluster.node_of(DeviceId{device});
    alike_key_.push_back(static_cast<std::uint64_t>(cluster.node_class(node)) << 48 |
                         number(nodes, node.value) << 32 | number(zones, cluster.zone_number(node)) << 16 |
                         number(regions, cluster.region_number(node)));
  }
  return alike_key_;
}

// ---- asking ----

const ReplicaValue* Evaluator::ask(Part& part, const Shape& shape, std::span<const std::uint16_t> devices,
                                   int sequences) {
  ++asked_;
  part.values.push_back(part.model.is_separable() ? part.model.replica(shape, devices, sequences)
                                                  : part.model.whole(shape, devices));
  return &part.values.back();
}

void Evaluator::look_up_replica(Part& part, int replica) {
  const Shape& shape = part.shapes.at(part.placement.shape);
  const std::span<const std::uint16_t> all(part.placement.devices);
  const bool separable = part.model.is_separable();
  const auto size = static_cast<std::size_t>(shape.replica_devices());
  const auto devices = separable ? all.subspan(static_cast<std::size_t>(replica) * size, size) : all;
  const int sequences = shape.sequences[static_cast<std::size_t>(replica)];
  const std::uint64_t head = separable ? head_of(part.shapes.kind(part.placement.shape), sequences)
                                       : head_of(part.placement.shape, 0) | kOfWhole;
  const Words key = places_key(head, devices);
  const std::uint64_t hash = hash_of(key);
  const ReplicaValue*& slot = part.replicas[static_cast<std::size_t>(replica)];
  if (const auto* known = part.known.find(key, hash)) {
    slot = *known;
    return;
  }
  slot = nullptr;
  if (frame_->cluster().has_uniform_links()) {
    const Words alike = alike_key(head, devices);
    const std::uint64_t alike_hash = hash_of(alike);
    if (const auto* known = part.alike.find(alike, alike_hash)) slot = *known;
    if (slot == nullptr) {
      slot = ask(part, shape, devices, sequences);
      part.alike.insert(alike, alike_hash, slot);
    }
  } else {
    slot = ask(part, shape, devices, sequences);
  }
  part.known.insert(key, hash, slot);
}

void Evaluator::look_up_stage(Part& part, int stage) {
  const Shape& shape = part.shapes.at(part.placement.shape);
  const bool separable = part.model.is_separable();
  stage_devices_.clear();
  if (separable) {
    const auto width = static_cast<std::size_t>(shape.tensor_parallel);
    const auto size = static_cast<std::size_t>(shape.replica_devices());
    const auto first =
        part.placement.devices.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stage) * width);
    for (std::size_t i = 0; i < shape.sequences.size(); ++i) {
      const auto begin = first + static_cast<std::ptrdiff_t>(i * size);
      stage_devices_.insert(stage_devices_.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  } else {
    stage_devices_.assign(part.placement.devices.begin(), part.placement.devices.end());
  }
  const std::uint64_t head = separable ? head_of(part.shapes.kind(part.placement.shape), stage)
                                       : head_of(part.placement.shape, 0) | kOfWhole;
  const Words key = places_key(head, stage_devices_);
  const std::uint64_t hash = hash_of(key);
  double& slot = part.reduction_s[static_cast<std::size_t>(stage)];
  if (const double* known = part.known_reductions.find(key, hash)) {
    slot = *known;
    return;
  }
  ++asked_;
  slot = separable ? part.model.reduction_s(shape, stage, stage_devices_)
                   : part.model.reductions_s(shape, stage_devices_);
  part.known_reductions.insert(key, hash, slot);
}

void Evaluator::look_up_all(Part& part) {
  const Shape& shape = part.shapes.at(part.placement.shape);
  const bool separable = part.model.is_separable();
  part.replicas.resize(separable ? shape.sequences.size() : 1);
  for (std::size_t i = 0; i < part.replicas.size(); ++i) look_up_replica(part, static_cast<int>(i));
  if (part.kind != TaskKind::training) return;
  part.reduction_s.assign(separable ? shape.layers.size() : 1, 0.0);
  if (shape.data_parallel() < 2 && part.model.execution().context_parallel < 2 && separable) return;
  for (std::size_t j = 0; j < part.reduction_s.size(); ++j) look_up_stage(part, static_cast<int>(j));
}

// task_cost (costmodel/task.h) of what was looked up.
void Evaluator::sum_up(Part& part) const {
  TaskValue& value = part.value;
  const ReplicaValue* slowest = part.replicas.front();
  double optimizer_s = slowest->optimizer_s;
  value = {0,
           slowest->gather_s,
           slowest->gather_s,
           slowest->copied_s,
           slowest->fetched_s,
           slowest->most_resident_bytes,
           slowest->most_working_bytes};
  const ReplicaValue* last = slowest;
  for (const ReplicaValue* replica : part.replicas) {
    if (replica == last) continue;
    last = replica;
    if (slowest->time_s < replica->time_s) slowest = replica;
    optimizer_s = std::max(optimizer_s, replica->optimizer_s);
    value.fastest_gather_s = std::min(value.fastest_gather_s, replica->gather_s);
    value.slowest_gather_s = std::max(value.slowest_gather_s, replica->gather_s);
    value.copied_s = std::max(value.copied_s, replica->copied_s);
    value.fetched_s = std::max(value.fetched_s, replica->fetched_s);
    value.most_resident_bytes = std::max(value.most_resident_bytes, replica->most_resident_bytes);
    value.most_working_bytes = std::max(value.most_working_bytes, replica->most_working_bytes);
  }
  value.time_s = slowest->time_s * (1.0 + straggler_factor_[part.placement.devices.size()]);
  if (part.kind != TaskKind::training) return;
  constexpr double kBackwardShare = 2.0 / 3.0;
  const double reduction_s = *std::max_element(part.reduction_s.begin(), part.reduction_s.end());
  if (reduction_s > 0) {
    const double mini_batches = workflow_.mini_batches;
    const Execution& execution = part.model.execution();
    const double micro_batches = part.replicas.front()->micro_batches / mini_batches;
    const double reductions = execution.zero_stage < 2 ? 1 : micro_batches;
    const double beside_s =
        kBackwardShare * slowest->compute_s / (mini_batches * (reductions > 1 ? 1.0 : micro_batches));
    value.time_s += mini_batches * terms::exposed(reduction_s / mini_batches, beside_s,
                                                  frame_->coefficient(CoefficientId::data_parallel_overlap));
  }
  value.time_s += optimizer_s;
}

// ---- putting together ----

bool Evaluator::overlap(const Part& a, const Part& b) const {
  for (std::size_t w = 0; w < used_words_; ++w) {
    if ((a.used[w] & b.used[w]) != 0) return true;
  }
  return false;
}

// Phi over the tasks of one kind (costmodel/iteration.h): none waits for another's result, so each starts when
// those before it on its devices have ended.
double Evaluator::phase_s(TaskKind kind) const {
  constexpr std::size_t kMostTasks = 16;
  std::array<const Part*, kMostTasks> placed{};
  std::array<double, kMostTasks> end_s{};
  std::size_t count = 0;
  double sum = 0, makespan = 0;
  for (const Part& part : parts_) {
    if (part.kind != kind) continue;
    double start_s = 0;
    for (std::size_t e = 0; e < count; ++e) {
      if (start_s < end_s[e] && overlap(*placed[e], part)) start_s = end_s[e];
    }
    placed[count] = &part;
    end_s[count] = start_s + part.value.time_s;
    makespan = std::max(makespan, end_s[count++]);
    sum += part.value.time_s;
  }
  return makespan + (1.0 - eta_) * (sum - makespan);
}

double Evaluator::custom_s() const {
  std::vector<std::set<DeviceId>> devices;
  std::vector<PlacedTask<double>> placed;
  for (const Part& part : parts_) {
    devices.emplace_back();
    for (const std::uint16_t device : part.placement.devices) devices.back().insert(DeviceId{device});
  }
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    placed.push_back(
        {parts_[t].kind, parts_[t].value.time_s, &devices[t], parents_of(workflow_, parts_[t].model.task())});
  }
  return graph_s(workflow_, std::span<const PlacedTask<double>>(placed), eta_);
}

double Evaluator::working_s() const {
  if (workflow_.algorithm == Algorithm::custom) return custom_s();
  const double generation = phase_s(TaskKind::generation);
  const double rest = phase_s(TaskKind::inference) + phase_s(TaskKind::training);
  if (workflow_.mode == Mode::synchronous) return generation + rest;
  const Part* generating = nullptr;
  for (const Part& part : parts_) {
    if (part.kind == TaskKind::generation) generating = &part;
  }
  bool apart = generating != nullptr && parts_.size() > 1;
  for (const Part& part : parts_) {
    if (apart && part.kind != TaskKind::generation) apart = !overlap(*generating, part);
  }
  return apart ? streamed_s(workflow_, generation, rest) : generation + rest;
}

double Evaluator::transfer_s(const Part& from, const Part& to) {
  std::vector<std::uint64_t>& key = key_;
  key.assign(from.used.begin(), from.used.end());
  key.insert(key.end(), to.used.begin(), to.used.end());
  const std::uint64_t hash = hash_of(key);
  if (const double* known = known_transfers_.find(key, hash)) return *known;
  ++asked_;
  const std::vector<std::uint64_t> kept = key;
  const auto devices_of = [](const Part& part) {
    std::vector<DeviceId> devices;
    for (const std::uint16_t device : part.placement.devices) devices.push_back(DeviceId{device});
    std::sort(devices.begin(), devices.end());
    return devices;
  };
  const std::vector<DeviceId> senders = devices_of(from), receivers = devices_of(to);
  const double time_s = terms::fastest_transfer_s(*frame_, std::span<const DeviceId>(senders),
                                                  std::span<const DeviceId>(receivers), from.model.sent_bytes(),
                                                  frame_->coefficient(CoefficientId::weight_sync_efficiency));
  return known_transfers_.insert(kept, hash, time_s);
}

double Evaluator::whole_sync_s() {
  const Part& training = parts_[static_cast<std::size_t>(training_)];
  const Part& generation = parts_[static_cast<std::size_t>(generation_)];
  std::vector<std::uint64_t>& key = key_;
  key.assign({head_of(training.placement.shape, generation.placement.shape)});
  for (const Part* part : {&training, &generation}) {
    for (const std::uint16_t device : part->placement.devices) key.push_back(device);
  }
  const std::uint64_t hash = hash_of(key);
  if (const double* known = known_syncs_.find(key, hash)) return *known;
  ++asked_;
  const std::vector<std::uint64_t> kept = key;
  const TaskPlan trained =
      training.model.plan(training.shapes.at(training.placement.shape), training.placement);
  const TaskPlan generated =
      generation.model.plan(generation.shapes.at(generation.placement.shape), generation.placement);
  const double time_s =
      terms::weight_sync_s(*frame_, training.model.work(trained), generation.model.work(generated));
  return known_syncs_.insert(kept, hash, time_s);
}

// weight_sync_s (costmodel/terms/weight_sync.h) of what was looked up.
double Evaluator::sync_s() {
  if (training_ < 0) return 0;
  if (!decomposes_sync_) return whole_sync_s();
  const Part& training = parts_[static_cast<std::size_t>(training_)];
  const Part& generation = parts_[static_cast<std::size_t>(generation_)];
  bool colocated = true;
  for (std::size_t w = 0; w < used_words_ && colocated; ++w) {
    colocated = (generation.used[w] & ~training.used[w]) == 0;
  }
  const double assembled = training.value.copied_s, delivered = generation.value.copied_s;
  const double fixed = training.value.fetched_s + training.model.handover_s();
  if (colocated) return training.value.slowest_gather_s + assembled + delivered + fixed;
  return training.value.fastest_gather_s + generation.value.slowest_gather_s +
         transfer_s(training, generation) + std::max(assembled, delivered) + fixed;
}

double Evaluator::excess_bytes() {
  double resident = 0, working = 0;
  for (const Part& part : parts_) {
    resident += part.value.most_resident_bytes;
    working = std::max(working, part.value.most_working_bytes);
  }
  if (resident + working <= least_room_bytes_) return 0;
  std::fill(resident_bytes_.begin(), resident_bytes_.end(), 0.0);
  std::fill(working_bytes_.begin(), working_bytes_.end(), 0.0);
  for (const Part& part : parts_) {
    std::size_t position = 0;
    for (const ReplicaValue* replica : part.replicas) {
      for (std::size_t p = 0; p < replica->resident_bytes.size(); ++p) {
        const std::uint16_t device = part.placement.devices[position++];
        resident_bytes_[device] += replica->resident_bytes[p];
        working_bytes_[device] = std::max(working_bytes_[device], replica->working_bytes[p]);
      }
    }
  }
  double excess = 0;
  for (std::size_t d = 0; d < room_bytes_.size(); ++d) {
    excess = std::max(excess, resident_bytes_[d] + working_bytes_[d] - room_bytes_[d]);
  }
  return excess;
}

Score Evaluator::total() { return {working_s() + sync_s() + overhead_s_, excess_bytes()}; }

// ---- candidates and moves ----

void Evaluator::set_used(Part& part) const {
  part.used.assign(used_words_, 0);
  for (const std::uint16_t device : part.placement.devices) part.used[device / 64U] |= 1ULL << (device % 64U);
}

void Evaluator::load(Part& part, const Placement& placement) {
  part.placement.shape = placement.shape;
  part.placement.devices.assign(placement.devices.begin(), placement.devices.end());
  set_used(part);
  look_up_all(part);
  sum_up(part);
}

Score Evaluator::evaluate(const Candidate& candidate) {
  for (std::size_t t = 0; t < parts_.size(); ++t) load(parts_[t], candidate.tasks[t]);
  return total();
}

void Evaluator::touch(Part& part) {
  if (part.touched) return;
  part.touched = true;
  part.before.used = part.used;
  part.before.reduction_s = part.reduction_s;
  part.before.value = part.value;
}

void Evaluator::mark(Part& part, int position) {
  touch(part);
  part.old_devices.push_back({position, part.placement.devices[static_cast<std::size_t>(position)]});
  const int replica =
      part.model.is_separable() ? position / part.shapes.at(part.placement.shape).replica_devices() : 0;
  if (std::find(part.dirty_replicas.begin(), part.dirty_replicas.end(), replica) == part.dirty_replicas.end()) {
    part.dirty_replicas.push_back(replica);
  }
}

void Evaluator::replace_device(int task, int position, std::uint16_t device) {
  Part& part = parts_[static_cast<std::size_t>(task)];
  mark(part, position);
  std::uint16_t& slot = part.placement.devices[static_cast<std::size_t>(position)];
  part.used[slot / 64U] &= ~(1ULL << (slot % 64U));
  part.used[device / 64U] |= 1ULL << (device % 64U);
  slot = device;
}

void Evaluator::swap_positions(int task, int first, int second) {
  Part& part = parts_[static_cast<std::size_t>(task)];
  mark(part, first);
  mark(part, second);
  std::swap(part.placement.devices[static_cast<std::size_t>(first)],
            part.placement.devices[static_cast<std::size_t>(second)]);
}

void Evaluator::replace_task(int task, const Placement& placement) {
  Part& part = parts_[static_cast<std::size_t>(task)];
  touch(part);
  if (!part.replaced) {
    part.replaced = true;
    part.before.placement = part.placement;
    part.before.replicas = part.replicas;
  }
  load(part, placement);
}

Score Evaluator::score() {
  for (Part& part : parts_) {
    if (!part.touched || part.replaced) continue;
    const Shape& shape = part.shapes.at(part.placement.shape);
    for (const int replica : part.dirty_replicas) {
      part.old_replicas.push_back({replica, part.replicas[static_cast<std::size_t>(replica)]});
      look_up_replica(part, replica);
    }
    if (part.kind == TaskKind::training && part.reduction_s.front() > 0) {
      if (!part.model.is_separable()) {
        look_up_stage(part, 0);
      } else {
        std::uint64_t done = 0;  // stages, as far as a word reaches
        for (const auto& old : part.old_devices) {
          const int stage = old.position % shape.replica_devices() / shape.tensor_parallel;
          const std::uint64_t bit = stage < 64 ? 1ULL << stage : 0;
          if ((done & bit) == 0) look_up_stage(part, stage);
          done |= bit;
        }
      }
    }
    sum_up(part);
  }
  return total();
}

void Evaluator::keep() {
  for (Part& part : parts_) {
    if (!part.touched) continue;
    part.touched = part.replaced = false;
    part.dirty_replicas.clear();
    part.old_devices.clear();
    part.old_replicas.clear();
  }
}

void Evaluator::undo() {
  for (Part& part : parts_) {
    if (!part.touched) continue;
    if (part.replaced) {
      std::swap(part.placement, part.before.placement);
      std::swap(part.replicas, part.before.replicas);
    } else {
      for (auto old = part.old_devices.rbegin(); old != part.old_devices.rend(); ++old) {
        part.placement.devices[static_cast<std::size_t>(old->position)] = old->device;
      }
      for (const auto& old : part.old_replicas)
        part.replicas[static_cast<std::size_t>(old.replica)] = old.value;
    }
    std::swap(part.used, part.before.used);
    std::swap(part.reduction_s, part.before.reduction_s);
    part.value = part.before.value;
  }
  keep();
}

Candidate Evaluator::current() const {
  Candidate candidate;
  for (const Part& part : parts_) candidate.tasks.push_back(part.placement);
  return candidate;
}

Plan Evaluator::plan_of(const Candidate& candidate, const std::string& name) const {
  Plan plan;
  plan.name = name;
  plan.weight_sync = frame_plan_.weight_sync;
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    plan.tasks[workflow_.tasks[t].name] =
        parts_[t].model.plan(parts_[t].shapes.at(candidate.tasks[t].shape), candidate.tasks[t]);
  }
  return plan;
}

}  // namespace sextant
