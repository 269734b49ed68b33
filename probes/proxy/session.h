// A plan prepared for execution: groups, weights, buffers. Each iteration then runs the workflow once.
//
// Device d of the plan is world rank d: a core, or a GPU with an engine for them (engine.h). Tasks run in
// phases, the levels of the workflow's graph; within a phase tasks on different devices run at the same time,
// and tasks that share a device one after another in the workflow's order. Between phases all ranks exchange
// results (a number per token). An asynchronous or one-step-off workflow generates the next iteration's
// rollouts while the other ranks work on the last ones, then syncs weights; a longer staleness bound runs the
// same way. Weight sync ends every iteration. Critic and reference inference keep weights of their own, which
// are never synced: that changes no time.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "probes/comm/communicator.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::proxy {
class TaskEngine;
class TaskWork;
}  // namespace sextant::proxy

namespace sextant::inline probes {

// Phases of an iteration that share devices with other jobs (planner/coschedule).
enum class IterationPhase { rollout, training, sync };

// Called on every rank around each phase of a synchronous iteration: no rank begins before all have returned from
// begin, and all have completed the phase before end.
class PhaseGate {
 public:
  PhaseGate() = default;
  virtual ~PhaseGate() = default;
  PhaseGate(const PhaseGate&) = delete;
  PhaseGate& operator=(const PhaseGate&) = delete;
  virtual void begin(IterationPhase phase) = 0;
  virtual void end(IterationPhase phase) = 0;
};

class ProxySession {
 public:
  // Collective over `world`, which must outlive this. Allocates and initialises everything. Throws
  // Error(bad_input) with a sentence, the same on all ranks, if the proxy cannot run the plan. `engine`
  // computes the tasks and outlives this; null: CPU cores.
  ProxySession(Communicator& world, const Cluster& cluster, const Workflow& workflow, const Plan& plan,
               unsigned seed, proxy::TaskEngine* engine = nullptr);
  ~ProxySession();
  ProxySession(const ProxySession&) = delete;
  ProxySession& operator=(const ProxySession&) = delete;

  struct Sample {
    double iteration_s = 0;
    // Seconds of each task, and of kWeightSync if weights are synced: from the moment when all ranks of the
    // task are ready until the last has finished.
    std::map<std::string, double> tasks_s;
  };
  // Collective; the same result on all ranks. With a gate the iteration's time includes waiting for it. Throws
  // Error(bad_input) for a gate and a workflow that is not synchronous.
  Sample iterate(PhaseGate* gate = nullptr);

  // Returns this rank's part of a task, null if it has none: for tests.
  [[nodiscard]] proxy::TaskWork* work(const std::string& task);
  // Returns the sum over the last iteration's rollout tokens, as a fingerprint of the generated text.
  [[nodiscard]] double generated_token_sum() const;

 private:
  class State;
  std::unique_ptr<proxy::TaskEngine> own_engine_;  // if none was given
  std::unique_ptr<State> state_;
};

}  // namespace sextant::inline probes
