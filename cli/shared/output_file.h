// Checks output files before a command computes what it would write.
#pragma once

#include <filesystem>
#include <string>

namespace sextant::cli {

// Makes a folder and those above it. Throws Error(machine) if that fails.
void make_folder(const std::filesystem::path& folder);

// Throws Error(bad_input) if the folder of the file does not exist, and Error(machine) if the file cannot be
// written there. `option` stands in messages. Nothing is left behind; pipes and terminals are not opened.
void require_writable(const std::string& option, const std::filesystem::path& file);

}  // namespace sextant::cli
