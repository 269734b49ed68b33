// sextant export: a plan as a framework's script, coefficients in another program's form, a cluster as a diagram.
#include <algorithm>
#include <array>
#include <memory>

#include "ask/coefficient_source.h"
#include "ask/export/trainer_script.h"
#include "cli/ask/question.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "reports/export/cluster_diagram.h"
#include "reports/export/coefficients_export.h"
#include "reports/export/plan_export.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

constexpr std::array kForms{"json", "csv", "header"};   // of coefficients
constexpr std::array kDiagrams{"mermaid", "graphviz"};  // of clusters

struct Options {
  std::string document;
  std::string to;  // empty: json
  std::string framework{kAny};
  ModelInputs inputs;  // beside a plan
  std::string out;
};

bool is_form(const std::string& name) { return std::find(kForms.begin(), kForms.end(), name) != kForms.end(); }

bool is_diagram(const std::string& name) {
  return std::find(kDiagrams.begin(), kDiagrams.end(), name) != kDiagrams.end();
}

bool is_trainer(const std::string& name) {
  const std::vector<std::string> names = trainer_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The file's "schema". Empty: the file is no document, which its reader says.
std::string schema_of(const std::string& file) {
  const Json json = Json::parse(read_text_file(file), nullptr, false, true);
  if (!json.is_object()) return "";
  const auto schema = json.find("schema");
  return schema != json.end() && schema->is_string() ? schema->get<std::string>() : "";
}

std::string exported(const std::string& form, const std::string& framework, const Coefficients& coefficients) {
  if (form == "csv") return coefficients_as_csv(coefficients);
  if (form == "header") return coefficients_as_header(coefficients, framework);
  return coefficients_as_json(coefficients, framework);
}

int print_export(const std::string& text, const std::string& out) {
  if (out.empty()) {
    print_text(text);
    return kDone;
  }
  write_text_file(out, text);
  say_wrote(out);
  return kDone;
}

int export_cluster(const Options& options) {
  const Cluster cluster = load_document<Cluster>(options.document).content;
  return print_export(options.to == "mermaid" ? cluster_as_mermaid(cluster) : cluster_as_graphviz(cluster),
                      options.out);
}

int export_coefficients(const Options& options) {
  const Coefficients coefficients = load_document<Coefficients>(options.document).content;
  std::vector<std::string> notes;
  const std::string framework = find_framework(coefficients, options.document, options.framework, notes);
  say(notes);
  return print_export(exported(options.to, framework, coefficients), options.out);
}

// Says on stderr what the framework cannot run as planned, with its cost.
int print_script(const ExportedScript& script, const std::string& out) {
  say(script.inputs);
  if (script.text.empty()) {
    say({script.refusal});
    return kAnswerIsNo;
  }
  say({"for " + script.framework + ", version " + script.version});
  for (const std::string& sentence : script.unsaid) say({"not as planned: " + sentence});
  say(script.notes);
  say(script.costs);
  return print_export(script.text, out);
}

[[noreturn]] void refuse_form(const Options& options, const char* what) {
  std::string names;
  for (const std::string& name : trainer_names()) names += (names.empty() ? "" : ", ") + name;
  throw_bad_input(options.document + " is " + what + ": --to " + names +
                  " and csv write plans, json, csv and header coefficients, mermaid and graphviz clusters");
}

int run(const Options& options) {
  const std::string schema = schema_of(options.document);
  if (is_diagram(options.to)) {
    if (schema.starts_with("sextant.plan/")) refuse_form(options, "a plan");
    return export_cluster(options);
  }
  if (schema.starts_with("sextant.cluster/")) refuse_form(options, "a cluster");
  if (!schema.starts_with("sextant.plan/")) {
    const bool is_for_plan = !options.to.empty() && !is_form(options.to);
    if (is_for_plan && schema.empty()) (void)load_document<Plan>(options.document);
    if (is_for_plan) refuse_form(options, "no plan");
    return export_coefficients(options);
  }
  const Plan plan = load_document<Plan>(options.document).content;
  if (options.to == "csv") return print_export(plan_as_csv(plan), options.out);
  const std::string& made_for = plan.framework;
  const std::string to = options.to.empty() && is_trainer(made_for) ? made_for : options.to;
  if (to.empty() || is_form(to)) refuse_form(options, "a plan");
  const bool has_cluster = !options.inputs.cluster.empty() || !options.inputs.cluster_in_words.gpus.empty();
  const bool has_workflow = !options.inputs.workflow.empty() || !options.inputs.workflow_in_words.model.empty();
  if (!has_cluster || !has_workflow)
    throw_bad_input(
        "a plan is exported with --cluster and --workflow, or the question's --gpus and --model: GPUs per "
        "node, "
        "batch and lengths are there");
  ModelInputs inputs = options.inputs;
  inputs.framework = options.framework == kAny ? made_for : options.framework;
  return print_script(export_plan_of({inputs, options.document, to}), options.out);
}

}  // namespace

void add_export(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command =
      line.add_command("export",
                       "A plan as a script of a framework or an inference server, or as CSV; "
                       "coefficients as JSON, CSV or C++; a cluster drawn");
  command.add_option("document", options->document, "Plan, coefficients or cluster document").required();
  std::vector<std::string> names(kForms.begin(), kForms.end());
  names.insert(names.end(), kDiagrams.begin(), kDiagrams.end());
  for (const std::string& name : trainer_names()) names.push_back(name);
  command
      .add_option(
          "--to", options->to,
          "Plan: framework or program. Coefficients: json, csv (all entries), header (C++). Cluster: mermaid, "
          "graphviz")
      .check(one_of(names))
      .shows_default("a plan's framework; json for coefficients");
  command.add_option("--cluster", options->inputs.cluster, "Plan: its cluster document");
  command.add_option("--workflow", options->inputs.workflow, "Plan: its workflow document");
  (void)add_question(command, options->inputs.cluster_in_words, options->inputs.workflow_in_words);
  command.add_option("--coefficients", options->inputs.coefficients,
                     "Plan: coefficients that cost what the framework cannot do; default: as for plan");
  command.add_option(
      "--framework", options->framework,
      "Framework that the plan is for, if --to is another one; of the values that are exported (json, header)");
  command.add_output("--out", options->out, "File to write (default: standard output)");
  command.footer(
      "Examples: sextant export plan.json --cluster cluster.json --workflow workflow.json --out "
      "run.sh\n"
      "          sextant export coefficients.json --to header --out coefficients.h\n"
      "          sextant export cluster.json --to graphviz | dot -Tsvg > cluster.svg");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
