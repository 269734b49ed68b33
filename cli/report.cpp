// sextant report: one page about everything there is.
#include "reports/report.h"
#include "core/json_value.h"

#include <filesystem>
#include <memory>

#include "ask/data_files.h"
#include "ask/measured/cluster_verdict.h"
#include "cli/shared/command.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct Options {
  std::string folder;
  std::string cluster, runs, coefficients, accuracy, plan, prediction, search, explanation, placement,
      simulation;
  std::string title = "Sextant report";
  std::string out = "report.html";
  std::string markdown;
  bool json = false, anonymous = false;
};

// The file given, or the folder's file of the usual name when it is there.
template <typename T>
void load_into(std::optional<Document<T>>& slot, std::string file, const std::string& folder,
               const char* usual) {
  if (file.empty() && !folder.empty() && std::filesystem::exists(std::filesystem::path(folder) / usual)) {
    file = (std::filesystem::path(folder) / usual).string();
  }
  if (!file.empty()) slot = load_document<T>(file);
}

int run(const Options& options) {
  if (!options.folder.empty() && !std::filesystem::is_directory(options.folder)) {
    const char* found =
        std::filesystem::exists(options.folder)
            ? ": expected a folder with cluster.json, runs.json, ...; single documents have options, "
              "such as --plan plan.json"
            : ": no such folder";
    throw_bad_input(options.folder + found);
  }
  ReportInput input;
  input.title = options.title;
  input.is_anonymous = options.anonymous;
  load_into(input.cluster, options.cluster, options.folder, "cluster.json");
  load_into(input.runs, options.runs, options.folder, "runs.json");
  load_into(input.coefficients, options.coefficients, options.folder, "coefficients.json");
  load_into(input.accuracy, options.accuracy, options.folder, "accuracy.json");
  load_into(input.plan, options.plan, options.folder, "plan.json");
  load_into(input.prediction, options.prediction, options.folder, "prediction.json");
  load_into(input.search, options.search, options.folder, "search.json");
  load_into(input.explanation, options.explanation, options.folder, "explanation.json");
  load_into(input.placement, options.placement, options.folder, "placement.json");
  load_into(input.simulation, options.simulation, options.folder, "simulation.json");
  if (!input.placement && !input.simulation && !input.cluster && !input.runs && !input.coefficients &&
      !input.accuracy && !input.plan && !input.prediction && !input.search && !input.explanation) {
    throw_bad_input("nothing to report: give a folder with cluster.json, runs.json, ..., or single documents");
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
  command.add_option("folder", options->folder,
                     "Folder with documents under their default names (cluster.json, runs.json, ...)");
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
  command.footer("Example: sextant report sextant-quickstart --out report.html --markdown report.md");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
