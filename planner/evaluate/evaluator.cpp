#include "planner/evaluate/evaluator.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "costmodel/iteration.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

// The default execution options of the actor's training; those of the first task if the actor does not train.
const Execution& of_training(const Workflow& workflow, const std::vector<TaskChoices>& choices) {
  const std::size_t task = workflow.has_weight_sync()
                               ? static_cast<std::size_t>(&workflow.actor_training() - workflow.tasks.data())
                               : 0;
  return choices_for(choices, task).executions.front();
}

DeviceClasses seating_of(const Problem<double>& frame) {
  const Cluster& cluster = frame.cluster();
  const bool devices_differ =
      std::any_of(cluster.exceptions().begin(), cluster.exceptions().end(),
                  [](const LinkException& exception) { return exception.scope == LinkScope::device; });
  DeviceClasses seating;
  seating.parts_are_alike = cluster.has_zonal_links() && !cluster.has_trunks();
  seating.zones_are_alike = cluster.has_uniform_links();
  seating.used_words = words_of(static_cast<std::size_t>(cluster.device_count()));
  seating.straggler_factor.push_back(0);
  seating.prints = DeviceClassHashes(static_cast<std::size_t>(
      devices_differ ? cluster.device_count() : static_cast<int>(cluster.nodes().size())));
  for (int d = 0; d < cluster.device_count(); ++d) {
    const int seat = devices_differ ? d : cluster.node_of(DeviceId{d}).value;
    seating.class_of.push_back(static_cast<std::uint16_t>(seat));
    seating.straggler_factor.push_back(terms::expected_largest(d + 1) *
                                       frame.coefficient(CoefficientId::straggler_spread));
  }
  return seating;
}

std::vector<double> rooms_of(const Problem<double>& frame, double memory_share) {
  std::vector<double> rooms;
  for (int d = 0; d < frame.cluster().device_count(); ++d) {
    const DeviceId device{d};
    rooms.push_back(memory_share * frame.hardware.memory_bytes(device) -
                    frame.coefficient(CoefficientId::memory_context_bytes, device));
  }
  return rooms;
}

std::vector<DeviceId> devices_of(std::span<const std::uint64_t> words) {
  std::vector<DeviceId> devices;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t word = words[w]; word != 0; word &= word - 1)
      devices.push_back(DeviceId{static_cast<int>(kWordBits * w) + std::countr_zero(word)});
  }
  return devices;
}

std::vector<DeviceId> ascending(const Placement& placement) {
  std::vector<DeviceId> devices;
  for (const std::uint16_t device : placement.devices) devices.push_back(DeviceId{device});
  std::sort(devices.begin(), devices.end());
  return devices;
}

}  // namespace

Evaluator::Evaluator(const EvaluatedProblem& problem)
    : workflow_(problem.workflow),
      sorted_(problem.workflow),
      objective_(problem.objective),
      memory_share_(problem.memory_share),
      device_rules_(problem.device_rules),
      host_memory_(problem.cluster, problem.one_copy),
      prices_(problem.cluster),
      is_time_alone_(problem.objective.is_time_alone() && problem.device_rules.empty() &&
                     !host_memory_.is_there()) {
  constexpr int kMaxDevices = 65536;  // candidates have 16-bit device numbers
  const int devices = problem.cluster.device_count();
  if (devices > kMaxDevices) {
    throw_bad_input("cluster " + problem.cluster.name() + ": " + std::to_string(devices) +
                    " devices, more than the " + std::to_string(kMaxDevices) + " that can be planned");
  }
  check_prices(objective_, problem.cluster);
  sync_plan_.weight_sync = problem.weight_sync;
  Hardware<double> hardware(problem.cluster, workflow_.precision);
  CoefficientValues<double> values = resolve(problem.coefficients, hardware, problem.framework);
  sync_problem_ =
      std::make_unique<const Problem<double>>(workflow_, sync_plan_, std::move(hardware), std::move(values));
  seating_ = seating_of(*sync_problem_);
  for (std::size_t t = 0; t < workflow_.tasks.size(); ++t) {
    const Task& task = workflow_.tasks[t];
    TaskModel model(task, choices_for(problem.choices, t).executions, of_training(workflow_, problem.choices),
                    *sync_problem_, problem.memory_share, &sorted_);
    const TaskPairs& shared = problem.one_copy_on_devices;
    if (std::any_of(shared.begin(), shared.end(), [t](const auto& pair) { return pair.first == t; }))
      model.find_weights_on_devices();
    parts_.emplace_back(std::move(model), *sync_problem_, seating_);
    if (!workflow_.has_weight_sync()) continue;
    if (task.name == workflow_.actor_generation().name) generation_ = static_cast<int>(t);
    if (task.name == workflow_.actor_training().name) training_ = static_cast<int>(t);
  }
  if (training_ >= 0) {
    decomposes_sync_ = problem.weight_sync.method != WeightSyncMethod::per_replica &&
                       part(training_).model().is_always_separable() &&
                       part(generation_).model().is_always_separable();
    handover_s_ = part(training_).model().handover_s();
    woken_s_ = part(training_).model().woken_s();
    sent_bytes_ = part(training_).model().sent_bytes();
  }
  is_in_other_use_.resize(parts_.size());
  for (const WeightUse& use : other_weight_uses(workflow_)) {
    is_in_other_use_[use.trained] = is_in_other_use_[use.used] = true;
    const Task& trained = workflow_.tasks[use.trained];
    const TaskPlan plan =
        one_device_plan({}, workflow_.model_of(trained).layers,
                        choices_for(problem.choices, use.trained).executions.front(), workflow_.sequences());
    const TaskWork work = work_of(trained, plan, workflow_, problem.cluster);
    other_uses_.push_back({use.trained, use.used, terms::trained_bytes(work)});
  }
  now_.transfers = weight_transfers<double>(workflow_);
  data_edges_ = sextant::data_edges(workflow_, problem.cluster);
  data_s_.resize(data_edges_.size());
  phases_.emplace(workflow_, sync_problem_->coefficient(CoefficientId::task_overlap));
  overhead_s_ = iteration_overhead_s(workflow_, sync_problem_->coefficients);
  std::vector<double> rooms = rooms_of(*sync_problem_, problem.memory_share);
  min_room_bytes_ = *std::min_element(rooms.begin(), rooms.end());
  memory_ = std::make_unique<MemoryUse>(std::move(rooms));
  time_s_.resize(parts_.size());
  bytes_.resize(parts_.size());
  overlap_.resize(parts_.size() * parts_.size());
}

Evaluator::~Evaluator() = default;

std::uint64_t Evaluator::asked() const {
  std::uint64_t sum = asked_syncs_;
  for (const TaskPart& part : parts_) sum += part.asked();
  return sum;
}

// ---- the iteration (costmodel/iteration.h) ----

// Overlaps of a task with the first `others` tasks.
void Evaluator::find_overlaps(std::size_t task, std::size_t others) {
  const std::span<const std::uint64_t> used = parts_[task].used();
  for (std::size_t other = 0; other < others; ++other) {
    if (other == task) continue;
    const bool both = share(used, parts_[other].used());
    overlap_[task * parts_.size() + other] = overlap_[other * parts_.size() + task] = both ? 1 : 0;
  }
}

double Evaluator::custom_s() const {
  std::vector<std::set<DeviceId>> devices;
  for (const TaskPart& part : parts_) {
    const std::vector<DeviceId> used = ascending(part.placement());
    devices.emplace_back(used.begin(), used.end());
  }
  std::vector<PlacedTask<double>> placed;
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    const Task& task = parts_[t].model().task();
    placed.push_back({task.kind, parts_[t].value().time_s, &devices[t], parents_of(workflow_, task)});
  }
  return sextant::work_and_weights_s(workflow_, std::span<const PlacedTask<double>>(placed), now_.transfers,
                                     sync_problem_->coefficient(CoefficientId::task_overlap));
}

double Evaluator::work_and_weights_s() const {
  return workflow_.algorithm == Algorithm::custom
             ? custom_s()
             : phases_->with_transfers_s(now_.phase_s, overlap_, time_s_, now_.transfers);
}

double Evaluator::iteration_s() const {
  return std::accumulate(data_s_.begin(), data_s_.end(), work_and_weights_s()) + overhead_s_;
}

// ---- weight synchronization (costmodel/terms/weight_sync.h) ----

terms::WeightWays<double> Evaluator::weight_ways(std::span<const std::uint64_t> training,
                                                 std::span<const std::uint64_t> generation,
                                                 double largest_part) {
  words_.assign(training.begin(), training.end());
  words_.insert(words_.end(), generation.begin(), generation.end());
  words_.push_back(std::bit_cast<std::uint64_t>(largest_part));
  const Fingerprint print = DeviceClassHashes::of_words(words_);
  if (const terms::WeightWays<double>* known = known_ways_.find(print)) return *known;
  ++asked_syncs_;
  const std::vector<DeviceId> from = devices_of(training), to = devices_of(generation);
  const terms::WeightWays<double> ways =
      terms::weight_ways(*sync_problem_, std::span<const DeviceId>(from), std::span<const DeviceId>(to),
                         largest_part, sent_bytes_);
  known_ways_.insert(print, ways);
  return ways;
}

double Evaluator::whole_sync_s(const TaskPart& training, const TaskPart& generation) {
  words_.assign({static_cast<std::uint64_t>(training.placement().shape) << 32 |
                 static_cast<std::uint32_t>(generation.placement().shape)});
  for (const TaskPart* part : {&training, &generation}) {
    words_.insert(words_.end(), part->placement().devices.begin(), part->placement().devices.end());
  }
  const Fingerprint print = DeviceClassHashes::of_words(words_);
  if (const double* known = known_syncs_.find(print)) return *known;
  ++asked_syncs_;
  const TaskPlan trained = training.plan(), generated = generation.plan();
  const double time_s =
      terms::weight_sync_s(*sync_problem_, training.model().work(trained), generation.model().work(generated));
  known_syncs_.insert(print, time_s);
  return time_s;
}

WeightPath Evaluator::weight_path(std::span<const std::uint64_t> training,
                                  std::span<const std::uint64_t> generation, double largest_part) {
  if (holds_all(training, generation)) return {true, {}};
  return {false, weight_ways(training, generation, largest_part)};
}

void Evaluator::find_path() {
  if (training_ < 0 || !decomposes_sync_) return;
  now_.path =
      weight_path(part(training_).used(), part(generation_).used(), part(generation_).value().largest_part);
}

double Evaluator::other_use_s(const OtherUse& use, std::span<const std::uint64_t> training,
                              std::span<const std::uint64_t> used, double largest_part) {
  if (holds_all(training, used)) return 0;
  words_.assign(training.begin(), training.end());
  words_.insert(words_.end(), used.begin(), used.end());
  words_.push_back(std::bit_cast<std::uint64_t>(largest_part * use.bytes));
  const Fingerprint print = DeviceClassHashes::of_words(words_);
  if (const double* known = known_uses_.find(print)) return *known;
  ++asked_syncs_;
  const std::vector<DeviceId> from = devices_of(training), to = devices_of(used);
  const double time_s = terms::used_elsewhere_s(*sync_problem_, std::span<const DeviceId>(from),
                                                std::span<const DeviceId>(to), largest_part, use.bytes);
  known_uses_.insert(print, time_s);
  return time_s;
}

void Evaluator::find_other_uses() {
  const std::size_t first = now_.transfers.size() - other_uses_.size();
  for (std::size_t u = 0; u < other_uses_.size(); ++u) {
    const OtherUse& use = other_uses_[u];
    const TaskPart &trained = parts_[use.trained], &used = parts_[use.used];
    now_.transfers[first + u].time_s = other_use_s(use, trained.used(), used.used(), used.value().largest_part);
  }
}

// ---- data that tasks hand on ----

double Evaluator::data_s(const DataEdge& edge, std::span<const std::uint64_t> made,
                         std::span<const std::uint64_t> needed) {
  if (std::equal(made.begin(), made.end(), needed.begin(), needed.end())) return 0;
  words_.assign(made.begin(), made.end());
  words_.insert(words_.end(), needed.begin(), needed.end());
  words_.push_back(std::bit_cast<std::uint64_t>(edge.bytes));
  const Fingerprint print = DeviceClassHashes::of_words(words_);
  if (const double* known = known_data_.find(print)) return *known;
  ++asked_syncs_;
  const std::vector<DeviceId> from = devices_of(made), to = devices_of(needed);
  const double time_s = terms::data_transfer_s(*sync_problem_, std::span<const DeviceId>(from),
                                               std::span<const DeviceId>(to), edge.bytes);
  known_data_.insert(print, time_s);
  return time_s;
}

void Evaluator::find_data(std::size_t edge) {
  const DataEdge& of = data_edges_[edge];
  data_s_[edge] = data_s(of, parts_[of.made].used(), parts_[of.needed].used());
}

// Updates the edges of tasks whose devices changed in the move.
void Evaluator::find_data_of_moves() {
  for (std::size_t edge = 0; edge < data_edges_.size(); ++edge) {
    const DataEdge& of = data_edges_[edge];
    if (!parts_[of.made].uses_other_devices() && !parts_[of.needed].uses_other_devices()) continue;
    if (!has_other_data_) old_data_s_ = data_s_;
    has_other_data_ = true;
    find_data(edge);
  }
}

double Evaluator::part_of_weights_s(double part) const {
  return training_ < 0 ? 0 : terms::usual_fetching_s(*sync_problem_, sent_bytes_ * part);
}

void Evaluator::find_sync() {
  if (training_ < 0) return;
  const TaskPart& training = part(training_);
  const TaskPart& generation = part(generation_);
  now_.transfers.front().time_s = decomposes_sync_ ? sync_s(training.value(), generation.value(), now_.path)
                                                   : whole_sync_s(training, generation);
}

double Evaluator::sync_s(const TaskValue& trained, const TaskValue& generated, const WeightPath& path) const {
  const double fixed = trained.fetched_s + handover_s_;
  if (path.is_colocated)
    return trained.slowest_gather_s + trained.copied_s + generated.copied_s + fixed + woken_s_;
  return terms::between_pools_s(sync_plan_.weight_sync.method, path.ways,
                                terms::Gathers<double>{trained.fastest_gather_s, trained.slowest_gather_s}) +
         std::max(trained.copied_s, generated.copied_s) + fixed;
}

// ---- candidates and moves ----

TaskValue Evaluator::value_of(int task, const Placement& placement) {
  part(task).cost_without_caching(placement);
  return part(task).value();
}

std::vector<std::vector<StageTime>> Evaluator::stage_times(int task, const Placement& placement) {
  std::vector<std::vector<StageTime>> times;
  const TaskModel& model = part(task).model();
  const Shape& shape = shapes(task).at(placement.shape);
  if (!model.is_separable(shape)) return times;
  (void)value_of(task, placement);
  const std::span<const ReplicaValue* const> values = replicas(task);
  const auto size = static_cast<std::size_t>(shape.replica_devices());
  const std::span<const std::uint16_t> devices(placement.devices);
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Identical replicas have one value.
    const auto alike =
        static_cast<std::size_t>(std::find(values.begin(), values.end(), values[i]) - values.begin());
    times.push_back(alike < i ? times[alike]
                              : model.stage_times(shape, devices.subspan(i * size, size), static_cast<int>(i)));
  }
  return times;
}

Score Evaluator::evaluate(const Candidate& candidate) {
  keep();
  for (std::size_t t = 0; t < parts_.size(); ++t) parts_[t].load(candidate.tasks[t]);
  for (std::size_t t = 0; t < parts_.size(); ++t) follow(t);
  for (std::size_t t = 1; t < parts_.size(); ++t) find_overlaps(t, t);
  for (const TaskKind kind : {TaskKind::generation, TaskKind::inference, TaskKind::training})
    now_.phase_s[index_of(kind)] = phases_->phase_s(kind, overlap_, time_s_);
  find_path();
  find_sync();
  find_other_uses();
  for (std::size_t edge = 0; edge < data_edges_.size(); ++edge) find_data(edge);
  return judged(iteration_s(), excess_bytes(true));
}

TaskPart& Evaluator::changing(int task) {
  TaskPart& changed = part(task);
  if (!changed.is_touched()) changed_tasks_.push_back(static_cast<std::size_t>(task));
  return changed;
}

void Evaluator::replace_device(int task, int position, std::uint16_t device) {
  changing(task).replace_device(position, device);
}

void Evaluator::swap_positions(int task, int first, int second) {
  changing(task).swap_positions(first, second);
}

void Evaluator::replace_task(int task, const Placement& placement) { changing(task).replace(placement); }

void Evaluator::follow(std::size_t task) {
  time_s_[task] = parts_[task].value().time_s;
  bytes_[task] = parts_[task].bytes();
}

Score Evaluator::score() {
  if (!is_moving_) before_ = now_;
  is_moving_ = true;
  std::array<bool, Phases::kKinds> changed{};
  bool has_other_weights = false, has_other_senders = false, has_other_uses = false;
  bool has_new_devices = false;
  for (const std::size_t t : changed_tasks_) {
    TaskPart& part = parts_[t];
    const bool has_other_value = part.refresh(), has_other_devices = part.uses_other_devices();
    follow(t);
    has_new_devices = has_new_devices || has_other_devices;
    if (has_other_devices) {
      if (!has_other_overlaps_) old_overlap_ = overlap_;
      has_other_overlaps_ = true;
      find_overlaps(t, parts_.size());
    }
    const std::size_t kind = index_of(part.model().task().kind);
    changed[kind] = changed[kind] || has_other_value || has_other_devices;
    has_other_uses = has_other_uses || (is_in_other_use_[t] && (has_other_value || has_other_devices));
    const int task = static_cast<int>(t);
    if (task != training_ && task != generation_) continue;
    // A transfer of whole weights also depends on the order of devices.
    has_other_weights = has_other_weights || has_other_value || has_other_devices || !decomposes_sync_;
    has_other_senders = has_other_senders || has_other_devices || task == generation_;
  }
  for (const TaskKind kind : {TaskKind::generation, TaskKind::inference, TaskKind::training}) {
    if (changed[index_of(kind)]) now_.phase_s[index_of(kind)] = phases_->phase_s(kind, overlap_, time_s_);
  }
  if (has_other_senders) find_path();
  if (has_other_weights) find_sync();
  if (has_other_uses) find_other_uses();
  if (has_new_devices) find_data_of_moves();
  return judged(iteration_s(), excess_bytes(false));
}

void Evaluator::keep() {
  for (const std::size_t t : changed_tasks_) {
    parts_[t].keep();
    follow(t);
  }
  changed_tasks_.clear();
  memory_->keep();
  is_moving_ = has_other_overlaps_ = has_other_data_ = false;
}

void Evaluator::undo() {
  for (const std::size_t t : changed_tasks_) {
    parts_[t].undo();
    follow(t);
  }
  changed_tasks_.clear();
  memory_->undo();
  if (is_moving_) now_ = before_;
  if (has_other_overlaps_) std::swap(overlap_, old_overlap_);
  if (has_other_data_) std::swap(data_s_, old_data_s_);
  is_moving_ = has_other_overlaps_ = has_other_data_ = false;
}

Candidate Evaluator::current() const {
  Candidate candidate;
  for (const TaskPart& part : parts_) candidate.tasks.push_back(part.placement());
  return candidate;
}

Plan Evaluator::plan_of(const Candidate& candidate, const std::string& name) const {
  Plan plan;
  plan.name = name;
  plan.weight_sync = sync_plan_.weight_sync;
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    const Placement& placement = candidate.tasks[t];
    plan.tasks[workflow_.tasks[t].name] =
        parts_[t].model().plan(parts_[t].shapes().at(placement.shape), placement);
  }
  return plan;
}

}  // namespace sextant::inline planner
