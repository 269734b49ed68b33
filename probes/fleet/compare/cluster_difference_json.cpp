// Reading and writing of probes/fleet/cluster_difference.h.
#include "core/json_value.h"
#include "documents/values/names.h"
#include "probes/fleet/compare/cluster_difference.h"

namespace sextant::inline probes {
namespace {

constexpr std::array<std::string_view, kChangeVerdictCount> kVerdicts{"worse", "changed", "better", "missing",
                                                                      "same"};
constexpr std::array<std::string_view, 6> kUnits{"flop/s", "bytes/s", "bytes", "s", "devices", ""};

ComparedCluster parse_compared(const JsonView& view) {
  view.allow_only({"name", "time_utc"});
  return {view.required("name").text(), view.required("time_utc").text()};
}

Json to_json(const ComparedCluster& cluster) {
  return {{"name", cluster.name}, {"time_utc", cluster.time_utc}};
}

ValueChange parse_change(const JsonView& view) {
  view.allow_only({"where", "what", "unit", "before", "after", "noise_fraction", "verdict", "note"});
  const auto number = [&](std::string_view key) {
    const auto member = view.optional(key);
    return member ? std::optional(member->non_negative()) : std::nullopt;
  };
  ValueChange change;
  change.where = view.required("where").text();
  change.what = view.required("what").text();
  change.unit = kUnits.at(view.required("unit").one_of({kUnits.begin(), kUnits.end()}));
  change.before = number("before");
  change.after = number("after");
  change.noise_fraction = number("noise_fraction");
  change.verdict = parse_name<ChangeVerdict>(view.required("verdict"), kVerdicts);
  change.note = view.required("note").any_text();
  return change;
}

Json to_json(const ValueChange& change) {
  Json out = {{"where", change.where}, {"what", change.what}, {"unit", change.unit}};
  if (change.before) out["before"] = *change.before;
  if (change.after) out["after"] = *change.after;
  if (change.noise_fraction) out["noise_fraction"] = *change.noise_fraction;
  out["verdict"] = name_in(kVerdicts, change.verdict);
  out["note"] = change.note;
  return out;
}

SettingChange parse_setting(const JsonView& view) {
  view.allow_only({"name", "before", "after"});
  SettingChange change{view.required("name").text(), {}, {}};
  if (const auto before = view.optional("before")) change.before = before->any_text();
  if (const auto after = view.optional("after")) change.after = after->any_text();
  return change;
}

Json to_json(const SettingChange& change) {
  Json out = {{"name", change.name}};
  if (change.before) out["before"] = *change.before;
  if (change.after) out["after"] = *change.after;
  return out;
}

}  // namespace

std::string_view name_of(ChangeVerdict verdict) { return name_in(kVerdicts, verdict); }

ClusterDifference ClusterDifference::parse(const JsonView& view) {
  view.allow_only({"before", "after", "threshold_fraction", "false_alarm_fraction", "changes", "environment"});
  ClusterDifference out;
  out.before = parse_compared(view.required("before"));
  out.after = parse_compared(view.required("after"));
  out.threshold_fraction = view.required("threshold_fraction").non_negative();
  out.false_alarm_fraction = view.required("false_alarm_fraction").fraction();
  for (const JsonView& change : view.required("changes").items()) out.changes.push_back(parse_change(change));
  for (const JsonView& change : view.required("environment").items()) {
    out.environment.push_back(parse_setting(change));
  }
  return out;
}

Json ClusterDifference::to_json() const {
  Json out = {{"before", sextant::to_json(before)},
              {"after", sextant::to_json(after)},
              {"threshold_fraction", threshold_fraction},
              {"false_alarm_fraction", false_alarm_fraction},
              {"changes", Json::array()},
              {"environment", Json::array()}};
  for (const ValueChange& change : changes) out["changes"].push_back(sextant::to_json(change));
  for (const SettingChange& change : environment) out["environment"].push_back(sextant::to_json(change));
  return out;
}

}  // namespace sextant::inline probes
