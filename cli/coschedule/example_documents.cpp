#include "cli/coschedule/example_documents.h"

#include "planner/coschedule/place.h"
#include "planner/coschedule/trace/workload.h"

namespace sextant::cli {

using namespace coschedule;

namespace {

Job job_of_times(const char* name, double rollout_s, double training_s, double max_slowdown) {
  Job job;
  job.name = name;
  job.rollout_s = rollout_s;
  job.training_s = training_s;
  job.weight_bytes = 15.2e9;  // 7.6 billion parameters in bf16
  job.max_slowdown = max_slowdown;
  job.rollout_host_bytes = 275.7e9;  // WEAVE, Table 2, 7B
  job.training_host_bytes = 240e9;
  job.rollout_warm_start_s = job.training_warm_start_s = 1;
  return job;
}

}  // namespace

JobDocument example_job() {
  Job job = job_of_times("A", 120, 110, 1.5);
  job.sync_s = 6;
  job.weight_bytes = 0;
  job.rollout_node_type = "H20-96GB";
  job.training_node_type = "H800";
  Responses responses;
  responses.tokens.kind = LengthKind::lognormal;
  responses.tokens.median = 1800;
  responses.tokens.sigma = 0.8;
  responses.tokens.max = 8192;
  job.responses = responses;
  return {job};
}

Placement example_placement() {
  Placement placement{weave_pools(), {}};
  placement.tail_threshold = 0;
  for (const Job& job : {job_of_times("A", 120, 110, 1.5), job_of_times("B", 100, 90, 1.6)})
    take(placement, place(placement, job));
  return placement;
}

JobTrace example_trace() {
  constexpr double kHour = 3600;
  JobTrace trace{weave_pools(), {}};
  double arrival_s = 0;
  for (const Job& timed :
       {job_of_times("A", 120, 110, 1.5), job_of_times("B", 100, 90, 1.6), job_of_times("C", 300, 80, 1.3)}) {
    Job job = timed;
    job.arrival_s = arrival_s;
    job.duration_s = 8 * kHour;
    job.typical_fraction = 0.7;
    trace.jobs.push_back(job);
    arrival_s += kHour / 2;
  }
  return trace;
}

}  // namespace sextant::cli
