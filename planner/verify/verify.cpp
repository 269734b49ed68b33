#include "planner/verify/verify.h"

#include <algorithm>
#include <optional>

#include "planner/verify/batch.h"
#include "planner/verify/batch_rules.h"
#include "planner/verify/execution_rules.h"
#include "planner/verify/layout_rules.h"
#include "planner/verify/memory_rules.h"
#include "planner/verify/pin_rules.h"

namespace sextant::inline planner {
namespace {

void append(std::vector<Violation>& all, const std::vector<Violation>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Each kind of rule may take for granted that those before it hold.
std::vector<Violation> violations_of(PlannedTask& task) {
  std::vector<Violation> found = value_violations(task);
  if (found.empty()) found = layout_violations(task);
  if (!found.empty()) return found;
  task.batch = batch_of(task);
  append(found, execution_violations(task));
  append(found, batch_violations(task));
  return found;
}

}  // namespace

Verdict verify_plan(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                    const Coefficients& coefficients, std::string_view framework, const Pins& pins) {
  Verdict verdict;
  verdict.violations = task_violations(plan, workflow);
  std::vector<PlannedTask> tasks;
  const bool by_length = std::any_of(plan.tasks.begin(), plan.tasks.end(),
                                     [](const auto& planned) { return deals_by_length(planned.second); });
  const std::optional<SortedLengths> sorted = by_length ? std::optional<SortedLengths>(workflow) : std::nullopt;
  for (const Task& task : workflow.tasks) {
    const auto planned = plan.tasks.find(task.name);
    if (planned == plan.tasks.end()) continue;
    tasks.push_back({task, planned->second, workflow, cluster, sorted ? &*sorted : nullptr});
    append(verdict.violations, violations_of(tasks.back()));
  }
  append(verdict.violations, pin_violations(plan, workflow, pins));
  if (!verdict.feasible()) return verdict;
  verdict.devices = used_devices(tasks, coefficients, framework);
  verdict.hosts = used_hosts(tasks);
  append(verdict.violations, device_violations(verdict.devices, cluster));
  append(verdict.violations, host_violations(verdict.hosts));
  return verdict;
}

}  // namespace sextant::inline planner
