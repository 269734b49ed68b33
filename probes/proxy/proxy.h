// The proxy: runs the real operations of a plan (prefill, decode, inference, training, weight sync) with a real
// transformer on random weights, and times them. Ranks are devices: CPU cores, or GPUs with an engine for them
// (engine.h).
//
//   CommunicatorSession session(&argc, &argv);
//   const Run run = run_proxy(session.world(), cluster, workflow, plan, {});
#pragma once

#include <string>

#include "probes/proxy/session.h"
#include "sextant/run.h"

namespace sextant::inline probes {

struct ProxyOptions {
  int warmup_iterations = 1;
  int min_iterations = 3;
  int max_iterations = 10;
  double target_spread_fraction = 0.03;  // for the median iteration, see relative_spread
  double budget_s = 10;  // for measured iterations; ends even before min_iterations, after at least one
  unsigned seed = 1;     // for weights, lengths and prompts
  std::string framework = "sextant-proxy";
  proxy::TaskEngine* engine = nullptr;  // computes the tasks; null: CPU cores
  PhaseGate* gate = nullptr;            // of iterations that share devices with other jobs; null: none
};

// Collective over `world`; every rank gets the same result. Stops when the median iteration is precise enough,
// after max_iterations, or when the budget is spent; Run::notes contain the reason ("stopped"), "iterations",
// "ranks", "transport", the notes of the engine ("blas") and, if there is one, "warning". Throws
// Error(bad_input) if the proxy cannot run the plan.
[[nodiscard]] Run run_proxy(Communicator& world, const Cluster& cluster, const Workflow& workflow,
                            const Plan& plan, const ProxyOptions& options);

}  // namespace sextant::inline probes
