#include "lab/reproduce/run_study.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "lab/reproduce/compare.h"
#include "lab/reproduce/equal_degrees.h"
#include "lab/reproduce/headlines.h"
#include "lab/reproduce/subsets.h"
#include "planner/exact/bound.h"
#include "planner/verify/verify.h"
#include "sextant/error.h"
#include "sextant/objective.h"
#include "sextant/planners.h"
#include "sextant/predict.h"

namespace sextant::inline lab {
namespace {

bool is_over(const StudyOptions& options) { return options.is_cancelled && options.is_cancelled->load(); }

ReproducedTask task_of(const TaskPrediction& prediction) {
  ReproducedTask task{prediction.time_s, prediction.exposed_s};
  for (const auto& [term, seconds] : prediction.terms_s) {
    if (seconds > task.largest_term_s) {
      task.largest_term = term;
      task.largest_term_s = seconds;
    }
  }
  return task;
}

void fill(const StudyCell& cell, const Plan& plan, const Prediction& prediction, ReproducedPlan& out) {
  out.layout = describe(plan);
  out.iteration_s = prediction.iteration_s;
  out.sequences_per_s = prediction.sequences_per_s;
  out.tokens_per_s = tokens_per_iteration(cell.workflow) / prediction.iteration_s;
  out.weight_sync_s = prediction.weight_sync_s;
  out.usd_per_hour = rented_by(plan, cell.cluster).usd_per_hour;
  for (const auto& [name, task] : prediction.tasks) out.tasks[name] = task_of(task);
}

// Generation and every other task.
DeviceRules pools_apart(const Workflow& workflow) {
  DeviceRules rules;
  for (std::size_t i = 0; i < workflow.tasks.size(); ++i) {
    for (std::size_t j = 0; j < workflow.tasks.size(); ++j) {
      if (workflow.tasks[i].kind == TaskKind::generation && workflow.tasks[j].kind != TaskKind::generation)
        rules.apart.emplace_back(i, j);
    }
  }
  return rules;
}

std::vector<TaskChoices> choices_of(const Contestant& contestant, const Workflow& workflow,
                                    const std::vector<Execution>& executions) {
  std::vector<TaskChoices> all = sextant::choices_of(executions);
  for (std::size_t t = 0; t < all.size(); ++t)
    all[t].has_even_batch = contestant.has_even_batches && workflow.tasks[t].kind != TaskKind::generation;
  if (!contestant.has_zero_3) return all;
  for (std::size_t t = 0; t < all.size(); ++t) {
    all[t].max_pipeline_parallel = 1;
    if (workflow.tasks[t].kind == TaskKind::generation) continue;
    all[t].max_tensor_parallel = 1;
    for (Execution& execution : all[t].executions) execution.zero_stage = 3;
  }
  return all;
}

// A search's answer, or why there is none.
PlanResult search(const Contestant& contestant, const Cluster& cluster, const Workflow& workflow,
                  const std::vector<Execution>& executions, const StudyCell& cell,
                  const StudyCoefficients& coefficients, const StudyOptions& options) {
  const Planner* planner = find_planner(contestant.planner);
  if (planner == nullptr) throw_bad_input("no planner is named " + contestant.planner);
  if (!contestant.balances_load && !planner->traits.balances_load)
    throw_bad_input("planner " + contestant.planner + " cannot be told not to balance");
  PlanRequest request{cluster, workflow, coefficients.coefficients, coefficients.framework};
  const bool ends_by_itself = !planner->traits.has_seed && !planner->traits.proves;
  if (planner->traits.has_budget && !ends_by_itself) request.budget = options.budget;
  request.seed = options.seed;
  request.threads = planner->traits.has_threads ? options.threads : 1;
  request.choices = choices_of(contestant, workflow, executions);
  request.weight_sync = cell.weight_sync;
  if (cell.has_pools_apart) request.device_rules = pools_apart(workflow);
  request.is_cancelled = options.is_cancelled;
  request.limits.balances_load = contestant.balances_load;
  request.limits.within_unit_space = contestant.is_within_unit_space;
  return planner->plan(request);
}

// Cut from the front, or what is left behind it.
Cluster cut(const Cluster& cluster, int devices, bool is_front) {
  std::vector<Node> nodes;
  int left = devices;
  for (const Node& node : cluster.nodes()) {
    const int in_front = std::min(left, node.devices);
    left -= in_front;
    Node part = node;
    part.devices = is_front ? in_front : node.devices - in_front;
    if (part.devices > 0) nodes.push_back(part);
  }
  return Cluster(cluster.name(), cluster.device_types(), nodes, cluster.levels());
}

void shift(TaskPlan& task, int by) {
  for (Replica& replica : task.replicas) {
    for (Stage& stage : replica.stages) {
      for (DeviceId& device : stage.devices) device = DeviceId{device.value + by};
    }
  }
}

PlanResult search_halves(const StudyCell& cell, Contestant contestant, const StudyCoefficients& coefficients,
                         const StudyOptions& options) {
  if (!cell.cluster.has_uniform_links()) throw_bad_input("halves are of clusters without link exceptions");
  const int half = cell.cluster.device_count() / 2;
  if (contestant.planner == "two-phase") contestant.planner = "sha-ea";  // of one side there are no two phases
  PlanResult joined;
  joined.outcome = PlanOutcome::found;
  joined.plan = Plan{"halves", {}, {}, cell.weight_sync};
  for (const bool generates : {true, false}) {
    const auto keeps = [&](const Task& task) { return (task.kind == TaskKind::generation) == generates; };
    std::vector<Execution> executions;
    for (std::size_t i = 0; i < cell.workflow.tasks.size() && !cell.executions.empty(); ++i) {
      if (keeps(cell.workflow.tasks[i])) executions.push_back(cell.executions[i]);
    }
    PlanResult part = search(contestant, cut(cell.cluster, half, generates), part_of(cell.workflow, keeps),
                             executions, cell, coefficients, options);
    if (!part.plan) return part;
    for (auto& [name, task] : part.plan->tasks) {
      if (!generates) shift(task, half);
      joined.plan->tasks.emplace(name, task);
    }
  }
  return joined;
}

// On the cell's cluster or a part of it.
PlanResult search_on(const Cluster& cluster, const StudyCell& cell, const Contestant& contestant,
                     const StudyCoefficients& coefficients, const StudyOptions& options) {
  if (contestant.placement == ContestantPlacement::equal_degrees) {
    return plan_with_equal_degrees(cell, cluster, contestant.tensor_parallel, coefficients.coefficients,
                                   coefficients.framework);
  }
  const bool is_alike = contestant.placement == ContestantPlacement::alike;
  return search(contestant, is_alike ? all_alike(cluster) : cluster, cell.workflow, cell.executions, cell,
                coefficients, options);
}

PlanResult search_best_part(const StudyCell& cell, const Contestant& contestant,
                            const StudyCoefficients& coefficients, const StudyOptions& options) {
  PlanResult best;
  double best_s = std::numeric_limits<double>::infinity();
  const auto time_on = [&](const Subcluster& part) -> std::optional<double> {
    if (is_over(options)) return std::nullopt;
    PlanResult result = search_on(part.cluster, cell, contestant, coefficients, options);
    if (!result.plan) {
      if (!best.plan) best = std::move(result);
      return std::nullopt;
    }
    // A planner that takes devices to be alike may have planned what does not fit.
    if (!verify_plan(part.cluster, cell.workflow, *result.plan, coefficients.coefficients,
                     coefficients.framework)
             .feasible())
      return std::nullopt;
    const double iteration_s =
        predict(part.cluster, cell.workflow, *result.plan, coefficients.coefficients, coefficients.framework)
            .iteration_s;
    if (iteration_s < best_s) {
      best_s = iteration_s;
      result.plan = part.on_whole(*std::move(result.plan));
      best = std::move(result);
    }
    return iteration_s;
  };
  (void)best_part(cell.cluster, time_on);
  return best;
}

PlanResult answer(const StudyCell& cell, const Contestant& contestant, const StudyCoefficients& coefficients,
                  const StudyOptions& options) {
  switch (contestant.placement) {
    case ContestantPlacement::published: {
      PlanResult published;
      published.outcome = PlanOutcome::found;
      published.plan = contestant.plan;
      return published;
    }
    case ContestantPlacement::halves:
      return search_halves(cell, contestant, coefficients, options);
    case ContestantPlacement::alike:
    case ContestantPlacement::planned:
    case ContestantPlacement::equal_degrees:
      break;
  }
  return contestant.may_leave_out ? search_best_part(cell, contestant, coefficients, options)
                                  : search_on(cell.cluster, cell, contestant, coefficients, options);
}

// Plans that the paper ran are not checked by our memory model.
std::string failure_reason(const StudyCell& cell, const Contestant& contestant, const PlanResult& result,
                           const StudyCoefficients& coefficients) {
  if (!result.plan) return result.message.empty() ? "no plan was found" : result.message;
  if (contestant.placement == ContestantPlacement::published) return "";
  const Verdict verdict =
      verify_plan(cell.cluster, cell.workflow, *result.plan, coefficients.coefficients, coefficients.framework);
  return verdict.feasible() ? "" : describe(verdict.violations.front());
}

double mean_over_devices(const Cluster& cluster, const std::function<double(const DeviceType&)>& rate) {
  double sum = 0;
  for (const Node& node : cluster.nodes())
    sum += node.devices * rate(cluster.device_types().at(node.device_type));
  return sum / cluster.device_count();
}

DeviceType mean_type(const Cluster& cluster) {
  DeviceType type = cluster.device_types().begin()->second;
  double minimum = std::numeric_limits<double>::infinity();
  for (const auto& [name, one] : cluster.device_types()) minimum = std::min(minimum, one.memory_bytes.value);
  type.memory_bytes = assumed(minimum);
  type.memory_bytes_per_s =
      assumed(mean_over_devices(cluster, [](const DeviceType& one) { return one.memory_bytes_per_s.value; }));
  for (auto& [precision, flop_per_s] : type.flop_per_s) {
    flop_per_s = assumed(mean_over_devices(cluster, [&precision = precision](const DeviceType& one) {
      return one.flop_per_s.contains(precision) ? one.flop_per_s.at(precision).value
                                                : one.flop_per_s.begin()->second.value;
    }));
  }
  return type;
}

// The coefficients have the cell's factors.
Coefficients changed(Coefficients coefficients, const std::string& framework,
                     const std::vector<CoefficientFactor>& factors) {
  for (const CoefficientFactor& factor : factors) {
    const double value = coefficients.value(factor.id, factor.device_type, framework) * factor.factor;
    std::erase_if(coefficients.values, [&](const Coefficient& one) {
      return one.id == factor.id && one.device_type == factor.device_type && one.framework == framework;
    });
    Coefficient& one = coefficients.values.emplace_back();
    one.id = factor.id;
    one.device_type = factor.device_type;
    one.framework = framework;
    one.value = value;
  }
  return coefficients;
}

double bound_of_all_s(const StudyCell& cell, const StudyCoefficients& coefficients) {
  PlanRequest request{cell.cluster, cell.workflow, coefficients.coefficients, coefficients.framework};
  request.choices = choices_of(cell.executions);
  request.weight_sync = cell.weight_sync;
  return min_iteration_s(request);
}

}  // namespace

Cluster all_alike(const Cluster& cluster) {
  const std::string name = "alike";
  std::vector<Node> nodes = cluster.nodes();
  const LinkRate outside = cluster.levels().at(LinkLevel::within_zone);
  LinkRate inside = nodes.front().link.value_or(cluster.levels().at(LinkLevel::within_node));
  for (Node& node : nodes) {
    const LinkRate link = node.link.value_or(cluster.levels().at(LinkLevel::within_node));
    if (link.bytes_per_s.value < inside.bytes_per_s.value) inside = link;
    node.device_type = name;
    node.region = node.zone = name;
    node.link.reset();
    node.network_bytes_per_s.reset();
  }
  return Cluster(cluster.name() + ", all alike", {{name, mean_type(cluster)}}, nodes,
                 {{LinkLevel::within_node, inside},
                  {LinkLevel::within_zone, outside},
                  {LinkLevel::within_region, outside},
                  {LinkLevel::between_regions, outside}});
}

std::vector<const StudyCell*> wanted_cells(const Study& study, const std::string& only) {
  std::vector<const StudyCell*> wanted;
  for (const StudyCell& cell : study.cells) {
    if (cell.name.find(only) != std::string::npos) wanted.push_back(&cell);
  }
  return wanted;
}

ReproducedPlan run_contestant(const StudyCell& cell, const Contestant& contestant,
                              const StudyCoefficients& coefficients, const StudyOptions& options) {
  ReproducedPlan out;
  out.name = contestant.name;
  out.planner = contestant.planner;
  const PlanResult result = answer(cell, contestant, coefficients, options);
  out.problem = failure_reason(cell, contestant, result, coefficients);
  if (!out.has_plan()) return out;
  out.candidates = result.candidates;
  if (!result.improvements.empty()) out.found_s = result.improvements.back().seconds;
  fill(cell, *result.plan,
       predict(cell.cluster, cell.workflow, *result.plan, coefficients.coefficients, coefficients.framework),
       out);
  return out;
}

ReproducedExperiment run_study(const Study& study, const StudyOptions& options) {
  ReproducedExperiment out;
  out.name = study.name;
  out.paper = study.paper;
  out.framework = study.framework;
  out.assumptions = study.assumptions;
  for (const StudyCell* cell : wanted_cells(study, options.only)) {
    if (is_over(options)) break;
    options.on_cell(cell->name);
    StudyCoefficients coefficients = options.coefficients(study.framework, cell->cluster);
    coefficients.coefficients =
        changed(std::move(coefficients.coefficients), coefficients.framework, cell->factors);
    out.coefficients = coefficients.name;
    out.framework = coefficients.framework;
    ReproducedCell done{cell->name,
                        cell->cluster.name(),
                        cell->cluster.device_count(),
                        {},
                        bound_of_all_s(*cell, coefficients)};
    for (const Contestant& contestant : cell->contestants) {
      done.plans.push_back(run_contestant(*cell, contestant, coefficients, options));
      if (is_over(options)) break;  // a search that was cut short would be held beside whole ones
    }
    if (!is_over(options)) out.cells.push_back(std::move(done));
  }
  out.comparisons = compare(study.figures, out.cells);
  for (Comparison& one : compare_headlines(study.headlines, out.comparisons))
    out.comparisons.push_back(std::move(one));
  if (study.measures && options.only.empty() && !is_over(options)) study.measures(out, options.seed);
  out.causes = study.causes;
  out.contradictions = study.contradictions;
  return out;
}

}  // namespace sextant::inline lab
