#include "cli/coschedule/placement_commands.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "cli/coschedule/placement_file.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/in_file.h"
#include "core/units.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/cost_bound.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/rounds.h"
#include "planner/coschedule/tail.h"
#include "sextant/error.h"

namespace sextant::cli {

using namespace coschedule;

namespace {

// The tails that promises of a new placement count on. They stay by default, which every job keeps.
double promised_threshold(const CoscheduleOptions& options) {
  switch (options.tails.value_or(TailRule::stay)) {
    case TailRule::stay:
      if (options.tail_threshold)
        throw_bad_input("coschedule create: --tail-threshold is that of --tails fixed, which is missing");
      return 0;
    case TailRule::fixed:
      return options.tail_threshold.value_or(kWeaveThreshold);
    case TailRule::best:
      break;
  }
  throw_bad_input("coschedule create: --tails: a promise counts on tails that stay or move at a fixed share");
}

Pool pool_of(const std::string& text, const char* option, const CoscheduleOptions& options, int max_nodes) {
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

// Why the search for a bound ended before it was finished; empty if it was.
std::string remark_on(const CostBound& bound) {
  if (bound.is_tight) return "";
  if (bound.is_out_of_time)
    return " (the wall time ended the search, so that another run may prove more or less; see --bound-seconds)";
  return " (a larger --bound-work may prove more)";
}

// Prints the cost of the placement and the lower bound of any placement of its jobs.
void print_cost(const Placement& placement, const CoscheduleOptions& options) {
  const double usd = placement.usd_per_hour();
  const auto counted = [](std::size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  print_line(counted(placement.job_count(), "job") + " in " + counted(placement.groups.size(), "group") + ", " +
             std::to_string(placement.rollout_nodes()) + " rollout and " +
             std::to_string(placement.training_nodes()) + " training nodes, " + dollars(usd) + " an hour");
  const bool may_grow =
      options.training_may_grow || std::any_of(placement.groups.begin(), placement.groups.end(), has_grown);
  std::vector<Job> jobs = placement.jobs();
  if (placement.probability < 1) {
    DrawnIterations drawn;
    for (Job& job : jobs) job = relaxed_for_chance(job, drawn);
  }
  const CostBound bound =
      min_usd_per_hour(jobs, placement.pools, placement.groups, bound_budget(options), may_grow);
  if (bound.usd_per_hour <= 0) return;
  const double gap = std::max(0.0, usd / bound.usd_per_hour - 1);
  print_line("any placement of these jobs" +
             std::string(may_grow ? "" : ", in groups that train on as many nodes as their largest job,") +
             " costs at least " + dollars(bound.usd_per_hour) + " an hour: this one is at most " +
             format_percent(gap) + " above the cheapest" + (placement.groups.empty() ? "" : remark_on(bound)));
}

// Prints what typical iterations take, and when the long tails of their rollouts move.
void print_typical(const Group& group, double tail_threshold) {
  const double moves_at = tail_threshold > 0 ? tail_threshold : kWeaveThreshold;
  RunningGroup running{&group, {}, {}};
  std::vector<std::optional<Batch>> batches;
  for (const Member& member : group.members)
    batches.push_back(member.job.responses ? std::optional(typical_batch(*member.job.responses))
                                           : std::nullopt);
  for (std::size_t m = 0; m < batches.size(); ++m) {
    running.batches.push_back(batches[m] ? &*batches[m] : nullptr);
    running.times.push_back(typical_times(group.members[m].job));
  }
  const TailMoves stay = move_tails(running, TailRule::stay), best = move_tails(running, TailRule::best),
                  fixed = move_tails(running, TailRule::fixed, moves_at);
  std::string moved;
  for (std::size_t m = 0; m < batches.size(); ++m) {
    if (best.phases[m].tail_s > 0)
      moved +=
          (moved.empty() ? "" : ", ") + group.members[m].job.name + " at " + format_percent(best.thresholds[m]);
  }
  print_line("a typical iteration takes " + format_seconds(stay.period_s) +
             (moved.empty() ? "; moving long tails would not shorten it"
                            : ", " + format_seconds(best.period_s) + " if the tails of rollouts move (" +
                                  moved + " of the responses), " + format_seconds(fixed.period_s) +
                                  " if all move at " + format_percent(moves_at)));
}

// "; short runs 2 times in that time" if members have several turns.
std::string repetitions_of(const Group& group) {
  const std::vector<int> counts = iterations_of(group);
  std::string text;
  for (std::size_t m = 0; m < counts.size(); ++m) {
    if (counts[m] > 1)
      text += (text.empty() ? "; " : ", ") + group.members[m].job.name + " runs " + std::to_string(counts[m]) +
              " times";
  }
  return text.empty() ? "" : text + " in that time";
}

void print_group(const Group& group, const Placement& placement) {
  const Turns turns = planned_turns(group);
  const std::vector<MemberIterations> iterations = member_iterations(group);
  const bool is_certain = placement.probability >= 1, repeats = !group.turns.empty();
  print_line(group.name + ": " + std::to_string(group.rollout_nodes) + " rollout and " +
             std::to_string(group.training_nodes) + " training nodes, " +
             dollars(group.usd_per_hour(placement.pools)) + " an hour, " +
             (repeats ? "a meta-iteration takes " : "an iteration of each job takes at most ") +
             format_seconds(turns.period_s) + (repeats ? "" : " at the bounds") + repetitions_of(group));
  KeptShares chance;
  if (!is_certain) chance = DrawnIterations().of(group, placement.tail_threshold);
  std::vector<std::string> head{"job", "bound alone"};
  if (repeats) head.insert(head.end(), {"runs", "longest iteration"});
  head.insert(head.end(), {"slowdown", "allowed"});
  if (!is_certain) head.emplace_back("kept");
  const std::size_t nodes_column = head.size();
  head.insert(head.end(), {"rollout nodes", "rollout from", "training from"});
  Table table(head);
  table.align_left(nodes_column);
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Job& job = group.members[m].job;
    std::string nodes;
    for (const int node : group.members[m].rollout_nodes)
      nodes += (nodes.empty() ? "" : ", ") + std::to_string(node);
    std::vector<std::string> row{job.name, format_seconds(job.solo_s())};
    if (repeats)
      row.insert(row.end(), {std::to_string(iterations[m].count), format_seconds(iterations[m].longest_s)});
    row.insert(row.end(),
               {times(is_certain ? iterations[m].slowdown : chance.slowdown[m]), times(job.max_slowdown)});
    if (!is_certain) row.push_back(format_percent(chance.kept_fraction[m]));
    row.insert(row.end(), {nodes, format_seconds(std::max(0.0, turns.rollout_start_s[m])),
                           format_seconds(std::max(0.0, turns.training_start_s[m]))});
    table.add(std::move(row));
  }
  std::fputs(table.text().c_str(), stdout);
  const bool has_lengths = std::any_of(group.members.begin(), group.members.end(),
                                       [](const Member& member) { return member.job.responses.has_value(); });
  if (has_lengths && group.members.size() > 1) print_typical(group, placement.tail_threshold);
}

// Prints what the promises mean and which tails they count on.
void print_promise(const Placement& placement) {
  if (placement.probability >= 1) return;
  print_line("promised: " + format_percent(placement.probability) +
             " of the iterations, each over the same iteration alone, with tails that " +
             words_of_tails(placement.tail_threshold) +
             (placement.tail_threshold > 0
                  ? "; a job that does not report its progress (PhaseClient.progress) may break it"
                  : "; no job has to report its progress"));
}

// All jobs placed anew, in the order of the groups. Empty if one finds no place.
std::optional<Placement> placed_anew(const Placement& placement, double probability, double tail_threshold) {
  Placement anew{placement.pools, {}, probability, tail_threshold};
  DrawnIterations drawn;
  PlacementRules rules;
  rules.drawn = &drawn;
  for (const Job& job : placement.jobs()) {
    PlacementAnswer answer = place(anew, job, rules);
    if (!answer.is_placed) return std::nullopt;
    take(anew, std::move(answer));
  }
  return anew;
}

// Whether the groups of a placement keep another promise too, with one iteration of each job in a meta-iteration.
bool keep(std::vector<Group> groups, double probability, double tail_threshold) {
  DrawnIterations drawn;
  return std::all_of(groups.begin(), groups.end(), [&](Group& group) {
    group.turns.clear();
    return drawn.keeps(group, probability, tail_threshold);
  });
}

// The cheapest of the placement anew and of those with stronger promises, which may keep this one too: jobs are
// placed one after the other, so that a weaker promise alone might find a dearer placement.
std::optional<Placement> cheapest_anew(const Placement& placement, double probability, double tail_threshold,
                                       const std::vector<Placement>& stronger) {
  std::optional<Placement> cheapest = placed_anew(placement, probability, tail_threshold);
  for (const Placement& other : stronger) {
    if ((!cheapest || other.usd_per_hour() < cheapest->usd_per_hour()) &&
        keep(other.groups, probability, tail_threshold))
      cheapest = other;
  }
  return cheapest;
}

// Prints what the jobs cost at the bounds and at several probabilities, if tails stay and if they move, and why a
// weaker promise costs more where it does.
void print_certainty(const Placement& placement) {
  Table table({"probability", "tails", "an hour", "rollout nodes", "training nodes"});
  table.align_left(1);
  const auto add = [&](const std::string& name, const std::string& tails,
                       const std::optional<Placement>& anew) {
    table.add({name, tails, anew ? dollars(anew->usd_per_hour()) : "no place",
               anew ? std::to_string(anew->rollout_nodes()) : "",
               anew ? std::to_string(anew->training_nodes()) : ""});
  };
  const std::optional<Placement> always = placed_anew(placement, 1, 0);
  add("always", "", always);
  const double moves_at = placement.tail_threshold > 0 ? placement.tail_threshold : kWeaveThreshold;
  std::map<double, double> dearest;  // by threshold
  for (const double threshold : {0.0, moves_at}) {
    std::vector<Placement> stronger;
    if (always) stronger.push_back(*always);
    for (const double probability : {0.99, 0.95, 0.9}) {
      std::optional<Placement> anew = cheapest_anew(placement, probability, threshold, stronger);
      add(format_percent(probability), threshold > 0 ? "move at " + format_percent(threshold) : "stay", anew);
      if (!anew) continue;
      dearest[threshold] = std::max(dearest[threshold], anew->usd_per_hour());
      stronger.push_back(*std::move(anew));
    }
  }
  std::fputs(table.text().c_str(), stdout);
  print_line(
      "always: no iteration takes longer than its job allows over the bound alone, with every response of the "
      "maximum length");
  print_line(
      "with a probability: an iteration takes at most what its job allows over the same iteration alone");
  constexpr double kCent = 0.01;
  if (always && dearest[0] > always->usd_per_hour() + kCent)
    print_line(
        "these are different promises, and with tails that stay that with a probability costs more here: an "
        "iteration with short responses may wait for other jobs as long as its bound leaves time, which is "
        "more "
        "than its job allows over that iteration alone");
  if (dearest[moves_at] > dearest[0] + kCent)
    print_line(
        "tails that move cost more here than those that stay: the rest of a rollout takes longer on fewer "
        "workers");
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

// Throws Error(bad_input) if the file's placement breaks a promise already: people may edit it.
Placement loaded(const PlacementFile& file, const CoscheduleOptions& options) {
  Placement placement = file.load();
  if (const std::vector<std::string> broken = broken_promises(placement); !broken.empty())
    throw_bad_input(options.state + ": it breaks a promise before anything is changed: " + broken.front() +
                    "; sextant coschedule show lists all");
  return placement;
}

void require_kept(const Placement& placement) {
  if (const std::vector<std::string> broken = broken_promises(placement); !broken.empty())
    throw_machine_failed("internal error: the placement breaks a promise: " + broken.front());
}

}  // namespace

int create_placement(const CoscheduleOptions& options) {
  Placement placement;
  if (options.rollout_pool.empty() || options.training_pool.empty())
    throw_bad_input(
        "coschedule create: --rollout-pool and --training-pool are required, such as H20-96GB=1.85");
  placement.pools.rollout = pool_of(options.rollout_pool, "--rollout-pool", options, options.max_rollout_nodes);
  placement.pools.training =
      pool_of(options.training_pool, "--training-pool", options, options.max_training_nodes);
  placement.pools.max_members = options.max_members;
  placement.probability = options.probability;
  placement.tail_threshold = promised_threshold(options);
  const PlacementFile file(options.state, PlacementFile::Open::new_or_old);
  if (file.exists())
    throw_bad_input(options.state + ": exists already; remove it, or name another with --state");
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

int place_job(const CoscheduleOptions& options) {
  if (options.job.empty()) throw_bad_input("coschedule place: --job is required, a job document");
  const Job job = load_document<JobDocument>(options.job).content.job;
  const PlacementFile file(options.state);
  Placement placement = loaded(file, options);
  PlacementRules rules;
  rules.training_may_grow = options.training_may_grow;
  if (const Group* group = placement.group_of(job.name))
    throw_bad_input(options.job + ": job \"" + job.name + "\" is placed already, in group \"" + group->name +
                    "\" of " + options.state);
  PlacementAnswer answer = in_file(options.job, [&] { return place(placement, job, rules, options.why); });
  if (!answer.is_placed) {
    print_line(job.name + " has no place: " + answer.refusal);
    if (options.why) print_candidates(answer.candidates);
    return kAnswerIsNo;
  }
  PlacementAnswer certain;
  if (placement.probability < 1) {
    Placement at_bounds = placement;
    at_bounds.probability = 1;
    certain = place(at_bounds, job, rules);
  }
  const Group group = answer.group;
  const Candidate chosen = answer.chosen;
  const std::vector<Candidate> candidates = answer.candidates;
  Candidate named = chosen;
  if (answer.at) named.group = group.name;
  take(placement, std::move(answer));
  require_kept(placement);
  print_line(job.name + ": " + words_of(named) + ", which adds " + dollars(chosen.added_usd_per_hour) +
             " an hour");
  print_group(group, placement);
  print_promise(placement);
  if (certain.is_placed) {
    Candidate in_certainty = certain.chosen;
    if (certain.at) in_certainty.group = certain.group.name;
    print_line("if every iteration had to keep the promises at the bounds, it would add " +
               dollars(in_certainty.added_usd_per_hour) + " an hour: " + words_of(in_certainty) +
               (in_certainty.added_usd_per_hour < chosen.added_usd_per_hour
                    ? "; that is another promise, which show --certainty explains"
                    : ""));
  }
  print_cost(placement, options);
  if (options.why) print_candidates(candidates);
  if (options.dry_run) return kDone;
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

int release_job(const CoscheduleOptions& options) {
  if (options.question.name.empty())
    throw_bad_input("coschedule leave: --name is required, a job that is placed");
  const PlacementFile file(options.state);
  Placement placement = loaded(file, options);
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

// More groups than that are left to show.
constexpr std::size_t kListedGroups = 50;

std::string listed(const std::set<std::string>& jobs) {
  constexpr std::size_t kListedJobs = 20;
  std::string names;
  std::size_t count = 0;
  for (const std::string& name : jobs) {
    if (count++ == kListedJobs) return names + " and " + std::to_string(jobs.size() - kListedJobs) + " more";
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

int repack_jobs(const CoscheduleOptions& options) {
  const PlacementFile file(options.state);
  Placement placement = loaded(file, options);
  if (placement.probability < 1)
    throw_bad_input(options.state +
                    ": promises with a probability are not regrouped; repack needs --probability 1");
  for (const std::string& name : options.keep) {
    if (placement.group_of(name) == nullptr) throw_bad_input("--keep: no group has a job \"" + name + "\"");
  }
  const auto may_restart = [&](const Job& job) {
    return std::find(options.keep.begin(), options.keep.end(), job.name) == options.keep.end();
  };
  double saved = 0;
  std::set<std::string> restarted;
  const auto take_better = [&](std::optional<Repacked> better) {
    if (!better) return;
    saved += better->saved_usd_per_hour;
    restarted.insert(better->restarted.begin(), better->restarted.end());
    take(placement, *std::move(better));
  };
  if (options.all) take_better(repack_all(placement, may_restart, options.repack, bound_budget(options)));
  const std::vector<Group> before = options.all ? std::vector<Group>{} : placement.groups;
  for (const Group& group : before) take_better(repack(placement, group.name, may_restart, options.repack));
  if (restarted.empty()) {
    print_line("no regrouping pays for the restarts");
    print_cost(placement, options);
    return kDone;
  }
  print_line("regrouping saves " + dollars(saved) + " an hour and restarts " + listed(restarted));
  if (placement.groups.size() <= kListedGroups) {
    for (const Group& group : placement.groups) print_group(group, placement);
  }
  print_cost(placement, options);
  require_kept(placement);
  if (options.dry_run) return kDone;
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

int show_placement(const CoscheduleOptions& options) {
  const Placement placement = load_document<Placement>(options.state).content;
  if (options.json) {
    print_document(placement);
    return kDone;
  }
  for (const Group& group : placement.groups) print_group(group, placement);
  print_promise(placement);
  print_cost(placement, options);
  if (options.certainty) print_certainty(placement);
  const std::vector<std::string> broken = broken_promises(placement);
  for (const std::string& sentence : broken) print_line("broken promise: " + sentence);
  return broken.empty() ? kDone : kAnswerIsNo;
}

}  // namespace sextant::cli
