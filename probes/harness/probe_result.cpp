#include "probes/harness/probe_result.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

constexpr std::array<std::string_view, 4> kOutcomes = {"measured", "noisy", "waived", "failed"};

ProbeResult result_of(std::string name, std::string unit, Sampled sampled) {
  ProbeResult result;
  result.name = std::move(name);
  result.outcome = sampled.is_converged ? ProbeOutcome::measured : ProbeOutcome::noisy;
  result.sentence = std::move(sampled.sentence);
  result.unit = std::move(unit);
  result.spread_fraction = sampled.spread_fraction;
  result.operations_per_sample = sampled.operations_per_sample;
  result.outliers = sampled.outliers;
  result.drift_fraction = sampled.drift_fraction;
  result.samples_s = std::move(sampled.samples_s);
  return result;
}

}  // namespace

std::string_view name_of(ProbeOutcome outcome) { return kOutcomes.at(static_cast<std::size_t>(outcome)); }

ProbeResult rate_result(std::string name, std::string unit, double work, Sampled sampled) {
  const double median_s = sampled.median_s;
  ProbeResult result = result_of(std::move(name), std::move(unit), std::move(sampled));
  result.work = work;
  result.value = work / median_s;
  return result;
}

ProbeResult time_result(std::string name, double share, Sampled sampled) {
  const double median_s = sampled.median_s;
  ProbeResult result = result_of(std::move(name), "s", std::move(sampled));
  result.value = share * median_s;
  for (double& sample_s : result.samples_s) sample_s *= share;
  return result;
}

ProbeResult waived_result(std::string name, std::string unit, std::string reason) {
  ProbeResult result;
  result.name = std::move(name);
  result.unit = std::move(unit);
  result.sentence = std::move(reason);
  return result;
}

ProbeResult failed_result(ProbeResult result, const std::string& reason) {
  result.outcome = ProbeOutcome::failed;
  result.sentence = reason;
  result.value = 0;
  return result;
}

ProbeResult ProbeResult::parse(const JsonView& view) {
  view.allow_only({"name", "outcome", "sentence", "value", "unit", "spread_fraction", "work",
                   "operations_per_sample", "outliers", "drift_fraction", "samples_s", "rank", "peer", "group",
                   "ranks", "how", "conditions"});
  ProbeResult result;
  result.name = view.required("name").text();
  const std::size_t outcome = view.required("outcome").one_of({kOutcomes.begin(), kOutcomes.end()});
  result.outcome = static_cast<ProbeOutcome>(outcome);
  result.sentence = view.required("sentence").text();
  result.value = view.required("value").non_negative();
  result.unit = view.required("unit").text();
  result.spread_fraction = view.required("spread_fraction").non_negative();
  result.work = view.required("work").non_negative();
  result.operations_per_sample = view.required("operations_per_sample").count(1);
  result.outliers = view.required("outliers").count();
  result.drift_fraction = view.required("drift_fraction").number();
  result.samples_s = view.required("samples_s").numbers();
  result.rank = view.required("rank").count();
  if (const auto peer = view.optional("peer")) result.peer = peer->count();
  if (const auto group = view.optional("group")) result.group = group->text();
  if (const auto ranks = view.optional("ranks")) result.ranks = ranks->count();
  if (const auto how = view.optional("how")) result.how = how->text();
  if (const auto conditions = view.optional("conditions")) {
    result.conditions = DeviceConditions::parse(*conditions);
  }
  return result;
}

Json ProbeResult::to_json() const {
  Json json = {{"name", name},           {"outcome", name_of(outcome)},
               {"sentence", sentence},   {"value", value},
               {"unit", unit},           {"spread_fraction", spread_fraction},
               {"work", work},           {"operations_per_sample", operations_per_sample},
               {"outliers", outliers},   {"drift_fraction", drift_fraction},
               {"samples_s", samples_s}, {"rank", rank}};
  if (peer >= 0) json["peer"] = peer;
  if (!group.empty()) json["group"] = group;
  if (ranks > 0) json["ranks"] = ranks;
  if (!how.empty()) json["how"] = how;
  if (!conditions.states.empty()) json["conditions"] = conditions.to_json();
  return json;
}

const ProbeResult* find_value(const std::vector<ProbeResult>& results, const std::string& name) {
  for (const ProbeResult& result : results) {
    if (result.name == name && result.has_value()) return &result;
  }
  return nullptr;
}

Json to_json(const std::vector<ProbeResult>& results) {
  Json json = Json::array();
  for (const ProbeResult& result : results) json.push_back(result.to_json());
  return json;
}

std::vector<ProbeResult> parse_results(const JsonView& view) {
  std::vector<ProbeResult> results;
  for (const JsonView& result : view.items()) results.push_back(ProbeResult::parse(result));
  return results;
}

}  // namespace sextant::inline probes
