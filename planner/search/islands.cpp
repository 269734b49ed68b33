#include "planner/search/islands.h"

#include <algorithm>
#include <limits>

#include "core/json_value.h"
#include "planner/search/search_run.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

std::uint64_t parse_whole(const JsonView& view) { return static_cast<std::uint64_t>(view.integer(0)); }

Score parse_score(const JsonView& view) {
  view.allow_only({"time_s", "excess_bytes", "loss", "overrun"});
  return {view.required("time_s").number(), view.required("excess_bytes").number(),
          view.required("loss").number(), view.required("overrun").number()};
}

Json to_json(const Score& score) {
  return {{"time_s", score.time_s},
          {"excess_bytes", score.excess_bytes},
          {"loss", score.loss},
          {"overrun", score.overrun}};
}

Improvement parse_improvement(const JsonView& view) {
  view.allow_only({"evaluations", "seconds", "iteration_s", "loss"});
  return {parse_whole(view.required("evaluations")), view.required("seconds").number(),
          view.required("iteration_s").number(), view.required("loss").number()};
}

Json to_json(const Improvement& improvement) {
  return {{"evaluations", improvement.evaluations},
          {"seconds", improvement.seconds},
          {"iteration_s", improvement.iteration_s},
          {"loss", improvement.loss}};
}

// counts_time: what the budget counts; by then at the latest the other has passed too.
std::vector<Improvement> merged_curve(const std::vector<IslandEnd>& ends, bool counts_time) {
  std::vector<Improvement> all, curve;
  for (const IslandEnd& end : ends) {
    for (Improvement improvement : end.improvements) {
      improvement.evaluations *= ends.size();
      all.push_back(improvement);
    }
  }
  std::stable_sort(all.begin(), all.end(), [counts_time](const Improvement& a, const Improvement& b) {
    return counts_time ? a.seconds < b.seconds : a.evaluations < b.evaluations;
  });
  for (Improvement& improvement : all) {
    if (!curve.empty()) {
      const Improvement& last = curve.back();
      if (improvement.loss >= last.loss) continue;
      improvement.evaluations = std::max(improvement.evaluations, last.evaluations);
      improvement.seconds = std::max(improvement.seconds, last.seconds);
    }
    curve.push_back(improvement);
  }
  return curve;
}

}  // namespace

IslandEnd IslandEnd::parse(const JsonView& view) {
  view.allow_only({"number", "evaluations", "feasible", "score", "plan", "improvements", "message"});
  IslandEnd end;
  end.number = view.required("number").count();
  end.evaluations = parse_whole(view.required("evaluations"));
  end.feasible = parse_whole(view.required("feasible"));
  if (const auto score = view.optional("score")) end.score = parse_score(*score);
  if (const auto plan = view.optional("plan")) end.plan = Plan::parse(*plan);
  for (const JsonView& improvement : view.required("improvements").items())
    end.improvements.push_back(parse_improvement(improvement));
  end.message = view.required("message").any_text();
  return end;
}

Json IslandEnd::to_json() const {
  Json json{{"number", number}, {"evaluations", evaluations}, {"feasible", feasible}};
  if (score) json["score"] = sextant::to_json(*score);
  if (plan) json["plan"] = plan->to_json();
  json["improvements"] = Json::array();
  for (const Improvement& improvement : improvements)
    json["improvements"].push_back(sextant::to_json(improvement));
  json["message"] = message;
  return json;
}

std::vector<IslandEnd> gathered(IslandRanks& ranks, const std::vector<IslandEnd>& mine) {
  Json said = Json::array();
  for (const IslandEnd& end : mine) said.push_back(end.to_json());
  std::vector<IslandEnd> all;
  for (const std::string& text : ranks.gather(format_json(said))) {
    const Json heard = parse_json(text);
    for (const JsonView& end : JsonView(heard).items()) all.push_back(IslandEnd::parse(end));
  }
  std::sort(all.begin(), all.end(), [](const IslandEnd& a, const IslandEnd& b) { return a.number < b.number; });
  return all;
}

PlanResult merged(const PlanRequest& request, const std::vector<IslandEnd>& ends) {
  PlanResult result;
  const IslandEnd* best = &ends.front();
  for (const IslandEnd& end : ends) {
    result.candidates += end.evaluations;
    result.feasible += end.feasible;
    if (end.score && (!best->score || end.score->is_better_than(*best->score, SearchRun::kRounding)))
      best = &end;
  }
  result.gap_fraction = std::numeric_limits<double>::infinity();
  result.message = best->message;
  if (best->plan) {
    result.outcome = PlanOutcome::found;
    result.plan = best->plan;
    result.prediction =
        predict(request.cluster, request.workflow, *result.plan, request.coefficients, request.framework);
    result.message = best_of_plans(result.feasible, result.candidates);
    if (request.ranks != nullptr) result.message += ", on " + std::to_string(request.ranks->size()) + " ranks";
  }
  result.improvements = merged_curve(ends, request.budget.evaluations == 0);
  return result;
}

}  // namespace sextant::inline planner
