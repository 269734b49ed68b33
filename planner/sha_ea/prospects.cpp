#include "planner/sha_ea/prospects.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "planner/objective.h"

namespace sextant {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
constexpr std::size_t kWordBits = 64;

bool overlap(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (std::size_t word = 0; word < a.size(); ++word) {
    if ((a[word] & b[word]) != 0) return true;
  }
  return false;
}

}  // namespace

Prospects::Prospects(const PlanRequest& request)
    : request_(request), least_work_(request.workflow.tasks.size(), Rates{kUnknown, kUnknown}) {
  for (int d = 0; d < request.cluster.device_count(); ++d) {
    const DeviceType& type = request.cluster.type_of(DeviceId{d});
    rates_.push_back({type.flop_per_s.at(request.workflow.precision).value, type.memory_bytes_per_s.value});
    usd_per_hour_.push_back(type.price_usd_per_hour ? type.price_usd_per_hour->value : 0.0);
  }
}

Prospects::Rates Prospects::rates_of(const Devices& devices) const {
  Rates sum{};
  for (const std::uint16_t device : devices) {
    for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += rates_[device][r];
  }
  return sum;
}

Prospects::DeviceSet Prospects::set_of(const Devices& devices) const {
  DeviceSet set((rates_.size() + kWordBits - 1) / kWordBits);
  for (const std::uint16_t device : devices) set[device / kWordBits] |= std::uint64_t{1} << device % kWordBits;
  return set;
}

void Prospects::learn(std::size_t task, const Devices& devices, double time_s) {
  const Rates rates = rates_of(devices);
  for (std::size_t r = 0; r < rates.size(); ++r)
    least_work_[task][r] = std::min(least_work_[task][r], time_s * rates[r]);
}

std::optional<double> Prospects::time_s(std::size_t task, const Devices& devices) const {
  const Rates rates = rates_of(devices), &work = least_work_[task];
  if (work.front() == kUnknown) return std::nullopt;
  return part_ * std::max(work[0] / rates[0], work[1] / rates[1]);
}

// Tasks of one kind wait for those before them on their devices.
double Prospects::phase_s(TaskKind kind, const std::vector<DeviceSet>& sets,
                          const std::vector<double>& times_s) const {
  const std::vector<Task>& tasks = request_.workflow.tasks;
  std::vector<double> ends_s(tasks.size(), 0);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind != kind) continue;
    for (std::size_t before = 0; before < t; ++before) {
      if (ends_s[t] < ends_s[before] && overlap(sets[t], sets[before])) ends_s[t] = ends_s[before];
    }
    ends_s[t] += times_s[t];
  }
  return *std::max_element(ends_s.begin(), ends_s.end());
}

bool Prospects::is_generation_apart(const std::vector<DeviceSet>& sets) const {
  const std::vector<Task>& tasks = request_.workflow.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind != TaskKind::generation) continue;
    for (std::size_t other = 0; other < tasks.size(); ++other) {
      if (tasks[other].kind != TaskKind::generation && overlap(sets[t], sets[other])) return false;
    }
  }
  return true;
}

double Prospects::iteration_s(const std::vector<DeviceSet>& sets, const std::vector<double>& times_s) const {
  // Of any graph: no task may take longer.
  if (request_.workflow.algorithm == Algorithm::custom)
    return *std::max_element(times_s.begin(), times_s.end());
  const double generation_s = phase_s(TaskKind::generation, sets, times_s);
  const double rest_s =
      phase_s(TaskKind::inference, sets, times_s) + phase_s(TaskKind::training, sets, times_s);
  const bool is_beside = request_.workflow.mode != Mode::synchronous && is_generation_apart(sets);
  return is_beside ? std::max(generation_s, rest_s) : generation_s + rest_s;
}

Rented Prospects::rented(const std::vector<DeviceSet>& sets) const {
  Rented rented;
  for (std::size_t word = 0; word < sets.front().size(); ++word) {
    std::uint64_t used = 0;
    for (const DeviceSet& set : sets) used |= set[word];
    rented.devices += std::popcount(used);
    for (; used != 0; used &= used - 1)
      rented.usd_per_hour += usd_per_hour_[kWordBits * word + static_cast<std::size_t>(std::countr_zero(used))];
  }
  return rented;
}

double Prospects::loss(const std::vector<Devices>& devices, const std::vector<double>& times_s) const {
  std::vector<DeviceSet> sets;
  for (const Devices& of_task : devices) sets.push_back(set_of(of_task));
  const Objective& objective = request_.objective;
  return loss_of(objective, iteration_s(sets, times_s), objective.needs_devices() ? rented(sets) : Rented{});
}

}  // namespace sextant
