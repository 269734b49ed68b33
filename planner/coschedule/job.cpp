#include "planner/coschedule/job.h"

#include <set>

#include "core/units.h"
#include "documents/values/gpu_names.h"
#include "planner/coschedule/document_fields.h"
#include "sextant/error.h"

namespace sextant::coschedule {

Job Job::parse(const JsonView& view) { return parse_fields(view, job_fields()); }
Json Job::to_json() const { return fields_to_json(*this, job_fields()); }

JobDocument JobDocument::parse(const JsonView& view) { return {Job::parse(view)}; }
Json JobDocument::to_json() const { return job.to_json(); }

JobTrace JobTrace::parse(const JsonView& view) {
  JobTrace trace = parse_fields(view, job_trace_fields());
  std::set<std::string> names;
  double last_s = 0;
  const std::vector<JsonView> views = view.required("jobs").items();
  if (views.empty()) view.required("jobs").fail("expected at least one job");
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    trace.jobs[i] = with_sync(trace.jobs[i], trace.pools);
    const Job& job = trace.jobs[i];
    if (!names.insert(job.name).second) views[i].required("name").fail("another job has this name");
    if (job.duration_s <= 0) views[i].fail("expected duration_s, which is greater than 0 in a trace");
    if (job.arrival_s < last_s) views[i].required("arrival_s").fail("earlier than the job before");
    last_s = job.arrival_s;
    if (const std::string reason = why_not_alone(job, trace.pools); !reason.empty()) views[i].fail(reason);
  }
  return trace;
}

Json JobTrace::to_json() const { return fields_to_json(*this, job_trace_fields()); }

std::string why_not_alone(const Job& job, const Pools& pools) {
  const auto lacks = [](const Pool& pool, const char* name, int nodes, double bytes) -> std::string {
    if (pool.max_nodes > 0 && nodes > pool.max_nodes)
      return "the job needs " + std::to_string(nodes) + " nodes of the " + name + " pool, which has " +
             std::to_string(pool.max_nodes);
    if (!pool.holds(bytes))
      return "suspended, its state takes " + format_bytes(bytes) + " of each node of the " + name +
             " pool, which has " + format_bytes(pool.host_memory_bytes);
    return "";
  };
  const std::string rollout = lacks(pools.rollout, "rollout", job.rollout_nodes, job.rollout_host_bytes);
  return rollout.empty() ? lacks(pools.training, "training", job.training_nodes, job.training_host_bytes)
                         : rollout;
}

Job with_sync(const Job& job, const Pools& pools) {
  if (job.sync_s > 0 || job.weight_bytes <= 0 || pools.connection_bytes_per_s <= 0) return job;
  Job timed = job;
  timed.sync_s = job.weight_bytes / pools.connection_bytes_per_s;
  if (pools.rollout.link_bytes_per_s > 0)
    timed.sync_s +=
        job.weight_bytes * (job.rollout_nodes - 1) / job.rollout_nodes / pools.rollout.link_bytes_per_s;
  return timed;
}

void require_gpus_of(const Job& job, const Pools& pools) {
  const auto require = [&](const char* phase, const std::string& of_job, const std::string& of_pool) {
    if (of_job.empty() || is_same_gpu(of_job, of_pool)) return;
    throw_bad_input("the " + std::string(phase) + " of \"" + job.name + "\" was predicted on " + of_job +
                    ", and the " + phase + " pool of the placement has " + of_pool);
  };
  require("rollout", job.rollout_node_type, pools.rollout.node_type);
  require("training", job.training_node_type, pools.training.node_type);
}

}  // namespace sextant::coschedule
