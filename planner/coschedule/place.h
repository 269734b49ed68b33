// Placement of an arriving job (section 4.2, Algorithm 1): into a group as it is, into a group with just enough new
// rollout nodes, or into a group of its own, whichever costs least more.
//
// Decisions where the paper is vague: groups are pruned by T_load >= T_cycle before a job is tried, as printed. A
// job of several rollout nodes takes the least loaded ones that have the memory, and new ones for the rest.
// Memory may be filled exactly (the paper rejects equality).
//
// Beyond the paper: a group's training pool may grow (PlacementRules::training_may_grow), of places that cost the
// same the one with the least free time left is taken (best_fit), and jobs are tried in saturated groups
// too (tries_saturated): what is promised decides, and the period of turns says whether it is kept. In a placement with
// a probability, drawn iterations say it instead (chance.h). Places are compared with one turn of each member; in the
// group that is chosen, members that fit several times may then run several times (may_repeat).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/coschedule/chance.h"
#include "planner/coschedule/group.h"

namespace sextant::coschedule {

struct PlacementRules {
  bool training_may_grow = false;
  bool best_fit = true;
  bool tries_saturated = true;
  bool may_repeat = true;  // members of the answer's group may have several turns (rounds.h)
  // Iterations that earlier calls have drawn, for placements with a probability; may be null.
  DrawnIterations* drawn = nullptr;

  // Algorithm 1 as printed: the first of equals, saturated groups pruned.
  [[nodiscard]] static PlacementRules as_printed() { return {false, false, false, false, nullptr}; }
};

enum class Decision { packing, rollout_scaling, training_scaling, new_group };
[[nodiscard]] std::string_view name_of(Decision decision);

// A place that was looked at for the job.
struct Candidate {
  std::string group;  // empty: a new one
  Decision decision = Decision::new_group;
  int new_rollout_nodes = 0, new_training_nodes = 0;
  double added_usd_per_hour = 0;
  double period_s = 0;  // of the group's turns with the job; 0: refused before
  std::string refusal;  // a sentence; empty: possible
};

struct PlacementAnswer {
  bool is_placed = false;
  Group group;                    // with the job
  std::optional<std::size_t> at;  // its position in the placement; empty: new
  Candidate chosen;
  std::vector<Candidate> candidates;  // all, cheapest first; only with `explains`
  std::string refusal;                // why there is no place at all
};

// "group-3 as it is, which adds $0.00 an hour" without the dollars: what was decided, in words.
[[nodiscard]] std::string words_of(const Candidate& candidate);

// Looks for a place and changes nothing. explains: lists also the places that a cheaper one makes needless.
// Throws Error(bad_input) if a group has a job of this name, or if its times are of other GPUs than those of the pools.
[[nodiscard]] PlacementAnswer place(const Placement& placement, const Job& job,
                                    const PlacementRules& rules = {}, bool explains = false);

// Puts the answer's group into the placement that it was found for.
void take(Placement& placement, PlacementAnswer answer);

// A group of the job alone, with an unused name.
[[nodiscard]] Group group_alone(const Placement& placement, const Job& job);

// Takes the job out: its group gives back rollout nodes that no member uses, and training nodes that no member
// needs as far as all members keep what they were promised. may_repeat: as in PlacementRules. Throws Error(bad_input) if
// no group has it.
void remove_job(Placement& placement, std::string_view job, bool may_repeat = true);

}  // namespace sextant::coschedule
