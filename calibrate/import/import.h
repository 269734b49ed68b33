// Measured runs of other people's files as run documents, so that another file of the same form needs no code.
//
// A reader turns each record into a run: cluster, workflow and plan as far as the source states them. What it
// leaves unsaid and the time depends on becomes Run::unstated; a record that contradicts itself, or misses what
// no assumption can replace, is left out with its reason. Readers know the vocabulary, not the cost model.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "calibrate/import/records/imported.h"

namespace sextant {

struct ImportFormat {
  std::string_view name;  // "vtrain"
  Imported (*read)(const std::vector<std::filesystem::path>& files, const Facts& facts);
  std::string_view help;  // one line: what the files are
};

// In alphabetical order.
[[nodiscard]] std::span<const ImportFormat> import_formats();

// Throws Error(bad_input) naming file and place for a file that is not of the form.
[[nodiscard]] Imported import_runs(std::string_view format, const std::vector<std::filesystem::path>& files,
                                   const Facts& facts);

}  // namespace sextant
