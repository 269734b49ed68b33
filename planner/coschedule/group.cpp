#include "planner/coschedule/group.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "planner/coschedule/document_fields.h"
#include "planner/coschedule/round_robin.h"

namespace sextant::coschedule {

double Placement::usd_per_hour() const {
  double sum = 0;
  for (const Group& group : groups) sum += group.usd_per_hour(pools);
  return sum;
}

int Placement::rollout_nodes() const {
  int sum = 0;
  for (const Group& group : groups) sum += group.rollout_nodes;
  return sum;
}

int Placement::training_nodes() const {
  int sum = 0;
  for (const Group& group : groups) sum += group.training_nodes;
  return sum;
}

std::size_t Placement::job_count() const {
  std::size_t sum = 0;
  for (const Group& group : groups) sum += group.members.size();
  return sum;
}

std::vector<Job> Placement::jobs() const {
  std::vector<Job> all;
  for (const Group& group : groups) {
    for (const Member& member : group.members) all.push_back(member.job);
  }
  return all;
}

const Group* Placement::group_of(std::string_view job) const {
  for (const Group& group : groups) {
    for (const Member& member : group.members) {
      if (member.job.name == job) return &group;
    }
  }
  return nullptr;
}

namespace {

void check_turns(const JsonView& view, const Group& group, bool is_certain) {
  if (!is_certain)
    view.fail("jobs with a promise of a probability have one iteration each in a meta-iteration");
  constexpr std::size_t kMaxTurns = 64;
  if (group.turns.size() > kMaxTurns) view.fail("expected at most " + std::to_string(kMaxTurns) + " turns");
  std::set<int> members;
  for (const int turn : group.turns) {
    if (turn < 0 || turn >= static_cast<int>(group.members.size()))
      view.fail("expected positions of members below " + std::to_string(group.members.size()));
    members.insert(turn);
  }
  if (members.size() < group.members.size()) view.fail("every member needs a turn");
}

}  // namespace

Placement Placement::parse(const JsonView& view) {
  Placement placement = parse_fields(view, placement_fields());
  const bool is_certain = placement.probability >= 1;
  std::set<std::string> names, jobs;
  const std::vector<JsonView> views = view.required("groups").items();
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    Group& group = placement.groups[g];
    for (Member& member : group.members) member.job = with_sync(member.job, placement.pools);
    if (!names.insert(group.name).second) views[g].required("name").fail("another group has this name");
    const std::vector<JsonView> members = views[g].required("members").items();
    if (members.empty()) views[g].required("members").fail("expected at least one job");
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Member& member = group.members[m];
      const JsonView nodes = members[m].required("rollout_nodes");
      if (!jobs.insert(member.job.name).second)
        members[m].required("job").required("name").fail("another job has this name");
      if (static_cast<int>(member.rollout_nodes.size()) != member.job.rollout_nodes)
        nodes.fail("expected " + std::to_string(member.job.rollout_nodes) + " nodes");
      int last = -1;
      for (const int node : member.rollout_nodes) {
        if (node <= last || node >= group.rollout_nodes)
          nodes.fail("expected ascending numbers below " + std::to_string(group.rollout_nodes));
        last = node;
      }
      if (member.job.training_nodes > group.training_nodes)
        members[m].required("job").fail("it trains on at least " + std::to_string(member.job.training_nodes) +
                                        " nodes, the group has " + std::to_string(group.training_nodes));
    }
    if (!group.turns.empty()) check_turns(views[g].required("turns"), group, is_certain);
  }
  return placement;
}

Json Placement::to_json() const { return fields_to_json(*this, placement_fields()); }

namespace {

std::vector<double> rollout_load_of(const Group& group, const std::vector<Phases>& phases) {
  std::vector<double> nodes(static_cast<std::size_t>(group.rollout_nodes), 0.0);
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    for (const int node : group.members[m].rollout_nodes)
      nodes[static_cast<std::size_t>(node)] += phases[m].rollout_s;
  }
  return nodes;
}

}  // namespace

std::vector<double> rollout_load_s(const Group& group) { return rollout_load_of(group, phases_of(group)); }

double load_s(const Group& group, const std::vector<Phases>& phases) {
  double training = 0, sync = 0;
  for (const Phases& of : phases) {
    training += of.training_s;
    sync += of.sync_s;
  }
  const std::vector<double> nodes = rollout_load_of(group, phases);
  return std::max({training, sync, *std::max_element(nodes.begin(), nodes.end())});
}

double load_s(const Group& group) { return load_s(group, phases_of(group)); }

double cycle_s(const Group& group) {
  double longest = 0;
  for (const Member& member : group.members) longest = std::max(longest, member.job.solo_s());
  return longest;
}

double max_iteration_s(const Group& group) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Member& member : group.members) shortest = std::min(shortest, member.job.max_iteration_s());
  return shortest;
}

bool has_grown(const Group& group) {
  return std::all_of(group.members.begin(), group.members.end(),
                     [&](const Member& member) { return member.job.training_nodes < group.training_nodes; });
}

std::vector<int> meta_iteration(const Group& group) {
  if (!group.turns.empty()) return group.turns;
  std::vector<int> order(group.members.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> iterations_of(const Group& group) {
  std::vector<int> counts(group.members.size(), group.turns.empty() ? 1 : 0);
  for (const int turn : group.turns) ++counts[static_cast<std::size_t>(turn)];
  return counts;
}

Group in_order(const Group& group, const std::vector<int>& order) {
  Group ordered = group;
  ordered.turns.clear();
  for (std::size_t i = 0; i < order.size(); ++i)
    ordered.members[i] = group.members[static_cast<std::size_t>(order[i])];
  return ordered;
}

double rollout_host_bytes(const Group& group, int node) {
  double sum = 0;
  for (const Member& member : group.members) {
    if (std::binary_search(member.rollout_nodes.begin(), member.rollout_nodes.end(), node))
      sum += member.job.rollout_host_bytes;
  }
  return sum;
}

double training_host_bytes(const Group& group) {
  double sum = 0;
  for (const Member& member : group.members) sum += member.job.training_host_bytes;
  return sum;
}

}  // namespace sextant::coschedule
