#include "planner/two_phase/dollars.h"

#include <algorithm>
#include <set>

#include "planner/space/machines.h"
#include "planner/two_phase/two_phase.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

constexpr double kHour_s = 3600;
constexpr std::size_t kMaxChoices = 1000;

std::optional<double> usd_per_hour_of(const Cluster& cluster, const std::set<DeviceId>& devices) {
  double usd = 0;
  for (const DeviceId device : devices) {
    const auto& price = cluster.type_of(device).price_usd_per_hour;
    if (!price) return std::nullopt;
    usd += price->value;
  }
  return usd;
}

double machine_usd_per_hour(const Cluster& cluster, NodeId machine) {
  const Node& node = cluster.nodes()[machine.index()];
  const auto& price = cluster.device_types().at(node.device_type).price_usd_per_hour;
  if (!price) {
    throw_bad_input("cluster " + cluster.name() + ": device type " + node.device_type +
                    " has no price_usd_per_hour, which a budget needs");
  }
  return node.devices * price->value;
}

// Numbers of machines by class that the budget pays for and to which none can be added.
class Rentals {
 public:
  Rentals(const Cluster& cluster, const std::vector<MachineClass>& classes, double budget_usd_per_hour)
      : classes_(classes), left_(budget_usd_per_hour) {
    for (const MachineClass& of_class : classes)
      price_.push_back(machine_usd_per_hour(cluster, of_class.machines.front()));
    extend();
  }
  [[nodiscard]] const std::vector<std::vector<int>>& all() const { return all_; }

 private:
  // Rounding of sums of prices must not lose a machine.
  [[nodiscard]] bool pays(std::size_t c) const { return price_[c] <= left_ + 1e-9 * price_[c]; }

  void extend() {
    if (all_.size() > kMaxChoices) return;
    const std::size_t c = machines_.size();
    if (c == classes_.size()) {
      for (std::size_t other = 0; other < c; ++other) {
        if (machines_[other] < classes_[other].count() && pays(other)) return;
      }
      all_.push_back(machines_);
      return;
    }
    machines_.push_back(0);
    const double before = left_;
    for (;;) {
      extend();
      if (machines_[c] == classes_[c].count() || !pays(c)) break;
      ++machines_[c];
      left_ -= price_[c];
    }
    machines_.pop_back();
    left_ = before;
  }

  const std::vector<MachineClass>& classes_;
  std::vector<double> price_;  // of a machine, by class
  double left_;
  std::vector<int> machines_;
  std::vector<std::vector<int>> all_;
};

bool is_better(const PlanResult& a, const PlanResult& b) {
  if (a.outcome != PlanOutcome::found) return false;
  return b.outcome != PlanOutcome::found || a.prediction->iteration_s < b.prediction->iteration_s;
}

}  // namespace

std::optional<PlanDollars> dollars_of(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                                      double iteration_s) {
  std::set<DeviceId> devices;
  for (const auto& [name, task] : plan.tasks) devices.merge(task.devices());
  const std::optional<double> usd_per_hour = usd_per_hour_of(cluster, devices);
  if (!usd_per_hour) return std::nullopt;
  const double tokens = tokens_per_iteration(workflow);
  const double usd = *usd_per_hour * iteration_s / kHour_s;
  return PlanDollars{*usd_per_hour, usd, usd / tokens, tokens / usd};
}

std::optional<double> task_usd_per_token(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                                         const Prediction& prediction, const std::string& task) {
  const std::optional<double> usd_per_hour = usd_per_hour_of(cluster, plan.tasks.at(task).devices());
  if (!usd_per_hour) return std::nullopt;
  double tokens = workflow.response_tokens.mean_tokens();
  if (workflow.task(task).kind != TaskKind::generation) tokens += workflow.prompt_tokens.mean_tokens();
  return *usd_per_hour * prediction.tasks.at(task).time_s / kHour_s / (workflow.sequences() * tokens);
}

Subcluster rented(const Cluster& cluster, const std::vector<int>& machines) {
  const std::vector<MachineClass> classes = machine_classes(cluster);
  std::set<NodeId> kept;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    for (int m = 0; m < machines.at(c); ++m) kept.insert(classes[c].machines.at(static_cast<std::size_t>(m)));
  }
  std::set<DeviceId> others;
  for (int d = 0; d < cluster.device_count(); ++d) {
    if (!kept.contains(cluster.node_of(DeviceId{d}))) others.insert(DeviceId{d});
  }
  return without(cluster, others);
}

RentedPlan plan_within_budget(const PlanRequest& request, double usd_per_hour) {
  const std::vector<MachineClass> classes = machine_classes(request.cluster);
  const Rentals rentals(request.cluster, classes, usd_per_hour);
  if (rentals.all().size() > kMaxChoices) {
    throw_bad_input("cluster " + request.cluster.name() + ": more than " + std::to_string(kMaxChoices) +
                    " ways to spend the budget; exclude some machines");
  }
  RentedPlan best{{request.cluster, {}}, 0, {}};
  best.result.message = "no plan fits: the budget pays for no machine";
  for (const std::vector<int>& machines : rentals.all()) {
    if (std::all_of(machines.begin(), machines.end(), [](int count) { return count == 0; })) continue;
    RentedPlan tried{rented(request.cluster, machines), 0, {}};
    for (std::size_t c = 0; c < classes.size(); ++c)
      tried.usd_per_hour += machines[c] * machine_usd_per_hour(request.cluster, classes[c].machines.front());
    PlanRequest of_rented{tried.part.cluster, request.workflow, request.coefficients, request.framework};
    of_rented.limits = request.limits;
    of_rented.budget = request.budget;
    of_rented.seed = request.seed;
    of_rented.threads = request.threads;
    of_rented.choices = request.choices;
    of_rented.weight_sync = request.weight_sync;
    of_rented.memory_share = request.memory_share;
    of_rented.is_cancelled = request.is_cancelled;
    tried.result = plan_by_two_phase(of_rented);
    if (best.usd_per_hour == 0 || is_better(tried.result, best.result)) best = std::move(tried);
  }
  return best;
}

}  // namespace sextant::inline planner
