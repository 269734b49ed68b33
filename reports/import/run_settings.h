// The settings in a user's files: launch scripts, lists of overrides or flags, and YAML.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/export/trainers/dialect.h"
#include "reports/export/trainers/script_comments.h"
#include "reports/export/trainers/trainer_settings.h"

namespace sextant::inline reports {

struct RunSettings {
  TrainerSettings settings;
  std::string program;      // of the launch: "verl.trainer.main_ppo", "examples/run_grpo.py"; empty: not there
  ScriptComments comments;  // of the last script that was exported
  std::vector<std::string> notes;
};

struct SettingSource {
  SettingForm form;                        // of the words of a launch
  std::vector<std::string_view> programs;  // parts of the launched program's name: "main_ppo"
  // Programs beside it whose words are settings too: "vllm-serve".
  std::vector<std::string_view> helpers = {};
  // Words before the program are settings too, and YAML files that the launch names count.
  bool reads_launcher = false;
  // The program reads TOML files behind an "@": "rl @ base.toml --trainer @ trainer.toml --max-steps 5". Its name is a
  // whole word, and flags have dashes where keys have underscores. Parts of the configuration that have files of their
  // own, by the names of these: {"orch", "orchestrator"}. Empty: it does not.
  std::vector<std::pair<std::string_view, std::string_view>> toml_parts = {};
};

// Reads the files in their order; later ones replace settings of earlier ones. Files *.yaml, *.yml and *.json
// are maps of settings, *.toml too. All others are scripts, or lists of settings without a launch; here-documents with YAML
// inside count if the dialect's form is YAML. `given`: variables of the scripts and, if their name has a dot or
// the form is flags and the script does not use them, settings. Throws Error(bad_input) with file and line.
[[nodiscard]] RunSettings read_run_settings(const std::vector<std::filesystem::path>& files,
                                            const SettingSource& source,
                                            const std::map<std::string, std::string>& given);

// The same of one script's text; `name` stands for the file in messages.
[[nodiscard]] RunSettings read_run_settings_text(const std::string& text, const std::filesystem::path& name,
                                                 const SettingSource& source,
                                                 const std::map<std::string, std::string>& given);

}  // namespace sextant::inline reports
