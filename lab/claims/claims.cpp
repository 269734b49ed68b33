#include "lab/claims/claims.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/import/records/run_parts.h"
#include "calibrate/import/verl/verl.h"
#include "core/in_file.h"
#include "core/text.h"
#include "documents/values/fields.h"
#include "lab/claims/families.h"
#include "sextant/error.h"

namespace sextant::inline lab {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"at_most", "at_least", "between"};

constexpr std::array<std::string_view, 2> kFramework{"framework.iterations.leave_one_framework_out",
                                                     "framework.coverage_90"};
constexpr std::array<std::string_view, 2> kGeneration{"generation.leave_one_gpu_out",
                                                      "generation.unseen_architecture"};
constexpr std::array<std::string_view, 3> kGpu{"gpu.proxy.tasks.held_out", "gpu.trace.iterations.held_out",
                                               "gpu.trace.iterations.shipped_coefficients"};
constexpr std::array<std::string_view, 2> kMemory{"memory.leave_one_source_out.median",
                                                  "memory.leave_one_source_out.p90"};
constexpr std::array<std::string_view, 3> kProbe{"probe.gpu.gemm", "probe.gpu.copy", "probe.gpu.time"};
constexpr std::array<std::string_view, 4> kProxy{"proxy.tasks.held_out", "proxy.kendall_tau",
                                                 "proxy.kendall_tau_told_apart", "proxy.regret"};
constexpr std::array<std::string_view, 3> kReal{"real.tasks.in_sample", "real.tasks.leave_one_plan_out",
                                                "real.iterations.leave_one_plan_out"};
constexpr std::array<std::string_view, 4> kRl{"rl.iterations.leave_one_model_out", "rl.iterations.coverage_90",
                                              "rl.iterations.leave_one_release_out",
                                              "rl.iterations.release_coverage_90"};
constexpr std::array<std::string_view, 2> kSailor{"sailor.time", "sailor.memory"};
constexpr std::array<std::string_view, 3> kShipped{"shipped.generation", "shipped.iterations",
                                                   "shipped.training"};
constexpr std::array<std::string_view, 5> kTracer{"tracer.graphs", "tracer.eager.first_host",
                                                  "tracer.eager.first_host.median", "tracer.eager.second_host",
                                                  "tracer.launches"};
constexpr std::array<std::string_view, 1> kTraining{"training.leave_one_model_out"};
constexpr std::array<std::string_view, 1> kVerl{"verl.tasks.leave_one_run_out"};
constexpr std::array<std::string_view, 5> kVtrain{"vtrain.five_fold", "vtrain.from_40_runs",
                                                  "vtrain.leave_hidden_out", "vtrain.leave_tp8_out",
                                                  "vtrain.single_to_multi_node"};

constexpr std::array<ClaimFamily, 14> kFamilies{{
    {"framework", claims::framework, kFramework},
    {"generation", claims::generation, kGeneration},
    {"gpu", claims::gpu, kGpu},
    {"memory", claims::memory, kMemory},
    {"probe", claims::probe, kProbe},
    {"proxy", claims::proxy, kProxy},
    {"real", claims::real, kReal},
    {"rl", claims::rl, kRl},
    {"sailor", claims::sailor, kSailor},
    {"shipped", claims::shipped, kShipped},
    {"tracer", claims::tracer, kTracer},
    {"training", claims::training, kTraining},
    {"verl", claims::verl, kVerl},
    {"vtrain", claims::vtrain, kVtrain},
}};

bool is_wanted(const ClaimFamily& family, std::string_view prefix) {
  return std::any_of(family.figures.begin(), family.figures.end(),
                     [&](std::string_view figure) { return figure.starts_with(prefix); });
}

std::string known_figures() {
  std::string out;
  for (const ClaimFamily& family : kFamilies) {
    for (const std::string_view figure : family.figures) out += (out.empty() ? "" : ", ") + std::string(figure);
  }
  return out;
}

// The figures of a family are computed together; those that nobody asked for are not reported.
void keep_wanted(ClaimReport& report, std::string_view prefix) {
  std::erase_if(report.claims, [&](const Claim& claim) { return !claim.name.starts_with(prefix); });
  std::erase_if(report.worst, [&](const WorstRecord& record) { return !record.claim.starts_with(prefix); });
}

Claim parse_claim(const JsonView& view) {
  view.allow_only(
      {"name", "protocol", "kind", "value", "threshold", "upper", "held", "records", "free_coefficients"});
  Claim claim;
  claim.name = view.required("name").text();
  claim.protocol = view.required("protocol").text();
  claim.kind = parse_name<ClaimKind>(view.required("kind"), kKinds);
  claim.value = view.required("value").number();
  claim.threshold = view.required("threshold").number();
  if (claim.kind == ClaimKind::between) claim.upper = view.required("upper").number();
  if (claim.kind != ClaimKind::between && view.optional("upper"))
    view.required("upper").fail("only of \"between\"");
  if (const auto held = view.optional("held")) claim.held = held->number();
  claim.records = view.required("records").count(0);
  claim.free_coefficients = view.required("free_coefficients").count(0);
  return claim;
}

Json to_json(const Claim& claim) {
  Json out = {{"name", claim.name},
              {"protocol", claim.protocol},
              {"kind", name_in(kKinds, claim.kind)},
              {"value", claim.value},
              {"threshold", claim.threshold},
              {"records", claim.records},
              {"free_coefficients", claim.free_coefficients}};
  if (claim.kind == ClaimKind::between) out["upper"] = claim.upper;
  if (claim.held) out["held"] = *claim.held;
  return out;
}

const Fields<WorstRecord>& worst_fields() {
  static const Fields<WorstRecord> fields{
      required("claim", &WorstRecord::claim, text()),
      required("run", &WorstRecord::run, text()),
      required("what", &WorstRecord::what, text()),
      required("measured", &WorstRecord::measured, positive()),
      required("predicted", &WorstRecord::predicted, positive()),
      optional("cause", &WorstRecord::cause, text()),
  };
  return fields;
}

void keep_worst(std::size_t maximum, ClaimReport& report, const std::string& name,
                const CrossValidation& validation, const CrossValidation::Filter& filter) {
  std::vector<const HeldOut*> sorted;
  for (const HeldOut& time : validation.times) {
    if (!filter || filter(time)) sorted.push_back(&time);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const HeldOut* a, const HeldOut* b) {
    return std::abs(std::log(a->predicted / a->measured)) > std::abs(std::log(b->predicted / b->measured));
  });
  for (std::size_t i = 0; i < std::min(maximum, sorted.size()); ++i) {
    report.worst.push_back(
        {name, sorted[i]->run, sorted[i]->what, sorted[i]->measured, sorted[i]->predicted, ""});
  }
}

// The value reached so far by a figure that misses its threshold: a worse value is a regression, and a test
// fails. The document and docs/accuracy.md name it next to the threshold.
struct Held {
  std::string_view name;
  double value;
};
constexpr std::array<Held, 8> kHeld{{
    {"generation.leave_one_gpu_out", 0.155},
    {"rl.iterations.leave_one_model_out", 0.205},
    {"tracer.eager.first_host.median", 0.035},
    {"tracer.eager.second_host", 0.33},
    {"tracer.launches", 0.175},
    {"training.leave_one_model_out", 0.112},
    {"vtrain.leave_hidden_out", 0.107},
    {"vtrain.leave_tp8_out", 0.20},
}};

void hold(ClaimReport& report) {
  for (Claim& claim : report.claims) {
    for (const Held& held : kHeld) {
      if (claim.name == held.name && !claim.met()) claim.held = held.value;
    }
  }
}

}  // namespace

bool Claim::met() const {
  switch (kind) {
    case ClaimKind::at_most:
      return value <= threshold;
    case ClaimKind::at_least:
      return value >= threshold;
    case ClaimKind::between:
      return value >= threshold && value <= upper;
  }
  return false;
}

bool Claim::holds() const {
  if (met() || !held) return met();
  return kind == ClaimKind::at_least ? value >= *held : value <= *held;
}

bool ClaimReport::all_hold() const {
  return std::all_of(claims.begin(), claims.end(), [](const Claim& claim) { return claim.holds(); });
}

bool ClaimReport::all_met() const {
  return std::all_of(claims.begin(), claims.end(), [](const Claim& claim) { return claim.met(); });
}

ClaimReport ClaimReport::parse(const JsonView& view) {
  view.allow_only({"claims", "worst"});
  ClaimReport report;
  for (const JsonView& claim : view.required("claims").items()) report.claims.push_back(parse_claim(claim));
  report.worst = list_of(object(worst_fields())).read(view.required("worst"));
  return report;
}

Json ClaimReport::to_json() const {
  Json out = Json::object();
  out["claims"] = Json::array();
  for (const Claim& claim : claims) out["claims"].push_back(sextant::to_json(claim));
  out["worst"] = list_of(object(worst_fields())).write(worst);
  return out;
}

Runs ClaimContext::published(const std::string& source) const {
  return load_document<Runs>(data / "runs" / (source + ".json")).content;
}

Coefficients ClaimContext::shipped(std::string_view family) const {
  const std::filesystem::path folder = coefficients.empty() ? data / "coefficients" : coefficients;
  return load_document<Coefficients>(folder / (std::string(family) + ".json")).content;
}

std::span<const ClaimFamily> claim_families() { return kFamilies; }

ClaimReport compute_claims(const ClaimContext& context, std::string_view prefix) {
  const bool any = std::any_of(kFamilies.begin(), kFamilies.end(),
                               [&](const ClaimFamily& family) { return is_wanted(family, prefix); });
  if (!any)
    throw_bad_input("no accuracy figure starts with " + in_quotes(prefix) + "; there are " + known_figures());
  ClaimReport report;
  for (const ClaimFamily& family : kFamilies) {
    if (is_wanted(family, prefix)) family.compute(context, report);
  }
  keep_wanted(report, prefix);
  hold(report);
  const std::filesystem::path remarks = context.data / "public/remarks.json";
  if (std::filesystem::exists(remarks)) explain(report, remarks);
  return report;
}

void judge_shipped_again(const ClaimContext& context, ClaimReport& report) {
  for (const std::string_view prefix : {"shipped.", "gpu.trace."}) {
    for (const Claim& again : compute_claims(context, prefix).claims) {
      for (Claim& claim : report.claims) {
        if (claim.name == again.name) claim = again;
      }
    }
  }
}

void add_claim(ClaimReport& report, std::string name, std::string protocol, double value, double threshold,
               const CrossValidation& validation, int records) {
  report.claims.push_back({std::move(name), std::move(protocol), ClaimKind::at_most, value, threshold, 0,
                           std::nullopt, records, validation.free_coefficients});
}

void add_mape(const ClaimContext& context, ClaimReport& report, std::string name, std::string protocol,
              double threshold, const CrossValidation& validation, const CrossValidation::Filter& filter) {
  const ErrorSummary errors = validation.errors(filter);
  keep_worst(context.worst_kept, report, name, validation, filter);
  add_claim(report, std::move(name), std::move(protocol), errors.mape, threshold, validation, errors.count);
}

void add_coverage(ClaimReport& report, std::string name, std::string protocol,
                  const CrossValidation& validation, const CrossValidation::Filter& filter) {
  Claim claim;
  claim.name = std::move(name);
  claim.protocol = std::move(protocol);
  claim.kind = ClaimKind::between;
  claim.value = validation.coverage(filter);
  claim.threshold = 0.80;
  claim.upper = 0.97;
  claim.records = validation.errors(filter).count;
  claim.free_coefficients = validation.free_coefficients;
  report.claims.push_back(std::move(claim));
}

void explain(ClaimReport& report, const std::filesystem::path& file) {
  within(file.string(), [&] {
    const Json json = parse_json(read_text_file(file));
    for (const JsonView& remark : JsonView(json).items()) {
      remark.allow_only({"run", "what", "cause"});
      const std::string run = remark.required("run").text(), cause = remark.required("cause").text();
      const auto what = remark.optional("what");
      for (WorstRecord& record : report.worst) {
        const bool meant = record.run.starts_with(run) && (!what || record.what == what->text());
        if (record.cause.empty() && meant) record.cause = cause;
      }
    }
  });
}

Runs verl_logs(const ClaimContext& context) {
  std::vector<std::filesystem::path> logs;
  for (const char* log :
       {"deepseek7b-grpo-mi300x", "deepseek7b-ppo-mi300x", "qwen2-7b-fsdp", "qwen2-7b-megatron",
        "qwen2.5-0.5b-ppo-1gpu", "qwen2.5-3b-reinforce-a40", "qwen2.5-7b-ppo-2x8"}) {
    logs.push_back(context.data / "public/verl" / (std::string(log) + ".json"));
  }
  return read_verl(logs, context.facts).runs;
}

Runs joined(const std::vector<Runs>& parts) {
  Runs all;
  for (const Runs& part : parts) {
    for (const Run& run : part.runs) {
      add_run(all, run, part.cluster_of(run), part.workflow_of(run), part.plan_of(run));
    }
  }
  return all;
}

}  // namespace sextant::inline lab
