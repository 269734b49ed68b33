// The options of `sextant coschedule`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/coschedule/coschedule_job.h"
#include "planner/coschedule/control/permit_server.h"
#include "planner/coschedule/simulation/repack.h"
#include "planner/coschedule/tail.h"
#include "planner/coschedule/trace/workload.h"
#include "planner/exact/work_budget.h"

namespace sextant::cli {

struct CoscheduleOptions {
  std::string state = "placement.json";
  std::vector<std::string> jobs;  // files
  JobQuestion question;
  std::string out;
  std::vector<std::string> keep;  // jobs that are not restarted
  bool dry_run = false, all = false, why = false, training_may_grow = false, json = false, certainty = false;
  double probability = 1;  // of create, simulate and compare; 1: not given
  std::optional<double> bound_work, bound_s;
  coschedule::RepackRules repack;
  // The permits of run.
  std::string group, socket;
  std::optional<int> listen_port;  // TCP, for jobs on other hosts; 0: any
  std::string key_file, server;    // of connect: HOST:PORT
  coschedule::ServingOrder order = coschedule::ServingOrder::turns;
  bool until_left = false;
  double patience_s = 10;
  double max_overrun = coschedule::kMaxOverrun;
  // The pools of create.
  std::string rollout_pool, training_pool;
  int gpus_per_node = 8, max_members = 5, max_rollout_nodes = 0, max_training_nodes = 0;
  double host_memory_gb = 0, connection_gbit = 0, link_gbit = 0;
  // The traces of simulate and compare.
  std::string trace, csv;
  coschedule::TraceRules rules;
  std::string policy = "weave";
  std::optional<coschedule::TailRule> tails;  // of create, simulate and compare; each has a default of its own
  std::optional<double> tail_threshold;       // of these and of run
  double failures_every_s = 0, return_after_s = 2300;
  int seeds = 10, bound_every = 0;
};

// How far the lower bound is searched for. With --bound-seconds alone only the time counts.
[[nodiscard]] BoundBudget bound_budget(const CoscheduleOptions& options);
// "$57.04".
[[nodiscard]] std::string dollars(double usd);
// "stay", or "move at 80.0 % of the responses".
[[nodiscard]] std::string words_of_tails(double tail_threshold);
// "1.21x".
[[nodiscard]] std::string times(double ratio);

}  // namespace sextant::cli
