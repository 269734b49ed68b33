#include "planner/portfolio/portfolio.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>

#include "core/json_value.h"
#include "core/units.h"
#include "planner/baselines/streamrl.h"
#include "planner/baselines/subsets.h"
#include "planner/baselines/verl.h"
#include "planner/exact/exact.h"
#include "planner/search/finish.h"
#include "planner/search/islands.h"
#include "planner/search/known_options.h"
#include "planner/search/replicate.h"
#include "planner/search/search_run.h"
#include "planner/sha_ea/sha_ea.h"
#include "planner/two_phase/two_phase.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

constexpr double kWorthUnevenness = 0.02;

bool are_devices_alike(const Cluster& cluster) {
  return std::all_of(cluster.nodes().begin(), cluster.nodes().end(),
                     [&](const Node& node) { return node.device_type == cluster.nodes().front().device_type; });
}

bool may_share_all(const PlanRequest& request) { return request.device_rules.apart.empty(); }

// Generation on devices of its own pays where it runs beside the rest.
bool may_overlap(const PlanRequest& request) { return request.workflow.mode != Mode::synchronous; }

bool may_split_types(const PlanRequest& request) {
  return may_overlap(request) && request.cluster.device_types().size() > 1 && request.limits.pins.empty();
}

// Clusters whose options exact has worked out in a fraction of a second.
bool is_small(const PlanRequest& request) {
  constexpr int kMaxDevices = 16, kMaxWays = 160;  // of one task, besides its degrees
  if (request.workflow.algorithm == Algorithm::custom || request.cluster.device_count() > kMaxDevices ||
      !request.limits.pins.empty())
    return false;
  for (std::size_t t = 0; t < request.workflow.tasks.size(); ++t) {
    const TaskChoices& choices = choices_for(request.choices, t);
    if (choices.executions.size() * std::max<std::size_t>(1, choices.recompute.size()) > kMaxWays) return false;
  }
  return true;
}

// True if a part of the devices may be better than all: they are paid for, differ, or lie far from each other.
bool may_leave_devices(const PlanRequest& request) {
  if (!request.limits.pins.empty()) return false;
  return !request.objective.is_time_alone() || !are_devices_alike(request.cluster) ||
         request.cluster.has_zonal_links();
}

bool offloads(const Execution& execution) { return execution.offload_weights || execution.offload_optimizer; }

// Whether plans may need more of a host than it has, which two-phase does not count.
bool may_fill_hosts(const PlanRequest& request) {
  const auto& nodes = request.cluster.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return node.host_memory_bytes.has_value(); }) &&
         std::any_of(request.choices.begin(), request.choices.end(), [](const TaskChoices& choices) {
           return std::any_of(choices.executions.begin(), choices.executions.end(), offloads);
         });
}

// If links distinguish machines, there are too many bipartitions to list within a budget.
bool is_for_two_phase(const PlanRequest& request) {
  constexpr int kMaxDevices = 1024;
  if (!request.cluster.has_zonal_links() || request.cluster.device_count() > kMaxDevices) return false;
  const bool has_rules = std::any_of(request.choices.begin(), request.choices.end(),
                                     [](const TaskChoices& choices) { return choices.has_rules(); });
  return !has_rules && !may_fill_hosts(request) && request.device_rules.empty() &&
         request.limits.pins.empty() && request.objective.is_time_alone() &&
         request.workflow.algorithm != Algorithm::custom;
}

PlanResult plan_exactly_from(const PlanRequest& request) {
  ExactLimits limits;
  limits.start = request.start;
  return plan_exactly(request, limits);
}

struct Member {
  std::string_view name;
  PlanResult (*search)(const PlanRequest&);
  double share;  // of the budget, at most
  bool (*is_of_use)(const PlanRequest&);
};

constexpr Member kMembers[] = {
    {"verl-colocated", plan_by_verl_colocated, 0.25, may_share_all},
    {"subsets", plan_by_subsets, 0.2, may_leave_devices},
    {"types", plan_by_types, 0.3, may_split_types},
    {"streamrl", plan_by_streamrl, 0.4, may_overlap},
    {"exact", plan_exactly_from, 0.4, is_small},
    {"two-phase", plan_by_two_phase, 0.2, is_for_two_phase},
};

// The members that apply, in their order: parts of the cluster come first if one type of devices alone may be faster
// than all devices. Costing devices of several types takes longest, and a short search ends with it.
std::vector<Member> members_for(const PlanRequest& request) {
  std::vector<Member> members;
  for (const Member& member : kMembers) {
    if (member.is_of_use(request)) members.push_back(member);
  }
  const auto subsets = std::find_if(members.begin(), members.end(),
                                    [](const Member& member) { return member.name == "subsets"; });
  constexpr double kShareOfFirst = 0.6;  // at most: it ends when no further part can be faster
  if (subsets != members.end() && is_type_first(request)) {
    subsets->share = kShareOfFirst;
    std::rotate(members.begin(), subsets, subsets + 1);
  }
  return members;
}

class Portfolio {
 public:
  explicit Portfolio(const PlanRequest& request)
      : request_(request),
        is_alike_(are_devices_alike(request.cluster)),
        start_(std::chrono::steady_clock::now()),
        known_options_(request.known_options ? request.known_options
                                             : std::make_shared<KnownOptions>(request)) {
    budget_ = request.budget;
    if (budget_.seconds <= 0 && budget_.evaluations == 0) budget_.seconds = kPortfolioBudget_s;
  }

  PlanResult run() {
    if (request_.start != nullptr) {
      PlanResult start = *request_.start;
      obey_engine_rules(finishing_request(), start);
      if (start.plan) offer(start, "the plan it began with");
    }
    if (is_first_rank()) {
      for (const Member& member : members_for(request_))
        search(member.name, member.search, std::min(member.share, share_left()), request_.limits);
    }
    take_from_first_rank();
    SearchLimits limits = request_.limits;
    if (is_alike_ && limits.balances_load) {
      limits.balances_load = false;
      search("sha-ea", plan_by_sha_ea, agreed(share_left()) / 2, limits);
      limits.balances_load = true;
    }
    search("sha-ea", plan_by_sha_ea, agreed(share_left()), limits);
    return result();
  }

 private:
  struct Found {
    PlanResult result;
    std::string by;
    double loss = std::numeric_limits<double>::infinity();
    [[nodiscard]] bool is_there() const { return result.plan.has_value(); }
  };

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  [[nodiscard]] bool is_cancelled() const {
    return request_.is_cancelled != nullptr && request_.is_cancelled->load(std::memory_order_relaxed);
  }

  [[nodiscard]] bool is_first_rank() const { return request_.ranks == nullptr || request_.ranks->rank() == 0; }

  // The request of the last changes of a plan, which all ranks make. Known options are the first rank's, and if
  // links distinguish machines, options depend on them.
  [[nodiscard]] PlanRequest finishing_request() const {
    PlanRequest own = request_;
    own.known_options = request_.cluster.has_uniform_links() ? known_options_ : nullptr;
    return own;
  }

  // The first rank's value on all ranks. All of them must take the same way, and their clocks differ.
  [[nodiscard]] double agreed(double value) {
    if (request_.ranks == nullptr) return value;
    return parse_json(request_.ranks->gather(format_json(Json(value))).front()).get<double>();
  }

  // Only the first rank runs the other planners; every rank continues from their plan.
  void take_from_first_rank() {
    if (request_.ranks == nullptr) return;
    Json found = Json::array();
    if (is_first_rank()) {
      for (const Found& one : {best_, best_even_}) {
        if (one.is_there()) found.push_back({{"by", one.by}, {"plan", one.result.plan->to_json()}});
      }
    }
    const Json told{
        {"found", found},        {"spent", spent_},        {"candidates", candidates_},
        {"feasible", feasible_}, {"reason", last_reason_}, {"proved", proved_ ? Json(*proved_) : Json()}};
    const Json heard = parse_json(request_.ranks->gather(format_json(told)).front());
    if (is_first_rank()) return;
    spent_ = heard.at("spent");
    candidates_ = heard.at("candidates");
    feasible_ = heard.at("feasible");
    last_reason_ = heard.at("reason");
    if (!heard.at("proved").is_null()) proved_ = heard.at("proved").get<double>();
    for (const Json& one : heard.at("found")) {
      PlanResult result;
      result.outcome = PlanOutcome::found;
      result.plan = Plan::parse(JsonView(one.at("plan")));
      result.prediction =
          predict(request_.cluster, request_.workflow, *result.plan, request_.coefficients, request_.framework);
      offer(result, one.at("by").get<std::string>());
    }
  }

  // The remaining share of the whole budget; zero if the search was cancelled. A little is always left until a plan
  // was found, or so many candidates looked at that none may fit: a search with little time ends with its first
  // candidates (SearchRun::is_spent).
  [[nodiscard]] double share_left() const {
    if (is_cancelled()) return 0;
    const bool is_missing = !best_.is_there() && candidates_ < kMinCandidates;
    double left = 1;
    if (budget_.evaluations > 0)
      left = 1 - static_cast<double>(std::min(spent_, budget_.evaluations)) /
                     static_cast<double>(budget_.evaluations);
    if (budget_.seconds > 0)
      left = std::min(left, std::max(1 - seconds() / budget_.seconds, is_missing ? kLastShare : 0.0));
    return std::max(0.0, left);
  }

  [[nodiscard]] double loss_of(const PlanResult& result) const {
    return sextant::loss_of(request_.objective, result.prediction->iteration_s,
                            rented_by(*result.plan, request_.cluster));
  }

  void search(std::string_view name, PlanResult (*planner)(const PlanRequest&), double share,
              const SearchLimits& limits) {
    const auto evaluations = static_cast<std::uint64_t>(share * static_cast<double>(budget_.evaluations));
    if (share <= 0 || (budget_.evaluations > 0 && evaluations == 0)) return;
    PlanRequest own = request_;
    const bool is_on_all_ranks = name == "sha-ea";
    if (!is_on_all_ranks) own.ranks = nullptr;
    own.limits = limits;
    own.known_options = is_on_all_ranks ? nullptr : known_options_;  // those of the first rank
    own.budget = {share * budget_.seconds, evaluations};
    if (best_.is_there()) own.start = &best_.result;
    const double began_s = seconds();
    const std::uint64_t spent_before = spent_;
    own.on_improvement = {};
    if (request_.on_improvement) {
      own.on_improvement = [&](const Improvement& improvement) {
        if (improvement.loss >= shown_loss_) return;
        shown_loss_ = improvement.loss;
        request_.on_improvement(later(improvement, began_s, spent_before));
      };
    }
    PlanResult result = planner(own);
    obey_engine_rules(finishing_request(), result);
    for (const Improvement& improvement : result.improvements)
      add_to_curve(later(improvement, began_s, spent_before));
    spent_ += name == "exact" ? result.nodes : result.candidates;
    feasible_ += result.feasible;
    candidates_ += result.candidates;
    threads_ = std::max(threads_, result.threads);
    if (name == "exact" && result.proof == Proof::optimal) proved_ = result.lower_bound;
    if (result.outcome == PlanOutcome::found) {
      offer(result, name);
      offer_repeated(result, name);
    } else {
      last_reason_ = result.message;
    }
  }

  static Improvement later(Improvement improvement, double seconds, std::uint64_t evaluations) {
    improvement.seconds += seconds;
    improvement.evaluations += evaluations;
    return improvement;
  }

  void add_to_curve(Improvement improvement) {
    if (!curve_.empty()) {
      if (improvement.loss >= curve_.back().loss) return;
      improvement.evaluations = std::max(improvement.evaluations, curve_.back().evaluations);
      improvement.seconds = std::max(improvement.seconds, curve_.back().seconds);
    }
    curve_.push_back(improvement);
  }

  void offer(const PlanResult& result, std::string_view by) {
    Found found{result, std::string(by), loss_of(result)};
    if (is_alike_ && is_even(*result.plan, request_.workflow.sequences()) && found.loss < best_even_.loss)
      best_even_ = found;
    if (found.loss < best_on_all_.loss &&
        devices_of(*result.plan).size() == static_cast<std::size_t>(request_.cluster.device_count()))
      best_on_all_ = found;
    if (found.loss < best_.loss) best_ = std::move(found);
  }

  // The plan on the idle devices too. Those of other goals are left idle on purpose.
  void offer_repeated(const PlanResult& result, std::string_view by) {
    if (!request_.objective.is_time_alone()) return;
    const std::optional<PlanResult> repeated = repeated_on_idle_devices(finishing_request(), result);
    if (!repeated) return;
    const double loss = loss_of(*repeated);
    add_to_curve({spent_, seconds(), repeated->prediction->iteration_s, loss});
    offer(*repeated, std::string(by) + ", repeated on idle devices");
  }

  [[nodiscard]] PlanResult result() {
    PlanResult result;
    result.candidates = candidates_;
    result.feasible = feasible_;
    result.threads = threads_;
    result.gap_fraction = std::numeric_limits<double>::infinity();
    if (!best_.is_there()) {
      result.message = last_reason_;
      return result;
    }
    const bool takes_even = best_even_.is_there() && best_even_.loss <= (1 + kWorthUnevenness) * best_.loss;
    const Found& answer = takes_even ? best_even_ : best_;
    result.outcome = PlanOutcome::found;
    result.plan = answer.result.plan;
    result.prediction = answer.result.prediction;
    result.improvements = curve_;
    while (result.improvements.size() > 1 && result.improvements.back().loss < answer.loss * (1 - kRounding))
      result.improvements.pop_back();  // uneven, and hardly better
    use_slack(finishing_request(), result);
    name_plan(result);
    result.message = best_of_plans(feasible_, candidates_) + "; found by " + answer.by + idle_reason(answer);
    if (proved_ && *proved_ >= loss_of(result) * (1 - kRounding))
      result.message += "; no plan of whole units is better (proved by exact)";
    return result;
  }

  // A plan has the name of its question; the member that found it is in the message.
  void name_plan(PlanResult& result) const {
    std::string name = request_.workflow.name;
    if (request_.framework != kAny) name += " for " + request_.framework;
    result.plan->name = result.prediction->plan = std::move(name);
  }

  // Why devices are left idle; empty if none is.
  [[nodiscard]] std::string idle_reason(const Found& answer) const {
    const std::size_t all = static_cast<std::size_t>(request_.cluster.device_count());
    const std::size_t used = devices_of(*answer.result.plan).size();
    if (used == all || !request_.objective.is_time_alone()) return "";
    constexpr std::uint64_t kShort = 500;
    std::string reason = "; " + std::to_string(all - used) + " devices are idle";
    if (candidates_ < kShort) return reason + ", which a longer search may use";
    reason += ": ";
    const bool must_be_even = std::any_of(request_.choices.begin(), request_.choices.end(),
                                          [](const TaskChoices& choices) { return choices.has_even_batch; });
    if (!best_on_all_.is_there() && must_be_even && request_.workflow.sequences() % static_cast<int>(all) != 0)
      return reason + "no plan was found in which all " + std::to_string(all) + " have equal parts of the " +
             std::to_string(request_.workflow.sequences()) + " sequences";
    if (!best_on_all_.is_there()) return reason + "no plan that fits was found on all " + std::to_string(all);
    return reason + "the fastest plan found on all " + std::to_string(all) + " takes " +
           format_seconds(best_on_all_.result.prediction->iteration_s);
  }

  static constexpr double kRounding = 1e-9;  // relative
  static constexpr std::uint64_t kMinCandidates = 1000;
  static constexpr double kLastShare = 0.02;

  const PlanRequest& request_;
  bool is_alike_;
  std::chrono::steady_clock::time_point start_;
  std::shared_ptr<KnownOptions> known_options_;
  Budget budget_;
  std::uint64_t spent_ = 0, candidates_ = 0, feasible_ = 0;
  int threads_ = 1;
  Found best_, best_even_, best_on_all_;
  std::optional<double> proved_;  // no plan of whole units has a lower loss
  std::vector<Improvement> curve_;
  double shown_loss_ = std::numeric_limits<double>::infinity();  // of what the caller was told last
  std::string last_reason_ = "no plan was looked at: the budget was spent before";
};

bool is_about_equal(const std::vector<int>& parts) {
  const auto [minimum, maximum] = std::minmax_element(parts.begin(), parts.end());
  return *maximum - *minimum <= 1;
}

}  // namespace

bool is_even(const Plan& plan, int sequences) {
  return std::all_of(plan.tasks.begin(), plan.tasks.end(), [&](const auto& named) {
    const TaskPlan& task = named.second;
    if (!is_about_equal(replica_sequences(task, sequences))) return false;
    return std::all_of(task.replicas.begin(), task.replicas.end(), [&](const Replica& replica) {
      std::vector<int> layers;
      for (const Stage& stage : replica.stages) layers.push_back(stage.layers);
      return replica.stages.size() == task.replicas.front().stages.size() && is_about_equal(layers);
    });
  });
}

PlanResult plan_by_portfolio(const PlanRequest& request) { return Portfolio(request).run(); }

}  // namespace sextant::inline planner
