#include "planner/coschedule/document_fields.h"

#include "core/units.h"

namespace sextant::coschedule {
namespace {

constexpr int kMaxNodes = 1024;

Kind<double> number_from_to(double minimum, double maximum, std::string_view refusal) {
  return {[=](const JsonView& view) {
            const double value = view.number();
            if (value < minimum || value > maximum) view.fail(std::string(refusal));
            return value;
          },
          [](const double& value) { return Json(value); },
          {{"type", "number"}, {"minimum", minimum}, {"maximum", maximum}}};
}

// A job may allow nothing beside it.
Kind<double> slowdown() {
  return number_from_to(1, 1e6,
                        "expected a number from 1, as a job is not faster in a group than alone, to 1e6");
}

Kind<double> phase_s() { return number_from_to(1e-6, 1e9, "expected seconds from 1e-6 to 1e9"); }
Kind<double> seconds() { return number_from_to(0, 1e12, "expected seconds from 0 to 1e12"); }
Kind<double> bytes() { return number_from_to(0, 1e18, "expected bytes from 0 to 1e18"); }
Kind<double> usd() { return number_from_to(0, 1e6, "expected dollars from 0 to 1e6"); }

Kind<double> bandwidth() { return number_from_to(0, 1e18, "expected bytes per second from 0 to 1e18"); }

Kind<Interval> phase_interval() {
  return {[](const JsonView& view) {
            view.allow_only({"low", "high"});
            const Interval interval{view.required("low").number(), view.required("high").number()};
            if (interval.low < 0 || interval.high < interval.low)
              view.fail("expected a low number from 0 and a high number from that");
            return interval;
          },
          [](const Interval& interval) {
            return Json{{"low", interval.low}, {"high", interval.high}};
          },
          {{"$ref", "common.schema.json#/$defs/interval_s"}}};
}

Kind<double> part_of_one() { return number_from_to(0, 1, "expected a share from 0 to 1"); }

void require_time_to_decode(const JsonView& object, Job& job) {
  if (job.environment_s() < job.rollout_s) return;
  object.required("environment_s_per_turn")
      .fail("the waits between turns take " + format_seconds(job.environment_s()) +
            ", at least all of rollout_s");
}

void require_bound(const JsonView& object, Responses& responses) {
  const double longest = responses.tokens.max_tokens();
  if (longest <= 0) object.required("tokens").fail("expected responses of at least one token");
  if (responses.max_tokens > 0 && responses.max_tokens < longest)
    object.required("max_tokens")
        .fail("the longest response has " + format_number(longest) +
              " tokens, the bound must be at least that");
}

}  // namespace

const Fields<Responses>& responses_fields() {
  static const Fields<Responses> fields{
      required("tokens", &Responses::tokens, part<Lengths>("workflow.schema.json#/$defs/lengths"),
               "Distribution of the response lengths."),
      optional("max_tokens", &Responses::max_tokens, non_negative(),
               "Length of every response in the bounds of the phases; missing: the longest of `tokens`.")
          .then(require_bound),
      optional("count", &Responses::count, whole(1, 1 << 20), "Responses of an iteration."),
      optional("workers", &Responses::workers, whole(1, 1 << 16),
               "Engines that generate, on all rollout nodes of the job together."),
      optional("batch_share", &Responses::batch_share, part_of_one(),
               "Share of a decode step's time that is in proportion to the sequences in it."),
      optional("fixed_training_share", &Responses::fixed_training_share, part_of_one(),
               "Share of the bound of training that does not depend on the lengths."),
      optional("migration_s", &Responses::migration_s, seconds(),
               "Time to stop the last responses of a rollout and prefill them on other workers."),
  };
  return fields;
}

const Fields<Job>& job_fields() {
  static const Fields<Job> fields{
      required("name", &Job::name, text(), "Name of the job."),
      required("rollout_s", &Job::rollout_s, phase_s(),
               "Rollout of an iteration, alone on its nodes, if every response has the maximum length."),
      required("training_s", &Job::training_s, phase_s(), "Training of such an iteration, alone on its nodes."),
      optional("sync_s", &Job::sync_s, seconds(),
               "Transfer of the new weights to the rollout pool over an idle connection; missing: "
               "`weight_bytes` and "
               "the pools' bandwidths say it, or it takes no time."),
      optional("weight_bytes", &Job::weight_bytes, bytes(),
               "The new weights, which go from pool to pool once."),
      optional("rollout_nodes", &Job::rollout_nodes, whole(1, kMaxNodes), "Nodes of the rollout pool."),
      optional(
          "training_nodes", &Job::training_nodes, whole(1, kMaxNodes),
          "Nodes of the training pool, at least. In a group with more, training is shorter in proportion."),
      required("max_slowdown", &Job::max_slowdown, slowdown(),
               "Time that an iteration may take in a group, as a multiple of that alone (the SLO)."),
      optional("rollout_host_bytes", &Job::rollout_host_bytes, bytes(),
               "Host memory of each rollout node that the suspended phase holds."),
      optional("training_host_bytes", &Job::training_host_bytes, bytes(), "The same of each training node."),
      optional("rollout_warm_start_s", &Job::rollout_warm_start_s, seconds(),
               "Time to bring the state back from the host, on nodes that other jobs use too."),
      optional("training_warm_start_s", &Job::training_warm_start_s, seconds(), "The same for training."),
      optional("responses", &Job::responses, object(responses_fields()),
               "Lengths of the responses, which decide what iterations take; missing: typical_fraction does."),
      optional("turns", &Job::turns, number_from_to(1, 1e6, "expected a number from 1 to 1e6"),
               "Parts of a response, between two of which a sequence waits for its environment."),
      optional("environment_s_per_turn", &Job::environment_s_per_turn, seconds(),
               "Wait between two turns, which is part of `rollout_s` and does not change with the lengths.")
          .then(require_time_to_decode),
      optional(
          "colocated_rollout_s", &Job::colocated_rollout_s, seconds(),
          "Rollout on the training nodes instead, for the baselines that use these alone; 0: as rollout_s."),
      optional(
          "rollout_node_type", &Job::rollout_node_type, text(),
          "Type of the GPUs that `rollout_s` is of; missing: any. `place` refuses a pool of another type."),
      optional("training_node_type", &Job::training_node_type, text(), "The same for training."),
      optional("length_drift", &Job::length_drift, number_from_to(-2, 2, "expected a number from -2 to 2"),
               "In a trace: lengths at the end of the run are 1 + 0.5 times this as long; negative: shorter."),
      optional(
          "on_drift", &Job::on_drift, one_of<OnDrift>(kOnDriftNames),
          "What becomes of the job when drift makes a job of its group slower than promised: it is stopped and "
          "placed anew, or it stays."),
      optional("rollout_interval_s", &Job::rollout_interval_s, phase_interval(),
               "90 % interval of `rollout_s`, if it was predicted."),
      optional("training_interval_s", &Job::training_interval_s, phase_interval(),
               "90 % interval of `training_s`, if it was predicted."),
      optional("arrival_s", &Job::arrival_s, seconds(), "In a trace: when the job arrives."),
      optional("duration_s", &Job::duration_s, seconds(), "In a trace: how long the job runs alone."),
      optional("typical_fraction", &Job::typical_fraction, share("expected a number <= 1"),
               "In a trace: what the phases of a typical iteration take of the bounds, without `responses`."),
  };
  return fields;
}

const Fields<Pool>& pool_fields() {
  static const Fields<Pool> fields{
      required("node_type", &Pool::node_type, text(), "Type of the GPUs."),
      optional("gpus_per_node", &Pool::gpus_per_node, whole(1, 1024), "GPUs of a node."),
      optional("host_memory_bytes", &Pool::host_memory_bytes, bytes(),
               "Host memory of a node for suspended states; missing: not limited."),
      required("usd_per_gpu_hour", &Pool::usd_per_gpu_hour, usd(), "Price of a GPU."),
      optional("max_nodes", &Pool::max_nodes, number_of(), "Nodes that exist; 0: not limited."),
      optional("link_bytes_per_s", &Pool::link_bytes_per_s, bandwidth(),
               "Bandwidth of a node to the others of the pool, for the spread of new weights; 0: not stated."),
  };
  return fields;
}

const Fields<Pools>& pools_fields() {
  static const Fields<Pools> fields{
      required("rollout", &Pools::rollout, object(pool_fields()), "Nodes that generate."),
      required("training", &Pools::training, object(pool_fields()), "Nodes that train."),
      optional("max_members", &Pools::max_members, whole(1, kMaxMembers), "Jobs of a group, at most."),
      optional("connection_bytes_per_s", &Pools::connection_bytes_per_s, bandwidth(),
               "Bandwidth between the pools, of all transfers together; 0: not stated."),
  };
  return fields;
}

const Fields<JobTrace>& job_trace_fields() {
  static const Fields<JobTrace> fields{
      required("pools", &JobTrace::pools, object(pools_fields()), "The pools that the jobs share."),
      required("jobs", &JobTrace::jobs, list_of(object(job_fields())), "Jobs by arrival."),
  };
  return fields;
}

const Fields<Member>& member_fields() {
  static const Fields<Member> fields{
      required("job", &Member::job, object(job_fields()), "The job."),
      required("rollout_nodes", &Member::rollout_nodes, list_of(number_of()),
               "Nodes of the group on which it rolls out, ascending from 0."),
  };
  return fields;
}

const Fields<Group>& group_fields() {
  static const Fields<Group> fields{
      required("name", &Group::name, text(), "Name of the group."),
      required("rollout_nodes", &Group::rollout_nodes, whole(1, kMaxNodes), "Nodes of the rollout pool."),
      required("training_nodes", &Group::training_nodes, whole(1, kMaxNodes), "Nodes of the training pool."),
      required("members", &Group::members, list_of(object(member_fields())),
               "Jobs in the order of their turns."),
      optional(
          "turns", &Group::turns, list_of(number_of()),
          "Turns of a meta-iteration, as positions of members from 0, if a member has several; without it each "
          "has one, in their order."),
  };
  return fields;
}

const Fields<Placement>& placement_fields() {
  static const Fields<Placement> fields{
      required("pools", &Placement::pools, object(pools_fields()), "The pools that the jobs share."),
      required("groups", &Placement::groups, list_of(object(group_fields())), "Groups of jobs."),
      optional("probability", &Placement::probability, number_from_to(0.5, 1, "expected a share from 0.5 to 1"),
               "Share of the iterations in which each job keeps its promise; 1: always, at the bounds."),
      optional("tail_threshold", &Placement::tail_threshold,
               number_from_to(0, 0.999, "expected a share from 0 to 0.999; 0: tails stay"),
               "Share of the responses that have ended when the tail of a rollout moves, which promises with a "
               "probability count on; 0: tails stay. Missing, as before version 1.2: 0.8."),
  };
  return fields;
}

}  // namespace sextant::coschedule
