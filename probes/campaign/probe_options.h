// The options of a campaign of ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probes/harness/probe_result.h"
#include "probes/link/link_probe.h"
#include "probes/schedule/host_places.h"
#include "sextant/model.h"

namespace sextant::inline probes {

struct ProbeOptions {
  double budget_s_per_point = 0.4;
  double target_spread_fraction = 0.02;
  // The model whose matrix shapes are measured in addition to square ones.
  std::optional<Model> model;
  int model_tokens = 256;
  int model_tensor_parallel = 1;
  // Called on rank 0 with the measurements of all ranks, before the cluster is assembled. May be empty.
  std::function<void(const std::vector<ProbeResult>& results)> on_results = {};
  bool is_smoke_test = false;  // the smallest sizes, to test that all code runs
  bool pin = true;             // pins each rank to one of its CPUs while it measures
  std::string name = "local";
  HostPlaces hosts;                        // places of the hosts
  double answer_limit_s = kAnswerLimit_s;  // for each wait for another rank while pairs are measured
  double collectives_budget_s = 50;        // for the groups of one level; groups not begun by then are waived
};

}  // namespace sextant::inline probes
