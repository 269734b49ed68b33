// Co-execution groups (section 4.1): jobs that share nodes of both pools by turns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/coschedule/job.h"

namespace sextant::coschedule {

struct Member {
  Job job;
  std::vector<int> rollout_nodes;  // to which it is pinned: numbers inside the group, ascending

  friend bool operator==(const Member&, const Member&) = default;
};

// All members train on all training nodes; each rolls out on the nodes to which it is pinned.
struct Group {
  std::string name;
  int rollout_nodes = 1;
  int training_nodes = 1;
  std::vector<Member> members;  // in the order of their turns
  // Positions of members in the order of a meta-iteration in which some run more than once (rounds.h). Empty: each
  // member runs once, in their order.
  std::vector<int> turns = {};

  [[nodiscard]] double usd_per_hour(const Pools& pools) const {
    return pools.usd_per_hour(rollout_nodes, training_nodes);
  }
  friend bool operator==(const Group&, const Group&) = default;
};

inline constexpr double kWeaveThreshold = 0.8;  // share of the responses that have ended, in section 4.3

// All groups of both pools: what `sextant coschedule` reads and writes.
struct Placement {
  static constexpr std::string_view kKind = "placement";
  // 1.1: turns of groups; 1.2: tail_threshold, GPUs of jobs; 1.3: bandwidths; 1.4: turns of responses.
  static constexpr SchemaVersion kVersion{1, 4};

  Pools pools;
  std::vector<Group> groups;
  double probability =
      1;  // of an iteration in which a job keeps its promise (chance.h); 1: at the bounds, always
  // Promises with a probability count on every job to move the tail of its rollout when that share of the responses
  // has ended, and `run` asks it to. 0: tails stay. A document that says nothing means the share of the paper, as
  // all did before version 1.2; `create` writes 0, which also holds for jobs that never report their progress.
  double tail_threshold = kWeaveThreshold;

  [[nodiscard]] double usd_per_hour() const;
  [[nodiscard]] int rollout_nodes() const;
  [[nodiscard]] int training_nodes() const;
  [[nodiscard]] std::size_t job_count() const;
  [[nodiscard]] std::vector<Job> jobs() const;
  // Null if no group has the job.
  [[nodiscard]] const Group* group_of(std::string_view job) const;

  friend bool operator==(const Placement&, const Placement&) = default;
  // Refuses nodes outside the group, a job in two groups, and groups without members.
  static Placement parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Positions of members in the order of their turns in a meta-iteration.
[[nodiscard]] std::vector<int> meta_iteration(const Group& group);
// The number of iterations of each member in a meta-iteration.
[[nodiscard]] std::vector<int> iterations_of(const Group& group);

// The time that phases of all members need on the bottleneck (T_load of section 4.2), if each runs once: the
// busiest rollout node, all training nodes alike, or the connection.
[[nodiscard]] double load_s(const Group& group);
// The same of each rollout node.
[[nodiscard]] std::vector<double> rollout_load_s(const Group& group);
// The same with other phases than the bounds.
struct Phases;
[[nodiscard]] double load_s(const Group& group, const std::vector<Phases>& phases);
// The longest iteration of a member alone (T_cycle).
[[nodiscard]] double cycle_s(const Group& group);
// The shortest of what the members allow an iteration to take; infinite without members.
[[nodiscard]] double max_iteration_s(const Group& group);

// Whether it trains on more nodes than its largest job needs.
[[nodiscard]] bool has_grown(const Group& group);

// The group with its members in this order of turns, each once in a meta-iteration.
[[nodiscard]] Group in_order(const Group& group, const std::vector<int>& order);

// Host memory that the members' suspended states take.
[[nodiscard]] double rollout_host_bytes(const Group& group, int node);
[[nodiscard]] double training_host_bytes(const Group& group);

}  // namespace sextant::coschedule
