#include "calibrate/import/import.h"

#include <algorithm>

#include "calibrate/import/published/generation.h"
#include "calibrate/import/published/published.h"
#include "calibrate/import/published/training.h"
#include "calibrate/import/tables/aiconfigurator.h"
#include "calibrate/import/tables/blis.h"
#include "calibrate/import/tables/sailor.h"
#include "calibrate/import/tables/torchtitan.h"
#include "calibrate/import/tables/vtrain.h"
#include "calibrate/import/verl/verl.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// In alphabetical order, a line a reader: {"name", read_name, "what the files are"}.
const std::vector<ImportFormat>& formats() {
  static const std::vector<ImportFormat> table = {
      {"aiconfigurator", read_aiconfigurator,
       "serving points collected by aiconfigurator: CSV, one closed loop per row"},
      {"blis", read_blis, "vLLM servers under a constant request rate (BLIS): CSV, one load per row"},
      {"generation", read_generation,
       "published prefill and decode times of many sources: JSON, one run per record"},
      {"published", read_published, "published RL iterations of many sources: JSON, one run per record"},
      {"sailor", read_sailor,
       "Sailor's plans (JSON), layer times, and the tables that they refer to (CSV, JSON)"},
      {"torchtitan", read_torchtitan, "torchtitan's published throughput: CSV, one run per row"},
      {"training", read_training, "published training steps of many sources: JSON, one run per record"},
      {"verl", read_verl,
       "verl logs: console text, JSONL, or JSON with their numbers; FILE.setup.json adds the GPUs"},
      {"vtrain", read_vtrain, "vTrain's training iterations on A100: CSV, one run per row"},
  };
  return table;
}

std::string known_names() {
  std::string out;
  for (const ImportFormat& format : formats()) {
    out += (out.empty() ? "" : ", ") + std::string(format.name);
  }
  return out;
}

std::string joined(const std::vector<std::filesystem::path>& files) {
  std::string out;
  for (const std::filesystem::path& file : files) out += (out.empty() ? "" : ", ") + file.string();
  return out;
}

}  // namespace

std::span<const ImportFormat> import_formats() { return formats(); }

Imported import_runs(std::string_view format, const std::vector<std::filesystem::path>& files,
                     const Facts& facts) {
  const auto found = std::find_if(formats().begin(), formats().end(),
                                  [format](const ImportFormat& known) { return known.name == format; });
  if (found == formats().end()) {
    throw_bad_input("unknown format " + in_quotes(format) + "; expected one of " + known_names());
  }
  if (files.empty()) {
    throw_bad_input("format " + in_quotes(format) + " needs at least one file");
  }
  try {
    return found->read(files, facts);
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool names_a_file = std::any_of(files.begin(), files.end(), [&](const std::filesystem::path& file) {
      return what.find(file.string()) != std::string::npos;
    });
    throw Error(error.kind(), names_a_file ? what : joined(files) + ": " + what);
  }
}

}  // namespace sextant
