// sextant coschedule: many jobs on a rollout and a training pool.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "cli/coschedule/permit_commands.h"
#include "cli/coschedule/placement_commands.h"
#include "cli/coschedule/trace_commands.h"
#include "cli/shared/command.h"
#include "core/units.h"
#include "planner/coschedule/simulation/baselines.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

using namespace coschedule;

enum class Act { create, job, place, leave, repack, show, run, connect, simulate, compare };

struct Coscheduling {
  Act act = Act::show;
  CoscheduleOptions given;
};

// Says on stderr what was predicted, with its intervals.
void say_phases(const Job& job) {
  const auto words = [](const char* phase, double seconds, const std::optional<Interval>& interval) {
    std::string text = std::string(phase) + " " + format_seconds(seconds);
    if (interval)
      text += " (90 %: " + format_seconds(interval->low) + " to " + format_seconds(interval->high) + ")";
    return text;
  };
  std::fprintf(stderr, "an iteration with the longest responses alone: %s, %s, weight sync %s\n",
               words("rollout", job.rollout_s, job.rollout_interval_s).c_str(),
               words("training", job.training_s, job.training_interval_s).c_str(),
               format_seconds(job.sync_s).c_str());
}

int predict_job(const CoscheduleOptions& options) {
  if (options.question.plan.empty()) throw_bad_input("coschedule job: --plan is required, with its question");
  if (options.question.name.empty()) throw_bad_input("coschedule job: --name is required");
  const JobDocument document{job_of(options.question)};
  say_phases(document.job);
  if (options.out.empty()) {
    print_document(document);
    return kDone;
  }
  save_document(options.out, document);
  say_wrote(options.out);
  return kDone;
}

int run(const Coscheduling& options) {
  switch (options.act) {
    case Act::create:
      return create_placement(options.given);
    case Act::job:
      return predict_job(options.given);
    case Act::place:
      return place_job(options.given);
    case Act::leave:
      return release_job(options.given);
    case Act::repack:
      return repack_jobs(options.given);
    case Act::show:
      return show_placement(options.given);
    case Act::run:
      return run_group(options.given);
    case Act::connect:
      return connect_permits(options.given);
    case Act::simulate:
      return simulate_trace(options.given);
    case Act::compare:
      return compare_policies(options.given);
  }
  return kBadInput;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const Policy& policy : policies()) names.emplace_back(policy.name);
  return names;
}

}  // namespace

void add_coschedule(CommandLine& line) {
  const auto options = std::make_shared<Coscheduling>();
  const Command command =
      line.add_command("coschedule", "Many RL jobs on a shared rollout and a shared training pool");
  command
      .add_choice("action", options->act,
                  Choices<Act>{{"create", Act::create},
                               {"job", Act::job},
                               {"place", Act::place},
                               {"leave", Act::leave},
                               {"repack", Act::repack},
                               {"show", Act::show},
                               {"run", Act::run},
                               {"connect", Act::connect},
                               {"simulate", Act::simulate},
                               {"compare", Act::compare}},
                  "What to do; see below")
      .required();
  command.add_option("--state", options->given.state, "Placement document: all jobs and their groups")
      .shows_default();
  command
      .add_option("--job", options->given.jobs,
                  "place: job document; several are placed together, as cheaply as their groups allow")
      .may_be_repeated();
  command.add_flag("--dry-run", options->given.dry_run,
                   "place, leave, repack: print the answer, change nothing");
  command.add_flag("--why", options->given.why,
                   "place: every place that was looked at, its price, and why it was refused");
  command.add_flag("--certainty", options->given.certainty,
                   "show: what these jobs would cost, placed anew, at several probabilities");
  command
      .add_option("--probability", options->given.probability,
                  "create, simulate, compare: share of the iterations in which jobs keep their promise")
      .check(number_between(0.5, 1))
      .shows_default();
  command.add_flag("--training-may-grow", options->given.training_may_grow,
                   "place: a group may get more training nodes; its jobs must be restarted then");
  command
      .add_option(
          "--bound-work", options->given.bound_work,
          "place, leave, repack, show: work for the lower bound; a unit is about a second, the same everywhere")
      .check(non_negative_number())
      .shows_default("1");
  command
      .add_option("--bound-seconds", options->given.bound_s,
                  "Wall time for the lower bound, at most; default: a minute for each unit of --bound-work")
      .check(non_negative_number());
  command.add_flag("--all", options->given.all,
                   "repack: regroup all jobs at once, not a few groups at a time; see --bound-work");
  command.add_option("--keep", options->given.keep, "repack: a job that must not be restarted")
      .may_be_repeated();
  command
      .add_option("--restart-seconds", options->given.repack.restart_s,
                  "repack, simulate, compare: time for which a job that moves stands still")
      .check(non_negative_number())
      .shows_default();
  command
      .add_option("--horizon-seconds", options->given.repack.horizon_s,
                  "repack: time in which the saving must pay for restarts")
      .check(positive_number())
      .shows_default();
  command.add_option("--name", options->given.question.name, "job, leave: name of the job");
  command.add_output("--out", options->given.out, "job, simulate: document to write; run: its log as CSV");
  command.add_flag("--json", options->given.json, "show, simulate: print the document instead of a table");

  const std::string permits = "The permits of run and connect";
  command.add_option("--group", options->given.group, "Group of the placement; default: its only one")
      .in_group(permits);
  command.add_option("--socket", options->given.socket, "Path of the Unix socket to serve").in_group(permits);
  command
      .add_option("--listen", options->given.listen_port,
                  "run: TCP port for jobs on other hosts, with --key-file; 0: any")
      .check(integer_between(0, 65535))
      .in_group(permits);
  command.add_option("--server", options->given.server, "connect: HOST:PORT of run --listen").in_group(permits);
  command
      .add_option("--key-file", options->given.key_file,
                  "File with the key of both hosts, mode 0600; run writes a new one if there is none")
      .in_group(permits);
  command
      .add_choice(
          "--order", options->given.order,
          Choices<ServingOrder>{{"turns", ServingOrder::turns}, {"first-come", ServingOrder::first_come}},
          "Who is next on a node: each job once a round, or whoever asked first")
      .in_group(permits);
  command
      .add_option("--patience", options->given.patience_s,
                  "run: seconds after which others no longer wait for a job that asks for nothing")
      .check(positive_number())
      .shows_default()
      .in_group(permits);
  command
      .add_option("--max-overrun", options->given.max_overrun,
                  "run: a silent phase loses its permit, and a silent job counts as hung, after that many "
                  "bounds; 0: never")
      .check(non_negative_number())
      .shows_default()
      .in_group(permits);
  command
      .add_flag("--until-left", options->given.until_left,
                "End when every job has been there, and has left or hangs")
      .in_group(permits);

  const std::string pools = "The pools of create";
  command.add_option("--rollout-pool", options->given.rollout_pool, "GPU and its price an hour: H20-96GB=1.85")
      .in_group(pools);
  command.add_option("--training-pool", options->given.training_pool, "GPU and its price an hour: H800=5.28")
      .in_group(pools);
  command.add_option("--gpus-per-node", options->given.gpus_per_node, "GPUs of a node")
      .check(integer_between(1, 1024))
      .shows_default()
      .in_group(pools);
  command
      .add_option("--host-memory-gb", options->given.host_memory_gb,
                  "Memory of a host for suspended jobs; 0: no limit")
      .check(non_negative_number())
      .in_group(pools);
  command
      .add_option("--connection-gbit", options->given.connection_gbit,
                  "Gbit/s between the pools, for jobs that state weight_bytes; 0: not stated")
      .check(non_negative_number())
      .in_group(pools);
  command
      .add_option("--link-gbit", options->given.link_gbit,
                  "Gbit/s of a node to the others of its pool; 0: not stated")
      .check(non_negative_number())
      .in_group(pools);
  command
      .add_option("--max-members", options->given.max_members, "Jobs of a group, at most; also of drawn traces")
      .check(integer_between(1, kMaxMembers))
      .shows_default()
      .in_group(pools);
  command.add_option("--max-rollout-nodes", options->given.max_rollout_nodes, "Nodes of the pool; 0: no limit")
      .check(integer_between(0, 1000000))
      .in_group(pools);
  command
      .add_option("--max-training-nodes", options->given.max_training_nodes, "Nodes of the pool; 0: no limit")
      .check(integer_between(0, 1000000))
      .in_group(pools);

  const std::string tails = "Long tails";
  const std::string traces = "The traces of simulate and compare";
  command.add_option("--trace", options->given.trace, "Job trace document").in_group(traces);
  command
      .add_option("--csv", options->given.csv,
                  "Columns job, arrival_s, duration_s, or job, arrival, duration in seconds; phases are drawn")
      .in_group(traces);
  command.add_option("--jobs", options->given.rules.jobs, "Number of jobs to draw")
      .check(integer_between(1, 10000000))
      .shows_default()
      .in_group(traces);
  command
      .add_choice("--profile", options->given.rules.profile,
                  Choices<Profile>{{"mixed", Profile::mixed},
                                   {"balanced", Profile::balanced},
                                   {"rollout-heavy", Profile::rollout_heavy},
                                   {"train-heavy", Profile::train_heavy}},
                  "Ratio of rollout to training time of drawn jobs (WEAVE, Table 6)")
      .in_group(traces);
  command.add_option("--mean-gap", options->given.rules.mean_gap_s, "Seconds between arrivals")
      .check(positive_number())
      .shows_default()
      .in_group(traces);
  command
      .add_option("--mean-burst", options->given.rules.mean_burst,
                  "Jobs that arrive within minutes of each other, on average; 1: Poisson")
      .check(number_between(1, 1e6))
      .shows_default()
      .in_group(traces);
  command
      .add_option("--slowdown-from", options->given.rules.min_slowdown,
                  "Slowdown that drawn jobs allow, uniform")
      .check(number_between(1, 1000))
      .shows_default()
      .in_group(traces);
  command.add_option("--slowdown-to", options->given.rules.max_slowdown, "Its upper end")
      .check(number_between(1, 1000))
      .shows_default()
      .in_group(traces);
  command.add_option("--mean-duration", options->given.rules.mean_duration_s, "Seconds that a job runs alone")
      .check(positive_number())
      .shows_default()
      .in_group(traces);
  command
      .add_option("--typical", options->given.rules.typical_fraction,
                  "Typical iterations as a share of the bounds")
      .check(number_between(0.01, 1))
      .shows_default()
      .in_group(traces);
  command
      .add_option("--response-median", options->given.rules.response_median,
                  "Median response as a share of the maximum, log-normal; 0: no lengths")
      .check(number_between(0, 1))
      .in_group(traces);
  command.add_option("--response-sigma", options->given.rules.response_sigma, "Deviation of its logarithm")
      .check(number_between(0, 5))
      .shows_default()
      .in_group(traces);
  command
      .add_choice("--drift", options->given.rules.drift,
                  Choices<DriftSetting>{{"none", DriftSetting::none},
                                        {"increasing", DriftSetting::increasing},
                                        {"decreasing", DriftSetting::decreasing},
                                        {"mixed", DriftSetting::mixed}},
                  "Lengths over the run of a job (WEAVE, section 6.6)")
      .in_group(traces);
  command
      .add_choice("--tails", options->given.tails,
                  Choices<std::optional<TailRule>>{
                      {"stay", TailRule::stay}, {"fixed", TailRule::fixed}, {"best", TailRule::best}},
                  "Long tails of rollouts: stay, move at --tail-threshold, or (not create) where it is best")
      .shows_default("create: stay, else best")
      .in_group(tails);
  command
      .add_option("--tail-threshold", options->given.tail_threshold,
                  "Share of the responses that have ended when a tail moves; run: default as in the placement")
      .check(number_between(0.01, 0.999))
      .shows_default("0.8")
      .in_group(tails);
  command
      .add_option("--failures-every", options->given.failures_every_s,
                  "Mean seconds that a job runs between failures; 0: none")
      .check(non_negative_number())
      .in_group(traces);
  command
      .add_option("--bound-every", options->given.bound_every,
                  "simulate: events between lower bounds of the cost, for the report; 0: none")
      .check(integer_between(0, 1000000))
      .in_group(traces);
  command.add_option("--return-after", options->given.return_after_s, "Seconds until a failed job comes back")
      .check(non_negative_number())
      .shows_default()
      .in_group(traces);
  command.add_option("--seed", options->given.rules.seed, "Seed of draws").shows_default().in_group(traces);
  command.add_option("--seeds", options->given.seeds, "compare: number of drawn traces")
      .check(integer_between(1, 100000))
      .shows_default()
      .in_group(traces);
  command.add_option("--policy", options->given.policy, "simulate: how jobs are placed")
      .check(one_of(policy_names()))
      .shows_default()
      .in_group(traces);

  const std::string question = "The question of job";
  command.add_option("--plan", options->given.question.plan, "Plan with generation on nodes of its own")
      .in_group(question);
  command
      .add_option("--max-slowdown", options->given.question.max_slowdown,
                  "Iteration time in a group over that alone")
      .check(number_between(1, 1000))
      .shows_default()
      .in_group(question);
  add_model_inputs(command, options->given.question.inputs);
  command.footer(
      "create writes an empty placement; job predicts the phases of a plan; place finds the cheapest place of "
      "a\n"
      "job with which every job keeps what it was promised; leave takes a job out; repack regroups jobs\n"
      "where that pays for their restarts; show prints all groups and\n"
      "checks their promises; run gives permits for phases to real jobs;\n"
      "connect passes them on to jobs of another host;\n"
      "simulate replays arrivals; compare runs all policies.\n"
      "Exits 1 if there is no place, or if a promise is broken.\n"
      "Example: sextant coschedule place --state placement.json --job job.json --why");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
