#include "planner/coschedule/admission/queue.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "planner/coschedule/bound/optimum.h"
#include "planner/coschedule/rounds.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

using Order = std::vector<std::size_t>;  // positions in the queue

QueueAnswer placed_in(const Order& order, const Placement& placement, const std::vector<Job>& queue,
                      const PlacementRules& rules) {
  QueueAnswer outcome{placement, {}};
  std::vector<QueuedJob> waiting;
  for (const std::size_t number : order) {
    PlacementAnswer answer = place(outcome.placement, queue[number], rules);
    if (!answer.is_placed) {
      waiting.push_back({queue[number].name, false, answer.refusal});
      continue;
    }
    answer.chosen.group = answer.at ? answer.group.name : "";
    outcome.jobs.push_back(
        {queue[number].name, true, words_of(answer.chosen), answer.chosen.added_usd_per_hour});
    take(outcome.placement, std::move(answer));
  }
  outcome.jobs.insert(outcome.jobs.end(), waiting.begin(), waiting.end());
  return outcome;
}

bool is_better(const QueueAnswer& a, const QueueAnswer& b) {
  if (a.placed() != b.placed()) return a.placed() > b.placed();
  return a.placement.usd_per_hour() < b.placement.usd_per_hour() * (1 - kRounding);
}

// Orders by what jobs need: a job with little freedom first, or one with many nodes, or a long one.
std::vector<Order> orders_by_size(const std::vector<Job>& queue, const Order& first) {
  std::vector<Order> orders;
  const auto add = [&](const auto& key) {
    Order order = first;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(queue[a]) > key(queue[b]); });
    orders.push_back(std::move(order));
  };
  add([](const Job& job) { return -job.max_iteration_s(); });
  add([](const Job& job) { return job.max_iteration_s(); });
  add([](const Job& job) { return -job.max_slowdown; });
  add([](const Job& job) { return job.solo_s(); });
  add([](const Job& job) { return job.rollout_s; });
  add([](const Job& job) { return job.training_s; });
  add([](const Job& job) { return 1.0 * job.rollout_nodes + job.training_nodes; });
  return orders;
}

// All orders of up to six jobs. Of more, drawn ones that take some thousand decisions; with a probability each decision
// draws iterations, so there are fewer.
std::vector<Order> more_orders(Order order, bool is_by_chance) {
  const std::size_t max_orders = (is_by_chance ? 100 : 4000) / order.size() + 1;
  constexpr std::size_t kAllOf = 6;
  std::vector<Order> orders;
  std::mt19937_64 random(1);
  while (orders.size() < max_orders) {
    if (order.size() <= kAllOf) {
      if (!std::next_permutation(order.begin(), order.end())) break;
    } else {
      for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    }
    orders.push_back(order);
  }
  return orders;
}

// Groups of the queue's jobs alone, added to those that run. Empty if the pools have a limit, which these groups do not
// know, or if there are too many jobs.
std::optional<QueueAnswer> in_groups_of_their_own(const Placement& placement, const std::vector<Job>& queue,
                                                  const PlacementRules& rules) {
  constexpr std::size_t kMaxJobs = 12;  // a tenth of a second
  const Pools& pools = placement.pools;
  if (queue.size() > kMaxJobs || placement.probability < 1 || pools.rollout.max_nodes > 0 ||
      pools.training.max_nodes > 0)
    return std::nullopt;
  std::vector<Job> timed;
  for (const Job& job : queue) {
    if (!why_not_alone(job, pools).empty()) return std::nullopt;
    timed.push_back(with_sync(job, pools));
  }
  QueueAnswer outcome{placement, {}};
  Placement own = cheapest_placement(timed, pools, {pools, {}}, {0}, rules.training_may_grow).placement;
  for (Group& group : own.groups) {
    group.name = group_alone(outcome.placement, group.members.front().job).name;
    if (rules.may_repeat) group.turns = repeated_turns(group);
    double added = group.usd_per_hour(pools);
    for (const Member& member : group.members) {
      outcome.jobs.push_back({member.job.name, true, "the new group " + group.name, added});
      added = 0;
    }
    outcome.placement.groups.push_back(std::move(group));
  }
  return outcome;
}

}  // namespace

int QueueAnswer::placed() const {
  return static_cast<int>(
      std::count_if(jobs.begin(), jobs.end(), [](const QueuedJob& job) { return job.is_placed; }));
}

QueueAnswer place_queue(const Placement& placement, const std::vector<Job>& queue,
                        const PlacementRules& rules) {
  std::set<std::string> names;
  for (const Job& job : queue) {
    if (!names.insert(job.name).second) throw_bad_input("two jobs have the name \"" + job.name + "\"");
  }
  Order as_they_came(queue.size());
  std::iota(as_they_came.begin(), as_they_came.end(), std::size_t{0});
  QueueAnswer best = placed_in(as_they_came, placement, queue, rules);
  const int in_order = best.placed();
  const double in_order_usd = best.placement.usd_per_hour();
  const auto offer = [&](QueueAnswer outcome) {
    if (is_better(outcome, best)) best = std::move(outcome);
  };
  for (const Order& order : orders_by_size(queue, as_they_came))
    offer(placed_in(order, placement, queue, rules));
  if (std::optional<QueueAnswer> own = in_groups_of_their_own(placement, queue, rules)) offer(*std::move(own));
  for (const Order& order : more_orders(as_they_came, placement.probability < 1))
    offer(placed_in(order, placement, queue, rules));
  best.in_order_placed = in_order;
  best.in_order_usd_per_hour = in_order_usd;
  return best;
}

}  // namespace sextant::coschedule
