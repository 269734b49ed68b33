#include "cli/fit/import_configuration.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/ask/hub_cache.h"
#include "cli/ask/lengths_text.h"
#include "cli/ask/model_source.h"
#include "cli/shared/command.h"
#include "cli/shared/data_files.h"
#include "cli/shared/framework.h"
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

// "H100" becomes "2x8xH100" with the nodes and GPUs of the configuration.
std::string gpus_text(const std::string& given, const RunFacts& facts, std::vector<std::string>& assumed) {
  const std::size_t x = given.find('x');
  const bool has_number = x != std::string::npos && x > 0 &&
                          std::all_of(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(x),
                                      [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  if (has_number || given.find('+') != std::string::npos) return given;
  const std::string text =
      std::to_string(facts.nodes) + "x" + std::to_string(facts.gpus_per_node) + "x" + given;
  assumed.push_back("--gpus " + text + ", as the configuration has nodes and GPUs");
  return text;
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

// The models of a configuration. One whose path is not on this machine is known by its last part.
class ConfiguredModels {
 public:
  ConfiguredModels() {
    const std::filesystem::path data = data_folder();
    facts_ = Facts::load(data / "gpus.json", data / "models.json");
  }

  // `option`: the one that would name the model.
  Model find(const std::string& configured, const std::string& given, const char* option) {
    if (!given.empty()) return found(given);
    if (configured.empty())
      throw_bad_input(std::string("the configuration does not name the model: add ") + option);
    const std::string last = last_part(configured);
    try {
      return found(last.empty() || std::filesystem::exists(configured) ? configured
                                                                       : known_name(configured, last));
    } catch (const Error& error) {
      throw_bad_input(std::string(error.what()) + "; name the model with " + option);
    }
  }

  std::vector<std::string> notes;

 private:
  static std::string last_part(const std::string& path) {
    const std::size_t end = path.find_last_not_of('/');
    const std::string trimmed = path.substr(0, end == std::string::npos ? 0 : end + 1);
    return trimmed.substr(trimmed.rfind('/') + 1);
  }
  // "Qwen/Qwen3-8B" is a name; "/data/models/Qwen3-8B" and "$HOME/Qwen3-8B" are paths. A base model has the
  // shape of the model that was made from it.
  [[nodiscard]] std::string known_name(const std::string& configured, const std::string& last) {
    if (facts_.has_model(configured)) return configured;
    if (facts_.has_model(last)) return last;
    for (const std::string_view end : {"-Base", "-Instruct"}) {
      if (!last.ends_with(end)) continue;
      const std::string name = last.substr(0, last.size() - end.size());
      if (!facts_.has_model(name)) continue;
      notes.push_back(last + " is taken to have the shape of " + name);
      return name;
    }
    return configured;
  }
  Model found(const std::string& name) {
    FoundModel model = find_model(name, facts_, hub_cache());
    for (std::string& note : model.notes) notes.push_back(std::move(note));
    return model.model;
  }

  Facts facts_;
};

Workflow workflow_of(const RunFacts& facts, const ConfigurationOptions& options,
                     std::vector<std::string>& assumed, std::vector<std::string>& warnings) {
  ConfiguredModels models;
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
  const Model actor = models.find(facts.actor, options.model, "--model");
  // A critic that begins as the reward model.
  const bool is_from_reward = options.critic.empty() && !facts.critic.empty() && facts.critic == facts.reward;
  const std::string& critic = is_from_reward ? options.reward_model : options.critic;
  const bool has_critic_model = !facts.critic.empty() || !critic.empty();
  if (facts.has_critic && !has_critic_model) assumed.emplace_back("--critic: the shape of the model");
  for (const Task& task : workflow.tasks) {
    if (workflow.models.contains(task.model)) continue;
    Model model = actor;
    if (task.model == "critic" && has_critic_model) model = models.find(facts.critic, critic, "--critic");
    if (task.model == "reward") model = models.find(facts.reward, options.reward_model, "--reward-model");
    model.value_head = task.model == "critic" || task.model == "reward";
    workflow.models[task.model] = std::move(model);
  }
  take_lengths(options, facts, workflow, assumed);
  workflow.name = std::string(facts.has_critic ? "ppo" : "grpo") + " of " + workflow.models.at("actor").name;
  workflow.check();
  warnings.insert(warnings.end(), models.notes.begin(), models.notes.end());
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
  option("--out-folder", options.out_folder, "Folder for cluster.json, workflow.json and plan.json")
      .shows_default();
  option("--gpus", options.cluster.gpus,
         "Type of GPU (H100: nodes and GPUs as configured), or the whole cluster: 2x8xH100");
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

int import_files(const ConfigurationOptions& options) {
  if (options.cluster.gpus.empty())
    throw_bad_input("a configuration does not say the type of its GPUs: add --gpus, for example --gpus H100");
  const Importer& importer = *find_importer(options.from);
  RunSettings run = read_run_settings({options.files.begin(), options.files.end()}, importer.source,
                                      given_values(options.given));
  const RunFacts facts = importer.read(run);
  const std::vector<FrameworkProfile> profiles = load_framework_profiles(data_folder() / "frameworks");
  const FrameworkProfile& profile = shipped_profile(facts.profile, profiles);
  std::vector<std::string> assumed, warnings;
  ClusterOptions hardware = options.cluster;
  hardware.gpus = gpus_text(options.cluster.gpus, facts, assumed);
  const Cluster cluster = cluster_of(hardware, warnings);
  const Workflow workflow = workflow_of(facts, options, assumed, warnings);
  const std::string name = std::filesystem::path(options.files.front()).stem().string();
  const Plan plan =
      plan_of_settings(run.settings, name, {workflow, cluster, profile}, *find_dialect(profile.name));
  check_plan(plan, workflow, cluster);
  warn(run, facts, importer, warnings);
  print_run(workflow, plan, profile);
  print_list("not stated, so the defaults of " + profile.family + " " + profile.version + ":",
             defaults_text(run.settings));
  print_list("assumed:", assumed);
  write_documents(options.out_folder, cluster, workflow, plan);
  const std::string folder = options.out_folder + "/";
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
