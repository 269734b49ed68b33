#include "cli/coschedule/placement_text.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "planner/coschedule/bound/cost_bound.h"
#include "planner/coschedule/chance.h"
#include "planner/coschedule/rounds.h"
#include "planner/coschedule/tail.h"

namespace sextant::cli {

using namespace coschedule;

namespace {

// Why the search for a bound ended before it was finished; empty if it was.
std::string remark_on(const CostBound& bound) {
  if (bound.is_tight) return "";
  if (bound.is_out_of_time)
    return " (the wall time ended the search, so that another run may prove more or less; see --bound-seconds)";
  return " (a larger --bound-work may prove more)";
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

}  // namespace

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

void print_promise(const Placement& placement) {
  if (placement.probability >= 1) return;
  print_line("promised: " + format_percent(placement.probability) +
             " of the iterations, each over the same iteration alone, with tails that " +
             words_of_tails(placement.tail_threshold) +
             (placement.tail_threshold > 0
                  ? "; a job that does not report its progress (PhaseClient.progress) may break it"
                  : "; no job has to report its progress"));
}

}  // namespace sextant::cli
