#include "sextant/prediction.h"

#include <algorithm>
#include <cmath>

#include "core/units.h"
#include "documents/field_tables.h"

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

Json interval_to_json(const Interval& interval) { return {{"low", interval.low}, {"high", interval.high}}; }

std::map<Term, double> parse_terms(const JsonView& view) {
  view.allow_only({kTerms.begin(), kTerms.end()});
  std::map<Term, double> out;
  for (std::size_t term = 0; term < kTerms.size(); ++term) {
    if (const auto time = view.optional(kTerms[term])) {
      out.emplace(static_cast<Term>(term), time->non_negative());
    }
  }
  return out;
}

Kind<Interval> interval_s() {
  return {parse_interval, interval_to_json, {{"$ref", "common.schema.json#/$defs/interval_s"}}};
}

Kind<std::map<Term, double>> terms_s() {
  return {parse_terms,
          [](const std::map<Term, double>& terms) {
            Json out = Json::object();
            for (const auto& [term, time_s] : terms) out[name_of(term)] = time_s;
            return out;
          },
          nullptr};
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

Json familiarity_to_json(const Familiarity& familiarity) {
  Json out = Json::object();
  if (!familiarity.nearest_run.empty()) {
    out["nearest_run"] = familiarity.nearest_run;
    out["distance"] = familiarity.distance;
  }
  out["extrapolating"] = familiarity.extrapolating();
  out["reasons"] = familiarity.reasons;
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
  out["needed_interval_bytes"] = interval_to_json(trust->needed_bytes);
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

Json memory_to_json(const DeviceMemory& memory) {
  Json out = {{"device", memory.device.value},
              {"capacity_bytes", memory.capacity_bytes},
              {"resident_bytes", memory.resident_bytes},
              {"working_bytes", memory.working_bytes}};
  add_memory_trust(out, memory.trust);
  return out;
}

// It follows from the other members and is written for readers who do not compute.
void check_overlapped(const JsonView& view, Prediction& prediction) {
  const auto overlapped = view.optional("overlapped_s");
  if (!overlapped) return;
  constexpr double kRounding = 1e-6;  // relative to the iteration
  const double stated_s = overlapped->non_negative();
  if (std::abs(stated_s - prediction.overlapped_s()) > kRounding * (prediction.iteration_s + stated_s)) {
    overlapped->fail(
        "is not the sum of the tasks, the weight sync, the controller and the rewards less iteration_s");
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

Json staleness_to_json(const std::vector<double>& fractions) {
  return {{"mean", mean_staleness(fractions)}, {"fractions", fractions}};
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

Json host_memory_to_json(const HostMemory& memory) {
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

const Fields<Sensitivity>& documents::sensitivity_fields() {
  static const Fields<Sensitivity> fields{
      required("name", &Sensitivity::name, text(), "Name of a coefficient, or of a number of the cluster."),
      required("of", &Sensitivity::of, text(), "Device type, link level, framework or \"*\"."),
      required("hardware", &Sensitivity::is_hardware, flag(), "A number of the cluster."),
      required("elasticity", &Sensitivity::elasticity, number(),
               "Relative change of the iteration by relative change of the number."),
      optional("variance_share", &Sensitivity::variance_share, number(),
               "Coefficients: share of the variance of the logarithm of the iteration."),
  };
  return fields;
}

const Fields<TaskPrediction>& documents::task_prediction_fields() {
  static const Fields<TaskPrediction> fields{
      required("time_s", &TaskPrediction::time_s, non_negative()),
      optional("interval_s", &TaskPrediction::interval_s, interval_s()),
      required("terms_s", &TaskPrediction::terms_s, terms_s()).described_by_hand(),
      required("critical_replica", &TaskPrediction::critical_replica, number_of()),
      required("critical_stage", &TaskPrediction::critical_stage, number_of()),
      required("start_s", &TaskPrediction::start_s, non_negative(), "Start in the timeline of one iteration."),
      required("end_s", &TaskPrediction::end_s, non_negative()),
      defaulted("queued_s", &TaskPrediction::queued_s, non_negative(),
                "Before the start: the task's inputs are there, but its devices are busy."),
      defaulted("exposed_s", &TaskPrediction::exposed_s, non_negative(),
                "Time that the task adds to the iteration: its own, or less if it runs in parallel with longer "
                "tasks."),
      required("devices", &TaskPrediction::devices, list_of(device())),
      optional("familiarity", &TaskPrediction::familiarity,
               Kind<Familiarity>{parse_familiarity, familiarity_to_json, {{"$ref", "#/$defs/familiarity"}}}),
  };
  return fields;
}

const Fields<Prediction>& documents::prediction_fields() {
  static const Fields<Prediction> fields{
      required("workflow", &Prediction::workflow, text()),
      required("plan", &Prediction::plan, text()),
      required("cluster", &Prediction::cluster, text()),
      optional("coefficients", &Prediction::coefficients, text(),
               "Source of the coefficients: a file, or \"none\" for neutral coefficients."),
      optional("framework", &Prediction::framework, text(),
               "The framework whose coefficients were used, \"*\" for any."),
      required("iteration_s", &Prediction::iteration_s, non_negative(), "Seconds of one iteration."),
      optional("iteration_interval_s", &Prediction::iteration_interval_s, interval_s()),
      optional("weight_sync_interval_s", &Prediction::weight_sync_interval_s, interval_s()),
      required("sequences_per_s", &Prediction::sequences_per_s, non_negative()),
      required("weight_sync_s", &Prediction::weight_sync_s, non_negative(),
               "Resharding or synchronization, whichever the plan pays."),
      optional("weight_sync_hidden_s", &Prediction::weight_sync_hidden_s, non_negative(),
               "The part of weight_sync_s that passes while another task still runs, so that it adds nothing; "
               "absent: none."),
      optional("data_s", &Prediction::data_s, non_negative(),
               "Data that tasks hand on, on its way between their devices; absent: none."),
      defaulted("controller_s", &Prediction::controller_s, non_negative(),
                "Time of the controller of an RL framework between the tasks: once per iteration "
                "(iteration_overhead_s) and for every sequence (sequence_overhead_s). The time of a call of a "
                "task (call_overhead_s) is in the overhead of the task."),
      optional("rule_reward_s", &Prediction::rule_reward_s, non_negative(),
               "Time of a rule that gives the rewards."),
      // Checked with the notes: it follows from the tasks too.
      Field<Prediction>{"overlapped_s", false, nullptr, [](const JsonView&, Prediction&) {},
                        [](const Prediction& in, Json& object) { object["overlapped_s"] = in.overlapped_s(); }},
      optional("staleness", &Prediction::staleness_fractions,
               Kind<std::vector<double>>{parse_staleness, staleness_to_json, nullptr})
          .described_by_hand(),
      required("tasks", &Prediction::tasks,
               by_name(defined_at("#/$defs/task", object(task_prediction_fields()))), "Tasks by name."),
      required("memory", &Prediction::memory,
               list_of(Kind<DeviceMemory>{parse_memory, memory_to_json, {{"$ref", "#/$defs/memory"}}}),
               "Memory by device."),
      optional(
          "host_memory", &Prediction::host_memory,
          list_of(Kind<HostMemory>{parse_host_memory, host_memory_to_json, {{"$ref", "#/$defs/host_memory"}}}),
          "Host memory of nodes that hold offloaded states."),
      required("bottleneck", &Prediction::bottleneck, any_text(), "One sentence."),
      optional("notes", &Prediction::notes, list_of(text()),
               "Assumptions for values that the plan does not state, one sentence each.")
          .then(check_overlapped),
      optional("sensitivities", &Prediction::sensitivities,
               list_of(defined_at("#/$defs/sensitivity", object(sensitivity_fields()))),
               "Effect of a change of each number on the iteration."),
  };
  return fields;
}

Prediction Prediction::parse(const JsonView& view) { return parse_fields(view, prediction_fields()); }

Json Prediction::to_json() const { return fields_to_json(*this, prediction_fields()); }

}  // namespace sextant
