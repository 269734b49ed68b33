#include "planner/sha_ea/cost_estimate.h"

#include <algorithm>
#include <limits>

namespace sextant::inline planner {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

}  // namespace

CostEstimate::CostEstimate(const PlanRequest& request, const Evaluator& evaluator)
    : request_(request),
      evaluator_(evaluator),
      min_work_(request.workflow.tasks.size(), Rates{kUnknown, kUnknown}) {
  for (int d = 0; d < request.cluster.device_count(); ++d) {
    const DeviceType& type = request.cluster.type_of(DeviceId{d});
    rates_.push_back({type.flop_per_s.at(request.workflow.precision).value, type.memory_bytes_per_s.value});
  }
}

CostEstimate::Rates CostEstimate::rates_of(const Devices& devices) const {
  Rates sum{};
  for (const std::uint16_t device : devices) {
    for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += rates_[device][r];
  }
  return sum;
}

void CostEstimate::learn(std::size_t task, const Devices& devices, double time_s) {
  const Rates rates = rates_of(devices);
  for (std::size_t r = 0; r < rates.size(); ++r)
    min_work_[task][r] = std::min(min_work_[task][r], time_s * rates[r]);
}

std::optional<double> CostEstimate::time_s(std::size_t task, const Devices& devices) const {
  const Rates rates = rates_of(devices), &work = min_work_[task];
  if (work.front() == kUnknown) return std::nullopt;
  return part_ * std::max(work[0] / rates[0], work[1] / rates[1]);
}

std::vector<CostEstimate::DeviceSet> CostEstimate::sets_of(const std::vector<Devices>& devices) const {
  std::vector<DeviceSet> sets;
  sets.reserve(devices.size());
  for (const Devices& of_task : devices) sets.push_back(device_set(of_task, rates_.size()));
  return sets;
}

double CostEstimate::iteration_s(const std::vector<DeviceSet>& sets, const std::vector<double>& times_s) const {
  // The bound for any graph: the longest task.
  if (request_.workflow.algorithm == Algorithm::custom)
    return *std::max_element(times_s.begin(), times_s.end());
  std::vector<std::uint8_t> overlaps;
  for (const DeviceSet& set : sets) {
    for (const DeviceSet& other : sets) overlaps.push_back(share(set, other) ? 1 : 0);
  }
  const Phases& phases = evaluator_.phases();
  Phases::Times phases_s{};
  for (const TaskKind kind : {TaskKind::generation, TaskKind::inference, TaskKind::training})
    phases_s[static_cast<std::size_t>(kind)] = phases.phase_s(kind, overlaps, times_s);
  return phases.closed_form_s(phases_s, overlaps);
}

Rented CostEstimate::rented(const std::vector<DeviceSet>& sets) const {
  return evaluator_.prices().rented(sets.front().size(), [&](std::size_t word) {
    std::uint64_t used = 0;
    for (const DeviceSet& set : sets) used |= set[word];
    return used;
  });
}

double CostEstimate::loss(const std::vector<Devices>& devices, const std::vector<double>& times_s) const {
  const std::vector<DeviceSet> sets = sets_of(devices);
  const Objective& objective = request_.objective;
  return loss_of(objective, iteration_s(sets, times_s), objective.needs_devices() ? rented(sets) : Rented{});
}

}  // namespace sextant::inline planner
