// Reading and writing of sextant/workflow.h.
#include <algorithm>
#include <limits>

#include "core/json_value.h"
#include "documents/values/names.h"
#include "sextant/workflow.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kAlgorithms{"ppo", "grpo", "custom"};
constexpr std::array<std::string_view, 3> kModes{"synchronous", "one_step_off", "asynchronous"};
constexpr std::array<std::string_view, 2> kOrchestrations{"controller", "loop"};
constexpr std::array<std::string_view, 3> kTaskKinds{"generation", "inference", "training"};

Task parse_task(const JsonView& view) {
  view.allow_only({"name", "kind", "model", "after"});
  Task out;
  out.name = view.required("name").text();
  out.kind = parse_task_kind(view.required("kind"));
  out.model = view.required("model").text();
  if (const auto after = view.optional("after")) {
    for (const JsonView& task : after->items()) {
      out.after.push_back(task.text());
    }
  }
  return out;
}

// Without the members: with a reference, without old_log_prob.
GraphOptions parse_graph_options(const JsonView& view) {
  GraphOptions options;
  if (const auto reference = view.optional("reference")) options.has_reference = reference->flag();
  if (const auto old_log_prob = view.optional("old_log_prob")) options.has_old_log_prob = old_log_prob->flag();
  return options;
}

// The members say of a standard graph what its tasks say too, where the document lists them.
void check_graph_options(const JsonView& view, const Workflow& workflow) {
  const GraphOptions listed = graph_options_of(workflow);
  const auto check = [&](const char* member, const char* task, bool is_listed) {
    const auto stated = view.optional(member);
    if (!stated) return;
    if (workflow.algorithm == Algorithm::custom) {
      stated->fail("not allowed with a custom algorithm, whose tasks are listed");
    }
    if (stated->flag() != is_listed) {
      stated->fail(std::string("the tasks of the workflow ") + (is_listed ? "have" : "lack") + " " + task);
    }
  };
  check("reference", task_names::kReferenceInference, listed.has_reference);
  check("old_log_prob", task_names::kOldLogProb, listed.has_old_log_prob);
}

// The standard graph of the algorithm, for a document that does not list its own tasks.
std::vector<Task> standard_tasks(const JsonView& view, const Workflow& workflow) {
  if (workflow.algorithm == Algorithm::custom) {
    view.fail("missing member \"tasks\": a custom algorithm has no standard graph");
  }
  const GraphOptions options = parse_graph_options(view);
  std::vector<Task> tasks = workflow.algorithm == Algorithm::ppo
                                ? ppo_tasks(options)
                                : grpo_tasks(workflow.models.contains("reward"), options);
  for (Task& task : tasks) {
    if (task.model == "reference" && !workflow.models.contains("reference")) {
      task.model = "actor";  // the reference is an earlier state of the actor
    }
  }
  for (const auto& [role, model] : view.required("models").members()) {
    const bool is_used =
        std::any_of(tasks.begin(), tasks.end(), [&key = role](const Task& task) { return task.model == key; });
    if (!is_used) {
      model.fail("no task of " + std::string(name_of(workflow.algorithm)) + " uses a model of this name");
    }
  }
  return tasks;
}

// Without the member: what the mode implies, when it implies a number.
double parse_staleness(const JsonView& view, Mode mode) {
  const auto staleness = view.optional("staleness");
  if (staleness) {
    return staleness->non_negative();
  }
  if (mode == Mode::asynchronous) {
    view.fail("missing member \"staleness\": an asynchronous workflow needs its bound");
  }
  return mode == Mode::one_step_off ? 1 : 0;
}

void parse_batch(const JsonView& view, Workflow& out) {
  out.prompts = view.required("prompts").count(1);
  const JsonView responses = view.required("responses_per_prompt");
  out.responses_per_prompt = responses.count(1);
  if (out.responses_per_prompt > std::numeric_limits<int>::max() / out.prompts) {
    responses.fail("more sequences in a global batch than can be counted");
  }
  if (const auto mini_batches = view.optional("mini_batches")) {
    out.mini_batches = mini_batches->count(1);
  }
}

Json to_json(const Task& task) {
  return {{"name", task.name}, {"kind", name_of(task.kind)}, {"model", task.model}, {"after", task.after}};
}

}  // namespace

std::string_view name_of(Algorithm algorithm) { return name_in(kAlgorithms, algorithm); }
std::string_view name_of(Mode mode) { return name_in(kModes, mode); }
std::string_view name_of(Orchestration orchestration) { return name_in(kOrchestrations, orchestration); }
std::string_view name_of(TaskKind kind) { return name_in(kTaskKinds, kind); }

TaskKind parse_task_kind(const JsonView& view) { return parse_name<TaskKind>(view, kTaskKinds); }

Workflow Workflow::parse(const JsonView& view) {
  view.allow_only({"name",
                   "algorithm",
                   "mode",
                   "staleness",
                   "streamed_parts",
                   "orchestration",
                   "reference",
                   "old_log_prob",
                   "models",
                   "tasks",
                   "prompts",
                   "responses_per_prompt",
                   "mini_batches",
                   "prompt_tokens",
                   "response_tokens",
                   "precision",
                   "rule_reward_s_per_sequence",
                   "turns",
                   "environment_s_per_turn",
                   "observation_tokens_per_turn",
                   "data_bytes_per_token",
                   "rollout"});
  Workflow out;
  out.name = view.required("name").text();
  out.algorithm = parse_name<Algorithm>(view.required("algorithm"), kAlgorithms);
  out.mode = parse_name<Mode>(view.required("mode"), kModes);
  out.staleness = parse_staleness(view, out.mode);
  if (const auto parts = view.optional("streamed_parts")) out.streamed_parts = parts->count(1);
  if (const auto orchestration = view.optional("orchestration")) {
    out.orchestration = parse_name<Orchestration>(*orchestration, kOrchestrations);
  }
  for (const auto& [role, model] : view.required("models").members()) {
    out.models.emplace(role, Model::parse(model));
  }
  if (const auto tasks = view.optional("tasks")) {
    for (const JsonView& task : tasks->items()) {
      out.tasks.push_back(parse_task(task));
    }
  } else {
    out.tasks = standard_tasks(view, out);
  }
  check_graph_options(view, out);
  parse_batch(view, out);
  out.prompt_tokens = Lengths::parse(view.required("prompt_tokens"));
  out.response_tokens = Lengths::parse(view.required("response_tokens"));
  out.precision = parse_precision(view.required("precision"));
  if (const auto reward = view.optional("rule_reward_s_per_sequence")) {
    out.rule_reward_s_per_sequence = reward->non_negative();
  }
  if (const auto turns = view.optional("turns")) {
    out.turns = turns->positive();
    if (out.turns < 1) {
      turns->fail("expected a number >= 1");
    }
  }
  if (const auto environment = view.optional("environment_s_per_turn")) {
    out.environment_s_per_turn = environment->non_negative();
  }
  if (const auto observation = view.optional("observation_tokens_per_turn")) {
    out.observation_tokens_per_turn = observation->non_negative();
  }
  if (const auto data = view.optional("data_bytes_per_token")) {
    out.data_bytes_per_token = data->non_negative();
  }
  if (const auto rollout = view.optional("rollout")) out.rollout = RolloutRules::parse(*rollout);
  if (out.turns > 1 && !(out.prompt_tokens.mean_tokens() > 0)) {
    view.required("turns").fail("several turns need prompt_tokens: what passes through the layers again");
  }
  within(view.path(), [&out] { out.check(); });
  return out;
}

Json Workflow::to_json() const {
  Json out = {
      {"name", name}, {"algorithm", name_of(algorithm)}, {"mode", name_of(mode)}, {"staleness", staleness}};
  if (streamed_parts > 1) out["streamed_parts"] = streamed_parts;
  if (orchestration != Orchestration::controller) out["orchestration"] = name_of(orchestration);
  if (algorithm != Algorithm::custom) {
    const GraphOptions options = graph_options_of(*this);
    if (!options.has_reference) out["reference"] = false;
    if (options.has_old_log_prob) out["old_log_prob"] = true;
  }
  out["models"] = Json::object();
  for (const auto& [role, model] : models) {
    out["models"][role] = model.to_json();
  }
  out["tasks"] = Json::array();
  for (const Task& task : tasks) {
    out["tasks"].push_back(sextant::to_json(task));
  }
  out["prompts"] = prompts;
  out["responses_per_prompt"] = responses_per_prompt;
  out["mini_batches"] = mini_batches;
  out["prompt_tokens"] = prompt_tokens.to_json();
  out["response_tokens"] = response_tokens.to_json();
  out["precision"] = name_of(precision);
  out["rule_reward_s_per_sequence"] = rule_reward_s_per_sequence;
  if (turns != 1) {
    out["turns"] = turns;
  }
  if (environment_s_per_turn > 0) {
    out["environment_s_per_turn"] = environment_s_per_turn;
  }
  if (observation_tokens_per_turn > 0) {
    out["observation_tokens_per_turn"] = observation_tokens_per_turn;
  }
  if (data_bytes_per_token != Workflow{}.data_bytes_per_token) {
    out["data_bytes_per_token"] = data_bytes_per_token;
  }
  if (rollout != RolloutRules{}) out["rollout"] = rollout.to_json();
  return out;
}

}  // namespace sextant
