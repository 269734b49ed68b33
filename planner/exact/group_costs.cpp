#include "planner/exact/group_costs.h"

#include <algorithm>
#include <deque>
#include <queue>

namespace sextant::inline planner {
namespace {

constexpr double kByte = 1;
constexpr GroupCost kImpossible{{kNever, kNever, kNever}, kNever, kNever};
constexpr GroupCost kNotKnown{};

// Best-first search over the tasks' options: remaining tasks take at least their minimum, in time and in bytes,
// on every device and over all of them. The first complete choice is the best. If many tasks leave too many
// choices that do not fit, the search ends with the bound of the most promising remaining one, which is still a
// valid bound.
class Packing {
 public:
  Packing(const std::vector<PackedTask>& tasks, const std::vector<double>& rooms)
      : tasks_(tasks), rooms_(rooms) {
    order_.resize(tasks.size());
    rest_s_.assign(tasks.size() + 1, 0);
    for (std::size_t t = tasks.size(); t-- > 0;) {
      for (std::size_t o = 0; o < tasks[t].cost_s.size(); ++o) order_[t].push_back(o);
      std::stable_sort(order_[t].begin(), order_[t].end(),
                       [&](std::size_t a, std::size_t b) { return tasks[t].cost_s[a] < tasks[t].cost_s[b]; });
      rest_s_[t] = rest_s_[t + 1] + tasks[t].cost_s[order_[t].front()];
    }
    rest_resident_.assign(tasks.size() + 1, std::vector<double>(rooms.size(), 0));
    rest_working_ = rest_resident_;
    rest_total_.assign(tasks.size() + 1, 0);
    for (const double room : rooms) total_room_ += room;
    for (std::size_t t = tasks.size(); t-- > 0;) find_rest(t);
  }

  double min_s() {
    constexpr int kMaxChoices = 2048;
    held_.push_back(std::vector<double>(2 * rooms_.size(), 0));
    offer({0, 0, 0, 0, 0});
    for (int n = 0; !choices_.empty(); ++n) {
      const Choice choice = choices_.top();
      if (n == kMaxChoices) return choice.bound_s;
      choices_.pop();
      const std::size_t o = order_[choice.task][choice.option];
      if (choice.option + 1 < order_[choice.task].size())
        offer({choice.task, choice.option + 1, choice.before, choice.spent_s, 0});
      if (!add(choice.task, held_[choice.before], (*tasks_[choice.task].options)[o])) continue;
      if (choice.task + 1 == tasks_.size()) return choice.bound_s;
      offer({choice.task + 1, 0, held_.size() - 1, choice.spent_s + tasks_[choice.task].cost_s[o], 0});
    }
    return kNever;
  }

 private:
  struct Choice {
    std::size_t task, option;  // option: in the order of cost
    std::size_t before;        // memory of the tasks before it
    double spent_s;            // by these tasks
    double bound_s;            // of all tasks
    // On ties the choice with the most assigned tasks comes first.
    friend bool operator<(const Choice& a, const Choice& b) {
      return a.bound_s != b.bound_s ? a.bound_s > b.bound_s : a.task < b.task;
    }
  };

  void offer(Choice choice) {
    const double cost_s = tasks_[choice.task].cost_s[order_[choice.task][choice.option]];
    choice.bound_s = choice.spent_s + cost_s + rest_s_[choice.task + 1];
    choices_.push(choice);
  }

  // Minimum bytes of this task and later ones.
  void find_rest(std::size_t t) {
    const std::vector<ExactOption>& options = *tasks_[t].options;
    std::vector<double>&resident = rest_resident_[t], &working = rest_working_[t];
    double min_total = kNever;
    for (const ExactOption& option : options) min_total = std::min(min_total, total_of(option.resident_bytes));
    rest_total_[t] = rest_total_[t + 1] + min_total;
    for (std::size_t p = 0; p < rooms_.size(); ++p) {
      double min_resident = kNever, min_working = kNever;
      for (const ExactOption& option : options) {
        min_resident = std::min(min_resident, option.resident_bytes[p]);
        min_working = std::min(min_working, option.working_bytes[p]);
      }
      resident[p] = rest_resident_[t + 1][p] + min_resident;
      working[p] = std::max(rest_working_[t + 1][p], min_working);
    }
  }

  [[nodiscard]] static double total_of(const std::vector<double>& bytes) {
    double total = 0;
    for (const double of_device : bytes) total += of_device;
    return total;
  }

  // before: resident bytes by position, then working. The sum with this task is appended to held_ if it fits.
  [[nodiscard]] bool add(std::size_t task, const std::vector<double>& before, const ExactOption& option) {
    const std::size_t positions = rooms_.size();
    const std::vector<double>&will_hold = rest_resident_[task + 1], &will_use = rest_working_[task + 1];
    after_.resize(2 * positions);
    double total = rest_total_[task + 1];
    for (std::size_t p = 0; p < positions; ++p) {
      after_[p] = before[p] + option.resident_bytes[p];
      after_[positions + p] = std::max(before[positions + p], option.working_bytes[p]);
      const double working = std::max(after_[positions + p], will_use[p]);
      // The evaluator sums in another order, but a difference of a byte does not matter here.
      if (after_[p] + will_hold[p] + working > rooms_[p] + kByte) return false;
      total += after_[p] + working;
    }
    if (total > total_room_ + kByte) return false;
    held_.push_back(after_);
    return true;
  }

  const std::vector<PackedTask>& tasks_;
  const std::vector<double>& rooms_;
  std::vector<std::vector<std::size_t>> order_;                    // by task: options, cheapest first
  std::vector<double> rest_s_;                                     // for this task and later ones
  std::vector<std::vector<double>> rest_resident_, rest_working_;  // for this task and later ones, by position
  std::vector<double> rest_total_;                                 // resident bytes, over all positions
  double total_room_ = 0;
  std::priority_queue<Choice> choices_;
  std::deque<std::vector<double>> held_;
  std::vector<double> after_;
};

}  // namespace

double min_packed_s(const std::vector<PackedTask>& tasks, const std::vector<double>& rooms) {
  for (const PackedTask& task : tasks) {
    if (task.options->empty()) return kNever;
  }
  return Packing(tasks, rooms).min_s();
}

GroupCost min_of(const GroupCost& a, const GroupCost& b) {
  GroupCost minimum;
  for (std::size_t k = 0; k < kTaskKinds; ++k) minimum.kind_s[k] = std::min(a.kind_s[k], b.kind_s[k]);
  minimum.sum_s = std::min(a.sum_s, b.sum_s);
  minimum.sync_s = std::min(a.sync_s, b.sync_s);
  return minimum;
}

GroupCosts::GroupCosts(UnitSpace& space, const SyncCost& sync, ProofProgress& progress)
    : space_(space), sync_(sync), progress_(progress) {
  const std::vector<Task>& tasks = space.request().workflow.tasks;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    of_kind_[static_cast<std::size_t>(tasks[t].kind)] |= TaskSet{1} << t;
}

GroupCost GroupCosts::look(TaskSet tasks, int block) {
  const auto has = [tasks](int task) { return task >= 0 && (tasks >> task & 1U) != 0; };
  const bool has_both = has(sync_.generation()) && has(sync_.training());
  GroupCost cost;
  std::vector<PackedTask> packed;
  for (int t = 0; t < space_.tasks(); ++t) {
    if (!has(t)) continue;
    const std::vector<ExactOption>& options = space_.options(t, block);
    if (options.empty()) return kImpossible;
    PackedTask task{&options, {}};
    double min_sync_s = kNever;
    for (const ExactOption& option : options) {
      const double together_s = has_both ? sync_.together_s(t, option.value) : 0;
      task.cost_s.push_back(option.value.time_s + together_s);
      min_sync_s = std::min(min_sync_s, has_both ? together_s : sync_.apart_s(t, option.value));
    }
    const TaskKind kind = space_.request().workflow.tasks[static_cast<std::size_t>(t)].kind;
    cost.kind_s[static_cast<std::size_t>(kind)] += options.front().value.time_s;
    cost.sync_s += min_sync_s;
    packed.push_back(std::move(task));
  }
  cost.sum_s = min_packed_s(packed, space_.rooms_of_block(block));
  return cost.is_possible() ? cost : kImpossible;
}

// Results computed during an interruption are not cached.
const GroupCost& GroupCosts::known_as(Known& known, std::uint64_t key, const GroupCost& cost) const {
  return progress_.is_stopped() ? kNotKnown : known.emplace(key, cost).first->second;
}

const GroupCost& GroupCosts::of_block(TaskSet tasks, int block) {
  const auto known = of_block_.find(key(tasks, block));
  if (known != of_block_.end()) return known->second;
  if (progress_.is_interrupted()) return kNotKnown;
  return known_as(of_block_, key(tasks, block), look(tasks, block));
}

const GroupCost& GroupCosts::of_share(TaskSet tasks, int share) {
  const auto known = of_share_.find(key(tasks, share));
  if (known != of_share_.end()) return known->second;
  if (progress_.is_interrupted()) return kNotKnown;
  GroupCost minimum = kImpossible;
  if (share > 0) {
    for (const int block : space_.blocks_of(share)) minimum = min_of(minimum, of_block(tasks, block));
  }
  return known_as(of_share_, key(tasks, share), minimum);
}

// The minimum for this share, and for shares within it that have a unit less.
const GroupCost& GroupCosts::within(TaskSet tasks, int share) {
  const auto known = within_.find(key(tasks, share));
  if (known != within_.end()) return known->second;
  GroupCost minimum = of_share(tasks, share);
  for (std::size_t c = 0; c < space_.classes().size() && !progress_.is_stopped(); ++c) {
    if (space_.units_of(share, c) > 0) minimum = min_of(minimum, within(tasks, share - space_.radix(c)));
  }
  return known_as(within_, key(tasks, share), minimum);
}

}  // namespace sextant::inline planner
