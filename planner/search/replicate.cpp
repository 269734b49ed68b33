#include "planner/search/replicate.h"

#include <algorithm>

#include "planner/search/finish.h"
#include "planner/search/search_run.h"
#include "planner/verify/framework_rules.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

bool are_nodes_alike(const Cluster& cluster) {
  const Node& first = cluster.nodes().front();
  return cluster.has_uniform_links() &&
         std::all_of(cluster.nodes().begin(), cluster.nodes().end(), [&](const Node& node) {
           return node.device_type == first.device_type && node.devices == first.devices;
         });
}

// The number of devices 0, 1, ... that the plan uses, if they are whole machines; else 0.
int first_machines_of(const Plan& plan, const Cluster& cluster) {
  const std::set<DeviceId> used = devices_of(plan);
  const int count = static_cast<int>(used.size());
  const bool are_first = !used.empty() && used.rbegin()->value == count - 1;
  return are_first && count % cluster.nodes().front().devices == 0 ? count : 0;
}

Plan repeated(const Plan& plan, int times, int shift) {
  Plan out = plan;
  for (auto& [name, task] : out.tasks) {
    const std::vector<Replica> once = task.replicas;
    task.replicas.clear();
    for (int copy = 0; copy < times; ++copy) {
      for (Replica replica : once) {
        replica.batch_share /= times;
        for (Stage& stage : replica.stages) {
          for (DeviceId& device : stage.devices) device.value += copy * shift;
        }
        task.replicas.push_back(std::move(replica));
      }
    }
  }
  return out;
}

bool is_dealt_by_length(const Plan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(), [](const auto& named) {
    return std::any_of(named.second.replicas.begin(), named.second.replicas.end(),
                       [](const Replica& replica) { return replica.length_rank > 0; });
  });
}

// False if a task whose replicas must have equally many sequences cannot have them.
bool has_even_batches(const Plan& plan, const PlanRequest& request) {
  for (std::size_t t = 0; t < request.workflow.tasks.size(); ++t) {
    const int replicas = plan.tasks.at(request.workflow.tasks[t].name).data_parallel();
    if (choices_for(request.choices, t).has_even_batch && request.workflow.sequences() % replicas != 0)
      return false;
  }
  return true;
}

}  // namespace

std::set<DeviceId> devices_of(const Plan& plan) {
  std::set<DeviceId> all;
  for (const auto& [name, task] : plan.tasks) all.merge(task.devices());
  return all;
}

std::optional<PlanResult> repeated_on_idle_devices(const PlanRequest& request, const PlanResult& result) {
  if (!result.plan || !request.limits.pins.empty() || !are_nodes_alike(request.cluster)) return std::nullopt;
  const int used = first_machines_of(*result.plan, request.cluster);
  const int room = used == 0 ? 0 : request.cluster.device_count() / used;
  if (room < 2 || is_dealt_by_length(*result.plan)) return std::nullopt;
  SearchTables tables(request);
  std::optional<Candidate> best;
  double best_loss =
      loss_of(request.objective, result.prediction->iteration_s, rented_by(*result.plan, request.cluster));
  for (int times = room; times >= 2; --times) {
    const Plan plan = repeated(*result.plan, times, used);
    const std::optional<Candidate> candidate = candidate_of(plan, request, tables.evaluator);
    if (!candidate || !has_even_batches(plan, request)) continue;
    const Score score = tables.evaluator.evaluate(*candidate);
    if (!score.fits() || score.loss >= best_loss) continue;
    best = candidate;
    best_loss = score.loss;
  }
  if (!best) return std::nullopt;
  PlanResult out = result;
  out.plan = tables.evaluator.plan_of(*best, std::string(result.plan->name));
  out.prediction =
      predict(request.cluster, request.workflow, *out.plan, request.coefficients, request.framework);
  out.proof = Proof::none;
  obey_engine_rules(request, out);
  const bool obeys =
      out.plan &&
      framework_violations(*out.plan, request.workflow, request.choices, request.engine_rules).empty();
  return obeys ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace sextant::inline planner
