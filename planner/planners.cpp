#include "planner/planners.h"

#include <algorithm>
#include <array>

#include "planner/baselines/plain_ea.h"
#include "planner/baselines/random_search.h"
#include "planner/baselines/streamrl.h"
#include "planner/baselines/verl.h"
#include "planner/exhaustive.h"
#include "planner/mcmc/mcmc.h"
#include "planner/sha_ea/sha_ea.h"
#include "planner/two_phase/two_phase.h"

namespace sextant {
namespace {

constexpr int kMostExhaustive = 16;  // as search_space.cpp; 4 to 8 in practice

constexpr std::array kPlanners = {
    Planner{"sha-ea", "HetRL's nested successive halving with evolution of deals", plan_by_sha_ea},
    Planner{"exhaustive", "every plan of a small cluster: a proof", plan_exhaustively, kMostExhaustive},
    Planner{"two-phase", "AReaL-Hex's deal of devices to training and rollout, each planned for itself",
            plan_by_two_phase},
    Planner{"mcmc", "ReaL's Markov chain over options on device meshes", plan_by_mcmc},
    Planner{"verl-colocated", "all tasks on all devices, best degrees for each", plan_by_verl_colocated},
    Planner{"verl-split", "actor and reference on one set, critic and reward on another", plan_by_verl_split},
    Planner{"streamrl", "generation on its own devices, everything else on the others", plan_by_streamrl},
    Planner{"plain-ea", "a standard evolutionary algorithm, as DEAP runs it", plan_by_plain_ea},
    Planner{"random", "the best of plans drawn at random", plan_by_random},
};

}  // namespace

std::span<const Planner> planners() { return kPlanners; }

const Planner* find_planner(std::string_view name) {
  const auto* found = std::find_if(kPlanners.begin(), kPlanners.end(),
                                   [&](const Planner& planner) { return planner.name == name; });
  return found == kPlanners.end() ? nullptr : &*found;
}

}  // namespace sextant
