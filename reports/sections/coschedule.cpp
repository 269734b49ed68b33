#include <algorithm>

#include "core/json_value.h"
#include "core/units.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/cost_bound.h"
#include "planner/coschedule/rounds.h"
#include "reports/charts/coschedule_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant {
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

void add_pool_chart(Section& section, const char* id, const char* caption, Json spec, bool wide = true) {
  if (!spec.is_null()) section.blocks.emplace_back(Chart{id, caption, std::move(spec), wide});
}

}  // namespace

namespace {

// "1 group", "2 groups"
std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

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
  for (std::size_t g = 0; g < std::min(kMaxCharts, placement.groups.size()); ++g) {
    const std::string caption = "Two meta-iterations of " + placement.groups[g].name +
                                ". Pale bars are long tails of rollouts on a few workers of the node.";
    add_pool_chart(section, ("gantt_" + std::to_string(g)).c_str(), caption.c_str(),
                   charts::group_gantt(placement.groups[g]));
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

}  // namespace sextant
