#include "sextant/run.h"

#include <set>
#include <tuple>

#include "core/text.h"
#include "documents/field_tables.h"
#include "sextant/coefficients.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 6> kUnstated{"response_tokens",        "recompute",
                                                    "decode_batch_sequences", "memory_share",
                                                    "prefill_chunk_tokens",   "rule_reward_s"};
constexpr std::array<std::string_view, 4> kSources{"proxy", "trace", "import", "published"};

enum class ZeroSamples { refused, allowed };

Timing parse_timing(const JsonView& view, ZeroSamples zero = ZeroSamples::refused) {
  view.allow_only({"samples_s"});
  Timing out;
  const JsonView samples = view.required("samples_s");
  for (const JsonView& sample : samples.items()) {
    out.samples_s.push_back(zero == ZeroSamples::allowed ? sample.non_negative() : sample.positive());
  }
  if (out.samples_s.empty()) {
    samples.fail("expected at least one sample");
  }
  return out;
}

Json to_json(const Timing& timing) {
  Json out = Json::object();
  out["samples_s"] = timing.samples_s;
  return out;
}

// The name of something that the document holds under /clusters, /workflows or /plans.
template <typename T>
std::string parse_reference(const JsonView& view, const std::map<std::string, T>& known,
                            std::string_view what) {
  std::string name = view.text();
  if (!known.contains(name)) {
    view.fail("unknown " + std::string(what) + " " + in_quotes(name) + "; expected a member of /" +
              std::string(what) + "s");
  }
  return name;
}

void parse_task_times(const JsonView& view, const Workflow& workflow, Run& run) {
  for (const auto& [task, timing] : view.members()) {
    for (const std::string& part : parts_of_timer(task)) {
      if (part == kWeightSync ? !workflow.has_weight_sync() : !workflow.has_task(part)) {
        timing.fail("no task of workflow " + in_quotes(run.workflow) + " is named " + in_quotes(part));
      }
    }
    run.tasks.emplace(task, parse_timing(timing));
  }
}

// Timers of one task each.
std::map<std::string, Timing> parse_times_of(const JsonView& run, std::string_view member, ZeroSamples zero,
                                             const Workflow& workflow) {
  std::map<std::string, Timing> out;
  const auto view = run.optional(member);
  if (!view) return out;
  for (const auto& [task, timing] : view->members()) {
    if (!workflow.has_task(task)) timing.fail("no task of the workflow is named " + in_quotes(task));
    out.emplace(task, parse_timing(timing, zero));
  }
  return out;
}

Json to_json(const std::map<std::string, Timing>& times) {
  Json out = Json::object();
  for (const auto& [task, timing] : times) out[task] = to_json(timing);
  return out;
}

Run parse_run(const JsonView& view, const Runs& document) {
  view.allow_only({"name", "cluster", "workflow", "plan", "source", "framework", "iteration", "tasks",
                   "elapsed", "waits", "peak_memory_bytes", "unstated", "notes"});
  Run out;
  out.name = view.required("name").text();
  out.cluster = parse_reference(view.required("cluster"), document.clusters, "cluster");
  out.workflow = parse_reference(view.required("workflow"), document.workflows, "workflow");
  out.plan = parse_reference(view.required("plan"), document.plans, "plan");
  out.source = parse_name<RunSource>(view.required("source"), kSources);
  out.framework = view.required("framework").text();
  if (out.framework == kAny)
    view.required("framework").fail("expected the name of a framework; \"*\" stands for all of them");
  if (const auto iteration = view.optional("iteration")) {
    out.iteration = parse_timing(*iteration);
  }
  parse_task_times(view.required("tasks"), document.workflow_of(out), out);
  const Workflow& workflow = document.workflow_of(out);
  out.elapsed = parse_times_of(view, "elapsed", ZeroSamples::refused, workflow);
  out.waits = parse_times_of(view, "waits", ZeroSamples::allowed, workflow);
  if (out.iteration.empty() && out.tasks.empty() && out.elapsed.empty()) {
    view.fail("expected the time of the iteration or of a task");
  }
  if (const auto memory = view.optional("peak_memory_bytes")) {
    out.peak_memory_bytes = memory->positive();
  }
  if (const auto unstated = view.optional("unstated")) {
    out.unstated = list_of(object(unstated_fields())).read(*unstated);
  }
  if (const auto notes = view.optional("notes")) out.notes = by_name(any_text()).read(*notes);
  return out;
}

Json to_json(const Run& run) {
  Json out = {{"name", run.name},
              {"cluster", run.cluster},
              {"workflow", run.workflow},
              {"plan", run.plan},
              {"source", name_in(kSources, run.source)},
              {"framework", run.framework}};
  if (!run.iteration.empty()) {
    out["iteration"] = to_json(run.iteration);
  }
  out["tasks"] = to_json(run.tasks);
  if (!run.elapsed.empty()) out["elapsed"] = to_json(run.elapsed);
  if (!run.waits.empty()) out["waits"] = to_json(run.waits);
  if (run.peak_memory_bytes) {
    out["peak_memory_bytes"] = *run.peak_memory_bytes;
  }
  if (!run.unstated.empty()) out["unstated"] = list_of(object(unstated_fields())).write(run.unstated);
  if (!run.notes.empty()) out["notes"] = run.notes;
  return out;
}

}  // namespace

const Fields<Unstated>& documents::unstated_fields() {
  static const Fields<Unstated> fields{
      required("quantity", &Unstated::quantity, one_of<UnstatedQuantity>(kUnstated),
               "response_tokens: mean length; recompute: share of full recomputation beyond the plan's; "
               "decode_batch_sequences: maximum that an engine decodes together; memory_share: share of a "
               "device's memory for weights and KV cache, beyond the plan's; prefill_chunk_tokens: prompt "
               "tokens per prefill chunk; rule_reward_s: seconds of a rule-based reward a sequence, beyond "
               "the workflow's."),
      required("group", &Unstated::group, text(), "Runs of one group share the value."),
      required("deviation", &Unstated::deviation, positive(),
               "Deviation of the prior: of the logarithm for response_tokens, decode_batch_sequences and "
               "prefill_chunk_tokens, of the value for the others."),
  };
  return fields;
}

std::vector<std::string> parts_of_timer(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t plus = name.find('+'); plus != std::string::npos; plus = name.find('+', from)) {
    parts.push_back(name.substr(from, plus - from));
    from = plus + 1;
  }
  parts.push_back(name.substr(from));
  return parts;
}

Runs Runs::parse(const JsonView& view) {
  view.allow_only({"clusters", "workflows", "plans", "runs"});
  Runs out;
  out.clusters = by_name(part<Cluster>("cluster.schema.json")).read(view.required("clusters"));
  out.workflows = by_name(part<Workflow>("workflow.schema.json")).read(view.required("workflows"));
  out.plans = by_name(part<Plan>("plan.schema.json")).read(view.required("plans"));
  for (auto& [name, plan] : out.plans) take_as_stated(plan);
  std::set<std::string> names;
  std::set<std::tuple<std::string, std::string, std::string>> checked;
  for (const JsonView& item : view.required("runs").items()) {
    Run run = parse_run(item, out);
    if (!names.insert(run.name).second) {
      item.required("name").fail("another run is named " + in_quotes(run.name) + " too");
    }
    if (checked.emplace(run.cluster, run.workflow, run.plan).second) {
      within(view.path() + "/plans/" + pointer_token(run.plan),
             [&] { check_plan(out.plan_of(run), out.workflow_of(run), out.cluster_of(run)); });
    }
    out.runs.push_back(std::move(run));
  }
  return out;
}

Json Runs::to_json() const {
  Json out = {{"clusters", by_name(part<Cluster>("cluster.schema.json")).write(clusters)},
              {"workflows", by_name(part<Workflow>("workflow.schema.json")).write(workflows)},
              {"plans", by_name(part<Plan>("plan.schema.json")).write(plans)}};
  out["runs"] = Json::array();
  for (const Run& run : runs) {
    out["runs"].push_back(sextant::to_json(run));
  }
  return out;
}

}  // namespace sextant
