// The settings of a TOML file, if this build has toml++.
#pragma once

#include <filesystem>

#include "reports/export/trainers/trainer_settings.h"

namespace sextant::inline reports {

// Puts the values of the document into `settings`, keys joined by dots. Arrays are one value, also those of tables; a
// table without members is an empty object. Times and dates are texts. Throws Error(bad_input) with file and line, also
// if the build has no TOML.
void read_toml_file(const std::filesystem::path& file, TrainerSettings& settings);

[[nodiscard]] bool has_toml();

}  // namespace sextant::inline reports
