// sextant import: runs documents from other people's logs; a plan from their configuration.
#include "calibrate/import/import.h"

#include <algorithm>
#include <memory>

#include "ask/runs/log_runs.h"
#include "calibrate/import/benchmarks/link_benchmark.h"
#include "cli/fit/import_benchmark.h"
#include "cli/fit/import_configuration.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "cli/shared/table.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

constexpr const char* kRunsFile = "runs.json";

struct Options {
  std::string format;
  std::vector<std::string> files;
  std::string out = kRunsFile;
  std::string level = "within_zone";
  std::string data;
  std::vector<std::string> configs;
  bool json = false;
  ConfigurationOptions configuration;
};

std::string formats_help() {
  std::string help = "Formats:\n";
  for (const ImportFormat& format : import_formats()) {
    help += "  " + std::string(format.name) + ": " + std::string(format.help) + "\n";
  }
  help += "Benchmarks, which become measured links of a cluster document:\n";
  for (const BenchmarkFormat& format : benchmark_formats())
    help += "  " + std::string(format.name) + ": " + std::string(format.help) + "\n";
  return help +
         "Records that are left out are listed on stderr with the reason. Exits 1 and writes nothing if no run "
         "is left.\n"
         "Without a format the metrics of each log tell its framework.\n"
         "Examples: sextant import train.log --gpus 2x8xH100 --out runs.json\n"
         "          sextant import verl train.log --config run.sh --gpus H100 --out runs.json\n"
         "          sextant import nccl-tests all_reduce.txt --gpus 2x8xH100 --out cluster.json\n"
         "          sextant import run.sh --from verl --gpus H100 --out-folder q";
}

// The first word is a format, or the first of the files.
bool is_format(const std::string& word) {
  return std::any_of(import_formats().begin(), import_formats().end(),
                     [&word](const ImportFormat& format) { return format.name == word; }) ||
         !std::filesystem::exists(word);
}

int import_logs(const Options& options) {
  LogOptions logs{options.format, options.files, options.configs, options.data, options.configuration};
  if (!is_format(options.format)) {
    logs.format.clear();
    logs.logs.insert(logs.logs.begin(), options.format);
  }
  if (logs.logs.empty())
    throw_bad_input(
        in_quotes(options.format) +
        " alone: expected logs, with or without their format before them, or configurations --from: see "
        "sextant import --help");
  const LogRuns runs = read_log_runs(logs);
  const Imported& imported = runs.imported;
  say(runs.notes);
  say(left_out_lines(imported));
  // A document without runs serves no command.
  if (imported.runs.runs.empty()) {
    std::fprintf(stderr, "sextant: no runs, %zu records left out: nothing written\n", imported.left_out.size());
    return kAnswerIsNo;
  }
  if (options.json) {
    print_document(imported.runs);
  } else {
    const auto counted = [](std::size_t count, const std::string& noun) {
      return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
    };
    print_line(counted(imported.runs.runs.size(), "run") + ", " + counted(imported.left_out.size(), "record") +
               " left out");
  }
  save_document(options.out, imported.runs);
  say_wrote(options.out);
  return kDone;
}

int import_links(const Options& options) {
  BenchmarkOptions benchmarks;
  benchmarks.format = options.format;
  benchmarks.files = options.files;
  benchmarks.cluster_document = options.configuration.cluster_document;
  benchmarks.cluster = options.configuration.cluster;
  benchmarks.level = options.level;
  benchmarks.out = options.out == kRunsFile ? "cluster.json" : options.out;
  benchmarks.json = options.json;
  return import_benchmarks(benchmarks);
}

// With --from there is no format, so the first word is a file too.
int run(Options& options) {
  if (options.configuration.from.empty() && find_benchmark_format(options.format) != nullptr)
    return import_links(options);
  if (options.configuration.from.empty()) return import_logs(options);
  options.configuration.files = options.files;
  options.configuration.files.insert(options.configuration.files.begin(), options.format);
  return import_configuration(options.configuration);
}

}  // namespace

void add_import(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command(
      "import", "Runs from logs, a plan from a framework's configuration, links from benchmarks");
  command
      .add_option("format", options->format,
                  "Format of logs or benchmarks, see below; or the first log; with --from the first file")
      .required();
  command.add_option("files", options->files, "Files to read");
  command.add_output("--out", options->out, "Runs document to write; of benchmarks: a cluster document")
      .shows_default();
  command.add_option("--data", options->data, "Folder with gpus.json and models.json");
  command.add_flag("--json", options->json, "Also print the runs document");
  command.add_option("--config", options->configs, "Configuration of the logged run, as for sextant check")
      .may_be_repeated();
  command
      .add_option("--level", options->level,
                  "Links that a benchmark between nodes measured: within_zone, within_region, between_regions")
      .shows_default();
  add_configuration_options(command, options->configuration);
  command.footer(formats_help());
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
