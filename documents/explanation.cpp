#include "documents/explanation.h"

#include <array>

#include "documents/field_tables.h"

namespace sextant::inline documents {
namespace {

constexpr std::array<std::string_view, 3> kGoals = {"time", "cost", "devices"};
constexpr std::array<std::string_view, 3> kOutcomes = {"found", "infeasible", "too_large"};

std::optional<double> parse_optional(const JsonView& view, std::string_view key) {
  const std::optional<JsonView> member = view.optional(key);
  return member ? std::optional<double>(member->non_negative()) : std::nullopt;
}

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = *value;
}

Kind<std::map<std::string, std::string>> layouts() { return defined_at("#/$defs/layouts", by_name(text())); }

Kind<std::vector<TimePart>> time_parts() {
  return defined_at("#/$defs/parts", list_of(object(time_part_fields())));
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
  found.layouts = layouts().read(view.required("layouts"));
  found.differences = time_parts().read(view.required("differences"));
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
  json["layouts"] = found.layouts;
  json["differences"] = time_parts().write(found.differences);
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

WhatIf parse_what_if(const JsonView& view) {
  view.allow_only({"changes", "outcome", "message", "kept_iteration_s", "keeps_plan", "lower_bound_s",
                   "iteration_s", "ratio", "usd_per_iteration", "layouts", "differences", "chance"});
  WhatIf what_if;
  what_if.changes = list_of(text()).read(view.required("changes"));
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

const Fields<TimePart>& time_part_fields() {
  static const Fields<TimePart> fields{
      required("task", &TimePart::task, text(), "iteration: of no task."),
      required("term", &TimePart::term, text(),
               "Name of the term as in predictions; weight_sync or between_tasks if no task is named."),
      required("seconds", &TimePart::seconds, number()),
  };
  return fields;
}

const Fields<DeviceUse>& device_use_fields() {
  static const Fields<DeviceUse> fields{
      required("device_type", &DeviceUse::device_type, text()),
      required("devices", &DeviceUse::devices, count()),
      required("used", &DeviceUse::used, number_of()),
      required("idle_fraction", &DeviceUse::idle_fraction, fraction(),
               "Idle share of the time of all devices, used or not.")
          .then([](const JsonView& view, DeviceUse& use) {
            if (use.used > use.devices) view.required("used").fail("more than \"devices\"");
          }),
  };
  return fields;
}

const Fields<Saving>& saving_fields() {
  static const Fields<Saving> fields{
      required("name", &Saving::name, text(),
               "A number of the cluster; link: latency and bandwidth of a level together; device: all rates of "
               "a type."),
      required("of", &Saving::of, text(), "Device type or level of links; *: all."),
      required("elasticity", &Saving::elasticity, number(),
               "Relative change of the iteration by relative change of the number."),
      required("saved_fraction", &Saving::saved_fraction, number(),
               "Share of the iteration that is saved if the number is 10 % better."),
  };
  return fields;
}

const Fields<Flip>& flip_fields() {
  static const Fields<Flip> fields{
      required("name", &Flip::name, text()),
      required("of", &Flip::of, text()),
      required("is_hardware", &Flip::is_hardware, flag()),
      required("value", &Flip::value, number(), "Now."),
      required("factor", &Flip::factor, positive(), "Factor of the number at which the answer changes."),
      required("to", &Flip::to, any_text(),
               "The alternative that is better then; empty: the chosen plan no longer fits."),
      optional("standard_errors", &Flip::standard_errors, non_negative(),
               "The change in units of the number's uncertainty."),
  };
  return fields;
}

const Fields<Explanation>& explanation_fields() {
  static const Fields<Explanation> fields{
      required("workflow", &Explanation::workflow, text()),
      required("cluster", &Explanation::cluster, text()),
      required("planner", &Explanation::planner, text()),
      required("plan", &Explanation::plan, text(), "Its name."),
      optional("goal", &Explanation::goal, one_of({kGoals.begin(), kGoals.end()}),
               "The goal of the plan, which ratios, chances and flips refer to: seconds or dollars of an "
               "iteration, or devices."),
      required("iteration_s", &Explanation::iteration_s, positive()),
      optional("usd_per_iteration", &Explanation::usd_per_iteration, non_negative(),
               "Present if all devices of the plan have prices."),
      required("layouts", &Explanation::layouts, layouts()),
      required("bottleneck", &Explanation::bottleneck, text(), "A sentence."),
      required("parts", &Explanation::parts, time_parts(), "Sum to the iteration, longest first."),
      required("devices", &Explanation::devices,
               list_of(defined_at("#/$defs/device_use", object(device_use_fields())))),
      required("savings", &Explanation::savings, list_of(defined_at("#/$defs/saving", object(saving_fields()))),
               "Savings by better hardware for this plan, largest first."),
      required("draws", &Explanation::draws, number_of(),
               "Number of draws of the coefficients; 0: they were not fitted, and no uncertainty is known."),
      required(
          "alternatives", &Explanation::alternatives,
          list_of(Kind<Alternative>{parse_alternative, alternative_to_json, {{"$ref", "#/$defs/alternative"}}}),
          "Fastest first, then those that found no plan."),
      required("flips", &Explanation::flips, list_of(defined_at("#/$defs/flip", object(flip_fields()))),
               "Smallest change first."),
      required("what_ifs", &Explanation::what_ifs,
               list_of(Kind<WhatIf>{parse_what_if, what_if_to_json, {{"$ref", "#/$defs/what_if"}}})),
  };
  return fields;
}

Explanation Explanation::parse(const JsonView& view) { return parse_fields(view, explanation_fields()); }

Json Explanation::to_json() const { return fields_to_json(*this, explanation_fields()); }

}  // namespace sextant::inline documents
