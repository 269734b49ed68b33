#include "planner/coschedule/simulation/simulation_fields.h"

namespace sextant::coschedule {
namespace {

const Fields<SimulatedJob>& simulated_job_fields() {
  static const Fields<SimulatedJob> fields{
      required("name", &SimulatedJob::name, text(), "Name of the job."),
      required("decision", &SimulatedJob::decision, text(), "How it was placed."),
      required("arrival_s", &SimulatedJob::arrival_s, non_negative(), "Time of its arrival."),
      required("end_s", &SimulatedJob::end_s, non_negative(), "Time of its end."),
      required("slowdown", &SimulatedJob::slowdown, positive(), "Its whole run over that alone."),
      required("max_slowdown_seen", &SimulatedJob::max_slowdown_seen, positive(),
               "Iteration time in its slowest group over that alone."),
      required("kept", &SimulatedJob::kept, flag(), "Whether the whole run was within what it allows."),
      optional("max_slowdown", &SimulatedJob::max_slowdown, positive(), "What the job allows."),
      optional("resubmissions", &SimulatedJob::resubmissions, number_of(),
               "Times that it was stopped and placed anew, as its lengths had drifted."),
      optional("failures", &SimulatedJob::failures, number_of(), "Times that it failed and came back."),
      optional("reason", &SimulatedJob::reason, any_text(), "Why it was placed there."),
  };
  return fields;
}

const Fields<SimulatedState>& simulated_state_fields() {
  static const Fields<SimulatedState> fields{
      required("time_s", &SimulatedState::time_s, non_negative(), "Time of the event."),
      required("usd_per_hour", &SimulatedState::usd_per_hour, non_negative(), "Cost of all groups after it."),
      required("rollout_nodes", &SimulatedState::rollout_nodes, number_of(),
               "Nodes of the rollout pool in groups."),
      required("training_nodes", &SimulatedState::training_nodes, number_of(),
               "Nodes of the training pool in groups."),
      required("jobs", &SimulatedState::jobs, number_of(), "Jobs that run."),
      optional("bound_usd_per_hour", &SimulatedState::bound_usd_per_hour, non_negative(),
               "Lower bound of the cost of any placement of these jobs, where it was worked out."),
      optional("rollout_busy_fraction", &SimulatedState::rollout_busy_fraction, non_negative(),
               "Share of the rollout nodes' time in which they generate."),
      optional("training_busy_fraction", &SimulatedState::training_busy_fraction, non_negative(),
               "Share of the training nodes' time in which they train."),
  };
  return fields;
}

}  // namespace

const Fields<Simulation>& simulation_fields() {
  static const Fields<Simulation> fields{
      required("policy", &Simulation::policy, text(), "Name of the policy."),
      defaulted("seed", &Simulation::seed,
                Kind<std::uint64_t>{[](const JsonView& view) {
                                      return static_cast<std::uint64_t>(view.integer(0, std::int64_t{1} << 53));
                                    },
                                    [](const std::uint64_t& value) { return Json(value); },
                                    {{"type", "integer"}, {"minimum", 0}}},
                "Seed of policies that draw."),
      required("duration_s", &Simulation::duration_s, non_negative(),
               "From the first arrival to the last end."),
      required("mean_usd_per_hour", &Simulation::mean_usd_per_hour, non_negative(), "Mean cost."),
      required("total_usd", &Simulation::total_usd, non_negative(), "Cost of the whole trace."),
      required("max_rollout_nodes", &Simulation::max_rollout_nodes, number_of(), "Peak of the rollout pool."),
      required("max_training_nodes", &Simulation::max_training_nodes, number_of(),
               "Peak of the training pool."),
      required("max_jobs", &Simulation::max_jobs, number_of(), "Peak of jobs at a time."),
      required("kept_fraction", &Simulation::kept_fraction, non_negative(),
               "Share of the jobs whose whole run was within what they allow."),
      optional("always_kept_fraction", &Simulation::always_kept_fraction, non_negative(),
               "Share of the jobs whose slowest iteration was within what they allow, too."),
      required("mean_slowdown", &Simulation::mean_slowdown, non_negative(), "Mean over the jobs."),
      required("rollout_busy_fraction", &Simulation::rollout_busy_fraction, non_negative(),
               "Share of the rollout nodes' time in which they generate."),
      required("training_busy_fraction", &Simulation::training_busy_fraction, non_negative(),
               "Share of the training nodes' time in which they train."),
      required("refused", &Simulation::refused, number_of(), "Jobs for which there was no place."),
      optional("restarts", &Simulation::restarts, number_of(), "Restarts of jobs that were regrouped."),
      optional("resubmissions", &Simulation::resubmissions, number_of(),
               "Jobs that were stopped and placed anew, as their lengths had drifted."),
      optional("failures", &Simulation::failures, number_of(), "Jobs that failed and came back."),
      optional("restart_s", &Simulation::restart_s, non_negative(), "Time that jobs stood still for restarts."),
      required("decisions", &Simulation::decisions, by_name(number_of()), "Placements by kind."),
      required("decision_p50_s", &Simulation::decision_p50_s, non_negative(), "Median time of a decision."),
      required("decision_p99_s", &Simulation::decision_p99_s, non_negative(), "99th percentile of it."),
      defaulted("was_interrupted", &Simulation::was_interrupted, flag(), "True if it ended early."),
      required("jobs", &Simulation::jobs, list_of(object(simulated_job_fields())), "Jobs by their end."),
      required("states", &Simulation::states, list_of(object(simulated_state_fields())), "After each event."),
  };
  return fields;
}

}  // namespace sextant::coschedule
