// sextant import: runs documents from other people's files.
#include "calibrate/import/import.h"

#include <memory>

#include "cli/shared/command.h"
#include "cli/shared/data_files.h"
#include "cli/shared/table.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string format;
  std::vector<std::string> files;
  std::string out = "runs.json";
  std::string data;
  bool json = false;
};

std::string formats_help() {
  std::string help = "Formats:\n";
  for (const ImportFormat& format : import_formats()) {
    help += "  " + std::string(format.name) + ": " + std::string(format.help) + "\n";
  }
  return help +
         "Records that are left out are listed on stderr with the reason. Exits 1 and writes nothing if no run "
         "is left.\n"
         "Example: sextant import verl train.log --out runs.json";
}

int run(const Options& options) {
  const std::filesystem::path data = options.data.empty() ? data_folder() : std::filesystem::path(options.data);
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
  const Imported imported = import_runs(options.format, files, facts);
  for (const LeftOut& record : imported.left_out) {
    std::fprintf(stderr, "left out %s: %s\n", record.record.c_str(), record.reason.c_str());
  }
  // A document without runs serves no command.
  if (imported.runs.runs.empty()) {
    std::fprintf(stderr, "sextant: no runs, %zu records left out: nothing written\n", imported.left_out.size());
    return kAnswerIsNo;
  }
  if (options.json) {
    print_document(imported.runs);
  } else {
    print_line(std::to_string(imported.runs.runs.size()) + " runs, " +
               std::to_string(imported.left_out.size()) + " records left out");
  }
  save_document(options.out, imported.runs);
  say_wrote(options.out);
  return kDone;
}

}  // namespace

void add_import(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("import", "Convert logs of other systems to a runs document");
  command.add_option("format", options->format, "Format of the files, see below").required();
  command.add_option("files", options->files, "Files to read").required();
  command.add_option("--out", options->out, "Runs document to write").shows_default();
  command.add_option("--data", options->data, "Folder with gpus.json and models.json");
  command.add_flag("--json", options->json, "Also print the runs document");
  command.footer(formats_help());
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
