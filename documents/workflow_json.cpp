// Reading and writing of sextant/workflow.h.
#include <algorithm>
#include <limits>

#include "documents/field_tables.h"
#include "sextant/workflow.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kAlgorithms{"ppo", "grpo", "custom"};
constexpr std::array<std::string_view, 3> kModes{"synchronous", "one_step_off", "asynchronous"};
constexpr std::array<std::string_view, 2> kOrchestrations{"controller", "loop"};
constexpr std::array<std::string_view, 3> kTaskKinds{"generation", "inference", "training"};

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
  const bool has_reward_model = workflow.models.contains("reward");
  std::vector<Task> tasks = workflow.algorithm == Algorithm::ppo ? ppo_tasks(options, has_reward_model)
                                                                 : grpo_tasks(has_reward_model, options);
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
void complete_staleness(const JsonView& view, Workflow& workflow) {
  if (view.optional("staleness")) return;
  if (workflow.mode == Mode::asynchronous) {
    view.fail("missing member \"staleness\": an asynchronous workflow needs its bound");
  }
  workflow.staleness = workflow.mode == Mode::one_step_off ? 1 : 0;
}

void complete_tasks(const JsonView& view, Workflow& workflow) {
  if (!view.optional("tasks")) workflow.tasks = standard_tasks(view, workflow);
  check_graph_options(view, workflow);
}

void check_sequences(const JsonView& view, Workflow& workflow) {
  if (workflow.responses_per_prompt > std::numeric_limits<int>::max() / workflow.prompts) {
    view.required("responses_per_prompt").fail("more sequences in a global batch than can be counted");
  }
}

void check_turns(const JsonView& view, Workflow& workflow) {
  if (workflow.turns < 1) view.required("turns").fail("expected a number >= 1");
}

// The graph options are written if they differ from those of a standard graph. They are read with the tasks.
Field<Workflow> graph_option(const char* name, bool GraphOptions::*option) {
  return {name, false, nullptr, [](const JsonView&, Workflow&) {},
          [=](const Workflow& workflow, Json& object) {
            if (workflow.algorithm == Algorithm::custom) return;
            const GraphOptions options = graph_options_of(workflow);
            if (options.*option != GraphOptions{}.*option) object[name] = options.*option;
          }};
}

}  // namespace

const Fields<Task>& documents::task_fields() {
  static const Fields<Task> fields{
      required("name", &Task::name, text()),
      required("kind", &Task::kind, one_of<TaskKind>(kTaskKinds)),
      required("model", &Task::model, text(), "A member of models."),
      defaulted("after", &Task::after, list_of(text()),
                "Earlier tasks of the same iteration whose results the task needs."),
  };
  return fields;
}

std::string_view name_of(Algorithm algorithm) { return name_in(kAlgorithms, algorithm); }
std::string_view name_of(Mode mode) { return name_in(kModes, mode); }
std::string_view name_of(Orchestration orchestration) { return name_in(kOrchestrations, orchestration); }
std::string_view name_of(TaskKind kind) { return name_in(kTaskKinds, kind); }

TaskKind parse_task_kind(const JsonView& view) { return parse_name<TaskKind>(view, kTaskKinds); }

const Fields<Workflow>& documents::workflow_fields() {
  static const Fields<Workflow> fields{
      required("name", &Workflow::name, text()),
      required("algorithm", &Workflow::algorithm, one_of<Algorithm>(kAlgorithms)),
      required("mode", &Workflow::mode, one_of<Mode>(kModes)),
      defaulted("staleness", &Workflow::staleness, non_negative(),
                "Maximum age of a rollout in batches: 0 synchronous, 1 one_step_off; asynchronous any value, "
                "0.5 allows half a batch ahead.")
          .completed_by(complete_staleness),
      optional(
          "streamed_parts", &Workflow::streamed_parts, count(),
          "Asynchronous: number of parts of a batch that training takes one by one, as they become ready."),
      optional("orchestration", &Workflow::orchestration, one_of<Orchestration>(kOrchestrations),
               "Caller of the tasks: the controller of an RL framework, which sends each task to workers, or "
               "the loop of one program, which has no fixed times of a controller."),
      graph_option("reference", &GraphOptions::has_reference),
      graph_option("old_log_prob", &GraphOptions::has_old_log_prob),
      required("models", &Workflow::models, by_name(part<Model>("model.schema.json"))).described_by_hand(),
      defaulted("tasks", &Workflow::tasks, list_of(object(task_fields())))
          .completed_by(complete_tasks)
          .described_by_hand(),
      required("prompts", &Workflow::prompts, count(),
               "Prompts of a global batch, before responses_per_prompt."),
      required("responses_per_prompt", &Workflow::responses_per_prompt, count(), "Group size of GRPO.")
          .then(check_sequences),
      defaulted("mini_batches", &Workflow::mini_batches, count(),
                "Optimizer steps that a training task takes on one global batch."),
      required("prompt_tokens", &Workflow::prompt_tokens, part<Lengths>("#/$defs/lengths")),
      required("response_tokens", &Workflow::response_tokens, part<Lengths>("#/$defs/lengths")),
      required("precision", &Workflow::precision, precision(),
               "Precision of weights, activations and arithmetic."),
      defaulted("rule_reward_s_per_sequence", &Workflow::rule_reward_s_per_sequence, non_negative(),
                "Seconds of the host for a rule-based reward; 0 with a reward model."),
      optional("turns", &Workflow::turns, positive()).then(check_turns).described_by_hand(),
      optional("environment_s_per_turn", &Workflow::environment_s_per_turn, non_negative(),
               "Seconds that a sequence waits for its tools between two turns."),
      optional("observation_tokens_per_turn", &Workflow::observation_tokens_per_turn, non_negative(),
               "Tokens that the tools return between two turns; part of the sequence from then on, in training "
               "too."),
      optional("data_bytes_per_token", &Workflow::data_bytes_per_token, non_negative(),
               "Bytes that generation hands on for each token of prompt and response: an id in 8, a "
               "log-probability in 4; more with images. 0: moving data between tasks is free."),
      optional("rollout", &Workflow::rollout, object(rollout_fields()),
               "Way in which a batch is filled with rollouts. Missing: all prompts start together, and all "
               "responses are waited for and trained."),
  };
  return fields;
}

Workflow Workflow::parse(const JsonView& view) {
  Workflow out = parse_fields(view, workflow_fields());
  if (out.turns > 1 && !(out.prompt_tokens.mean_tokens() > 0)) {
    view.required("turns").fail("several turns need prompt_tokens: what passes through the layers again");
  }
  within(view.path(), [&out] { out.check(); });
  return out;
}

Json Workflow::to_json() const { return fields_to_json(*this, workflow_fields()); }

}  // namespace sextant
