#include "calibrate/import/import.h"

#include <algorithm>

#include "calibrate/import/verl/verl.h"
#include "core/in_file.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant {
namespace {

// The reader of the dialect at this place of the table.
template <std::size_t place>
Imported read_dialect(const std::vector<std::filesystem::path>& files, const Facts& facts) {
  return read_driver_logs(files, facts, driver_dialects()[place]);
}

constexpr const char* kDriverHelp =
    "console logs, JSONL and CSV of wandb; FILE.setup.json adds GPUs and configuration";

// In alphabetical order, a line a reader: {"name", read_name, "what the files are"}.
const std::vector<ImportFormat>& formats() {
  static const std::vector<ImportFormat> table = {
      {"nemo-rl", read_dialect<0>, kDriverHelp},
      {"openrlhf", read_dialect<1>, kDriverHelp},
      {"roll", read_dialect<2>, kDriverHelp},
      {"slime", read_dialect<3>, kDriverHelp},
      {"verl", read_verl,
       "verl logs: console text, JSONL, or JSON with their numbers; FILE.setup.json adds the GPUs"},
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
  return in_files({files.begin(), files.end()}, [&] { return found->read(files, facts); });
}

}  // namespace sextant
