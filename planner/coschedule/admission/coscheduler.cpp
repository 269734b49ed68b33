#include <algorithm>

#include "core/json_value.h"
#include "planner/coschedule/bound/cost_bound.h"
#include "planner/coschedule/chance.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/round_robin.h"
#include "sextant/coschedule.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// The content of a document that may have its envelope.
Json content_of(std::string_view text) {
  Json document = parse_json(text);
  if (document.is_object()) {
    document.erase("schema");
    document.erase("$schema");
    document.erase("provenance");
  }
  return document;
}

}  // namespace

struct Coscheduler::State {
  coschedule::Placement placement;
  coschedule::DrawnIterations drawn;
};

Coscheduler::Coscheduler(std::string_view placement) : state_(std::make_unique<State>()) {
  const Json content = content_of(placement);
  state_->placement = coschedule::Placement::parse(JsonView(content));
  if (const std::vector<std::string> broken = broken_promises(state_->placement); !broken.empty())
    throw_bad_input("the placement breaks a promise: " + broken.front());
}

Coscheduler::~Coscheduler() = default;
Coscheduler::Coscheduler(Coscheduler&&) noexcept = default;
Coscheduler& Coscheduler::operator=(Coscheduler&&) noexcept = default;

CoscheduledJob Coscheduler::place(std::string_view job, bool dry_run) {
  const Json content = content_of(job);
  const coschedule::Job parsed = coschedule::Job::parse(JsonView(content));
  coschedule::PlacementRules rules;
  rules.drawn = &state_->drawn;
  coschedule::PlacementAnswer answer = coschedule::place(state_->placement, parsed, rules);
  CoscheduledJob placed;
  placed.is_placed = answer.is_placed;
  placed.explanation = answer.refusal;
  if (!answer.is_placed) return placed;
  placed.group = answer.group.name;
  for (const coschedule::Member& member : answer.group.members) {
    if (member.job.name == parsed.name) placed.rollout_nodes = member.rollout_nodes;
  }
  placed.group_rollout_nodes = answer.group.rollout_nodes;
  placed.group_training_nodes = answer.group.training_nodes;
  placed.added_usd_per_hour = answer.chosen.added_usd_per_hour;
  placed.iteration_s = state_->placement.probability < 1
                           ? state_->drawn.of(answer.group, state_->placement.tail_threshold).period_s
                           : planned_turns(answer.group).period_s;
  const std::vector<int> counts = iterations_of(answer.group);
  for (std::size_t m = 0; m < counts.size(); ++m) {
    if (answer.group.members[m].job.name == parsed.name) placed.iterations = counts[m];
  }
  answer.chosen.group = answer.at ? answer.group.name : "";
  placed.explanation = words_of(answer.chosen);
  if (!dry_run) take(state_->placement, std::move(answer));
  return placed;
}

void Coscheduler::leave(std::string_view job) {
  remove_job(state_->placement, job);
  state_->drawn.forget(std::string(job));
}

std::string Coscheduler::placement() const { return format_json(state_->placement.to_json()); }
double Coscheduler::usd_per_hour() const { return state_->placement.usd_per_hour(); }

double Coscheduler::min_usd_per_hour(double work) const {
  const coschedule::Placement& placement = state_->placement;
  if (placement.probability < 1) return 0;
  const bool may_grow = std::any_of(placement.groups.begin(), placement.groups.end(), coschedule::has_grown);
  return coschedule::min_usd_per_hour(placement.jobs(), placement.pools, placement.groups, {work}, may_grow)
      .usd_per_hour;
}

}  // namespace sextant
