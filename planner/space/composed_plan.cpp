#include "planner/space/composed_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sextant::inline planner {
namespace {

bool is_same(ComposedPlan::DeviceSet a, ComposedPlan::DeviceSet b) { return a.data() == b.data(); }

}  // namespace

ComposedPlan::ComposedPlan(Evaluator& evaluator, const OptionTable& table, const Workflow& workflow,
                           const Objective& objective, const std::vector<double>& free_memory_bytes)
    : evaluator_(evaluator),
      workflow_(workflow),
      objective_(objective),
      is_time_alone_(objective.is_time_alone() && evaluator.device_rules().empty() &&
                     !evaluator.host_memory().is_there()),
      types_(static_cast<std::size_t>(table.types())),
      words_(words_of(free_memory_bytes.size())) {
  for (TypeRoom& type : types_) {
    type.devices.resize(words_);
    type.bytes = std::numeric_limits<double>::infinity();
  }
  for (std::size_t device = 0; device < free_memory_bytes.size(); ++device) {
    TypeRoom& type = types_[static_cast<std::size_t>(table.type_of(static_cast<std::uint16_t>(device)))];
    type.devices[device / kWordBits] |= std::uint64_t{1} << device % kWordBits;
    type.bytes = std::min(type.bytes, free_memory_bytes[device]);
  }
  now_.transfers = weight_transfers<double>(workflow);
  if (!workflow.has_weight_sync()) return;
  generation_ = static_cast<int>(&workflow.actor_generation() - workflow.tasks.data());
  training_ = static_cast<int>(&workflow.actor_training() - workflow.tasks.data());
}

ComposedPlan::Part ComposedPlan::part(const Option& option, DeviceSet devices) const {
  Part part{&option, devices, 0};
  for (std::size_t type = 0; type < types_.size(); ++type) {
    if (share(types_[type].devices, devices)) part.types |= type_bit(type);
  }
  return part;
}

// ---- time ----

void ComposedPlan::begin(std::vector<Part> parts) {
  const std::size_t tasks = parts.size();
  parts_ = std::move(parts);
  times_s_.clear();
  for (const Part& part : parts_) times_s_.push_back(part.option->value.time_s);
  overlaps_.assign(tasks * tasks, 0);
  old_overlaps_.resize(tasks);
  for (std::size_t t = 0; t < tasks; ++t) find_overlaps(t);
  for (const TaskKind kind : {TaskKind::generation, TaskKind::inference, TaskKind::training}) find_phase(kind);
  excess_.assign(types_.size(), 0);
  find_excess(~std::uint64_t{0});
  if (training_ >= 0) find_sync(true);
  find_other_uses();
  data_s_.resize(evaluator_.data_edges().size());
  for (std::size_t edge = 0; edge < data_s_.size(); ++edge) find_data(edge);
}

void ComposedPlan::find_data(std::size_t edge) {
  const DataEdge& of = evaluator_.data_edges()[edge];
  data_s_[edge] = is_same(parts_[of.made].devices, parts_[of.needed].devices)
                      ? 0
                      : evaluator_.data_s(of, parts_[of.made].devices, parts_[of.needed].devices);
}

void ComposedPlan::find_other_uses() {
  const std::vector<Evaluator::OtherUse>& uses = evaluator_.other_uses();
  const std::size_t first = now_.transfers.size() - uses.size();
  for (std::size_t u = 0; u < uses.size(); ++u) {
    const Part &trained = parts_[uses[u].trained], &used = parts_[uses[u].used];
    now_.transfers[first + u].time_s =
        evaluator_.other_use_s(uses[u], trained.devices, used.devices, used.option->value.largest_part);
  }
}

void ComposedPlan::find_sync(bool has_other_devices) {
  const Part& training = parts_[static_cast<std::size_t>(training_)];
  const Part& generation = parts_[static_cast<std::size_t>(generation_)];
  if (has_other_devices)
    now_.path =
        evaluator_.weight_path(training.devices, generation.devices, generation.option->value.largest_part);
  now_.transfers.front().time_s =
      evaluator_.sync_s(training.option->value, generation.option->value, now_.path);
}

void ComposedPlan::find_overlaps(std::size_t task) {
  const std::size_t tasks = parts_.size();
  for (std::size_t other = 0; other < tasks; ++other) {
    const bool both = share(parts_[task].devices, parts_[other].devices);
    overlaps_[task * tasks + other] = overlaps_[other * tasks + task] = both ? 1 : 0;
  }
}

void ComposedPlan::find_phase(TaskKind kind) {
  now_.phases_s[index_of(kind)] = evaluator_.phases().phase_s(kind, overlaps_, times_s_);
}

void ComposedPlan::set_part(std::size_t task, const Part& part) {
  parts_[task] = part;
  times_s_[task] = part.option->value.time_s;
}

Score ComposedPlan::replace(std::size_t task, const Part& part) {
  const std::size_t tasks = parts_.size();
  const bool has_other_devices = !is_same(part.devices, parts_[task].devices);
  changed_ = task;
  old_part_ = parts_[task];
  before_ = now_;
  set_part(task, part);
  if (has_other_devices) {
    std::copy_n(overlaps_.begin() + static_cast<std::ptrdiff_t>(task * tasks), tasks, old_overlaps_.begin());
    find_overlaps(task);
    old_data_s_ = data_s_;
    for (std::size_t edge = 0; edge < data_s_.size(); ++edge) {
      const DataEdge& of = evaluator_.data_edges()[edge];
      if (of.made == task || of.needed == task) find_data(edge);
    }
  }
  find_phase(workflow_.tasks[task].kind);
  old_excess_ = excess_;
  find_excess(part.types | old_part_.types);
  const int t = static_cast<int>(task);
  if (t == training_ || t == generation_) find_sync(has_other_devices || t == generation_);
  if (evaluator_.is_in_other_use(task)) find_other_uses();
  return score();
}

void ComposedPlan::undo() {
  const std::size_t tasks = parts_.size();
  const bool has_other_devices = !is_same(old_part_.devices, parts_[changed_].devices);
  set_part(changed_, old_part_);
  now_ = before_;
  std::swap(excess_, old_excess_);
  if (!has_other_devices) return;
  std::swap(data_s_, old_data_s_);
  for (std::size_t other = 0; other < tasks; ++other)
    overlaps_[changed_ * tasks + other] = overlaps_[other * tasks + changed_] = old_overlaps_[other];
}

Score ComposedPlan::score() const {
  const double time_s = std::accumulate(data_s_.begin(), data_s_.end(),
                                        evaluator_.phases().with_transfers_s(now_.phases_s, overlaps_, times_s_,
                                                                             now_.transfers)) +
                        evaluator_.overhead_s();
  const double excess = now_.excess_bytes;
  if (is_time_alone_) return {time_s, excess, time_s, 0};
  const auto used_of = [this](std::size_t word) { return used(word); };
  const Rented rented = objective_.needs_devices() ? evaluator_.prices().rented(words_, used_of) : Rented{};
  Score score = judged(objective_, time_s, excess, rented);
  score.overrun += evaluator_.device_rules().broken(
      [this](std::size_t task, std::size_t other) {
        return is_same(parts_[task].devices, parts_[other].devices);
      },
      [this](std::size_t task, std::size_t other) { return overlaps_[task * parts_.size() + other] != 0; });
  if (evaluator_.host_memory().is_there()) {
    std::vector<const TaskValue*> values;
    values.reserve(parts_.size());
    for (const Part& part : parts_) values.push_back(&part.option->value);
    score.overrun += evaluator_.host_memory().overrun(values);
  }
  return score;
}

// ---- memory and devices ----

std::uint64_t ComposedPlan::used(std::size_t word) const {
  std::uint64_t used = 0;
  for (const Part& part : parts_) used |= part.devices[word];
  return used;
}

void ComposedPlan::find_excess(std::uint64_t types) {
  now_.excess_bytes = 0;
  for (std::size_t type = 0; type < types_.size(); ++type) {
    if ((types & type_bit(type)) != 0) excess_[type] = excess_bytes(type);
    now_.excess_bytes = std::max(now_.excess_bytes, excess_[type]);
  }
}

// A shortcut: for most types all tasks fit together on one device.
double ComposedPlan::excess_bytes(std::size_t type) const {
  double resident = 0, working = 0;
  for (const Part& part : parts_) {
    if ((part.types & type_bit(type)) == 0) continue;
    const MemoryNeeds needs = part.option->needs_on(static_cast<int>(type));
    resident += needs.resident_bytes;
    working = std::max(working, needs.working_bytes);
  }
  return resident + working <= types_[type].bytes ? 0 : excess_by_device(type);
}

// Devices of a type with the same tasks are alike, so a whole word of them is processed at once.
double ComposedPlan::excess_by_device(std::size_t type) const {
  const TypeRoom& room = types_[type];
  double maximum = 0;
  for (std::size_t word = 0; word < words_; ++word) {
    for (std::uint64_t left = room.devices[word] & used(word); left != 0;) {
      const std::uint64_t first = left & (~left + 1);
      std::uint64_t alike = left;
      double resident = 0, working = 0;
      for (const Part& part : parts_) {
        const std::uint64_t devices = part.devices[word];
        if ((devices & first) == 0) {
          alike &= ~devices;
          continue;
        }
        alike &= devices;
        const MemoryNeeds needs = part.option->needs_on(static_cast<int>(type));
        resident += needs.resident_bytes;
        working = std::max(working, needs.working_bytes);
      }
      maximum = std::max(maximum, resident + working - room.bytes);
      left &= ~alike;
    }
  }
  return maximum;
}

}  // namespace sextant::inline planner
