#include "sextant/planners.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/units.h"
#include "planner/answer.h"
#include "planner/baselines/placements.h"
#include "planner/baselines/plain_ea.h"
#include "planner/baselines/random_search.h"
#include "planner/baselines/sha_ea_paper.h"
#include "planner/baselines/sha_ilp.h"
#include "planner/baselines/streamrl.h"
#include "planner/baselines/verl.h"
#include "planner/exact/exact.h"
#include "planner/exact/exhaustive.h"
#include "planner/exact/ilp.h"
#include "planner/mcmc/mcmc.h"
#include "planner/portfolio/portfolio.h"
#include "planner/search/finish.h"
#include "planner/sha_ea/sha_ea.h"
#include "planner/two_phase/two_phase.h"

namespace sextant {
namespace {

constexpr int kMaxExhaustive = 16;  // as search_space.cpp; 4 to 8 in practice
// Devices with which CBC ends in minutes: of one program that grows, and of a program in every arm.
constexpr int kMaxIlp = 24, kMaxIlpInArms = 16;

PlanResult plan_exactly_from_start(const PlanRequest& request) {
  ExactLimits limits;
  limits.start = request.start;
  return plan_exactly(request, limits);
}

// Starts from a plan of sha-ea in the same space, with a tenth of the time.
PlanResult plan_by_any_ilp(const PlanRequest& request) {
  constexpr double kPart = 0.1;
  constexpr std::uint64_t kEvaluations = 50'000;
  if (request.start != nullptr) return plan_by_ilp(request);
  PlanRequest first = request, second = request;
  first.limits.within_unit_space = true;
  first.budget = {.seconds = request.budget.seconds * kPart, .evaluations = kEvaluations};
  first.on_improvement = {};
  const PlanResult start = plan_by_sha_ea(first);
  if (start.outcome == PlanOutcome::found) second.start = &start;
  if (second.budget.seconds > 0) second.budget.seconds *= 1 - kPart;
  return plan_by_ilp(second);
}

bool has_milp_solver() { return make_milp_solver() != nullptr; }

constexpr PlannerTraits kSearch{
    .has_seed = true, .has_objectives = true, .has_rent = true, .has_pins = true, .has_layout_rules = true};
constexpr PlannerTraits kSweep{
    .has_objectives = true, .has_rent = true, .has_pins = true, .has_layout_rules = true};
constexpr PlannerTraits kPlacement{.has_objectives = true, .has_rent = true};
constexpr PlannerTraits kTwoPhase{.has_seed = true, .has_rent = true};
constexpr PlannerTraits kHetRlPaper{.has_seed = true, .has_layout_rules = true};
constexpr PlannerTraits kHalvingOfPrograms{
    .counts_nodes = true, .has_seed = true, .balances_load = true, .is_built = has_milp_solver};
constexpr PlannerTraits kHetRl{.has_threads = true,
                               .has_ranks = true,
                               .has_seed = true,
                               .balances_load = true,
                               .has_objectives = true,
                               .has_rent = true,
                               .has_pins = true,
                               .has_layout_rules = true};
constexpr PlannerTraits kPortfolio{.has_threads = true,
                                   .has_ranks = true,
                                   .has_seed = true,
                                   .starts_from_plan = true,
                                   .balances_load = true,
                                   .has_objectives = true,
                                   .has_rent = true,
                                   .has_pins = true,
                                   .has_layout_rules = true};
constexpr PlannerTraits kBranchAndBound{.counts_nodes = true,
                                        .starts_from_plan = true,
                                        .proves = true,
                                        .balances_load = true,
                                        .has_objectives = true,
                                        .has_rent = true,
                                        .has_pins = true,
                                        .has_layout_rules = true};
constexpr PlannerTraits kIntegerProgram{.counts_nodes = true,
                                        .starts_from_plan = true,
                                        .proves = true,
                                        .balances_load = true,
                                        .has_pins = true,
                                        .is_built = has_milp_solver};
constexpr PlannerTraits kEveryPlan{
    .has_budget = false, .has_whole_layouts = true, .proves = true, .has_pins = true};

constexpr std::array kPlanners = {
    Planner{"portfolio", "default: runs several of these planners within one budget and returns the best plan",
            plan_by_portfolio, 0, kPortfolio},
    Planner{"sha-ea", "HetRL's nested successive halving with an evolutionary search of assignments",
            plan_by_sha_ea, 0, kHetRl},
    Planner{"exact", "branch and bound over assignments of units: a proof, or a gap when the budget is spent",
            plan_exactly_from_start, 0, kBranchAndBound},
    Planner{"ilp", "HetRL's integer linear program over the space of exact, by CBC", plan_by_any_ilp, kMaxIlp,
            kIntegerProgram},
    Planner{"exhaustive", "exhaustive enumeration for small clusters: a proof", plan_exhaustively,
            kMaxExhaustive, kEveryPlan},
    Planner{"two-phase",
            "AReaL-Hex's split of the devices into training and rollout, which are planned separately",
            plan_by_two_phase, 0, kTwoPhase},
    Planner{"mcmc", "ReaL's Markov chain over options on device meshes", plan_by_mcmc, 0, kSearch},
    Planner{"verl-colocated", "all tasks on all devices, best degrees for each", plan_by_verl_colocated, 0,
            kSweep},
    Planner{"verl-split", "actor and reference on one set, critic and reward on another", plan_by_verl_split, 0,
            kSweep},
    Planner{
        "verl-auto",
        "HybridFlow's search: every partition of the models over machines, which it assumes to be identical",
        plan_by_verl_auto, 0, kPlacement},
    Planner{"openrlhf", "actor, critic and generation on separate sets of devices", plan_by_openrlhf, 0,
            kPlacement},
    Planner{"streamrl", "generation on separate devices from everything else", plan_by_streamrl, 0, kSweep},
    Planner{"sha-ea-paper", "HetRL's Algorithm 1 exactly as in the paper", plan_by_sha_ea_paper, 0,
            kHetRlPaper},
    Planner{"sha-random", "the same halving with random plans instead of evolution", plan_by_sha_random, 0,
            kHetRlPaper},
    Planner{"sha-ilp", "the same halving with an integer program in every arm, by CBC", plan_by_sha_ilp,
            kMaxIlpInArms, kHalvingOfPrograms},
    Planner{"plain-ea", "standard evolutionary algorithm, as in DEAP", plan_by_plain_ea, 0, kSearch},
    Planner{"random", "the best of plans drawn at random", plan_by_random, 0, kSearch},
};

// A search that finds no plan within a deadline has looked for what fits, not for the least time, so its nearest
// plan is not the fastest one. A search for the fastest says how far away the deadline is, or keeps it after all.
PlanResult fastest_within(const Planner& planner, const PlanRequest& request, PlanResult result) {
  const bool is_cancelled = request.is_cancelled != nullptr && request.is_cancelled->load();
  const bool is_known = result.outcome != PlanOutcome::infeasible || result.proof == Proof::optimal;
  if (is_known || is_cancelled || !(request.objective.max_iteration_s > 0) || planner.traits.proves)
    return result;
  PlanRequest own = request;
  own.objective = {};
  own.on_improvement = {};
  PlanResult fastest = planner.search(own);
  obey_engine_rules(own, fastest);
  const std::uint64_t candidates = result.candidates + fastest.candidates;
  if (fastest.plan) {
    const Rented rented = rented_by(*fastest.plan, request.cluster);
    const double time_s = fastest.prediction->iteration_s;
    const double overrun = overrun_of(request.objective, time_s, rented);
    if (overrun <= 0) {
      fastest.improvements = {{candidates, 0, time_s, loss_of(request.objective, time_s, rented)}};
      if (request.objective.goal != Goal::time) {  // what is proved of the time is not proved of the goal
        fastest.proof = Proof::none;
        fastest.gap_fraction = std::numeric_limits<double>::infinity();
        fastest.lower_bound = 0;
      }
      result = std::move(fastest);
    } else {
      result.message = "no plan of " + std::to_string(candidates) +
                       " that were looked at keeps the limits; the " + "fastest takes " +
                       format_seconds(time_s) + ", which exceeds the limits that were asked for by " +
                       format_percent(overrun);
    }
  }
  result.candidates = candidates;
  return result;
}

}  // namespace

PlanResult Planner::plan(const PlanRequest& request) const {
  PlanResult result = search(request);
  obey_engine_rules(request, result);
  result = fastest_within(*this, request, std::move(result));
  check_answer(request, result);
  return result;
}

std::span<const Planner> planners() { return kPlanners; }

const Planner* find_planner(std::string_view name) {
  const auto* found = std::find_if(kPlanners.begin(), kPlanners.end(),
                                   [&](const Planner& planner) { return planner.name == name; });
  return found == kPlanners.end() ? nullptr : &*found;
}

}  // namespace sextant
