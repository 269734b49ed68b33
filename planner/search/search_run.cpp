#include "planner/search/search_run.h"

#include <algorithm>
#include <limits>

#include "core/units.h"
#include "planner/search/engine_rules.h"
#include "planner/search/known_options.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

Budget budget_of(const PlanRequest& request, double default_s) {
  Budget budget = request.budget;
  if (budget.seconds <= 0 && budget.evaluations == 0) budget.seconds = default_s;
  return budget;
}

}  // namespace

std::string best_of_plans(std::uint64_t feasible, std::uint64_t looked_at) {
  return "best of " + std::to_string(feasible) + " plans that fit, of " + std::to_string(looked_at) +
         " that were looked at";
}

ShapeLimits shape_limits_of(const PlanRequest& request) {
  ShapeLimits limits;
  limits.choices = request.choices;
  limits.memory = memory_range_of(request.cluster);
  limits.micro_batch_sequences = request.limits.micro_batch_sequences;
  limits.try_recompute = request.limits.try_recompute;
  limits.tensor_parallel_limit = 1;
  for (const Node& node : request.cluster.nodes())
    limits.tensor_parallel_limit = std::max(limits.tensor_parallel_limit, node.devices);
  return limits;
}

std::vector<double> free_memory_by_device(const PlanRequest& request) {
  const Hardware<double> hardware(request.cluster, request.workflow.precision);
  const CoefficientValues<double> values = resolve(request.coefficients, hardware, request.framework);
  std::vector<double> rooms;
  for (int d = 0; d < request.cluster.device_count(); ++d) {
    const DeviceId device{d};
    rooms.push_back(request.memory_share * hardware.memory_bytes(device) -
                    values.at(CoefficientId::memory_context_bytes, hardware.type_index(device)));
  }
  return rooms;
}

SearchTables::SearchTables(const PlanRequest& request)
    : evaluator({request.cluster, request.workflow, request.coefficients, request.framework, request.choices,
                 request.weight_sync, request.objective, request.device_rules, request.memory_share,
                 one_copy_of(request.engine_rules, request.workflow), one_copy_on_devices(request)}),
      options(evaluator, request.cluster, request.workflow, shape_limits_of(request), Thoroughness::promising),
      known_options(request.known_options ? request.known_options->join(request) : nullptr),
      free_memory_bytes(free_memory_by_device(request)) {
  if (known_options) options.share_through(*known_options);
  const std::atomic<bool>* cancelled = request.is_cancelled;
  const auto deadline = request.costing_deadline;
  if (cancelled != nullptr || deadline) {
    options.hurry_when([cancelled, deadline] {
      return (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) ||
             (deadline && std::chrono::steady_clock::now() > *deadline);
    });
  }
}

SearchRun::SearchRun(const PlanRequest& request, double default_s)
    : SearchRun(request, default_s, std::make_unique<SearchTables>(request)) {}

SearchRun::SearchRun(const PlanRequest& request, double default_s, std::unique_ptr<SearchTables> own)
    : SearchRun(request, default_s, *own) {
  own_tables_ = std::move(own);
}

SearchRun::SearchRun(const PlanRequest& request, double default_s, SearchTables& tables)
    : request_(request),
      start_(std::chrono::steady_clock::now()),
      budget_(budget_of(request, default_s)),
      tables_(tables),
      pinned_(request.workflow.tasks.size()) {
  check_pins(request.limits.pins, request.workflow, request.cluster, request.choices);
  for (int t = 0; t < tables_.evaluator.task_count(); ++t) {
    const auto known = request.limits.pins.find(request.workflow.tasks[static_cast<std::size_t>(t)].name);
    if (known == request.limits.pins.end()) {
      dealt_tasks_.push_back(t);
    } else {
      pin(t, known->second);
    }
  }
  if (dealt_tasks_.empty()) dealt_tasks_.push_back(0);
}

void SearchRun::pin(int task, const Pin& pin) {
  const auto t = static_cast<std::size_t>(task);
  Pinned& pinned = pinned_[t].emplace();
  if (pin.layout) {
    CanonicalLayout seat = *canonical_layout_in_search(task, *pin.layout, request_);
    pinned = {std::move(seat.devices), true};
    tables_.options.fix(task, tables_.evaluator.shapes(task).add(seat.shape));
    return;
  }
  for (const DeviceId device : pin.devices) pinned.devices.push_back(static_cast<std::uint16_t>(device.value));
  std::string reason = infeasible_pin_reason(request_, task, static_cast<int>(pinned.devices.size()));
  if (!reason.empty()) stranded_ = std::move(reason);
}

const SearchRun::Pinned* SearchRun::pinned(int task) const {
  const std::optional<Pinned>& of_task = pinned_[static_cast<std::size_t>(task)];
  return of_task ? &*of_task : nullptr;
}

double SearchRun::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool SearchRun::is_cancelled() const {
  return request_.is_cancelled != nullptr && request_.is_cancelled->load(std::memory_order_relaxed);
}

std::uint64_t SearchRun::evaluations_left() const {
  if (budget_.evaluations == 0) return std::numeric_limits<std::uint64_t>::max();
  return budget_.evaluations - std::min(budget_.evaluations, evaluations_);
}

// Whether a plan is found must not depend on the load of the machine, and working out the options of a large cluster
// may take longer than the whole time limit. So the limit does not end a search from scratch before it has evaluated
// kMinWithPlan candidates and found a plan that fits, or kMinWithoutPlan; both have far limits of time.
bool SearchRun::is_spent() const {
  if (evaluations_left() == 0) return true;
  if (budget_.seconds <= 0 || seconds() < budget_.seconds) return false;
  constexpr std::uint64_t kMinWithPlan = 300, kMinWithoutPlan = 1000;
  constexpr double kMaxAfterPlan_s = 2, kMaxWithoutPlan_s = 60;
  if (request_.start != nullptr || evaluations_ == 0) return true;
  if (improvements_.empty()) return evaluations_ >= kMinWithoutPlan || seconds() >= kMaxWithoutPlan_s;
  return evaluations_ >= kMinWithPlan || seconds() >= improvements_.front().seconds + kMaxAfterPlan_s;
}

bool SearchRun::is_better(const Score& score) const {
  if (!best_) return true;
  return score.is_better_than(best_->score, kRounding);
}

void SearchRun::spend(std::uint64_t evaluations) {
  evaluations_ += evaluations;
  if (evaluations_ < pause_at_) return;
  pause_at_ = evaluations_ + pause_every_;
  pause_();
}

void SearchRun::pause_every(std::uint64_t evaluations, std::function<void()> pause) {
  pause_every_ = std::max<std::uint64_t>(evaluations, 1);
  pause_at_ = evaluations_ + pause_every_;
  pause_ = std::move(pause);
}

void SearchRun::count(const Score& score) {
  if (score.fits()) ++feasible_;
  spend(1);
}

void SearchRun::offer(const Score& score) {
  if (is_better(score)) take({tables_.evaluator.current(), score});
}

void SearchRun::note(const Score& score, const std::function<Plan()>& make_plan) {
  count(score);
  if (is_better(score)) take({{}, score, make_plan()});
}

void SearchRun::take(Best best) {
  best_ = std::move(best);
  const Score& score = best_->score;
  if (!score.fits()) return;
  improvements_.push_back({evaluations_, seconds(), score.time_s, score.loss});
  if (request_.on_improvement) request_.on_improvement(improvements_.back());
}

std::string SearchRun::shortage() const {
  if (!stranded_.empty()) return stranded_;
  const std::string cause = is_cancelled() ? " before the search was cancelled" : "";
  std::string message = "no plan of " + std::to_string(evaluations_) + " that were looked at" + cause + " fits";
  if (!best_) return message;
  if (best_->score.excess_bytes > 0)
    return message + "; the nearest lacks " + format_bytes(best_->score.excess_bytes) + " on a device";
  // The overrun of a score also contains broken rules for hosts and devices, which are no part of the limits.
  const double overrun =
      overrun_of(request_.objective, best_->score.time_s, rented_by(best_plan("nearest"), request_.cluster));
  if (overrun <= 0)
    return message +
           "; the nearest needs more memory of its hosts than there is, or parts tasks that must share devices";
  return message + "; the nearest exceeds the limits that were asked for by " + format_percent(overrun);
}

Plan SearchRun::best_plan(const std::string& suffix) const {
  const std::string name = request_.workflow.name + "-" + suffix;
  Plan plan = best_->plan ? *best_->plan : tables_.evaluator.plan_of(best_->candidate, name);
  plan.name = name;
  return plan;
}

PlanResult SearchRun::result(const std::string& suffix, const std::string& hindrance) const {
  PlanResult result;
  result.candidates = evaluations_;
  result.feasible = feasible_;
  result.gap_fraction = std::numeric_limits<double>::infinity();
  if (!best_ || !best_->score.fits()) {
    result.message = hindrance.empty() ? shortage() : hindrance;
    return result;
  }
  result.outcome = PlanOutcome::found;
  result.plan = best_plan(suffix);
  result.prediction =
      predict(request_.cluster, request_.workflow, *result.plan, request_.coefficients, request_.framework);
  result.improvements = improvements_;
  result.message = best_of_plans(feasible_, evaluations_);
  return result;
}

IslandEnd SearchRun::end(int number, const std::string& suffix) const {
  IslandEnd end;
  end.number = number;
  end.evaluations = evaluations_;
  end.feasible = feasible_;
  if (best_) end.score = best_->score;
  if (best_ && best_->score.fits()) {
    end.plan = best_plan(suffix);
    end.improvements = improvements_;
  } else {
    end.message = shortage();
  }
  return end;
}

std::optional<CanonicalLayout> canonical_layout_in_search(int task, const TaskPlan& layout,
                                                          const PlanRequest& request) {
  const auto& executions = choices_for(request.choices, static_cast<std::size_t>(task)).executions;
  const auto at = std::find(executions.begin(), executions.end(), layout.execution);
  std::optional<CanonicalLayout> seat = canonical_layout_of(layout, request.workflow.sequences());
  if (at == executions.end() || !seat) return std::nullopt;
  seat->shape.execution = static_cast<int>(at - executions.begin());
  return seat;
}

std::optional<Candidate> candidate_of(const Plan& plan, const PlanRequest& request, Evaluator& evaluator) {
  Candidate candidate;
  for (int t = 0; t < evaluator.task_count(); ++t) {
    const auto task = plan.tasks.find(request.workflow.tasks[static_cast<std::size_t>(t)].name);
    if (task == plan.tasks.end()) return std::nullopt;
    std::optional<CanonicalLayout> seat = canonical_layout_in_search(t, task->second, request);
    if (!seat) return std::nullopt;
    candidate.tasks.push_back({evaluator.shapes(t).add(seat->shape), std::move(seat->devices)});
  }
  return candidate;
}

std::string infeasible_pin_reason(const PlanRequest& request, int task, int devices) {
  const Task& of = request.workflow.tasks[static_cast<std::size_t>(task)];
  if (!shapes_of(of, request.workflow, devices, shape_limits_of(request)).empty()) return "";
  return "task " + of.name + " has no layout on the " + std::to_string(devices) +
         " devices that it is pinned to, all of which it must use";
}

}  // namespace sextant::inline planner
