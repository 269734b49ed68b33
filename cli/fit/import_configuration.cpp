#include "cli/fit/import_configuration.h"

#include <filesystem>
#include <optional>

#include "ask/framework.h"
#include "cli/ask/inputs.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "reports/import/importers.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

constexpr const char* kGroup = "Configurations of RL frameworks (--from)";

std::vector<std::string> importer_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importer_table()) names.emplace_back(importer.family);
  return names;
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
  option("--from", options.from,
         "Framework of the configuration: launch scripts, lists of settings, YAML, TOML")
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

}  // namespace

int import_configuration(const ConfigurationOptions& options) {
  const ConfiguredRun run = read_configured_run(options, nullptr);
  say(run.warnings);
  print_run(run.workflow, run.plan, run.profile);
  print_list("not stated, so the defaults of " + run.profile.family + " " + run.profile.version + ":",
             run.defaults);
  print_list("assumed:", run.assumed);
  write_documents(options.out_folder, run.cluster, run.workflow, run.plan);
  const std::string folder = options.out_folder + "/";
  print_words(run.plan, {run.cluster, run.workflow, {}, run.profile}, folder);
  print_line("next: sextant predict --framework " + run.profile.name + " --cluster " + folder +
             "cluster.json --workflow " + folder + "workflow.json --plan " + folder + "plan.json");
  return kDone;
}

}  // namespace sextant::cli
