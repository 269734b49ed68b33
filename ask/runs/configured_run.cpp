#include "ask/runs/configured_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "ask/data_files.h"
#include "ask/framework.h"
#include "ask/runs/configured_cluster.h"
#include "ask/runs/configured_models.h"
#include "ask/words/lengths_text.h"
#include "core/in_file.h"
#include "core/units.h"
#include "reports/export/trainers/dialects.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

// These parts of the longest prompt and response are assumed to be used on average, as in question.cpp.
constexpr double kMeanPromptFraction = 400.0 / 1024, kMeanResponseFraction = 1500.0 / 4096;

std::map<std::string, std::string> given_values(const std::vector<std::string>& given) {
  std::map<std::string, std::string> values;
  for (const std::string& one : given) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos || equals == 0)
      throw_bad_input("--set " + one + ": expected NAME=VALUE, for example NNODES=2");
    values[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return values;
}

// Lengths with the maximum of the configuration.
Lengths lengths_for(const char* option, const std::string& given, int max_tokens, double mean_fraction,
                    std::vector<std::string>& assumed) {
  std::string text = given;
  if (text.empty()) {
    const auto mean = static_cast<int>(std::max(1.0, mean_fraction * max_tokens));
    text = "mean=" + std::to_string(mean) + ",max=" + std::to_string(max_tokens);
    assumed.push_back(std::string(option) + " " + text + ": a configuration has no mean lengths");
  } else if (text.find('=') != std::string::npos && text.find("max=") == std::string::npos) {
    text += ",max=" + std::to_string(max_tokens);
  }
  return lengths_from_text(text, option);
}

void take_lengths(const ConfigurationOptions& options, const RunFacts& facts, const LogBand* measured,
                  Workflow& workflow, std::vector<std::string>& assumed) {
  if (measured != nullptr) {
    std::map<std::string, std::string> notes;
    const double sequences = 1.0 * workflow.prompts * workflow.responses_per_prompt;
    workflow.prompt_tokens = prompt_lengths(measured->lengths, facts.max_prompt_tokens, notes);
    workflow.response_tokens = response_lengths(measured->lengths, sequences, facts.max_response_tokens);
    for (const auto& [key, sentence] : notes) assumed.push_back(sentence);
    return;
  }
  if (!options.lengths.empty()) {
    SampledLengths sampled = lengths_from_samples(options.lengths);
    workflow.prompt_tokens = std::move(sampled.prompts);
    workflow.response_tokens = std::move(sampled.responses);
    return;
  }
  workflow.prompt_tokens = lengths_for("--prompt-tokens", options.prompt_tokens, facts.max_prompt_tokens,
                                       kMeanPromptFraction, assumed);
  workflow.response_tokens = lengths_for("--response-tokens", options.response_tokens,
                                         facts.max_response_tokens, kMeanResponseFraction, assumed);
}

// The models of all tasks. Critics and reward models that nothing names have the actor's shape.
void take_models(const RunFacts& facts, const ConfigurationOptions& options, ConfiguredModels& models,
                 Workflow& workflow, std::vector<std::string>& assumed) {
  const Model actor = models.find(facts.actor, options.model, "--model");
  const auto scoring_model = [&](const std::string& configured, const std::string& given, const char* option) {
    if (models.is_named(configured, given)) return models.find(configured, given, option);
    assumed.push_back(std::string(option) + ": the shape of the model, because the configuration names none");
    return actor;
  };
  // A critic that begins as the reward model.
  const bool is_from_reward = options.critic.empty() && !facts.critic.empty() && facts.critic == facts.reward;
  const std::string& critic = is_from_reward ? options.reward_model : options.critic;
  for (const Task& task : workflow.tasks) {
    if (workflow.models.contains(task.model)) continue;
    Model model = actor;
    if (task.model == "critic") model = scoring_model(facts.critic, critic, "--critic");
    if (task.model == "reward") model = scoring_model(facts.reward, options.reward_model, "--reward-model");
    model.value_head = task.model == "critic" || task.model == "reward";
    workflow.models[task.model] = std::move(model);
  }
}

Workflow workflow_of(const RunFacts& facts, const ConfigurationOptions& options, const LogBand* measured,
                     ConfiguredModels& models, std::vector<std::string>& assumed) {
  constexpr double kMaxSequences = 1e8;  // as for sextant plan
  if (static_cast<double>(facts.prompts) * facts.responses_per_prompt > kMaxSequences)
    throw_bad_input("the configuration has " + std::to_string(facts.prompts) + " prompts of " +
                    std::to_string(facts.responses_per_prompt) + " responses: more than 100 million sequences");
  Workflow workflow;
  const RunGraph graph = graph_of(facts);
  workflow.algorithm = graph.algorithm;
  workflow.tasks = graph.tasks;
  workflow.mode = facts.mode;
  workflow.staleness = facts.staleness;
  workflow.streamed_parts = facts.streamed_parts;
  workflow.rollout.is_interrupted = facts.is_interrupted;
  workflow.prompts = facts.prompts;
  workflow.responses_per_prompt = facts.responses_per_prompt;
  workflow.mini_batches = facts.mini_batches;
  workflow.precision = facts.precision;
  take_models(facts, options, models, workflow, assumed);
  take_lengths(options, facts, measured, workflow, assumed);
  workflow.name = std::string(facts.has_critic ? "ppo" : "grpo") + " of " + workflow.models.at("actor").name;
  workflow.check();
  return workflow;
}

const FrameworkProfile& shipped_profile(const std::string& name, const std::vector<FrameworkProfile>& all) {
  const FrameworkProfile* profile = find_profile(all, name);
  if (profile == nullptr) throw_bad_input("the data folder has no profile of " + name);
  return *profile;
}

// On the GPUs that the comments of an exported script name, unless the settings were changed since.
Plan configured_plan(const RunSettings& run, const ConfigurationOptions& options, const TrainerProblem& problem,
                     std::vector<std::string>& warnings) {
  const Dialect& dialect = *find_plan_reader(problem.profile.name);
  const std::string name = std::filesystem::path(options.files.front()).stem().string();
  if (!run.comments.pools.empty()) {
    try {
      const std::vector<GpuPool> pools = pools_of(run.comments, problem.cluster);
      return plan_of_settings(run.settings, name, problem, dialect, pools);
    } catch (const Error& error) {
      warnings.push_back("the tasks have the first free GPUs, not those of the script's comments: " +
                         std::string(error.what()));
    }
  }
  return plan_of_settings(run.settings, name, problem, dialect);
}

std::vector<std::string> warnings_of(const RunSettings& run, const RunFacts& facts, const Importer& importer,
                                     const std::vector<std::string>& others) {
  std::vector<std::string> warnings = run.notes;
  warnings.insert(warnings.end(), facts.notes.begin(), facts.notes.end());
  warnings.insert(warnings.end(), others.begin(), others.end());
  const std::vector<std::string> unused = unused_settings(run.settings, importer, facts);
  if (!unused.empty()) {
    std::string all;
    for (const std::string& one : unused) all += (all.empty() ? "" : ", ") + one;
    warnings.push_back("settings that are not in the plan and may change time or memory: " + all);
  }
  for (std::string& warning : warnings) warning = "warning: " + warning;
  return warnings;
}

std::vector<std::string> defaults_text(const TrainerSettings& settings) {
  std::vector<std::string> out;
  for (const auto& [key, value] : settings.assumed()) {
    const bool is_empty = value.is_null() || (value.is_string() && value.get<std::string>().empty());
    if (!is_empty) out.push_back(key + " = " + value.dump());
  }
  return out;
}

RunSettings settings_of(const ConfigurationOptions& options, const Importer& importer) {
  if (!options.launch.empty())
    return read_run_settings_text(options.launch, options.files.front(), importer.source,
                                  given_values(options.given));
  return read_run_settings({options.files.begin(), options.files.end()}, importer.source,
                           given_values(options.given));
}

// The facts of the configuration. A log knows better than its configuration which passes ran.
RunFacts facts_of(const Importer& importer, const LogBand* measured, RunSettings& run) {
  const auto times = [&](const char* task) { return measured != nullptr && measured->timers.contains(task); };
  const RunSettings original = run;
  RunFacts facts = importer.read(run);
  const auto note = [&facts](const std::string& task) {
    facts.notes.push_back("the log times " + task + ", which the configuration does not have");
  };
  const bool lacks_reference = times(task_names::kReferenceInference) && !facts.has_reference;
  if (lacks_reference && !importer.reference.key.empty()) {
    run = original;
    run.settings.put(std::string(importer.reference.key), setting_value(std::string(importer.reference.value)),
                     "the log");
    facts = importer.read(run);
    note(task_names::kReferenceInference);
  }
  if (times(task_names::kOldLogProb) && !facts.has_old_log_prob) {
    facts.has_old_log_prob = true;
    note(task_names::kOldLogProb);
  }
  return facts;
}

// A budget of tokens that holds no sequence may be the fault of a mean that was assumed.
void check_configured_plan(const ConfiguredRun& run, const ConfigurationOptions& options) {
  try {
    check_plan(run.plan, run.workflow, run.cluster);
  } catch (const Error& error) {
    const std::string reason = error.what();
    const bool is_assumed = options.response_tokens.empty() && options.lengths.empty();
    if (!is_assumed || reason.find("/micro_batch_tokens: a micro-batch") == std::string::npos) throw;
    const Lengths& response = run.workflow.response_tokens;
    throw Error(error.kind(), reason + ", with the mean response of " + format_number(response.mean_tokens()) +
                                  " tokens that was assumed; --response-tokens mean=M,max=" +
                                  std::to_string(static_cast<long long>(response.max_tokens())) +
                                  " states another");
  }
}

ConfiguredRun configured(const ConfigurationOptions& options, const LogBand* measured) {
  const Importer& importer = *find_importer(options.from);
  RunSettings run = settings_of(options, importer);
  const RunFacts facts = facts_of(importer, measured, run);
  if (run.settings.unread().size() == run.settings.all().size())
    throw_bad_input("no setting of " + options.from +
                    " was found; give a launch script, a list of settings or a YAML file of " + options.from);
  const std::vector<FrameworkProfile> profiles = load_framework_profiles(data_folder() / "frameworks");
  ConfiguredRun out;
  out.profile = shipped_profile(facts.profile, profiles);
  std::vector<std::string> warnings;
  out.cluster = configured_cluster({options.cluster_document, options.cluster, run.comments.cluster}, facts,
                                   out.assumed, warnings);
  ConfiguredModels models(options.files.front(), run.comments.models);
  out.workflow = workflow_of(facts, options, measured, models, out.assumed);
  out.workflow.rollout.batches_in_flight = out.profile.batches_in_flight(out.workflow);
  out.assumed.insert(out.assumed.end(), models.assumed.begin(), models.assumed.end());
  warnings.insert(warnings.end(), models.notes.begin(), models.notes.end());
  out.plan = configured_plan(run, options, {out.workflow, out.cluster, out.profile}, warnings);
  share_frozen_weights(out.profile, out.plan, out.workflow);
  for (std::string& warning : out.workflow.context_warnings()) warnings.push_back(std::move(warning));
  check_configured_plan(out, options);
  out.warnings = warnings_of(run, facts, importer, warnings);
  out.defaults = defaults_text(run.settings);
  return out;
}

// The configuration contradicts itself, or the cluster.
std::vector<std::string> files_at_fault(const ConfigurationOptions& options) {
  std::vector<std::string> files = options.files;
  files.push_back(options.cluster_document);
  return files;
}

}  // namespace

ConfiguredRun read_configured_run(const ConfigurationOptions& options, const LogBand* measured) {
  try {
    return in_files(files_at_fault(options), [&] { return configured(options, measured); });
  } catch (const Error& error) {
    const std::string reason = error.what();
    if (reason.find("got \"$") == std::string::npos) throw;
    throw Error(error.kind(), reason + " (--set NAME=VALUE gives a variable its value)");
  }
}

}  // namespace sextant::inline ask
