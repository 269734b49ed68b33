// Imports measured runs from files that other programs write; another file of a known format needs no code.
//
// A reader turns each record into a run: cluster, workflow and plan as far as stated. A missing quantity on
// which the time depends becomes Run::unstated; a record that contradicts itself, or lacks something that no
// assumption can replace, is left out with its reason. Readers know the documents, not the cost model.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/log_times.h"
#include "calibrate/import/records/stated_gpus.h"

namespace sextant::inline calibrate {

struct ImportFormat {
  std::string_view name;  // "verl"
  std::function<Imported(const std::vector<std::filesystem::path>& files, const Facts& facts,
                         const StatedGpus& stated)>
      read;
  std::string_view help;  // one line that describes the files
};

// Returns the formats in alphabetical order.
[[nodiscard]] std::span<const ImportFormat> import_formats();

// `stated` replaces what the files say of their GPUs. Throws Error(bad_input) with file and place if a file is not of the format.
[[nodiscard]] Imported import_runs(std::string_view format, const std::vector<std::filesystem::path>& files,
                                   const Facts& facts, const StatedGpus& stated = {});

// The times and lengths of the same logs, for plans that a configuration states.
[[nodiscard]] std::vector<LogTimes> import_times(std::string_view format,
                                                 const std::vector<std::filesystem::path>& files,
                                                 const StatedGpus& stated = {});

}  // namespace sextant::inline calibrate
