// sextant coschedule: many jobs on a rollout and a training pool.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>

#include "cli/coschedule/coschedule_job.h"
#include "cli/coschedule/placement_file.h"
#include "cli/shared/command.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "planner/coschedule/baselines.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/cost_bound.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/repack.h"
#include "planner/coschedule/round_robin.h"
#include "planner/coschedule/simulate.h"
#include "planner/coschedule/workload.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

using namespace coschedule;

enum class Act { create, job, place, leave, repack, show, simulate, compare };

struct Options {
  Act act = Act::show;
  std::string state = "placement.json";
  std::string job;
  JobQuestion question;
  std::string out;
  std::vector<std::string> keep;
  bool dry_run = false, why = false, training_may_grow = false, json = false;
  // create
  std::string rollout_pool, training_pool;
  int gpus_per_node = 8, max_members = 5, max_rollout_nodes = 0, max_training_nodes = 0;
  double host_memory_gb = 0;
  // simulate, compare
  std::string trace, csv;
  TraceRules rules;
  std::string policy = "weave";
  int seeds = 10;
  double bound_s = 1;
  double restart_s = RepackRules{}.restart_s, horizon_s = RepackRules{}.horizon_s;  // repack
};

std::string dollars(double usd) {
  const double cents = std::round(usd * 100) / 100;
  std::string text = std::to_string(cents);
  return "$" + text.substr(0, text.find('.') + 3);
}

std::string times(double ratio) { return format_number(std::round(ratio * 1000) / 1000) + "x"; }

Pool pool_of(const std::string& text, const char* option, const Options& options, int max_nodes) {
  const std::size_t equals = text.find('=');
  char* end = nullptr;
  const double price = equals == std::string::npos ? 0 : std::strtod(text.c_str() + equals + 1, &end);
  if (equals == 0 || equals == std::string::npos || end == text.c_str() + equals + 1 || *end != '\0' ||
      !std::isfinite(price) || price < 0)
    throw_bad_input(std::string(option) + ": expected GPU=PRICE, such as H800=5.28 dollars an hour, got \"" +
                    text + "\"");
  constexpr double kGigabyte = 1e9;
  return {text.substr(0, equals), options.gpus_per_node, options.host_memory_gb * kGigabyte, price, max_nodes};
}

std::vector<Job> jobs_of(const Placement& placement) {
  std::vector<Job> jobs;
  for (const Group& group : placement.groups) {
    for (const Member& member : group.members) jobs.push_back(member.job);
  }
  return jobs;
}

// Prints the cost of the placement and the lower bound of any placement of its jobs.
void print_cost(const Placement& placement, const Options& options) {
  const double usd = placement.usd_per_hour();
  const auto counted = [](std::size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  print_line(counted(placement.job_count(), "job") + " in " + counted(placement.groups.size(), "group") + ", " +
             std::to_string(placement.rollout_nodes()) + " rollout and " +
             std::to_string(placement.training_nodes()) + " training nodes, " + dollars(usd) + " an hour");
  const CostBound bound = min_usd_per_hour(jobs_of(placement), placement.pools, placement.groups,
                                           options.bound_s, options.training_may_grow);
  if (bound.usd_per_hour <= 0) return;
  const double gap = std::max(0.0, usd / bound.usd_per_hour - 1);
  print_line("any placement of these jobs costs at least " + dollars(bound.usd_per_hour) +
             " an hour: this one is at most " + format_percent(gap) + " above the cheapest" +
             (bound.is_tight || placement.groups.empty() ? "" : " (a longer --bound-seconds may prove more)"));
}

void print_group(const Group& group, const Pools& pools) {
  const Turns turns = turns_in_order(group, [&] {
    std::vector<int> order(group.members.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }());
  print_line(group.name + ": " + std::to_string(group.rollout_nodes) + " rollout and " +
             std::to_string(group.training_nodes) + " training nodes, " + dollars(group.usd_per_hour(pools)) +
             " an hour, an iteration of each job takes at most " + format_seconds(turns.period_s));
  Table table({"job", "alone", "slowdown", "allowed", "rollout nodes", "rollout from", "training from"});
  table.align_left(4);
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Job& job = group.members[m].job;
    std::string nodes;
    for (const int node : group.members[m].rollout_nodes)
      nodes += (nodes.empty() ? "" : ", ") + std::to_string(node);
    table.add({job.name, format_seconds(job.solo_s()), times(turns.period_s / job.solo_s()),
               times(job.max_slowdown), nodes, format_seconds(std::max(0.0, turns.rollout_start_s[m])),
               format_seconds(std::max(0.0, turns.training_start_s[m]))});
  }
  std::fputs(table.text().c_str(), stdout);
}

std::string words_of(const Candidate& candidate) {
  const auto nodes = [](int count, const char* pool) {
    return std::to_string(count) + " more " + pool + (count == 1 ? " node" : " nodes");
  };
  if (candidate.group.empty()) return "a group of its own";
  std::string more;
  if (candidate.new_rollout_nodes > 0) more = " with " + nodes(candidate.new_rollout_nodes, "rollout");
  if (candidate.new_training_nodes > 0)
    more += (more.empty() ? " with " : " and ") + nodes(candidate.new_training_nodes, "training");
  return candidate.group + (more.empty() ? " as it is" : more);
}

void print_candidates(const std::vector<Candidate>& candidates) {
  Table table({"place", "adds an hour", "iteration", "result"});
  table.align_left(3);
  for (const Candidate& candidate : candidates)
    table.add({words_of(candidate), dollars(candidate.added_usd_per_hour),
               candidate.period_s > 0 ? format_seconds(candidate.period_s) : "",
               candidate.refusal.empty() ? "possible" : candidate.refusal});
  std::fputs(table.text().c_str(), stdout);
}

int run_create(const Options& options) {
  Placement placement;
  if (options.rollout_pool.empty() || options.training_pool.empty())
    throw_bad_input(
        "coschedule create: --rollout-pool and --training-pool are required, such as H20-96GB=1.85");
  placement.pools.rollout = pool_of(options.rollout_pool, "--rollout-pool", options, options.max_rollout_nodes);
  placement.pools.training =
      pool_of(options.training_pool, "--training-pool", options, options.max_training_nodes);
  placement.pools.max_members = options.max_members;
  const PlacementFile file(options.state);
  if (file.exists())
    throw_bad_input(options.state + ": exists already; remove it, or name another with --state");
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

int run_job(Options options) {
  if (options.question.plan.empty()) throw_bad_input("coschedule job: --plan is required, with its question");
  if (options.question.name.empty()) throw_bad_input("coschedule job: --name is required");
  const JobDocument document{job_of(options.question)};
  if (options.out.empty()) {
    print_document(document);
    return kDone;
  }
  save_document(options.out, document);
  say_wrote(options.out);
  return kDone;
}

int run_place(const Options& options) {
  if (options.job.empty()) throw_bad_input("coschedule place: --job is required, a job document");
  const Job job = load_document<JobDocument>(options.job).content.job;
  const PlacementFile file(options.state);
  Placement placement = file.load();
  PlacementRules rules;
  rules.training_may_grow = options.training_may_grow;
  PlacementAnswer answer = place(placement, job, rules, options.why);
  if (!answer.is_placed) {
    print_line(job.name + " has no place: " + answer.refusal);
    if (options.why) print_candidates(answer.candidates);
    return kAnswerIsNo;
  }
  const Group group = answer.group;
  const Candidate chosen = answer.chosen;
  const std::vector<Candidate> candidates = answer.candidates;
  Candidate named = chosen;
  if (answer.at) named.group = group.name;
  take(placement, std::move(answer));
  if (const std::vector<std::string> broken = broken_promises(placement); !broken.empty())
    throw_machine_failed("internal error: the placement breaks a promise: " + broken.front());
  print_line(job.name + ": " + words_of(named) + ", which adds " + dollars(chosen.added_usd_per_hour) +
             " an hour");
  print_group(group, placement.pools);
  print_cost(placement, options);
  if (options.why) print_candidates(candidates);
  if (options.dry_run) return kDone;
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

int run_leave(const Options& options) {
  if (options.question.name.empty())
    throw_bad_input("coschedule leave: --name is required, a job that is placed");
  const PlacementFile file(options.state);
  Placement placement = file.load();
  const double before = placement.usd_per_hour();
  remove_job(placement, options.question.name);
  print_line(options.question.name + " is gone, which saves " + dollars(before - placement.usd_per_hour()) +
             " an hour");
  print_cost(placement, options);
  if (options.dry_run) return kDone;
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

int run_repack(const Options& options) {
  const PlacementFile file(options.state);
  Placement placement = file.load();
  for (const std::string& name : options.keep) {
    if (placement.group_of(name) == nullptr) throw_bad_input("--keep: no group has a job \"" + name + "\"");
  }
  RepackRules rules;
  rules.restart_s = options.restart_s;
  rules.horizon_s = options.horizon_s;
  const auto may_restart = [&](const Job& job) {
    return std::find(options.keep.begin(), options.keep.end(), job.name) == options.keep.end();
  };
  double saved = 0;
  std::set<std::string> restarted;
  const std::vector<Group> before = placement.groups;
  for (const Group& group : before) {
    std::optional<Repacked> better = repack(placement, group.name, may_restart, rules);
    if (!better) continue;
    saved += better->saved_usd_per_hour;
    restarted.insert(better->restarted.begin(), better->restarted.end());
    take(placement, *std::move(better));
  }
  if (restarted.empty()) {
    print_line("no regrouping pays for the restarts");
    print_cost(placement, options);
    return kDone;
  }
  std::string names;
  for (const std::string& name : restarted) names += (names.empty() ? "" : ", ") + name;
  print_line("regrouping saves " + dollars(saved) + " an hour and restarts " + names);
  for (const Group& group : placement.groups) print_group(group, placement.pools);
  print_cost(placement, options);
  if (const std::vector<std::string> broken = broken_promises(placement); !broken.empty())
    throw_machine_failed("internal error: the placement breaks a promise: " + broken.front());
  if (options.dry_run) return kDone;
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

int run_show(const Options& options) {
  const Placement placement = load_document<Placement>(options.state).content;
  if (options.json) {
    print_document(placement);
    return kDone;
  }
  for (const Group& group : placement.groups) print_group(group, placement.pools);
  print_cost(placement, options);
  const std::vector<std::string> broken = broken_promises(placement);
  for (const std::string& sentence : broken) print_line("broken promise: " + sentence);
  return broken.empty() ? kDone : kAnswerIsNo;
}

JobTrace trace_of(const Options& options, std::uint64_t seed) {
  TraceRules rules = options.rules;
  rules.seed = seed;
  if (!options.trace.empty()) return load_document<JobTrace>(options.trace).content;
  if (options.csv.empty()) return drawn_trace(rules, weave_pools());
  try {
    return trace_of_csv(read_text_file(options.csv), rules, weave_pools());
  } catch (const Error& error) {
    throw Error(error.kind(), options.csv + ": " + error.what());
  }
}

void add_row(Table& table, const Simulation& result) {
  int placed = 0;
  for (const auto& [name, count] : result.decisions) placed += count;
  const auto share = [&](Decision decision) {
    const auto found = result.decisions.find(std::string(name_of(decision)));
    return format_percent(found == result.decisions.end() ? 0.0 : 1.0 * found->second / placed);
  };
  table.add({result.policy, dollars(result.mean_usd_per_hour), format_percent(result.kept_fraction),
             times(result.mean_slowdown), format_percent(result.rollout_busy_fraction),
             format_percent(result.training_busy_fraction), share(Decision::packing),
             share(Decision::rollout_scaling), share(Decision::new_group),
             std::to_string(result.max_rollout_nodes), std::to_string(result.max_training_nodes),
             format_seconds(result.decision_p99_s)});
}

Table table_of_simulations() {
  return Table({"policy", "an hour", "kept", "slowdown", "rollout busy", "training busy", "packed", "scaled",
                "new", "rollout nodes", "training nodes", "decision p99"});
}

int run_simulate(const Options& options) {
  const Policy* policy = find_policy(options.policy);
  const JobTrace trace = trace_of(options, options.rules.seed);
  const Interrupt interrupt;
  SimulationOptions simulation;
  simulation.seed = options.rules.seed;
  simulation.is_cancelled = &interrupt.flag();
  const Simulation result = sextant::coschedule::simulate(trace, *policy, simulation);
  if (options.json) {
    print_document(result);
  } else {
    Table table = table_of_simulations();
    add_row(table, result);
    std::fputs(table.text().c_str(), stdout);
    if (result.refused > 0) print_line(std::to_string(result.refused) + " jobs found no place");
    if (result.was_interrupted) print_line("interrupted: the rest of the trace was not simulated");
  }
  if (!options.out.empty()) {
    save_document(options.out, result);
    say_wrote(options.out);
  }
  return kDone;
}

struct Mean {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / count; }
  // The error is that of the mean.
  [[nodiscard]] double standard_error() const {
    if (count < 2) return 0;
    return std::sqrt(std::max(0.0, squares / count - mean() * mean()) / (count - 1));
  }
};

int run_compare(const Options& options) {
  const Interrupt interrupt;
  SimulationOptions simulation;
  simulation.is_cancelled = &interrupt.flag();
  const int seeds = options.trace.empty() ? options.seeds : 1;
  std::map<std::string, Mean> cost, kept, slowdown;
  int done = 0;
  for (; done < seeds && !interrupt.came(); ++done) {
    simulation.seed = options.rules.seed + static_cast<std::uint64_t>(done);
    const JobTrace trace = trace_of(options, simulation.seed);
    double solo = 0;
    std::map<std::string, Simulation> results;
    for (const Policy& policy : policies()) {
      Simulation result = sextant::coschedule::simulate(trace, policy, simulation);
      if (policy.name == "solo") solo = result.total_usd;
      results.emplace(policy.name, std::move(result));
    }
    if (interrupt.came()) break;
    for (const auto& [name, result] : results) {
      cost[name].add(result.total_usd / solo);
      kept[name].add(result.kept_fraction);
      slowdown[name].add(result.mean_slowdown);
    }
  }
  if (done == 0) throw_machine_failed("interrupted before the first trace was simulated");
  Table table({"policy", "cost over solo", "+-", "kept", "slowdown", "what it does"});
  table.align_left(5);
  for (const Policy& policy : policies()) {
    const std::string name(policy.name);
    table.add({name, times(cost[name].mean()), times(cost[name].standard_error()),
               format_percent(kept[name].mean()), times(slowdown[name].mean()),
               std::string(policy.description)});
  }
  std::fputs(table.text().c_str(), stdout);
  print_line("means of " + std::to_string(done) + (done == 1 ? " trace" : " traces") +
             "; +- is the standard error of the mean");
  return kDone;
}

int run(const Options& options) {
  switch (options.act) {
    case Act::create:
      return run_create(options);
    case Act::job:
      return run_job(options);
    case Act::place:
      return run_place(options);
    case Act::leave:
      return run_leave(options);
    case Act::repack:
      return run_repack(options);
    case Act::show:
      return run_show(options);
    case Act::simulate:
      return run_simulate(options);
    case Act::compare:
      return run_compare(options);
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
  const auto options = std::make_shared<Options>();
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
                               {"simulate", Act::simulate},
                               {"compare", Act::compare}},
                  "What to do; see below")
      .required();
  command.add_option("--state", options->state, "Placement document: all jobs and their groups")
      .shows_default();
  command.add_option("--job", options->job, "place: job document");
  command.add_flag("--dry-run", options->dry_run, "place, leave, repack: print the answer, change nothing");
  command.add_flag("--why", options->why,
                   "place: every place that was looked at, its price, and why it was refused");
  command.add_flag("--training-may-grow", options->training_may_grow,
                   "place: a group may get more training nodes; its jobs must be restarted then");
  command
      .add_option("--bound-seconds", options->bound_s,
                  "place, leave, show: time for the lower bound of the cost")
      .check(non_negative_number())
      .shows_default();
  command.add_option("--keep", options->keep, "repack: a job that must not be restarted").may_be_repeated();
  command
      .add_option("--restart-seconds", options->restart_s,
                  "repack: time for which a job that moves stands still")
      .check(non_negative_number())
      .shows_default();
  command
      .add_option("--horizon-seconds", options->horizon_s,
                  "repack: time in which the saving must pay for restarts")
      .check(positive_number())
      .shows_default();
  command.add_option("--name", options->question.name, "job, leave: name of the job");
  command.add_option("--out", options->out, "job, simulate: document to write");
  command.add_flag("--json", options->json, "show, simulate: print the document instead of a table");

  const std::string pools = "The pools of create";
  command.add_option("--rollout-pool", options->rollout_pool, "GPU and its price an hour: H20-96GB=1.85")
      .in_group(pools);
  command.add_option("--training-pool", options->training_pool, "GPU and its price an hour: H800=5.28")
      .in_group(pools);
  command.add_option("--gpus-per-node", options->gpus_per_node, "GPUs of a node")
      .check(integer_between(1, 1024))
      .shows_default()
      .in_group(pools);
  command
      .add_option("--host-memory-gb", options->host_memory_gb,
                  "Memory of a host for suspended jobs; 0: no limit")
      .check(non_negative_number())
      .in_group(pools);
  command.add_option("--max-members", options->max_members, "Jobs of a group, at most")
      .check(integer_between(1, kMaxMembers))
      .shows_default()
      .in_group(pools);
  command.add_option("--max-rollout-nodes", options->max_rollout_nodes, "Nodes of the pool; 0: no limit")
      .check(integer_between(0, 1000000))
      .in_group(pools);
  command.add_option("--max-training-nodes", options->max_training_nodes, "Nodes of the pool; 0: no limit")
      .check(integer_between(0, 1000000))
      .in_group(pools);

  const std::string traces = "The traces of simulate and compare";
  command.add_option("--trace", options->trace, "Job trace document").in_group(traces);
  command.add_option("--csv", options->csv, "Columns job, arrival_s, duration_s; phases are drawn")
      .in_group(traces);
  command.add_option("--jobs", options->rules.jobs, "Number of jobs to draw")
      .check(integer_between(1, 10000000))
      .shows_default()
      .in_group(traces);
  command
      .add_choice("--profile", options->rules.profile,
                  Choices<Profile>{{"mixed", Profile::mixed},
                                   {"balanced", Profile::balanced},
                                   {"rollout-heavy", Profile::rollout_heavy},
                                   {"train-heavy", Profile::train_heavy}},
                  "Ratio of rollout to training time of drawn jobs (WEAVE, Table 6)")
      .in_group(traces);
  command.add_option("--mean-gap", options->rules.mean_gap_s, "Seconds between arrivals")
      .check(positive_number())
      .shows_default()
      .in_group(traces);
  command.add_option("--mean-duration", options->rules.mean_duration_s, "Seconds that a job runs alone")
      .check(positive_number())
      .shows_default()
      .in_group(traces);
  command
      .add_option("--typical", options->rules.typical_fraction, "Typical iterations as a share of the bounds")
      .check(number_between(0.01, 1))
      .shows_default()
      .in_group(traces);
  command.add_option("--seed", options->rules.seed, "Seed of draws").shows_default().in_group(traces);
  command.add_option("--seeds", options->seeds, "compare: number of drawn traces")
      .check(integer_between(1, 100000))
      .shows_default()
      .in_group(traces);
  command.add_option("--policy", options->policy, "simulate: how jobs are placed")
      .check(one_of(policy_names()))
      .shows_default()
      .in_group(traces);

  const std::string question = "The question of job";
  command.add_option("--plan", options->question.plan, "Plan with generation on nodes of its own")
      .in_group(question);
  command
      .add_option("--max-slowdown", options->question.max_slowdown, "Iteration time in a group over that alone")
      .check(number_between(1, 1000))
      .shows_default()
      .in_group(question);
  add_model_inputs(command, options->question.inputs);
  command.footer(
      "create writes an empty placement; job predicts the phases of a plan; place finds the cheapest place of "
      "a\n"
      "job with which every job keeps what it was promised; leave takes a job out; repack regroups jobs\n"
      "where that pays for their restarts; show prints all groups and\n"
      "checks their promises; simulate replays arrivals; compare runs all policies.\n"
      "Exits 1 if there is no place, or if a promise is broken.\n"
      "Example: sextant coschedule place --state placement.json --job job.json --why");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
