#include "ask/question.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "ask/data_files.h"
#include "ask/hub_cache.h"
#include "ask/model_source.h"
#include "ask/words/lengths_text.h"
#include "calibrate/import/records/facts.h"
#include "core/text.h"
#include "core/units.h"
#include "costmodel/staleness.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

constexpr int kPrompts = 512, kResponses = 8;
constexpr const char* kPromptTokens = "mean=400,max=1024";
constexpr const char* kResponseTokens = "mean=1500,max=4096";
constexpr const char* kRule = "rule";

Facts shipped_facts() {
  const std::filesystem::path data = data_folder();
  return Facts::load(data / "gpus.json", data / "models.json");
}

// The options that were not given, with what was taken instead.
class Assumptions {
 public:
  template <typename T>
  T value_or(const char* option, const T& given, const T& otherwise) {
    if (given != T{}) return given;
    add(std::string(option) + " " + shown(otherwise));
    return otherwise;
  }
  void add(const std::string& words) { words_ += (words_.empty() ? "" : ", ") + words; }
  void tell(std::vector<std::string>& notes) const {
    if (!words_.empty()) notes.push_back("Assumed, because it was not given: " + words_ + ".");
  }

 private:
  static std::string shown(int value) { return std::to_string(value); }
  static std::string shown(const std::string& value) { return value; }

  std::string words_;
};

void set_lengths(const WorkflowOptions& options, std::vector<std::string>& notes, Assumptions& assumed,
                 Workflow& workflow) {
  if (!options.lengths.empty()) {
    if (!options.prompt_tokens.empty() || !options.response_tokens.empty())
      throw_bad_input("--lengths gives both distributions: leave out --prompt-tokens and --response-tokens");
    SampledLengths sampled = lengths_from_samples(options.lengths);
    workflow.prompt_tokens = std::move(sampled.prompts);
    workflow.response_tokens = std::move(sampled.responses);
    return;
  }
  const auto text = [&](const char* option, const std::string& given, const char* otherwise) {
    const Lengths lengths = lengths_from_text(assumed.value_or(option, given, std::string(otherwise)), option);
    if (lengths.kind == LengthKind::fixed && !given.empty())
      notes.push_back("Note: " + std::string(option) + " " + given +
                      ": all sequences have exactly this length; for a limit state "
                      "mean=,max=");
    if (lengths.kind == LengthKind::lognormal && given.find("sigma=") == std::string::npos)
      assumed.add("sigma=" + format_number(lengths.sigma) + " in " + option + " (log-normal lengths)");
    return lengths;
  };
  workflow.prompt_tokens = text("--prompt-tokens", options.prompt_tokens, kPromptTokens);
  workflow.response_tokens = text("--response-tokens", options.response_tokens, kResponseTokens);
}

void set_turns(const WorkflowOptions& options, Assumptions& assumed, Workflow& workflow) {
  const bool has_environment = options.environment_s > 0 || options.observation_tokens > 0;
  if (options.turns <= 1) {
    if (has_environment)
      throw_bad_input(
          "--environment-seconds, --observation-tokens: a sequence meets its environment between two turns; "
          "give "
          "--turns 2 or more");
    return;
  }
  workflow.turns = options.turns;
  workflow.environment_s_per_turn = options.environment_s;
  workflow.observation_tokens_per_turn = options.observation_tokens;
  if (options.environment_s == 0) assumed.add("--environment-seconds 0");
  if (options.observation_tokens == 0) assumed.add("--observation-tokens 0");
}

// The seconds of a response in "rule=SECONDS", 0 of "rule"; none if a model scores.
std::optional<double> rule_s(const std::string& reward_model) {
  constexpr double kMaxSeconds = 1000;
  if (reward_model == kRule) return 0;
  if (!reward_model.starts_with(std::string(kRule) + "=")) return std::nullopt;
  const std::string_view number = std::string_view(reward_model).substr(reward_model.find('=') + 1);
  double seconds = -1;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (fault != std::errc() || end != number.data() + number.size() || !(seconds >= 0 && seconds <= kMaxSeconds))
    throw_bad_input(
        "--reward-model: expected rule=SECONDS for a response, at most 1000, such as rule=0.0025; got " +
        in_quotes(reward_model));
  return seconds;
}

// When and how many at a time a rule scores responses; without a profile one after the other, after generation.
void set_rule_rewards(const WorkflowOptions& options, const FrameworkProfile* profile, int devices,
                      Assumptions& assumed, Workflow& workflow) {
  if (workflow.rule_reward_s_per_sequence <= 0) {
    if (options.reward_workers > 0)
      throw_bad_input("--reward-workers: a rule without seconds needs none; give --reward-model rule=SECONDS");
    return;
  }
  const RuleRewards rewards = profile != nullptr ? profile->rule_rewards : RuleRewards{};
  workflow.rollout.has_rewards_beside = rewards.beside.contains(workflow.mode);
  workflow.rollout.reward_workers =
      options.reward_workers > 0 ? options.reward_workers : rewards.workers_of(devices);
  if (options.reward_workers == 0)
    assumed.add("--reward-workers " + std::to_string(workflow.rollout.reward_workers) +
                (workflow.rollout.has_rewards_beside ? " (during generation)" : " (after generation)"));
}

Model scoring(Model model) {
  model.value_head = true;
  return model;
}

// Models and tasks of the standard graph.
void set_graph(const WorkflowOptions& options, const FrameworkProfile* profile, const Facts& facts,
               std::vector<std::string>& notes, Assumptions& assumed, Workflow& workflow) {
  const auto found = [&](const std::string& name) {
    FoundModel model = find_model(name, facts, hub_cache());
    for (std::string& note : model.notes) notes.push_back(std::move(note));
    return model.model;
  };
  const Model actor = found(options.model);
  const bool is_ppo = options.algorithm == Algorithm::ppo;
  const std::optional<double> rule = rule_s(options.reward_model);
  const bool scores_by_default = is_ppo && (profile == nullptr || profile->has_reward_model);
  const bool has_reward = !options.reward_model.empty() ? !rule : scores_by_default;
  workflow.rule_reward_s_per_sequence = rule.value_or(0);
  if (!has_reward && options.reward_model.empty())
    assumed.add("--reward-model rule=0 (seconds for a response)");
  if (has_reward && options.reward_model.empty())
    assumed.add("--reward-model " + options.model + " (rule or rule=SECONDS for a reward without a model)");
  if (!is_ppo && !options.critic.empty()) throw_bad_input("--critic: GRPO has no critic");
  GraphOptions graph;
  if (profile != nullptr)
    graph = {profile->has_reference, profile->computes_old_log_prob(is_ppo, options.mini_batches > 1)};
  workflow.tasks = is_ppo ? ppo_tasks(graph, has_reward) : grpo_tasks(has_reward, graph);
  for (const Task& task : workflow.tasks) {
    const bool is_critic = task.model == "critic", is_reward = task.model == "reward";
    const std::string& named = is_critic ? options.critic : is_reward ? options.reward_model : options.model;
    const Model model = named.empty() || named == options.model ? actor : found(named);
    workflow.models[task.model] = is_critic || is_reward ? scoring(model) : model;
  }
}

// The parts in which training takes a batch. A framework may take it by optimizer steps, or whole. Otherwise generation
// that may be half a batch ahead can hand over halves: if training waited for a whole batch, generation would have to
// stop halfway. This default is a judgement.
int parts_of(const WorkflowOptions& options, const FrameworkProfile* profile, int mini_batches,
             Assumptions& assumed) {
  if (options.mode != Mode::asynchronous) {
    if (options.streamed_parts > 1)
      throw_bad_input("--streamed-parts: only asynchronous training takes a batch in parts; see --mode");
    return 1;
  }
  if (profile != nullptr && !profile->is_any()) {
    if (options.streamed_parts > 1 && !profile->streams_mini_batches)
      throw_bad_input("--streamed-parts: " + profile->name + " trains on whole batches");
    if (options.streamed_parts > 0 && mini_batches % options.streamed_parts != 0)
      throw_bad_input("--streamed-parts: " + profile->name +
                      " takes whole optimizer steps, so the parts divide --mini-batches " +
                      std::to_string(mini_batches));
    return options.streamed_parts > 0      ? options.streamed_parts
           : profile->streams_mini_batches ? mini_batches
                                           : 1;
  }
  const double staleness = options.staleness != 0 ? options.staleness : 1;
  constexpr double kRounding = 1e-9, kMaxParts = 1e6;
  const double parts = std::clamp(std::ceil(1 / staleness - kRounding), 1.0, kMaxParts);
  if (options.streamed_parts > 0 || parts == 1) return std::max(1, options.streamed_parts);
  return assumed.value_or("--streamed-parts", 0, static_cast<int>(parts));
}

// A mini-batch has whole prompts in the frameworks.
void check_counts(const Workflow& workflow, std::vector<std::string>& notes) {
  constexpr double kMaxSequences = 1e8;
  if (static_cast<double>(workflow.prompts) * workflow.responses_per_prompt > kMaxSequences)
    throw_bad_input("--prompts, --responses: more than 100 million sequences");
  const std::string counts =
      std::to_string(workflow.mini_batches) + " of " + std::to_string(workflow.prompts) + " prompts";
  if (workflow.mini_batches > workflow.prompts)
    throw_bad_input("--mini-batches: " + counts + " cannot have a prompt each");
  if (workflow.prompts % workflow.mini_batches != 0)
    notes.push_back(
        "Note: mini-batches: " + counts +
        " cannot be equal; frameworks count a mini-batch in whole prompts and refuse or drop the rest.");
}

}  // namespace

Cluster cluster_of(const ClusterOptions& options, std::vector<std::string>& notes) {
  ClusterFromText made = cluster_from_text(options.gpus, options.network, shipped_facts(), data_folder());
  for (std::string& note : made.notes) notes.push_back(std::move(note));
  return std::move(made.cluster);
}

Workflow workflow_of(const WorkflowOptions& options, const FrameworkProfile* profile, int devices,
                     std::vector<std::string>& notes) {
  const Facts facts = shipped_facts();
  Assumptions assumed;
  Workflow workflow;
  workflow.algorithm = options.algorithm;
  workflow.mode = options.mode;
  workflow.precision = options.precision;
  if (options.mode == Mode::synchronous && options.staleness != 0)
    throw_bad_input("--staleness: a synchronous iteration has none; see --mode");
  if (options.mode == Mode::one_step_off && options.staleness != 0 && options.staleness != 1)
    throw_bad_input("--staleness: one_step_off has 1");
  if (options.staleness > kMaxStaleness)
    throw_bad_input("--staleness: at most " + format_number(kMaxStaleness) + " iterations, got " +
                    format_number(options.staleness));
  if (options.mode != Mode::synchronous) workflow.staleness = options.staleness != 0 ? options.staleness : 1;
  set_graph(options, profile, facts, notes, assumed, workflow);
  workflow.prompts = assumed.value_or("--prompts", options.prompts, kPrompts);
  workflow.responses_per_prompt =
      assumed.value_or("--responses", options.responses, options.algorithm == Algorithm::ppo ? 1 : kResponses);
  workflow.mini_batches = assumed.value_or("--mini-batches", options.mini_batches, 1);
  workflow.streamed_parts = parts_of(options, profile, workflow.mini_batches, assumed);
  if (profile != nullptr) workflow.rollout.batches_in_flight = profile->batches_in_flight(workflow);
  check_counts(workflow, notes);
  set_rule_rewards(options, profile, devices, assumed, workflow);
  set_lengths(options, notes, assumed, workflow);
  set_turns(options, assumed, workflow);
  workflow.name = std::string(name_of(options.algorithm)) + " of " + workflow.models.at("actor").name;
  workflow.check();
  assumed.tell(notes);
  return workflow;
}

}  // namespace sextant::inline ask
