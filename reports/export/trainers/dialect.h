// A dialect: the configuration of one RL training framework, as text that it runs.
//
// To add one: a source beside verl.cpp with its writer and reader, a declaration in dialects.h, a row in
// dialects.cpp, and the framework's valid keys in tests/data/export.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/export/trainers/nearest_plan.h"
#include "reports/export/trainers/trainer_config.h"
#include "reports/export/trainers/trainer_settings.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/workflow.h"

namespace sextant::inline reports {

// The documents beside the plan, from whichever source.
struct TrainerProblem {
  const Workflow& workflow;
  const Cluster& cluster;
  const FrameworkProfile& profile;
};

// A variable that the user fills in before the script runs.
struct ShellVariable {
  std::string name;      // "MODEL_PATH"
  std::string meaning;   // "the model Qwen3-14B: a folder or its name on Hugging Face"
  std::string fallback;  // empty: the script stops without it
};

struct TrainerScript {
  TrainerSettings settings;
  std::vector<ShellVariable> variables;
  std::string command;             // the launch: "python3 -m verl.trainer.main_ppo"
  std::vector<std::string> notes;  // sentences for the top of the file
  // The settings say that the workflow computes in another precision than bf16, the default of all frameworks here.
  bool states_precision = false;
};

enum class SettingForm { hydra, flags, yaml };

struct Dialect {
  std::string_view family;   // "verl"
  std::string_view profile;  // "verl-fsdp": name of its file in data/frameworks
  SettingForm form;
  DialectRules (*rules)(const FrameworkProfile& profile);
  // Why the dialect cannot say the configuration at all; empty: it can.
  std::string (*refusal)(const TrainerConfig& config, const TrainerProblem& problem);
  TrainerScript (*write)(const TrainerConfig& config, const TrainerProblem& problem);
  // `config`: has the pools and the default options of each task.
  void (*read)(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config);
};

}  // namespace sextant::inline reports
