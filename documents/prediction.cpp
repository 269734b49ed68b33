#include "sextant/prediction.h"

#include <algorithm>
#include <cmath>

#include "core/json_value.h"
#include "core/units.h"
#include "documents/values/names.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, kTermCount> kTerms{
    "compute", "tensor_parallel", "pipeline_parallel", "bubble",          "data_parallel",
    "decode",  "optimizer",       "context_parallel",  "expert_parallel", "weight_gather",
    "offload", "overhead",        "stragglers",        "uneven_lengths"};

Interval parse_interval(const JsonView& view) {
  view.allow_only({"low", "high"});
  const Interval out{view.required("low").non_negative(), view.required("high").non_negative()};
  if (out.high < out.low) {
    view.required("high").fail("expected at least \"low\"");
  }
  return out;
}

Json to_json(const Interval& interval) { return {{"low", interval.low}, {"high", interval.high}}; }

std::map<Term, double> parse_terms(const JsonView& view) {
  view.allow_only({kTerms[0], kTerms[1], kTerms[2], kTerms[3], kTerms[4], kTerms[5], kTerms[6], kTerms[7],
                   kTerms[8], kTerms[9], kTerms[10], kTerms[11], kTerms[12], kTerms[13]});
  static_assert(kTermCount == 14, "every term is listed");
  std::map<Term, double> out;
  for (std::size_t term = 0; term < kTerms.size(); ++term) {
    if (const auto time = view.optional(kTerms[term])) {
      out.emplace(static_cast<Term>(term), time->non_negative());
    }
  }
  return out;
}

Familiarity parse_familiarity(const JsonView& view) {
  view.allow_only({"nearest_run", "distance", "extrapolating", "reasons"});
  Familiarity out;
  if (const auto run = view.optional("nearest_run")) {
    out.nearest_run = run->text();
    out.distance = view.required("distance").non_negative();
  }
  for (const JsonView& reason : view.required("reasons").items()) {
    out.reasons.push_back(reason.text());
  }
  if (view.required("extrapolating").flag() != out.extrapolating()) {
    view.required("extrapolating").fail("expected to agree with \"reasons\"");
  }
  return out;
}

Json to_json(const Familiarity& familiarity) {
  Json out = Json::object();
  if (!familiarity.nearest_run.empty()) {
    out["nearest_run"] = familiarity.nearest_run;
    out["distance"] = familiarity.distance;
  }
  out["extrapolating"] = familiarity.extrapolating();
  out["reasons"] = familiarity.reasons;
  return out;
}

Sensitivity parse_sensitivity(const JsonView& view) {
  view.allow_only({"name", "of", "hardware", "elasticity", "variance_share"});
  Sensitivity out;
  out.name = view.required("name").text();
  out.of = view.required("of").text();
  out.is_hardware = view.required("hardware").flag();
  out.elasticity = view.required("elasticity").number();
  if (const auto share = view.optional("variance_share")) {
    out.variance_share = share->number();
  }
  return out;
}

Json to_json(const Sensitivity& sensitivity) {
  Json out = {{"name", sensitivity.name},
              {"of", sensitivity.of},
              {"hardware", sensitivity.is_hardware},
              {"elasticity", sensitivity.elasticity}};
  if (sensitivity.variance_share) {
    out["variance_share"] = *sensitivity.variance_share;
  }
  return out;
}

TaskPrediction parse_task(const JsonView& view) {
  view.allow_only({"time_s", "interval_s", "terms_s", "critical_replica", "critical_stage", "start_s", "end_s",
                   "queued_s", "exposed_s", "devices", "familiarity"});
  TaskPrediction out;
  out.time_s = view.required("time_s").non_negative();
  if (const auto interval = view.optional("interval_s")) {
    out.interval_s = parse_interval(*interval);
  }
  out.terms_s = parse_terms(view.required("terms_s"));
  out.critical_replica = view.required("critical_replica").count(0);
  out.critical_stage = view.required("critical_stage").count(0);
  out.start_s = view.required("start_s").non_negative();
  out.end_s = view.required("end_s").non_negative();
  if (const auto queued = view.optional("queued_s")) out.queued_s = queued->non_negative();
  if (const auto exposed = view.optional("exposed_s")) out.exposed_s = exposed->non_negative();
  for (const JsonView& device : view.required("devices").items()) {
    out.devices.push_back(DeviceId{device.count(0)});
  }
  if (const auto familiarity = view.optional("familiarity")) {
    out.familiarity = parse_familiarity(*familiarity);
  }
  return out;
}

Json to_json(const TaskPrediction& task) {
  Json out = {{"time_s", task.time_s}};
  if (task.interval_s) {
    out["interval_s"] = to_json(*task.interval_s);
  }
  out["terms_s"] = Json::object();
  for (const auto& [term, time_s] : task.terms_s) {
    out["terms_s"][std::string(name_of(term))] = time_s;
  }
  out["critical_replica"] = task.critical_replica;
  out["critical_stage"] = task.critical_stage;
  out["start_s"] = task.start_s;
  out["end_s"] = task.end_s;
  out["queued_s"] = task.queued_s;
  out["exposed_s"] = task.exposed_s;
  out["devices"] = Json::array();
  for (const DeviceId device : task.devices) {
    out["devices"].push_back(device.value);
  }
  if (task.familiarity) {
    out["familiarity"] = to_json(*task.familiarity);
  }
  return out;
}

// The members of a device's or host's memory that say how sure the prediction is: both or none.
std::optional<MemoryTrust> parse_memory_trust(const JsonView& view) {
  const auto interval = view.optional("needed_interval_bytes");
  const auto probability = view.optional("fit_probability");
  if (!interval && !probability) return std::nullopt;
  return MemoryTrust{parse_interval(view.required("needed_interval_bytes")),
                     view.required("fit_probability").fraction()};
}

void add_memory_trust(Json& out, const std::optional<MemoryTrust>& trust) {
  if (!trust) return;
  out["needed_interval_bytes"] = to_json(trust->needed_bytes);
  out["fit_probability"] = trust->fit_probability;
}

DeviceMemory parse_memory(const JsonView& view) {
  view.allow_only({"device", "capacity_bytes", "resident_bytes", "working_bytes", "needed_interval_bytes",
                   "fit_probability"});
  DeviceMemory out;
  out.device = DeviceId{view.required("device").count(0)};
  out.capacity_bytes = view.required("capacity_bytes").non_negative();
  out.resident_bytes = view.required("resident_bytes").non_negative();
  out.working_bytes = view.required("working_bytes").non_negative();
  out.trust = parse_memory_trust(view);
  return out;
}

Json to_json(const DeviceMemory& memory) {
  Json out = {{"device", memory.device.value},
              {"capacity_bytes", memory.capacity_bytes},
              {"resident_bytes", memory.resident_bytes},
              {"working_bytes", memory.working_bytes}};
  add_memory_trust(out, memory.trust);
  return out;
}

// It follows from the other members and is written for readers who do not compute.
void check_overlapped(const JsonView& view, const Prediction& prediction) {
  constexpr double kRounding = 1e-6;  // relative to the iteration
  const double stated_s = view.non_negative();
  if (std::abs(stated_s - prediction.overlapped_s()) > kRounding * (prediction.iteration_s + stated_s)) {
    view.fail("is not the sum of the tasks, the weight sync, the controller and the rewards less iteration_s");
  }
}

std::vector<double> parse_staleness(const JsonView& view) {
  view.allow_only({"mean", "fractions"});
  constexpr double kRounding = 1e-6;
  std::vector<double> fractions;
  double sum = 0;
  for (const JsonView& fraction : view.required("fractions").items()) {
    fractions.push_back(fraction.fraction());
    sum += fractions.back();
  }
  if (std::abs(sum - 1) > kRounding) view.required("fractions").fail("do not sum to 1");
  const JsonView mean = view.required("mean");
  if (std::abs(mean.non_negative() - mean_staleness(fractions)) > kRounding * (1 + mean_staleness(fractions)))
    mean.fail("is not the mean of the fractions");
  return fractions;
}

HostMemory parse_host_memory(const JsonView& view) {
  view.allow_only({"node", "capacity_bytes", "needed_bytes", "needed_interval_bytes", "fit_probability"});
  HostMemory out;
  out.node = view.required("node").text();
  if (const auto capacity = view.optional("capacity_bytes")) {
    out.capacity_bytes = capacity->non_negative();
  }
  out.needed_bytes = view.required("needed_bytes").non_negative();
  out.trust = parse_memory_trust(view);
  return out;
}

Json to_json(const HostMemory& memory) {
  Json out = {{"node", memory.node}, {"needed_bytes", memory.needed_bytes}};
  if (memory.capacity_bytes) {
    out["capacity_bytes"] = *memory.capacity_bytes;
  }
  add_memory_trust(out, memory.trust);
  return out;
}

}  // namespace

std::string_view name_of(Term term) { return name_in(kTerms, term); }

Fit fit_of(bool fits, const std::optional<MemoryTrust>& trust) {
  constexpr double kSure = 0.95;
  if (!trust) return fits ? Fit::fits : Fit::does_not_fit;
  if (trust->fit_probability >= kSure) return Fit::fits;
  return trust->fit_probability <= 1 - kSure ? Fit::does_not_fit : Fit::uncertain;
}

std::string describe_fit(bool fits, const std::optional<MemoryTrust>& trust) {
  switch (fit_of(fits, trust)) {
    case Fit::fits:
      return "fits";
    case Fit::does_not_fit:
      return "does not fit";
    case Fit::uncertain:
      break;
  }
  return "uncertain (" + format_percent(trust->fit_probability, 0) + ")";
}

bool Prediction::fits() const {
  return std::all_of(memory.begin(), memory.end(), [](const auto& device) { return device.fits(); }) &&
         std::all_of(host_memory.begin(), host_memory.end(), [](const auto& host) { return host.fits(); });
}

double Prediction::overlapped_s() const {
  constexpr double kRounding = 1e-9;  // relative, of sums in another order
  double sum_s = weight_sync_s + data_s + controller_s + rule_reward_s;
  for (const auto& [name, task] : tasks) sum_s += task.time_s;
  const double more_s = sum_s - iteration_s;
  return more_s > kRounding * sum_s ? more_s : 0;
}

double mean_staleness(const std::vector<double>& fractions) {
  double mean = 0;
  for (std::size_t versions = 0; versions < fractions.size(); ++versions)
    mean += static_cast<double>(versions) * fractions[versions];
  return mean;
}

bool Prediction::extrapolating() const {
  return std::any_of(tasks.begin(), tasks.end(), [](const auto& named) {
    return named.second.familiarity && named.second.familiarity->extrapolating();
  });
}

Prediction Prediction::parse(const JsonView& view) {
  view.allow_only({"workflow",
                   "plan",
                   "cluster",
                   "coefficients",
                   "framework",
                   "iteration_s",
                   "iteration_interval_s",
                   "sequences_per_s",
                   "weight_sync_s",
                   "data_s",
                   "controller_s",
                   "rule_reward_s",
                   "overlapped_s",
                   "staleness",
                   "tasks",
                   "memory",
                   "host_memory",
                   "bottleneck",
                   "notes",
                   "sensitivities"});
  Prediction out;
  out.workflow = view.required("workflow").text();
  out.plan = view.required("plan").text();
  out.cluster = view.required("cluster").text();
  if (const auto coefficients = view.optional("coefficients")) {
    out.coefficients = coefficients->text();
  }
  if (const auto framework = view.optional("framework")) {
    out.framework = framework->text();
  }
  out.iteration_s = view.required("iteration_s").non_negative();
  if (const auto interval = view.optional("iteration_interval_s")) {
    out.iteration_interval_s = parse_interval(*interval);
  }
  out.sequences_per_s = view.required("sequences_per_s").non_negative();
  out.weight_sync_s = view.required("weight_sync_s").non_negative();
  if (const auto data = view.optional("data_s")) out.data_s = data->non_negative();
  if (const auto controller = view.optional("controller_s")) out.controller_s = controller->non_negative();
  if (const auto reward = view.optional("rule_reward_s")) out.rule_reward_s = reward->non_negative();
  if (const auto staleness = view.optional("staleness")) out.staleness_fractions = parse_staleness(*staleness);
  for (const auto& [name, task] : view.required("tasks").members()) {
    out.tasks.emplace(name, parse_task(task));
  }
  for (const JsonView& device : view.required("memory").items()) {
    out.memory.push_back(parse_memory(device));
  }
  if (const auto hosts = view.optional("host_memory")) {
    for (const JsonView& host : hosts->items()) {
      out.host_memory.push_back(parse_host_memory(host));
    }
  }
  out.bottleneck = view.required("bottleneck").any_text();
  if (const auto notes = view.optional("notes")) {
    for (const JsonView& note : notes->items()) out.notes.push_back(note.text());
  }
  if (const auto overlapped = view.optional("overlapped_s")) check_overlapped(*overlapped, out);
  if (const auto sensitivities = view.optional("sensitivities")) {
    for (const JsonView& sensitivity : sensitivities->items()) {
      out.sensitivities.push_back(parse_sensitivity(sensitivity));
    }
  }
  return out;
}

Json Prediction::to_json() const {
  Json out = {{"workflow", workflow}, {"plan", plan}, {"cluster", cluster}};
  if (!coefficients.empty()) {
    out["coefficients"] = coefficients;
  }
  if (!framework.empty()) {
    out["framework"] = framework;
  }
  out["iteration_s"] = iteration_s;
  if (iteration_interval_s) {
    out["iteration_interval_s"] = sextant::to_json(*iteration_interval_s);
  }
  out["sequences_per_s"] = sequences_per_s;
  out["weight_sync_s"] = weight_sync_s;
  if (data_s > 0) {
    out["data_s"] = data_s;
  }
  out["controller_s"] = controller_s;
  if (rule_reward_s > 0) {
    out["rule_reward_s"] = rule_reward_s;
  }
  out["overlapped_s"] = overlapped_s();
  if (!staleness_fractions.empty()) {
    out["staleness"] = {{"mean", mean_staleness()}, {"fractions", staleness_fractions}};
  }
  out["tasks"] = Json::object();
  for (const auto& [name, task] : tasks) {
    out["tasks"][name] = sextant::to_json(task);
  }
  out["memory"] = Json::array();
  for (const DeviceMemory& device : memory) {
    out["memory"].push_back(sextant::to_json(device));
  }
  if (!host_memory.empty()) {
    out["host_memory"] = Json::array();
    for (const HostMemory& host : host_memory) {
      out["host_memory"].push_back(sextant::to_json(host));
    }
  }
  out["bottleneck"] = bottleneck;
  if (!notes.empty()) {
    out["notes"] = notes;
  }
  if (!sensitivities.empty()) {
    out["sensitivities"] = Json::array();
    for (const Sensitivity& sensitivity : sensitivities) {
      out["sensitivities"].push_back(sextant::to_json(sensitivity));
    }
  }
  return out;
}

}  // namespace sextant
