#include "cli/coschedule/placement_commands.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "cli/coschedule/placement_file.h"
#include "cli/coschedule/placement_text.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/in_file.h"
#include "core/units.h"
#include "planner/coschedule/admission/queue.h"
#include "planner/coschedule/bound/cost_bound.h"
#include "planner/coschedule/check_placement.h"
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
  return {text.substr(0, equals),
          options.gpus_per_node,
          options.host_memory_gb * kGigabyte,
          price,
          max_nodes,
          options.link_gbit * kGigabyte / 8};
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
  constexpr double kGigabit = 1e9 / 8;
  placement.pools.connection_bytes_per_s = options.connection_gbit * kGigabit;
  placement.probability = options.probability;
  placement.tail_threshold = promised_threshold(options);
  const PlacementFile file(options.state, PlacementFile::Open::new_or_old);
  if (file.exists())
    throw_bad_input(options.state + ": exists already; remove it, or name another with --state");
  file.save(placement);
  say_wrote(options.state);
  return kDone;
}

namespace {

// The job of a document, which the placement must not have and whose GPUs must be those of its pools.
Job job_to_place(const std::string& document, const Placement& placement, const CoscheduleOptions& options) {
  Job job = load_document<JobDocument>(document).content.job;
  if (const Group* group = placement.group_of(job.name))
    throw_bad_input(document + ": job \"" + job.name + "\" is placed already, in group \"" + group->name +
                    "\" of " + options.state);
  in_file(document, [&] { require_gpus_of(job, placement.pools); });
  return job;
}

// Places all jobs of --job together. Those without a place wait: they are not in the placement.
int place_jobs(const CoscheduleOptions& options) {
  if (options.why) throw_bad_input("coschedule place: --why explains the places of one --job");
  const PlacementFile file(options.state);
  const Placement before = loaded(file, options);
  std::vector<Job> queue;
  for (const std::string& document : options.jobs) queue.push_back(job_to_place(document, before, options));
  DrawnIterations drawn;
  PlacementRules rules;
  rules.training_may_grow = options.training_may_grow;
  rules.drawn = &drawn;
  const QueueAnswer answer = place_queue(before, queue, rules);
  require_kept(answer.placement);
  for (const QueuedJob& job : answer.jobs)
    print_line(job.name + (job.is_placed ? ": " + job.words + ", which adds " +
                                               dollars(job.added_usd_per_hour) + " an hour"
                                         : " has no place and waits: " + job.words));
  const double usd = before.usd_per_hour();
  print_line(std::to_string(answer.placed()) + " of " + std::to_string(queue.size()) + " jobs add " +
             dollars(answer.placement.usd_per_hour() - usd) +
             " an hour together; one after the other, as they are listed, " +
             std::to_string(answer.in_order_placed) + " would add " +
             dollars(answer.in_order_usd_per_hour - usd));
  for (const Group& group : answer.placement.groups) {
    const bool has_new = std::any_of(queue.begin(), queue.end(), [&](const Job& job) {
      return std::any_of(group.members.begin(), group.members.end(),
                         [&](const Member& member) { return member.job.name == job.name; });
    });
    if (has_new) print_group(group, answer.placement);
  }
  print_promise(answer.placement);
  print_cost(answer.placement, options);
  if (!options.dry_run && answer.placed() > 0) {
    file.save(answer.placement);
    say_wrote(options.state);
  }
  return answer.placed() < static_cast<int>(queue.size()) ? kAnswerIsNo : kDone;
}

}  // namespace

int place_job(const CoscheduleOptions& options) {
  if (options.jobs.empty()) throw_bad_input("coschedule place: --job is required, a job document");
  if (options.jobs.size() > 1) return place_jobs(options);
  const std::string& document = options.jobs.front();
  const PlacementFile file(options.state);
  Placement placement = loaded(file, options);
  const Job job = job_to_place(document, placement, options);
  PlacementRules rules;
  rules.training_may_grow = options.training_may_grow;
  PlacementAnswer answer = in_file(document, [&] { return place(placement, job, rules, options.why); });
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
