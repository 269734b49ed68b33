#include "cli/fit/import_configuration.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "ask/data_files.h"
#include "ask/framework.h"
#include "ask/words/lengths_text.h"
#include "cli/ask/inputs.h"
#include "cli/fit/configured_cluster.h"
#include "cli/fit/configured_models.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "core/in_file.h"
#include "core/units.h"
#include "reports/export/trainers/dialects.h"
#include "reports/import/importers.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

constexpr const char* kGroup = "Configurations of RL frameworks (--from)";

// These parts of the longest prompt and response are assumed to be used on average, as in question.cpp.
constexpr double kMeanPromptFraction = 400.0 / 1024, kMeanResponseFraction = 1500.0 / 4096;

std::vector<std::string> importer_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importer_table()) names.emplace_back(importer.family);
  return names;
}

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

void take_lengths(const ConfigurationOptions& options, const RunFacts& facts, Workflow& workflow,
                  std::vector<std::string>& assumed) {
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

Workflow workflow_of(const RunFacts& facts, const ConfigurationOptions& options, ConfiguredModels& models,
                     std::vector<std::string>& assumed) {
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
  workflow.rollout.is_interrupted = facts.is_interrupted;
  workflow.prompts = facts.prompts;
  workflow.responses_per_prompt = facts.responses_per_prompt;
  workflow.mini_batches = facts.mini_batches;
  take_models(facts, options, models, workflow, assumed);
  take_lengths(options, facts, workflow, assumed);
  workflow.name = std::string(facts.has_critic ? "ppo" : "grpo") + " of " + workflow.models.at("actor").name;
  workflow.check();
  return workflow;
}

const FrameworkProfile& shipped_profile(const std::string& name, const std::vector<FrameworkProfile>& all) {
  const FrameworkProfile* profile = find_profile(all, name);
  if (profile == nullptr) throw_bad_input("the data folder has no profile of " + name);
  return *profile;
}

void print_list(const std::string& heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  print_line(heading);
  for (const std::string& line : lines) print_line("  " + line);
}

void print_run(const Workflow& workflow, const Plan& plan, const FrameworkProfile& profile) {
  print_line(profile.name + " " + profile.version + ": " + workflow.name + ", " +
             std::string(name_of(workflow.mode)) + ", " + std::to_string(workflow.prompts) + " prompts x " +
             std::to_string(workflow.responses_per_prompt) + " responses, " +
             std::to_string(workflow.mini_batches) + " optimizer steps");
  for (const Task& task : workflow.tasks)
    print_line("  " + task.name + ": " + describe(plan.tasks.at(task.name)));
}

std::vector<std::string> defaults_text(const TrainerSettings& settings) {
  std::vector<std::string> out;
  for (const auto& [key, value] : settings.assumed()) {
    const bool is_empty = value.is_null() || (value.is_string() && value.get<std::string>().empty());
    if (!is_empty) out.push_back(key + " = " + value.dump());
  }
  return out;
}

void warn(const RunSettings& run, const RunFacts& facts, const Importer& importer,
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
  say(warnings);
}

void write_documents(const std::filesystem::path& folder, const Cluster& cluster, const Workflow& workflow,
                     const Plan& plan) {
  std::filesystem::create_directories(folder);
  save_document(folder / "cluster.json", cluster);
  save_document(folder / "workflow.json", workflow);
  save_document(folder / "plan.json", plan);
  say_wrote((folder / "cluster.json").string() + ", workflow.json and plan.json");
}

}  // namespace

void add_configuration_options(const Command& command, ConfigurationOptions& options) {
  const auto option = [&](const char* name, Destination value, const char* help) {
    return command.add_option(name, value, help).in_group(kGroup);
  };
  option("--from", options.from, "Framework of the configuration: launch scripts, lists of settings, YAML")
      .check(one_of(importer_names()));
  command
      .add_output_folder("--out-folder", options.out_folder,
                         "Folder for cluster.json, workflow.json and plan.json")
      .in_group(kGroup)
      .shows_default();
  option("--gpus", options.cluster.gpus,
         "GPU or instance (H100, p5.48xlarge: as many as configured), or the whole cluster: 2x8xH100");
  option("--cluster", options.cluster_document, "Cluster document, in place of --gpus");
  option("--network", options.cluster.network.inside,
         "Network of one GPU to other nodes: a preset such as ib-ndr, or Gbit/s");
  option("--model", options.model, "Model in place of the configured one: a name, config.json or folder");
  option("--critic", options.critic, "Critic in place of the configured one");
  option("--reward-model", options.reward_model, "Reward model in place of the configured one");
  option("--prompt-tokens", options.prompt_tokens,
         "Lengths of prompts: mean=200 (up to the configured maximum)");
  option("--response-tokens", options.response_tokens,
         "Lengths of responses: mean=900 (up to the configured maximum)");
  option("--lengths", options.lengths, "Samples of both: lines of JSON, as for sextant plan");
  option("--set", options.given, "NAME=VALUE: a variable of the script, or a setting in place of the file's")
      .may_be_repeated();
}

namespace {

// On the GPUs that the comments of an exported script name, unless the settings were changed since.
Plan configured_plan(const RunSettings& run, const ConfigurationOptions& options, const TrainerProblem& problem,
                     std::vector<std::string>& warnings) {
  const Dialect& dialect = *find_dialect(problem.profile.name);
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

// The question about the same plan without its document.
void print_words(const Plan& plan, const LoadedInputs& loaded, const std::string& folder) {
  const std::optional<LayoutOptions> words = words_of_plan(plan, loaded.workflow, loaded.cluster);
  if (!words) return;
  std::vector<std::string> assumed;
  Plan stated;
  try {
    stated = plan_of(*words, loaded, assumed);
  } catch (const Error&) {  // other options by default do not go with these
    return;
  }
  stated.name = plan.name;
  for (auto& [name, task] : stated.tasks) {  // without effect if micro-batches are counted in tokens
    if (task.execution.micro_batch_tokens > 0)
      task.micro_batch_sequences = plan.tasks.at(name).micro_batch_sequences;
  }
  const std::string rest = stated == plan ? "" : " (other options by default)";
  print_line("in words" + rest + ": sextant predict --framework " + loaded.profile->name + " --cluster " +
             folder + "cluster.json --workflow " + folder + "workflow.json --train " + words->train +
             " --rollout " + words->rollout +
             (words->inference.empty() ? "" : " --inference " + words->inference));
}

struct ReadConfiguration {
  RunSettings run;
  RunFacts facts;
  FrameworkProfile profile;
  Cluster cluster;
  Workflow workflow;
  Plan plan;
  std::vector<std::string> assumed, warnings;
};

void take_question(const ConfigurationOptions& options, ReadConfiguration& read) {
  read.cluster = configured_cluster({options.cluster_document, options.cluster, read.run.comments.cluster},
                                    read.facts, read.assumed, read.warnings);
  ConfiguredModels models(options.files.front(), read.run.comments.models);
  read.workflow = workflow_of(read.facts, options, models, read.assumed);
  read.assumed.insert(read.assumed.end(), models.assumed.begin(), models.assumed.end());
  read.warnings.insert(read.warnings.end(), models.notes.begin(), models.notes.end());
}

ReadConfiguration read_configuration(const ConfigurationOptions& options, const Importer& importer) {
  ReadConfiguration read;
  read.run = read_run_settings({options.files.begin(), options.files.end()}, importer.source,
                               given_values(options.given));
  read.facts = importer.read(read.run);
  read.profile = shipped_profile(read.facts.profile, load_framework_profiles(data_folder() / "frameworks"));
  take_question(options, read);
  read.plan = configured_plan(read.run, options, {read.workflow, read.cluster, read.profile}, read.warnings);
  if (read.run.settings.unread().size() == read.run.settings.all().size())
    throw_bad_input("no setting of " + options.from +
                    " was found; give a launch script, a list of settings or a YAML file of " + options.from);
  check_plan(read.plan, read.workflow, read.cluster);
  return read;
}

// The configuration contradicts itself, or the cluster.
std::vector<std::string> files_at_fault(const ConfigurationOptions& options) {
  std::vector<std::string> files = options.files;
  files.push_back(options.cluster_document);
  return files;
}

int import_files(const ConfigurationOptions& options) {
  const Importer& importer = *find_importer(options.from);
  const ReadConfiguration read =
      in_files(files_at_fault(options), [&] { return read_configuration(options, importer); });
  const FrameworkProfile& profile = read.profile;
  warn(read.run, read.facts, importer, read.warnings);
  print_run(read.workflow, read.plan, profile);
  print_list("not stated, so the defaults of " + profile.family + " " + profile.version + ":",
             defaults_text(read.run.settings));
  print_list("assumed:", read.assumed);
  write_documents(options.out_folder, read.cluster, read.workflow, read.plan);
  const std::string folder = options.out_folder + "/";
  print_words(read.plan, {read.cluster, read.workflow, {}, profile}, folder);
  print_line("next: sextant predict --framework " + profile.name + " --cluster " + folder +
             "cluster.json --workflow " + folder + "workflow.json --plan " + folder + "plan.json");
  return kDone;
}

}  // namespace

int import_configuration(const ConfigurationOptions& options) {
  try {
    return import_files(options);
  } catch (const Error& error) {
    const std::string reason = error.what();
    if (reason.find("got \"$") == std::string::npos) throw;
    throw Error(error.kind(), reason + " (--set NAME=VALUE gives a variable its value)");
  }
}

}  // namespace sextant::cli
