// sextant report: one page about everything there is.
#include "reports/report.h"
#include "core/json_value.h"

#include <filesystem>
#include <memory>

#include "ask/data_files.h"
#include "ask/measured/cluster_verdict.h"
#include "cli/shared/command.h"
#include "cli/shared/document_kind.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct Options {
  std::vector<std::string> sources;  // folders and documents
  std::string cluster, runs, coefficients, accuracy, plan, prediction, search, explanation, placement,
      simulation;
  std::string title = "Sextant report";
  std::string out = "report.html";
  std::string markdown;
  bool json = false, anonymous = false;
};

template <typename T>
void load_into(std::optional<Document<T>>& slot, const std::string& file) {
  if (!file.empty()) slot = load_document<T>(file);
}

// Calls take(kind, member of the input, option's file) for each kind of document that a report shows.
template <typename Take>
void for_each_kind(ReportInput& input, const Options& options, const Take& take) {
  take("cluster", input.cluster, options.cluster);
  take("runs", input.runs, options.runs);
  take("coefficients", input.coefficients, options.coefficients);
  take("accuracy", input.accuracy, options.accuracy);
  take("plan", input.plan, options.plan);
  take("prediction", input.prediction, options.prediction);
  take("search", input.search, options.search);
  take("explanation", input.explanation, options.explanation);
  take("placement", input.placement, options.placement);
  take("simulation", input.simulation, options.simulation);
}

// The documents of a folder under their usual names.
void add_folder(const std::filesystem::path& folder, const Options& options, ReportInput& input) {
  for_each_kind(input, options, [&](const char* kind, auto& slot, const std::string&) {
    const std::filesystem::path file = folder / (std::string(kind) + ".json");
    if (std::filesystem::exists(file)) load_into(slot, file.string());
  });
}

// A document, whose kind is in it.
void add_document(const std::string& file, const Options& options, ReportInput& input) {
  std::string kind = kind_of_document(file), known;
  if (kind == "coschedule_simulation") kind = "simulation";
  bool is_taken = false;
  for_each_kind(input, options, [&](const char* one, auto& slot, const std::string&) {
    known += (known.empty() ? "" : ", ") + std::string(one);
    if (kind != one) return;
    is_taken = true;
    load_into(slot, file);
  });
  if (!is_taken)
    throw_bad_input(file + ": a report shows documents of these kinds: " + known + "; got " + in_quotes(kind));
}

int run(const Options& options) {
  ReportInput input;
  input.title = options.title;
  input.is_anonymous = options.anonymous;
  for (const std::string& source : options.sources) {
    if (std::filesystem::is_directory(source)) {
      add_folder(source, options, input);
    } else if (std::filesystem::exists(source)) {
      add_document(source, options, input);
    } else {
      throw_bad_input(source + ": no such file or folder");
    }
  }
  for_each_kind(input, options,
                [](const char*, auto& slot, const std::string& file) { load_into(slot, file); });
  if (!input.placement && !input.simulation && !input.cluster && !input.runs && !input.coefficients &&
      !input.accuracy && !input.plan && !input.prediction && !input.search && !input.explanation) {
    throw_bad_input("nothing to report: give documents, or a folder with cluster.json, runs.json, ...");
  }
  if (input.cluster) {
    if (const auto data = find_data_folder())
      input.cluster_verdict =
          judge_cluster(input.cluster->content, Facts::load(*data / "gpus.json", *data / "models.json"));
  }
  if (options.json) {
    std::fputs(format_json(report_json(input)).c_str(), stdout);
    return kDone;
  }
  write_text_file(options.out, render_html(input));
  say_wrote(options.out);
  if (!options.markdown.empty()) {
    write_text_file(options.markdown, render_markdown(input));
    say_wrote(options.markdown);
  }
  return kDone;
}

}  // namespace

void add_report(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("report", "Write a self-contained HTML page, and optionally Markdown");
  command.add_option(
      "documents", options->sources,
      "Documents, and folders that have them under their usual names (cluster.json, runs.json, ...)");
  command.add_option("--cluster", options->cluster, "Cluster document");
  command.add_option("--runs", options->runs, "Runs document");
  command.add_option("--coefficients", options->coefficients, "Coefficients document");
  command.add_option("--accuracy", options->accuracy, "Accuracy document");
  command.add_option("--plan", options->plan, "Plan document");
  command.add_option("--prediction", options->prediction, "Prediction document");
  command.add_option("--search", options->search, "Search document, from sextant plan --search-out");
  command.add_option("--explanation", options->explanation,
                     "Explanation document, from sextant plan --explain-out");
  command.add_option("--placement", options->placement, "Placement document of sextant coschedule");
  command.add_option("--simulation", options->simulation, "Document of sextant coschedule simulate --out");
  command.add_option("--title", options->title, "Title of the page").shows_default();
  command.add_output("--out", options->out, "HTML file to write").shows_default();
  command.add_output("--markdown", options->markdown, "Markdown file to write");
  command.add_flag("--anonymous", options->anonymous,
                   "Leave out names of machines, zones and regions, and command lines");
  command.add_flag("--json", options->json, "Print the data of the report as JSON, and write no files");
  command.footer(
      "Example: sextant report sextant-quickstart --out report.html --markdown report.md\n"
      "         sextant report plan.json prediction.json --out plan.html");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
