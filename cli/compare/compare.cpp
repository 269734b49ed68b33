// sextant compare: plans, measured runs or clusters side by side.
#include <array>
#include <memory>

#include "cli/ask/inputs.h"
#include "cli/compare/comparison.h"
#include "cli/shared/command.h"
#include "cli/shared/document_kind.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct ComparedKind {
  const char* kind;
  Comparison (*compare)(const CompareOptions& options);
};

constexpr std::array kCompared{ComparedKind{"plan", compare_plans}, ComparedKind{"runs", compare_runs},
                               ComparedKind{"cluster", compare_cluster_documents}};

int run_comparison(const CompareOptions& options) {
  const std::string kind = kind_of_document(options.files.front());
  for (const std::string& file : options.files) {
    const std::string other = kind_of_document(file);
    if (other != kind)
      throw_bad_input("expected documents of the same kind, got " + in_quotes(kind) + " (" +
                      options.files.front() + ") and " + in_quotes(other) + " (" + file + ")");
  }
  for (const ComparedKind& one : kCompared) {
    if (kind != one.kind) continue;
    if (options.files.size() < 2 && kind != "runs")
      throw_bad_input("expected at least two documents to compare, got " + options.files.front());
    const Comparison comparison = one.compare(options);
    if (options.json) {
      print_text(comparison_json(comparison).dump(1) + "\n");
    } else {
      print_comparison(comparison, options.all);
    }
    return kDone;
  }
  throw_bad_input(options.files.front() + ": expected plans, runs or clusters, got " + in_quotes(kind));
}

}  // namespace

void add_compare(CommandLine& line) {
  const auto options = std::make_shared<CompareOptions>();
  const Command command = line.add_command(
      "compare", "Plans, measured runs or clusters side by side, with how sure a difference is");
  command
      .add_option("documents", options->files,
                  "Documents of one kind; the first is what others are compared with")
      .required();
  add_model_inputs(command, options->inputs);
  command.add_flag("--all", options->all, "Also show rows that are the same in all documents");
  command.add_flag("--json", options->json, "Print the table as JSON");
  command.footer(
      "Plans need a cluster and a workflow, as for predict; all are predicted with the same draws of the\n"
      "coefficients, and 97 % sure is the share of the draws in which the plan is faster or slower.\n"
      "Runs are compared by a permutation test of their samples, clusters by the rules of diff.\n"
      "Example: sextant compare old.json new.json --gpus 2x8xH100 --model Qwen3-8B --framework verl\n"
      "         sextant compare week1-runs.json week2-runs.json");
  command.runs([options] { return run_comparison(*options); });
}

}  // namespace sextant::cli
