#include "documents/explanation.h"

#include <array>

#include "core/json_value.h"
#include "documents/values/names.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kGoals = {"time", "cost", "devices"};
constexpr std::array<std::string_view, 3> kOutcomes = {"found", "infeasible", "too_large"};

template <typename T, typename Parse>
std::vector<T> parse_list(const JsonView& view, Parse parse) {
  std::vector<T> list;
  for (const JsonView& item : view.items()) list.push_back(parse(item));
  return list;
}

template <typename T, typename Write>
Json list_to_json(const std::vector<T>& list, Write write) {
  Json json = Json::array();
  for (const T& item : list) json.push_back(write(item));
  return json;
}

std::optional<double> parse_optional(const JsonView& view, std::string_view key) {
  const std::optional<JsonView> member = view.optional(key);
  return member ? std::optional<double>(member->non_negative()) : std::nullopt;
}

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = *value;
}

std::map<std::string, std::string> parse_layouts(const JsonView& view) {
  std::map<std::string, std::string> layouts;
  for (const auto& [task, layout] : view.members()) layouts[task] = layout.text();
  return layouts;
}

Json layouts_to_json(const std::map<std::string, std::string>& layouts) {
  Json json = Json::object();
  for (const auto& [task, layout] : layouts) json[task] = layout;
  return json;
}

TimePart parse_part(const JsonView& view) {
  view.allow_only({"task", "term", "seconds"});
  return {view.required("task").text(), view.required("term").text(), view.required("seconds").number()};
}

Json part_to_json(const TimePart& part) {
  return {{"task", part.task}, {"term", part.term}, {"seconds", part.seconds}};
}

DeviceUse parse_use(const JsonView& view) {
  view.allow_only({"device_type", "devices", "used", "idle_fraction"});
  DeviceUse use{view.required("device_type").text(), view.required("devices").count(1),
                view.required("used").count(), view.required("idle_fraction").fraction()};
  if (use.used > use.devices) view.required("used").fail("more than \"devices\"");
  return use;
}

Json use_to_json(const DeviceUse& use) {
  return {{"device_type", use.device_type},
          {"devices", use.devices},
          {"used", use.used},
          {"idle_fraction", use.idle_fraction}};
}

Saving parse_saving(const JsonView& view) {
  view.allow_only({"name", "of", "elasticity", "saved_fraction"});
  return {view.required("name").text(), view.required("of").text(), view.required("elasticity").number(),
          view.required("saved_fraction").number()};
}

Json saving_to_json(const Saving& saving) {
  return {{"name", saving.name},
          {"of", saving.of},
          {"elasticity", saving.elasticity},
          {"saved_fraction", saving.saved_fraction}};
}

Interval parse_ratio(const JsonView& view) {
  view.allow_only({"low", "high"});
  const Interval interval{view.required("low").positive(), view.required("high").positive()};
  if (interval.low > interval.high) view.fail("low is above high");
  return interval;
}

std::optional<Chance> parse_chance(const JsonView& parent) {
  const std::optional<JsonView> view = parent.optional("chance");
  if (!view) return std::nullopt;
  view->allow_only({"probability", "probability_with_model_error", "ratio_90"});
  Chance chance{view->required("probability").fraction(), std::nullopt,
                parse_ratio(view->required("ratio_90"))};
  if (const auto minimum = view->optional("probability_with_model_error"))
    chance.probability_with_model_error = minimum->fraction();
  return chance;
}

void put_chance(Json& json, const std::optional<Chance>& chance) {
  if (!chance) return;
  Json own{{"probability", chance->probability}};
  put(own, "probability_with_model_error", chance->probability_with_model_error);
  own["ratio_90"] = {{"low", chance->ratio_90.low}, {"high", chance->ratio_90.high}};
  json["chance"] = std::move(own);
}

void refuse_of_found(const JsonView& view) {
  for (const char* key : {"is_same", "keeps_plan", "iteration_s", "usd_per_iteration", "ratio", "layouts",
                          "differences", "chance"}) {
    if (const auto member = view.optional(key)) member->fail("only allowed if a plan was found");
  }
}

// The members that an alternative and a plan on another cluster have in common.
template <typename T>
void parse_found(const JsonView& view, T& found) {
  found.outcome = parse_name<PlanOutcome>(view.required("outcome"), kOutcomes);
  if (found.outcome == PlanOutcome::found && view.optional("message"))
    view.optional("message")->fail("only allowed if no plan was found");
  if (found.outcome != PlanOutcome::found) {
    refuse_of_found(view);
    found.message = view.required("message").text();
    return;
  }
  found.iteration_s = view.required("iteration_s").positive();
  found.usd_per_iteration = parse_optional(view, "usd_per_iteration");
  found.ratio = view.required("ratio").positive();
  found.layouts = parse_layouts(view.required("layouts"));
  found.differences = parse_list<TimePart>(view.required("differences"), parse_part);
  found.chance = parse_chance(view);
}

template <typename T>
void put_found(Json& json, const T& found) {
  json["outcome"] = name_of(found.outcome);
  if (found.outcome != PlanOutcome::found) {
    json["message"] = found.message;
    return;
  }
  json["iteration_s"] = found.iteration_s;
  put(json, "usd_per_iteration", found.usd_per_iteration);
  json["ratio"] = found.ratio;
  json["layouts"] = layouts_to_json(found.layouts);
  json["differences"] = list_to_json(found.differences, part_to_json);
  put_chance(json, found.chance);
}

Alternative parse_alternative(const JsonView& view) {
  view.allow_only({"name", "outcome", "message", "is_same", "iteration_s", "usd_per_iteration", "ratio",
                   "layouts", "differences", "chance"});
  Alternative alternative;
  alternative.name = view.required("name").text();
  parse_found(view, alternative);
  if (alternative.outcome == PlanOutcome::found) alternative.is_same = view.required("is_same").flag();
  return alternative;
}

Json alternative_to_json(const Alternative& alternative) {
  Json json{{"name", alternative.name}};
  if (alternative.outcome == PlanOutcome::found) json["is_same"] = alternative.is_same;
  put_found(json, alternative);
  return json;
}

Flip parse_flip(const JsonView& view) {
  view.allow_only({"name", "of", "is_hardware", "value", "factor", "to", "standard_errors"});
  return {view.required("name").text(),           view.required("of").text(),
          view.required("is_hardware").flag(),    view.required("value").number(),
          view.required("factor").positive(),     view.required("to").any_text(),
          parse_optional(view, "standard_errors")};
}

Json flip_to_json(const Flip& flip) {
  Json json{{"name", flip.name},   {"of", flip.of},         {"is_hardware", flip.is_hardware},
            {"value", flip.value}, {"factor", flip.factor}, {"to", flip.to}};
  put(json, "standard_errors", flip.standard_errors);
  return json;
}

WhatIf parse_what_if(const JsonView& view) {
  view.allow_only({"changes", "outcome", "message", "kept_iteration_s", "keeps_plan", "lower_bound_s",
                   "iteration_s", "ratio", "usd_per_iteration", "layouts", "differences", "chance"});
  WhatIf what_if;
  what_if.changes =
      parse_list<std::string>(view.required("changes"), [](const JsonView& change) { return change.text(); });
  parse_found(view, what_if);
  what_if.kept_iteration_s = parse_optional(view, "kept_iteration_s");
  what_if.lower_bound_s = parse_optional(view, "lower_bound_s");
  if (what_if.outcome == PlanOutcome::found) what_if.keeps_plan = view.required("keeps_plan").flag();
  return what_if;
}

Json what_if_to_json(const WhatIf& what_if) {
  Json json{{"changes", what_if.changes}};
  put_found(json, what_if);
  put(json, "kept_iteration_s", what_if.kept_iteration_s);
  put(json, "lower_bound_s", what_if.lower_bound_s);
  if (what_if.outcome == PlanOutcome::found) json["keeps_plan"] = what_if.keeps_plan;
  return json;
}

}  // namespace

Explanation Explanation::parse(const JsonView& view) {
  view.allow_only({"workflow", "cluster", "planner", "plan", "goal", "iteration_s", "usd_per_iteration",
                   "layouts", "bottleneck", "parts", "devices", "savings", "draws", "alternatives", "flips",
                   "what_ifs"});
  Explanation explanation;
  explanation.workflow = view.required("workflow").text();
  explanation.cluster = view.required("cluster").text();
  explanation.planner = view.required("planner").text();
  explanation.plan = view.required("plan").text();
  if (const std::optional<JsonView> goal = view.optional("goal"))
    explanation.goal = kGoals[static_cast<std::size_t>(parse_name<std::size_t>(*goal, kGoals))];
  explanation.iteration_s = view.required("iteration_s").positive();
  explanation.usd_per_iteration = parse_optional(view, "usd_per_iteration");
  explanation.layouts = parse_layouts(view.required("layouts"));
  explanation.bottleneck = view.required("bottleneck").text();
  explanation.parts = parse_list<TimePart>(view.required("parts"), parse_part);
  explanation.devices = parse_list<DeviceUse>(view.required("devices"), parse_use);
  explanation.savings = parse_list<Saving>(view.required("savings"), parse_saving);
  explanation.draws = view.required("draws").count();
  explanation.alternatives = parse_list<Alternative>(view.required("alternatives"), parse_alternative);
  explanation.flips = parse_list<Flip>(view.required("flips"), parse_flip);
  explanation.what_ifs = parse_list<WhatIf>(view.required("what_ifs"), parse_what_if);
  return explanation;
}

Json Explanation::to_json() const {
  Json json{{"workflow", workflow}, {"cluster", cluster}, {"planner", planner}, {"plan", plan}};
  if (goal != kGoals.front()) json["goal"] = goal;
  json["iteration_s"] = iteration_s;
  put(json, "usd_per_iteration", usd_per_iteration);
  json["layouts"] = layouts_to_json(layouts);
  json["bottleneck"] = bottleneck;
  json["parts"] = list_to_json(parts, part_to_json);
  json["devices"] = list_to_json(devices, use_to_json);
  json["savings"] = list_to_json(savings, saving_to_json);
  json["draws"] = draws;
  json["alternatives"] = list_to_json(alternatives, alternative_to_json);
  json["flips"] = list_to_json(flips, flip_to_json);
  json["what_ifs"] = list_to_json(what_ifs, what_if_to_json);
  return json;
}

}  // namespace sextant
