#include "calibrate/suggest.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "calibrate/posterior_matrices.h"
#include "calibrate/residuals.h"
#include "core/text.h"
#include "sextant/error.h"
#include "sextant/json.h"
#include "sextant/predict.h"

namespace sextant::inline calibrate {
namespace {

// A candidate with everything the choice looks at.
struct Weighed {
  const CandidateExperiment* candidate;
  Eigen::MatrixXd slopes;  // by time and coefficient, in deviations of one time
  double iteration_s = 0;
  double device_s = 0;
};

std::optional<Weighed> weigh(const CandidateExperiment& candidate, const Cluster& cluster,
                             const Coefficients& fitted, const Posterior& posterior, double deviation) {
  const Prediction prediction =
      predict(cluster, candidate.workflow, candidate.plan, fitted, candidate.framework);
  if (!prediction.fits()) return std::nullopt;
  Runs runs;
  Run run;
  run.name = "candidate";
  run.cluster = candidate.cluster;
  run.workflow = candidate.workflow.name;
  run.plan = candidate.plan.name;
  run.framework = candidate.framework;
  for (const auto& [name, task] : prediction.tasks) run.tasks[name].samples_s = {task.time_s};
  run.iteration.samples_s = {prediction.iteration_s};
  runs.clusters.emplace(run.cluster, cluster);
  runs.workflows.emplace(run.workflow, candidate.workflow);
  runs.plans.emplace(run.plan, candidate.plan);
  runs.runs.push_back(run);
  std::set<DeviceId> devices;
  for (const auto& [name, task] : candidate.plan.tasks) devices.merge(task.devices());
  Weighed weighed{&candidate, scaled_slopes(posterior, PreparedRun(runs, runs.runs.front())) / deviation,
                  prediction.iteration_s, prediction.iteration_s * static_cast<double>(devices.size())};
  return weighed;
}

double gain_of(const Weighed& weighed, const Eigen::MatrixXd& covariance) {
  const Eigen::MatrixXd seen = weighed.slopes * covariance * weighed.slopes.transpose();
  const Eigen::MatrixXd all = Eigen::MatrixXd::Identity(seen.rows(), seen.cols()) + seen;
  const Eigen::LLT<Eigen::MatrixXd> factor(all);
  return factor.matrixLLT().diagonal().array().log().sum();  // half the logarithm of the determinant
}

// The covariance after a measurement of the candidate.
Eigen::MatrixXd after(const Weighed& weighed, const Eigen::MatrixXd& covariance) {
  const Eigen::MatrixXd towards = weighed.slopes * covariance;
  const Eigen::MatrixXd all =
      Eigen::MatrixXd::Identity(towards.rows(), towards.rows()) + towards * weighed.slopes.transpose();
  return covariance - towards.transpose() * all.ldlt().solve(towards);
}

std::string max_taught(const Posterior& posterior, const Eigen::MatrixXd& before,
                       const Eigen::MatrixXd& later) {
  constexpr std::size_t kNamed = 2;
  const Eigen::VectorXd taught = before.diagonal() - later.diagonal();
  std::vector<Eigen::Index> order(static_cast<std::size_t>(taught.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Eigen::Index>(i);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return taught(a) > taught(b); });
  std::string names;
  std::set<CoefficientId> named;
  for (const Eigen::Index i : order) {
    const Parameter& parameter = posterior.parameters[static_cast<std::size_t>(i)];
    if (named.size() == kNamed || taught(i) <= 0) break;
    if (!named.insert(parameter.id).second) continue;
    names += (names.empty() ? "" : ", ") + std::string(parameter.spec().name);
  }
  return names;
}

double log_deviation_of(const Coefficients& fitted) {
  double model = 0;
  if (fitted.fit) {
    model = fitted.fit->held_out ? fitted.fit->held_out->task_log_deviation : fitted.fit->task_log_deviation;
  }
  return std::hypot(kMinLogDeviation, model);
}

std::string layout_name(const UniformLayout& layout, int micro_batch) {
  return "dp" + std::to_string(layout.data_parallel) + "-pp" + std::to_string(layout.pipeline_parallel) +
         "-tp" + std::to_string(layout.tensor_parallel) + "-mb" + std::to_string(micro_batch);
}

// All tasks in one layout; nothing where the models forbid it.
std::optional<Plan> uniform_plan(const Workflow& workflow, const Cluster& cluster, const Plan& like,
                                 const UniformLayout& layout, int micro_batch) {
  Plan plan = like;
  plan.name = workflow.name + "/" + layout_name(layout, micro_batch);
  for (auto& [name, task] : plan.tasks) {
    const int layers = workflow.model_of(workflow.task(name)).layers;
    if (layout.pipeline_parallel > layers) return std::nullopt;
    task.replicas = expand_layout(layout, layers);
    task.micro_batch_sequences = micro_batch;
    task.decode_batch_sequences = 0;
  }
  try {
    check_plan(plan, workflow, cluster);
  } catch (const Error&) {
    return std::nullopt;  // heads, batch or execution options do not divide
  }
  return plan;
}

std::vector<UniformLayout> layouts_of(int devices) {
  std::vector<UniformLayout> layouts;
  for (int used = devices; used >= 1; used = used == 1 ? 0 : used / 2) {
    for (int tp = 1; tp <= std::min(used, 8); tp *= 2) {
      for (int pp = 1; tp * pp <= used; pp *= 2) {
        if (used % (tp * pp) == 0) layouts.push_back({used / (tp * pp), pp, tp, DeviceId{0}});
      }
    }
  }
  return layouts;
}

}  // namespace

CandidateExperiments candidates_like(const Runs& runs) {
  constexpr int kMicroBatches[] = {1, 2, 4, 8};
  CandidateExperiments candidates;
  candidates.clusters = runs.clusters;
  std::set<std::pair<std::string, std::string>> seen;  // cluster, workflow
  for (const Run& run : runs.runs) {
    if (!seen.emplace(run.cluster, run.workflow).second) continue;
    const Cluster& cluster = runs.cluster_of(run);
    const Workflow& workflow = runs.workflow_of(run);
    for (const UniformLayout& layout : layouts_of(cluster.device_count())) {
      for (const int micro_batch : kMicroBatches) {
        std::optional<Plan> plan = uniform_plan(workflow, cluster, runs.plan_of(run), layout, micro_batch);
        if (!plan) continue;
        const bool known = std::any_of(runs.runs.begin(), runs.runs.end(), [&](const Run& other) {
          return other.workflow == run.workflow && other.cluster == run.cluster &&
                 runs.plan_of(other).tasks == plan->tasks;
        });
        if (!known) candidates.all.push_back({run.cluster, run.framework, workflow, std::move(*plan)});
      }
    }
  }
  return candidates;
}

CandidateExperiments candidates_of(const Experiments& experiments, const Runs& runs) {
  std::set<std::string> clusters, frameworks;
  for (const Run& run : runs.runs) {
    clusters.insert(run.cluster);
    frameworks.insert(run.framework);
  }
  if (clusters.size() != 1 || frameworks.size() != 1) {
    throw_bad_input(
        "suggesting from a list of candidates needs runs of one cluster and one framework; these are of " +
        std::to_string(clusters.size()) + " and " + std::to_string(frameworks.size()));
  }
  CandidateExperiments candidates;
  candidates.clusters = runs.clusters;
  for (const Experiment& experiment : experiments.experiments) {
    const Workflow& workflow = experiments.workflows.at(experiment.workflow);
    const Plan& plan = experiments.plans.at(experiment.plan);
    within("/plans/" + pointer_token(experiment.plan),
           [&] { check_plan(plan, workflow, runs.clusters.at(*clusters.begin())); });
    candidates.all.push_back({*clusters.begin(), *frameworks.begin(), workflow, plan});
  }
  return candidates;
}

std::vector<Suggestion> suggest_runs(const CandidateExperiments& candidates, const Coefficients& fitted,
                                     int count, double budget_device_s) {
  const std::optional<Posterior> posterior = posterior_of(fitted);
  if (!posterior) throw_bad_input("suggesting runs needs fitted coefficients");
  const double deviation = log_deviation_of(fitted);
  std::vector<Weighed> left;
  for (const CandidateExperiment& candidate : candidates.all) {
    auto weighed = weigh(candidate, candidates.clusters.at(candidate.cluster), fitted, *posterior, deviation);
    if (weighed) left.push_back(std::move(*weighed));
  }
  Eigen::MatrixXd covariance = scaled_covariance(*posterior);
  std::vector<Suggestion> suggestions;
  double spent_s = 0;
  while (static_cast<int>(suggestions.size()) < count) {
    double best_worth = 0, best_gain = 0;
    auto best = left.end();
    for (auto it = left.begin(); it != left.end(); ++it) {
      if (budget_device_s > 0 && spent_s + it->device_s > budget_device_s) continue;
      const double gain = gain_of(*it, covariance);
      const double worth = budget_device_s > 0 ? gain / it->device_s : gain;
      if (worth > best_worth) {
        best_worth = worth;
        best_gain = gain;
        best = it;
      }
    }
    if (best == left.end()) break;
    const Eigen::MatrixXd later = after(*best, covariance);
    suggestions.push_back({best->candidate->workflow, best->candidate->plan, best_gain, best->iteration_s,
                           best->device_s, max_taught(*posterior, covariance, later)});
    covariance = later;
    spent_s += best->device_s;
    left.erase(best);
  }
  return suggestions;
}

}  // namespace sextant::inline calibrate
