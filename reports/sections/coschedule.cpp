#include <algorithm>
#include <cmath>

#include "core/json_value.h"
#include "core/units.h"
#include "planner/coschedule/bound/cost_bound.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/rounds.h"
#include "reports/charts/coschedule_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

using namespace coschedule;

Cell usd_cell(double usd) { return {"$" + format_number(usd), finite_or_null(usd)}; }

Table members_table(const Placement& placement) {
  Table table{
      "coschedule_members",
      "Jobs by group, in the order of their turns. Iterations are those of the bounds, in which every "
      "response has the maximum length; runs are iterations of the job in one meta-iteration of its group",
      {{"group", "group"},
       {"job", "job"},
       {"alone_s", "alone", true},
       {"runs", "runs", true},
       {"iteration_s", "longest iteration", true},
       {"slowdown", "slowdown", true},
       {"max_slowdown", "allowed", true},
       {"usd_per_hour", "group's dollars an hour", true}},
      {}};
  for (const Group& group : placement.groups) {
    const std::vector<MemberIterations> iterations = member_iterations(group);
    for (std::size_t m = 0; m < iterations.size(); ++m) {
      const Job& job = group.members[m].job;
      table.rows.push_back({group.name, job.name, seconds_cell(job.solo_s()),
                            count_cell(static_cast<std::size_t>(iterations[m].count)),
                            seconds_cell(iterations[m].longest_s), number_cell(iterations[m].slowdown),
                            number_cell(job.max_slowdown), usd_cell(group.usd_per_hour(placement.pools))});
    }
  }
  return table;
}

Table simulated_jobs_table(const Simulation& simulation) {
  Table table{"coschedule_jobs",
              "Jobs by their end, and why each was placed where it was",
              {{"job", "job"},
               {"decision", "decision"},
               {"reason", "place"},
               {"arrival_s", "arrival", true},
               {"end_s", "end", true},
               {"slowdown", "slowdown", true},
               {"max_slowdown", "allowed", true},
               {"kept", "kept"},
               {"resubmissions", "placed anew", true},
               {"failures", "failures", true}},
              {}};
  for (const SimulatedJob& job : simulation.jobs)
    table.rows.push_back({job.name,
                          {shown_name(job.decision), job.decision},
                          job.reason,
                          seconds_cell(job.arrival_s),
                          seconds_cell(job.end_s),
                          number_cell(job.slowdown),
                          number_cell(job.max_slowdown),
                          {job.kept ? "yes" : "no", Json(job.kept)},
                          count_cell(static_cast<std::size_t>(job.resubmissions)),
                          count_cell(static_cast<std::size_t>(job.failures))});
  table.folded = table.rows.size() > 20;
  return table;
}

FactList simulation_facts(const Simulation& simulation) {
  FactList facts;
  facts.facts.push_back(
      {"Mean cost an hour", usd_cell(simulation.mean_usd_per_hour), "policy " + simulation.policy});
  facts.facts.push_back(
      {"Promises kept", percent_cell(simulation.kept_fraction), "of the jobs, over their whole runs"});
  if (simulation.always_kept_fraction > 0)
    facts.facts.push_back({"Kept in the slowest iteration", percent_cell(simulation.always_kept_fraction),
                           "of the jobs, over a typical iteration alone"});
  facts.facts.push_back({"Slowdown", number_cell(simulation.mean_slowdown), "mean, over alone"});
  facts.facts.push_back({"Rollout nodes busy", percent_cell(simulation.rollout_busy_fraction), ""});
  facts.facts.push_back({"Training nodes busy", percent_cell(simulation.training_busy_fraction), ""});
  facts.facts.push_back({"Peak",
                         {std::to_string(simulation.max_rollout_nodes) + " + " +
                              std::to_string(simulation.max_training_nodes) + " nodes",
                          Json{simulation.max_rollout_nodes, simulation.max_training_nodes}},
                         "rollout and training"});
  return facts;
}

std::string decisions_of(const Simulation& simulation) {
  int all = 0;
  for (const auto& [name, count] : simulation.decisions) all += count;
  std::string text;
  for (const auto& [name, count] : simulation.decisions)
    text += (text.empty() ? "" : ", ") + shown_name(name) + " " + format_percent(1.0 * count / all);
  return "Decisions: " + text + ". The slowest of a hundred took " + format_seconds(simulation.decision_p99_s) +
         ".";
}

// The placements whose bound was worked out, by their cost over it, in words.
std::string over_bound_text(const Simulation& simulation) {
  std::vector<double> over;
  for (const SimulatedState& state : simulation.states) {
    if (state.bound_usd_per_hour > 0) over.push_back(state.usd_per_hour / state.bound_usd_per_hour);
  }
  std::sort(over.begin(), over.end());
  const auto quantile = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(over.size()));
    return format_number(over[static_cast<std::size_t>(rank) - 1]);
  };
  return std::to_string(over.size()) +
         " placements cost this much over the lower bound of any placement of their jobs, which is near the "
         "optimum for up to 16 jobs: median " +
         quantile(0.5) + ", 90 % at most " + quantile(0.9) + ", all at most " + quantile(1) + ".";
}

void add_pool_chart(Section& section, const char* id, const char* caption, Json spec, bool wide = true) {
  if (!spec.is_null()) section.blocks.emplace_back(Chart{id, caption, std::move(spec), wide});
}

}  // namespace

namespace {

// Says which phases a chart of a group shows.
std::string gantt_caption(const Group& group, const Json& gantt) {
  const bool is_typical = std::any_of(group.members.begin(), group.members.end(), [](const Member& member) {
    return member.job.responses.has_value() || member.job.typical_fraction < 1;
  });
  const Json& rows = gantt["data"]["values"];
  const bool has_tails =
      std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row["phase"] == "tail of rollout"; });
  return "Two meta-iterations of " + group.name +
         (is_typical ? " with typical lengths of responses." : " at the bounds.") +
         (has_tails ? " Pale bars of a rollout are its long tail on a few workers of the node." : "");
}

// "1 group", "2 groups"
std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string coschedule_summary(const ReportInput& input) {
  std::string text;
  if (input.placement) {
    const Placement& placement = input.placement->content;
    text = counted(placement.job_count(), "job") + " on shared pools " +
           (placement.job_count() == 1 ? "costs $" : "cost $") + format_number(placement.usd_per_hour()) +
           " an hour.";
  }
  if (input.simulation) {
    const Simulation& simulation = input.simulation->content;
    text += (text.empty() ? "" : " ") + std::string("Simulated arrivals under the policy ") +
            simulation.policy + " cost $" + format_number(simulation.mean_usd_per_hour) +
            " an hour on average, and " + format_percent(simulation.kept_fraction) +
            " of the jobs kept their promise.";
  }
  return text;
}

std::optional<Section> placement_section(const ReportInput& input) {
  if (!input.placement || input.placement->content.groups.empty()) return std::nullopt;
  const Placement& placement = input.placement->content;
  Section section{"placement", "Jobs on shared pools", {}};
  const double usd = placement.usd_per_hour();
  std::string text = counted(placement.job_count(), "job") + " in " +
                     counted(placement.groups.size(), "group") + " on " +
                     counted(static_cast<std::size_t>(placement.rollout_nodes()), "rollout node") + " and " +
                     counted(static_cast<std::size_t>(placement.training_nodes()), "training node") + ": $" +
                     format_number(usd) + " an hour.";
  if (placement.probability < 1) {
    text += " Each job keeps its promise in at least " + format_percent(placement.probability) +
            " of its iterations, " +
            (placement.tail_threshold > 0
                 ? "if every job moves the tail of its rollout when " +
                       format_percent(placement.tail_threshold) + " of the responses have ended."
                 : "also if the tails of rollouts stay.");
  } else {
    const bool may_grow = std::any_of(placement.groups.begin(), placement.groups.end(), has_grown);
    const double bound =
        min_usd_per_hour(placement.jobs(), placement.pools, placement.groups, {}, may_grow).usd_per_hour;
    text += std::string(" No placement of these jobs") +
            (may_grow ? "" : " in groups that train on as many nodes as their largest job") +
            " costs less than $" + format_number(bound) + ".";
  }
  section.blocks.emplace_back(Text{text});
  for (const std::string& broken : broken_promises(placement))
    section.blocks.emplace_back(Warning{as_sentence("Broken promise: " + broken)});
  constexpr std::size_t kMaxCharts = 12;
  std::vector<const Group*> charted;
  for (const Group& group : placement.groups) charted.push_back(&group);
  std::stable_sort(charted.begin(), charted.end(), [](const Group* a, const Group* b) {
    return std::min<std::size_t>(a->members.size(), 2) > std::min<std::size_t>(b->members.size(), 2);
  });
  charted.resize(std::min(kMaxCharts, charted.size()));
  for (std::size_t g = 0; g < charted.size(); ++g) {
    const Json gantt = charts::group_gantt(*charted[g]);
    add_pool_chart(section, ("gantt_" + std::to_string(g)).c_str(), gantt_caption(*charted[g], gantt).c_str(),
                   gantt);
  }
  if (placement.groups.size() > kMaxCharts)
    section.blocks.emplace_back(Text{"The other " + std::to_string(placement.groups.size() - kMaxCharts) +
                                     " groups have no chart here."});
  section.blocks.emplace_back(members_table(placement));
  return section;
}

std::optional<Section> simulation_section(const ReportInput& input) {
  if (!input.simulation) return std::nullopt;
  const Simulation& simulation = input.simulation->content;
  Section section{
      "simulation", "Simulated arrivals", {simulation_facts(simulation), Text{decisions_of(simulation)}}};
  if (simulation.kept_fraction < 1)
    section.blocks.emplace_back(
        Warning{format_percent(1 - simulation.kept_fraction) + " of the jobs took longer than they allow."});
  add_pool_chart(
      section, "cost_over_time",
      charts::has_cost_bound(simulation)
          ? "Cost of all groups after each event. The bound holds for any placement of the jobs that "
            "run."
          : "Cost of all groups after each event.",
      charts::cost_over_time(simulation));
  if (charts::has_cost_bound(simulation)) section.blocks.emplace_back(Text{over_bound_text(simulation)});
  add_pool_chart(section, "cost_over_bound", "Placements by their cost over the lower bound.",
                 charts::cost_over_bound_histogram(simulation), false);
  add_pool_chart(section, "nodes_over_time", "Nodes that are paid for, and jobs that run.",
                 charts::nodes_over_time(simulation));
  add_pool_chart(section, "busy_over_time",
                 "Share of the nodes' time in which they work; the rest are bubbles.",
                 charts::busy_over_time(simulation));
  add_pool_chart(section, "slo_histogram",
                 "Jobs by their slowdown over what they allow: beyond 1 a promise is broken.",
                 charts::slo_histogram(simulation), false);
  if (!simulation.jobs.empty()) section.blocks.emplace_back(simulated_jobs_table(simulation));
  return section;
}

}  // namespace sextant::inline reports
