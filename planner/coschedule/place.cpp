#include "planner/coschedule/place.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/units.h"
#include "planner/coschedule/round_robin.h"
#include "planner/coschedule/rounds.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

constexpr std::array<std::string_view, 4> kDecisions = {"packing", "rollout_scaling", "training_scaling",
                                                        "new_group"};

// Looks for the cheapest place of one job.
class Search {
 public:
  Search(const Placement& placement, const Job& job, const PlacementRules& rules, bool explains)
      : placement_(placement),
        job_(job),
        rules_(rules),
        explains_(explains),
        is_certain_(placement.probability >= 1),
        drawn_(rules.drawn == nullptr ? own_drawn_ : *rules.drawn),
        free_rollout_(left_of(placement.pools.rollout, placement.rollout_nodes())),
        free_training_(left_of(placement.pools.training, placement.training_nodes())) {}

  PlacementAnswer run() {
    for (at_ = 0; at_ < placement_.groups.size(); ++at_) look_at(placement_.groups[at_]);
    look_at_new_group();
    PlacementAnswer answer;
    answer.refusal = refusal_;
    if (best_group_) {
      answer = {true, *std::move(best_group_), at_of_best_, best_, {}, ""};
      if (rules_.may_repeat && is_certain_) answer.group.turns = repeated_turns(answer.group);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(!a.refusal.empty(), a.added_usd_per_hour) <
             std::pair(!b.refusal.empty(), b.added_usd_per_hour);
    });
    answer.candidates = std::move(candidates_);
    return answer;
  }

 private:
  static int left_of(const Pool& pool, int used) {
    return pool.max_nodes == 0 ? std::numeric_limits<int>::max() : pool.max_nodes - used;
  }

  void look_at(const Group& group) {
    Candidate candidate;
    candidate.decision = Decision::packing;
    const auto refuse = [&](const auto& reason) {
      if (!explains_) return;
      candidate.group = group.name;
      candidate.refusal = reason();
      candidates_.push_back(candidate);
    };
    if (static_cast<int>(group.members.size()) >= placement_.pools.max_members)
      return refuse(
          [&] { return "it has " + std::to_string(group.members.size()) + " jobs, the most of a group"; });
    if (!rules_.tries_saturated && load_s(group) >= cycle_s(group))
      return refuse([] { return std::string("it is saturated: its nodes have no free time"); });
    const int lacking = std::max(0, job_.training_nodes - group.training_nodes);
    if (lacking > 0 && !rules_.training_may_grow)
      return refuse([&] {
        return "it trains on " + std::to_string(group.training_nodes) + " nodes, the job needs " +
               std::to_string(job_.training_nodes);
      });
    if (lacking > free_training_)
      return refuse([] { return std::string("the training pool has too few free nodes"); });
    if (!placement_.pools.training.holds(training_host_bytes(group) + job_.training_host_bytes))
      return refuse([&] {
        return "the host memory of its training nodes does not hold another suspended job of " +
               format_bytes(job_.training_host_bytes);
      });
    candidate.new_training_nodes = lacking;
    if (is_certain_ && !explains_ &&
        std::max(cycle_s(group), job_.solo_s()) >
            std::min(max_iteration_s(group), job_.max_iteration_s()) * (1 + kRounding))
      return;
    add_to(group, candidate);
  }

  // With the least number of new rollout nodes with which every member keeps its promise.
  void add_to(const Group& group, Candidate candidate) {
    const std::vector<int> usable = nodes_with_memory(group);
    for (int fresh = std::max(0, job_.rollout_nodes - static_cast<int>(usable.size()));
         fresh <= job_.rollout_nodes; ++fresh) {
      candidate.new_rollout_nodes = fresh;
      candidate.decision = fresh > 0                          ? Decision::rollout_scaling
                           : candidate.new_training_nodes > 0 ? Decision::training_scaling
                                                              : Decision::packing;
      candidate.added_usd_per_hour = placement_.pools.usd_per_hour(fresh, candidate.new_training_nodes);
      candidate.refusal.clear();
      candidate.period_s = 0;
      if (!explains_ && !may_be_better(candidate)) return;
      if (explains_) candidate.group = group.name;
      if (fresh > free_rollout_) {
        candidate.refusal = "the rollout pool has too few free nodes";
        note(candidate);
        return;
      }
      std::vector<int> nodes(usable.begin(), usable.begin() + (job_.rollout_nodes - fresh));
      for (int i = 0; i < fresh; ++i) nodes.push_back(group.rollout_nodes + i);
      std::sort(nodes.begin(), nodes.end());
      Group with = group;
      with.turns.clear();
      with.rollout_nodes += fresh;
      with.training_nodes += candidate.new_training_nodes;
      with.members.push_back({job_, std::move(nodes)});
      if (keeps_promises(with, candidate)) {
        offer(std::move(with), candidate);
        return;
      }
      note(candidate);
    }
  }

  // Least loaded first.
  [[nodiscard]] std::vector<int> nodes_with_memory(const Group& group) const {
    const std::vector<double> load = rollout_load_s(group);
    std::vector<int> nodes;
    for (int node = 0; node < group.rollout_nodes; ++node) {
      if (placement_.pools.rollout.holds(rollout_host_bytes(group, node) + job_.rollout_host_bytes))
        nodes.push_back(node);
    }
    std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
      return load[static_cast<std::size_t>(a)] < load[static_cast<std::size_t>(b)];
    });
    return nodes;
  }

  // The new member's turn comes last or, if promises are not kept then, earlier.
  [[nodiscard]] bool keeps_by_chance(Group& with, Candidate& candidate) {
    if (keeps_at_bounds_without_lengths(with, candidate)) return true;
    const std::size_t last = with.members.size() - 1;
    Group best = with;
    for (std::size_t at = last; at > 0; --at) {
      if (drawn_.keeps(with, placement_.probability, placement_.tail_threshold)) {
        if (explains_) candidate.period_s = drawn_.of(with, placement_.tail_threshold).period_s;
        return true;
      }
      std::swap(with.members[at], with.members[at - 1]);
    }
    with = std::move(best);
    if (explains_) explain_chance(with, candidate);
    return false;
  }

  // Members without lengths run at their bounds, so that an order of turns which keeps the promises there is tried too.
  [[nodiscard]] bool keeps_at_bounds_without_lengths(Group& with, Candidate& candidate) {
    const bool has_lengths = std::any_of(with.members.begin(), with.members.end(),
                                         [](const Member& member) { return member.job.responses.has_value(); });
    const double limit_s = max_iteration_s(with) * (1 + kRounding);
    if (has_lengths || std::max(load_s(with), cycle_s(with)) > limit_s) return false;
    const Turns turns = best_turns(with, limit_s);
    Group ordered = in_order(with, turns.order);
    if (turns.period_s > limit_s || !drawn_.keeps(ordered, placement_.probability, placement_.tail_threshold))
      return false;
    if (explains_) candidate.period_s = turns.period_s;
    with = std::move(ordered);
    return true;
  }

  void explain_chance(const Group& with, Candidate& candidate) {
    const KeptShares chance = drawn_.of(with, placement_.tail_threshold);
    candidate.period_s = chance.period_s;
    for (std::size_t m = 0; m < with.members.size(); ++m) {
      const Job& job = with.members[m].job;
      if (chance.kept_fraction[m] >= placement_.probability && chance.slowdown[m] <= job.max_slowdown) continue;
      candidate.refusal = job.name + " would keep its promise in " + format_percent(chance.kept_fraction[m]) +
                          " of its iterations, and take " + format_number(chance.slowdown[m]) +
                          " times as long as alone; " + format_percent(placement_.probability) + " and " +
                          format_number(job.max_slowdown) + " times are promised" +
                          (placement_.tail_threshold > 0 ? ", with tails that move" : ", with tails that stay");
      return;
    }
  }

  [[nodiscard]] bool keeps_promises(Group& with, Candidate& candidate) {
    if (!is_certain_) return keeps_by_chance(with, candidate);
    const double limit_s = max_iteration_s(with) * (1 + kRounding);
    const double minimum_s = std::max(load_s(with), cycle_s(with));
    candidate.period_s = minimum_s;
    if (minimum_s <= limit_s) {
      const Turns turns = best_turns(with, limit_s);
      candidate.period_s = turns.period_s;
      if (turns.period_s <= limit_s) {
        with = in_order(with, turns.order);
        return true;
      }
    }
    if (!explains_) return false;
    const auto missed = std::find_if(with.members.begin(), with.members.end(), [&](const Member& member) {
      return candidate.period_s > member.job.max_iteration_s() * (1 + kRounding);
    });
    const Job& job = missed->job;
    candidate.refusal = "an iteration of " + job.name + " would take " + format_seconds(candidate.period_s) +
                        ", " + format_number(candidate.period_s / job.solo_s()) +
                        " times that alone; it allows " + format_number(job.max_slowdown) + " times";
    return false;
  }

  void look_at_new_group() {
    Candidate candidate;
    candidate.new_rollout_nodes = job_.rollout_nodes;
    candidate.new_training_nodes = job_.training_nodes;
    if (!explains_ && best_group_ && best_.decision == Decision::packing) return;
    candidate.added_usd_per_hour = placement_.pools.usd_per_hour(job_);
    candidate.period_s = job_.solo_s();
    candidate.refusal = why_not_alone(job_, placement_.pools);
    if (candidate.refusal.empty() && job_.rollout_nodes > free_rollout_)
      candidate.refusal = "the rollout pool has too few free nodes";
    if (candidate.refusal.empty() && job_.training_nodes > free_training_)
      candidate.refusal = "the training pool has too few free nodes";
    refusal_ = candidate.refusal;
    if (!refusal_.empty()) return note(candidate);
    offer(group_alone(placement_, job_), candidate);
  }

  // The share of time for which the group's bottleneck is free after the job came: small is a good fit.
  [[nodiscard]] static double free_fraction(const Group& group, double period_s) {
    return 1 - load_s(group) / period_s;
  }

  [[nodiscard]] bool may_be_better(const Candidate& candidate) const {
    return !best_group_ || candidate.added_usd_per_hour < best_.added_usd_per_hour ||
           (rules_.best_fit && candidate.added_usd_per_hour == best_.added_usd_per_hour);
  }

  void offer(Group group, const Candidate& candidate) {
    note(candidate);
    const double fit = rules_.best_fit && is_certain_ ? free_fraction(group, candidate.period_s) : 0;
    const bool is_better = !best_group_ || candidate.added_usd_per_hour < best_.added_usd_per_hour ||
                           (candidate.added_usd_per_hour == best_.added_usd_per_hour && fit < best_fit_);
    if (!is_better) return;
    best_ = candidate;
    best_group_ = std::move(group);
    at_of_best_ = at_ < placement_.groups.size() ? std::optional(at_) : std::nullopt;
    best_fit_ = fit;
  }

  void note(const Candidate& candidate) {
    if (explains_) candidates_.push_back(candidate);
  }

  const Placement& placement_;
  const Job& job_;
  const PlacementRules& rules_;
  bool explains_;
  bool is_certain_;
  DrawnIterations own_drawn_;
  DrawnIterations& drawn_;
  int free_rollout_, free_training_;
  Candidate best_;
  double best_fit_ = 0;
  std::optional<Group> best_group_;
  std::size_t at_ = 0;  // the group that is looked at
  std::optional<std::size_t> at_of_best_;
  std::vector<Candidate> candidates_;
  std::string refusal_;  // of a group of its own
};

// Gives back what no member uses.
void shrink(Group& group) {
  group.turns.clear();
  std::vector<int> renumbered(static_cast<std::size_t>(group.rollout_nodes), -1);
  int used = 0, needed = 1;
  for (int node = 0; node < group.rollout_nodes; ++node) {
    const bool is_used = std::any_of(group.members.begin(), group.members.end(), [&](const Member& member) {
      return std::binary_search(member.rollout_nodes.begin(), member.rollout_nodes.end(), node);
    });
    if (is_used) renumbered[static_cast<std::size_t>(node)] = used++;
  }
  for (Member& member : group.members) {
    for (int& node : member.rollout_nodes) node = renumbered[static_cast<std::size_t>(node)];
    needed = std::max(needed, member.job.training_nodes);
  }
  group.rollout_nodes = used;
  const double limit_s = max_iteration_s(group) * (1 + kRounding);
  for (int nodes = needed; nodes < group.training_nodes; ++nodes) {
    Group smaller = group;
    smaller.training_nodes = nodes;
    const Turns turns = best_turns(smaller, limit_s);
    if (turns.period_s > limit_s) continue;
    group = in_order(smaller, turns.order);
    return;
  }
}

}  // namespace

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

std::string_view name_of(Decision decision) { return kDecisions.at(static_cast<std::size_t>(decision)); }

PlacementAnswer place(const Placement& placement, const Job& job, const PlacementRules& rules, bool explains) {
  if (const Group* group = placement.group_of(job.name))
    throw_bad_input("job \"" + job.name + "\" is placed already, in group \"" + group->name + "\"");
  require_gpus_of(job, placement.pools);
  const Job timed = with_sync(job, placement.pools);
  return Search(placement, timed, rules, explains).run();
}

void take(Placement& placement, PlacementAnswer answer) {
  SEXTANT_CHECK(answer.is_placed);
  if (answer.at) {
    placement.groups.at(*answer.at) = std::move(answer.group);
  } else {
    placement.groups.push_back(std::move(answer.group));
  }
}

Group group_alone(const Placement& placement, const Job& job) {
  std::string name;
  for (std::size_t number = placement.groups.size() + 1; name.empty(); ++number) {
    std::string next = "group-" + std::to_string(number);
    const bool is_used = std::any_of(placement.groups.begin(), placement.groups.end(),
                                     [&](const Group& group) { return group.name == next; });
    if (!is_used) name = std::move(next);
  }
  Group group{std::move(name), job.rollout_nodes, job.training_nodes, {{job, {}}}};
  std::vector<int>& nodes = group.members.front().rollout_nodes;
  nodes.resize(static_cast<std::size_t>(job.rollout_nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  return group;
}

void remove_job(Placement& placement, std::string_view job, bool may_repeat) {
  for (auto group = placement.groups.begin(); group != placement.groups.end(); ++group) {
    if (std::erase_if(group->members, [&](const Member& member) { return member.job.name == job; }) == 0)
      continue;
    if (group->members.empty()) {
      placement.groups.erase(group);
    } else {
      shrink(*group);
      if (may_repeat && placement.probability >= 1) group->turns = repeated_turns(*group);
    }
    return;
  }
  throw_bad_input("no group has a job \"" + std::string(job) + "\"");
}

}  // namespace sextant::coschedule
