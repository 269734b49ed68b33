#include "planner/exact/exhaustive.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include "core/units.h"
#include "costmodel/iteration.h"
#include "costmodel/terms/memory.h"
#include "planner/search/search_run.h"
#include "sextant/error.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

// A layout of one task with all values that do not depend on the other tasks.
struct CostedLayout {
  TaskPlan plan;
  std::set<DeviceId> devices;
  double time_s = 0;
  std::vector<double> resident_bytes;  // by device
  std::vector<double> working_bytes;
  double largest_bytes = 0;  // resident and working of the fullest device
};

bool same_layout(const TaskPlan& a, const TaskPlan& b) { return a.replicas == b.replicas; }

bool beats(const CostedLayout& a, const CostedLayout& b) {
  if (a.time_s > b.time_s) return false;
  for (std::size_t d = 0; d < a.resident_bytes.size(); ++d) {
    if (a.resident_bytes[d] > b.resident_bytes[d] || a.working_bytes[d] > b.working_bytes[d]) return false;
  }
  return true;
}

// Drops options that another one of the same layout beats; of equal ones the earlier stays.
std::vector<CostedLayout> thin(const std::vector<CostedLayout>& options) {
  std::vector<CostedLayout> kept;
  std::size_t begin = 0;
  while (begin < options.size()) {
    std::size_t end = begin + 1;
    while (end < options.size() && same_layout(options[begin].plan, options[end].plan)) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      bool beaten = false;
      for (std::size_t j = begin; j < end && !beaten; ++j) {
        beaten = j != i && beats(options[j], options[i]) && (!beats(options[i], options[j]) || j < i);
      }
      if (!beaten) kept.push_back(options[i]);
    }
    begin = end;
  }
  return kept;
}

class Search {
 public:
  explicit Search(const PlanRequest& request)
      : request_(request),
        workflow_(request.workflow),
        hardware_(request.cluster, request.workflow.precision),
        values_(resolve(request.coefficients, hardware_, request.framework)),
        rooms_(free_memory_by_device(request)),
        start_(std::chrono::steady_clock::now()) {
    if (workflow_.algorithm == Algorithm::custom) {
      throw_bad_input("exhaustive search plans PPO and GRPO workflows; " + workflow_.name +
                      " is a custom graph");
    }
    check_pins(request.limits.pins, workflow_, request.cluster, request.choices);
    for (std::size_t t = 0; t < workflow_.tasks.size(); ++t)
      options_.push_back(options_of(workflow_.tasks[t], choices_for(request.choices, t)));
  }

  [[nodiscard]] double combinations() const {
    double count = 1;
    for (const auto& options : options_) count *= static_cast<double>(options.size());
    return count;
  }

  // Calls found(choice, iteration_s) for every plan that fits; choice is a position by task.
  template <typename Found>
  void for_each_feasible(Found found) {
    std::vector<std::size_t> choice(options_.size(), 0);
    std::vector<PlacedTask<double>> placed(options_.size());
    for (bool more = combinations() > 0; more && !is_cancelled(); more = next(choice)) {
      ++candidates;
      if (!fits(choice)) continue;
      ++feasible;
      for (std::size_t t = 0; t < choice.size(); ++t) {
        const CostedLayout& option = options_[t][choice[t]];
        placed[t] = {workflow_.tasks[t].kind, option.time_s, &option.devices};
      }
      find_transfers(choice);
      const double time_s = work_and_weights_s(workflow_, std::span<const PlacedTask<double>>(placed),
                                               transfers_, values_.at(CoefficientId::task_overlap));
      found(choice, time_s + data_s(choice) + iteration_overhead_s(workflow_, values_));
    }
  }

  [[nodiscard]] bool is_cancelled() const {
    return request_.is_cancelled != nullptr && request_.is_cancelled->load(std::memory_order_relaxed);
  }

  [[nodiscard]] Plan plan_of(const std::vector<std::size_t>& choice) const {
    Plan plan;
    plan.name = workflow_.name + "-best";
    plan.weight_sync = request_.weight_sync;
    for (std::size_t t = 0; t < choice.size(); ++t)
      plan.tasks[workflow_.tasks[t].name] = options_[t][choice[t]].plan;
    return plan;
  }

  [[nodiscard]] PlanResult result_of(const std::vector<std::size_t>& choice) const {
    PlanResult result;
    result.outcome = PlanOutcome::found;
    result.plan = plan_of(choice);
    result.prediction =
        predict(request_.cluster, workflow_, *result.plan, request_.coefficients, request_.framework);
    result.candidates = candidates;
    result.feasible = feasible;
    result.improvements = improvements_;
    result.message =
        "best of " + std::to_string(feasible) + " plans that fit, of " + std::to_string(candidates);
    if (is_cancelled()) {
      result.gap_fraction = std::numeric_limits<double>::infinity();
      result.message += " before the search was cancelled";
    } else {
      prove(result);
    }
    return result;
  }

  void note_best(double iteration_s) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    improvements_.push_back({candidates, passed.count(), iteration_s, iteration_s});
    if (request_.on_improvement) request_.on_improvement(improvements_.back());
  }

  // The reason why nothing fits: the task whose smallest layout needs the most, or all of them together.
  [[nodiscard]] std::string shortage() const {
    double maximum = 0, largest_need = 0;
    std::string hungriest;
    for (const double room : rooms_) maximum = std::max(maximum, room);
    for (std::size_t t = 0; t < options_.size(); ++t) {
      if (options_[t].empty())
        return "task " + workflow_.tasks[t].name + " has no layout on this cluster" +
               (request_.limits.pins.contains(workflow_.tasks[t].name) ? " where it is pinned" : "");
      const double need =
          std::min_element(options_[t].begin(), options_[t].end(), [](const auto& a, const auto& b) {
            return a.largest_bytes < b.largest_bytes;
          })->largest_bytes;
      if (need <= largest_need) continue;
      largest_need = need;
      hungriest = workflow_.tasks[t].name;
    }
    if (largest_need > maximum) {
      return "task " + hungriest + " needs at least " + format_bytes(largest_need) +
             " on one device; the largest has " + format_bytes(maximum);
    }
    return "every task fits alone, but not all together: weights, gradients and optimizer states exceed the "
           "devices";
  }

  std::uint64_t candidates = 0;
  std::uint64_t feasible = 0;

 private:
  [[nodiscard]] std::vector<CostedLayout> options_of(const Task& task, const TaskChoices& choices) const {
    std::vector<CostedLayout> options;
    for (TaskPlan& layout : task_layouts(task, workflow_, request_.cluster, request_.limits, choices)) {
      CostedLayout option;
      option.plan = std::move(layout);
      option.devices = option.plan.devices();
      Plan alone;
      alone.tasks[task.name] = option.plan;
      const Problem<double> problem(workflow_, alone, hardware_, values_);
      const TaskWork work = problem.work(task);
      option.time_s = task_cost(problem, work).time_s;
      const auto devices = static_cast<std::size_t>(request_.cluster.device_count());
      option.resident_bytes.assign(devices, 0);
      option.working_bytes.assign(devices, 0);
      const auto type_index = [this](DeviceId device) { return hardware_.type_index(device); };
      for (const TaskMemory<double>& part : task_memory(work, values_, type_index, true)) {
        option.resident_bytes[part.device.index()] = part.resident_bytes;
        option.working_bytes[part.device.index()] = part.working_bytes;
        option.largest_bytes = std::max(option.largest_bytes, part.resident_bytes + part.working_bytes);
      }
      options.push_back(std::move(option));
    }
    return thin(options);
  }

  // All plans were costed: the gap of this one to the best.
  void prove(PlanResult& result) const {
    constexpr double kRounding = 1e-9;  // between closed form and prediction, relative
    result.lower_bound = std::min(improvements_.back().iteration_s, result.prediction->iteration_s);
    result.gap_fraction = result.prediction->iteration_s / result.lower_bound - 1;
    result.proof = result.gap_fraction <= kRounding ? Proof::optimal : Proof::gap;
  }

  // Increments the choice; false after the last combination.
  bool next(std::vector<std::size_t>& choice) const {
    for (std::size_t t = choice.size(); t-- > 0;) {
      if (++choice[t] < options_[t].size()) return true;
      choice[t] = 0;
    }
    return false;
  }

  [[nodiscard]] bool fits(const std::vector<std::size_t>& choice) const {
    for (std::size_t d = 0; d < static_cast<std::size_t>(request_.cluster.device_count()); ++d) {
      double resident = 0, working = 0;
      for (std::size_t t = 0; t < choice.size(); ++t) {
        resident += options_[t][choice[t]].resident_bytes[d];
        working = std::max(working, options_[t][choice[t]].working_bytes[d]);
      }
      if (resident + working > rooms_[d]) return false;
    }
    return true;
  }

  void find_transfers(const std::vector<std::size_t>& choice) {
    for (std::size_t k = 0; k < transfers_.size(); ++k) {
      const WeightUse& use = transfers_[k].use;
      transfers_[k].time_s = transfer_s(k, choice[use.trained], choice[use.used]);
    }
  }

  double data_s(const std::vector<std::size_t>& choice) {
    double sum = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      sum += data_s(e, choice[edges_[e].made], choice[edges_[e].needed]);
    return sum;
  }

  double data_s(std::size_t edge, std::size_t made, std::size_t needed) {
    const auto [entry, is_new] = data_s_.try_emplace({edge, made, needed}, 0.0);
    if (is_new) {
      const DataEdge& of = edges_[edge];
      const std::set<DeviceId> from = options_[of.made][made].plan.devices(),
                               to = options_[of.needed][needed].plan.devices();
      const std::vector<DeviceId> senders(from.begin(), from.end()), receivers(to.begin(), to.end());
      const Plan none;
      const Problem<double> problem(workflow_, none, hardware_, values_);
      entry->second = terms::data_transfer_s(problem, std::span<const DeviceId>(senders),
                                             std::span<const DeviceId>(receivers), of.bytes);
    }
    return entry->second;
  }

  double transfer_s(std::size_t transfer, std::size_t trained, std::size_t used) {
    const auto [entry, is_new] = transfer_s_.try_emplace({transfer, trained, used}, 0.0);
    if (is_new) {
      const WeightTransfer<double>& of = transfers_[transfer];
      const Task &training = workflow_.tasks[of.use.trained], &user = workflow_.tasks[of.use.used];
      Plan pair;
      pair.weight_sync = request_.weight_sync;
      pair.tasks[training.name] = options_[of.use.trained][trained].plan;
      pair.tasks[user.name] = options_[of.use.used][used].plan;
      const Problem<double> problem(workflow_, pair, hardware_, values_);
      const TaskWork from = problem.work(training), to = problem.work(user);
      entry->second = of.is_to_generation ? terms::weight_sync_s(problem, from, to)
                                          : terms::used_elsewhere_s(problem, from, to);
    }
    return entry->second;
  }

  const PlanRequest& request_;
  const Workflow& workflow_;
  Hardware<double> hardware_;
  CoefficientValues<double> values_;
  std::vector<double> rooms_;                       // free memory in bytes, by device
  std::vector<std::vector<CostedLayout>> options_;  // by task
  std::vector<WeightTransfer<double>> transfers_ = weight_transfers<double>(workflow_);
  std::vector<DataEdge> edges_ = data_edges(workflow_, request_.cluster);
  std::map<std::array<std::size_t, 3>, double> data_s_;      // by edge, and the options of both tasks
  std::map<std::array<std::size_t, 3>, double> transfer_s_;  // by transfer, and the options of both tasks
  std::chrono::steady_clock::time_point start_;
  std::vector<Improvement> improvements_;
};

PlanResult refused(const PlanRequest& request, double combinations) {
  PlanResult result;
  result.outcome = PlanOutcome::too_large;
  result.message = "the space has " + format_number(combinations) + " plans, more than the limit of " +
                   std::to_string(request.limits.max_plans) +
                   ": fewer micro-batch sizes or fewer devices make it smaller";
  return result;
}

PlanResult infeasible(const Search& search) {
  PlanResult result;
  result.outcome = PlanOutcome::infeasible;
  result.candidates = search.candidates;
  if (!search.is_cancelled()) result.proof = Proof::optimal;
  result.message = search.is_cancelled() ? "no plan fits of " + std::to_string(search.candidates) +
                                               " before the search was cancelled"
                                         : "no plan fits: " + search.shortage();
  return result;
}

}  // namespace

PlanResult plan_exhaustively(const PlanRequest& request) {
  require_time_alone(request.objective, "exhaustive");
  std::vector<PlanResult> best = rank_exhaustively(request, 1);
  if (!best.empty()) return std::move(best.front());
  Search search(request);
  if (search.combinations() > static_cast<double>(request.limits.max_plans)) {
    return refused(request, search.combinations());
  }
  search.for_each_feasible([](const auto&, double) {});
  return infeasible(search);
}

std::vector<PlanResult> rank_exhaustively(const PlanRequest& request, std::size_t maximum) {
  Search search(request);
  if (search.combinations() > static_cast<double>(request.limits.max_plans)) return {};
  std::vector<std::pair<double, std::vector<std::size_t>>> best;  // ascending
  search.for_each_feasible([&](const std::vector<std::size_t>& choice, double iteration_s) {
    if (best.size() == maximum && iteration_s >= best.back().first) return;
    const auto place = std::upper_bound(best.begin(), best.end(), iteration_s,
                                        [](double value, const auto& entry) { return value < entry.first; });
    if (place == best.begin()) search.note_best(iteration_s);
    best.insert(place, {iteration_s, choice});
    if (best.size() > maximum) best.pop_back();
  });
  std::vector<PlanResult> results;
  results.reserve(best.size());
  for (const auto& [iteration_s, choice] : best) results.push_back(search.result_of(choice));
  return results;
}

}  // namespace sextant::inline planner
