#include "calibrate/import/import.h"

#include <algorithm>

#include "calibrate/import/verl/verl.h"
#include "core/in_file.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

constexpr const char* kDriverHelp =
    "console logs, TensorBoard events, JSONL and CSV of wandb; FILE.setup.json adds GPUs and options";

std::vector<ImportFormat> all_formats() {
  std::vector<ImportFormat> all{
      {"verl", read_verl,
       "verl logs: console text, TensorBoard events, JSONL, CSV, or JSON with numbers; FILE.setup.json adds "
       "the GPUs"}};
  for (const DriverDialect& dialect : driver_dialects()) {
    const auto read = [&dialect](const std::vector<std::filesystem::path>& files, const Facts& facts,
                                 const StatedGpus& stated) {
      return read_driver_logs(files, facts, dialect, stated);
    };
    all.push_back({dialect.name, read, kDriverHelp});
  }
  std::sort(all.begin(), all.end(),
            [](const ImportFormat& a, const ImportFormat& b) { return a.name < b.name; });
  return all;
}

const std::vector<ImportFormat>& formats() {
  static const std::vector<ImportFormat> table = all_formats();
  return table;
}

std::string known_names() {
  std::string out;
  for (const ImportFormat& format : formats()) {
    out += (out.empty() ? "" : ", ") + std::string(format.name);
  }
  return out;
}

const ImportFormat& format_named(std::string_view name, const std::vector<std::filesystem::path>& files) {
  const auto found = std::find_if(formats().begin(), formats().end(),
                                  [name](const ImportFormat& known) { return known.name == name; });
  if (found == formats().end())
    throw_bad_input("unknown format " + in_quotes(name) + "; expected one of " + known_names());
  if (files.empty()) throw_bad_input("format " + in_quotes(name) + " needs at least one file");
  return *found;
}

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& files) {
  return {files.begin(), files.end()};
}

const DriverDialect* dialect_named(std::string_view name) {
  for (const DriverDialect& dialect : driver_dialects()) {
    if (dialect.name == name) return &dialect;
  }
  return nullptr;
}

}  // namespace

std::span<const ImportFormat> import_formats() { return formats(); }

Imported import_runs(std::string_view format, const std::vector<std::filesystem::path>& files,
                     const Facts& facts, const StatedGpus& stated) {
  const ImportFormat& found = format_named(format, files);
  return in_files(names_of(files), [&] { return found.read(files, facts, stated); });
}

std::vector<LogTimes> import_times(std::string_view format, const std::vector<std::filesystem::path>& files,
                                   const StatedGpus& stated) {
  const ImportFormat& found = format_named(format, files);
  return in_files(names_of(files), [&] { return read_log_times(files, dialect_named(found.name), stated); });
}

}  // namespace sextant::inline calibrate
