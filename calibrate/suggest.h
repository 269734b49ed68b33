// Suggests the next runs to measure: those that reduce the coefficients' spread most (D-optimal design).
//
// With covariance C of the coefficients in units of their priors, J the slopes of a candidate's log times by
// them and s the deviation of one such time, the candidate is worth
//   gain = 1/2 log det(I + J C J^T / s^2)
// nats. Candidates are taken greedily, each given the information of those before it; with a budget
// by gain per device second. The greedy choice is at least 1 - 1/e of the best (log det is
// submodular).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "documents/experiments.h"
#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant::inline calibrate {

struct CandidateExperiment {
  std::string cluster;  // key
  std::string framework;
  Workflow workflow;
  Plan plan;
};

struct CandidateExperiments {
  std::map<std::string, Cluster> clusters;
  std::vector<CandidateExperiment> all;
};

// Returns the workflows of the runs in every layout that is the same for all tasks, over all devices of their
// cluster or fewer, with several micro-batches, except those in the runs. Memory is not checked here:
// suggest_runs drops layouts that do not fit under the fitted coefficients.
[[nodiscard]] CandidateExperiments candidates_like(const Runs& runs);
// Returns the candidates of an experiments document, on the cluster and with the framework of the runs, which
// must have one of each.
[[nodiscard]] CandidateExperiments candidates_of(const Experiments& experiments, const Runs& runs);

struct Suggestion {
  Workflow workflow;
  Plan plan;
  double gain_nats = 0;
  double iteration_s = 0;  // predicted
  double device_s = 0;     // for one iteration, on the devices of the plan
  std::string teaches;     // the coefficients whose spread it would reduce most
};

// Returns at most `count` suggestions, best first. budget_device_s limits their sum; 0: no limit.
[[nodiscard]] std::vector<Suggestion> suggest_runs(const CandidateExperiments& candidates,
                                                   const Coefficients& fitted, int count,
                                                   double budget_device_s = 0);

}  // namespace sextant::inline calibrate
