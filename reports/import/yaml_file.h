// The settings of a YAML file, if this build has yaml-cpp.
#pragma once

#include <filesystem>
#include <string>

#include "reports/export/trainers/trainer_settings.h"

namespace sextant::inline reports {

// Puts the leaves of the document into `settings`, keys joined by dots; lists are one value. Anchors and merged
// maps are resolved. Throws Error(bad_input) with file and line, also if the build has no YAML.
void read_yaml_file(const std::filesystem::path& file, TrainerSettings& settings);
// The same for a document inside another file, whose name and line of the first line are given.
void read_yaml_text(const std::string& text, const std::string& file, int first_line,
                    TrainerSettings& settings);

[[nodiscard]] bool has_yaml();

}  // namespace sextant::inline reports
