// sextant diff: what differs between two documents of one kind.
#include "cli/compare/diff.h"

#include <memory>

#include "cli/compare/comparison.h"
#include "cli/shared/command.h"
#include "cli/shared/document_kind.h"
#include "core/text.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

int run(const DiffOptions& options) {
  const std::string before = kind_of_document(options.before), after = kind_of_document(options.after);
  if (before != after) {
    throw_bad_input("expected two documents of the same kind, got " + in_quotes(before) + " (" +
                    options.before + ") and " + in_quotes(after) + " (" + options.after + ")");
  }
  if (before == Cluster::kKind) return diff_clusters(options);
  if (before != Coefficients::kKind) {
    throw_bad_input(options.before + ": expected a cluster or coefficients document, got " + in_quotes(before));
  }
  if (options.threshold_fraction) throw_bad_input("--threshold applies to clusters, not to coefficients");
  if (options.any) throw_bad_input("--any applies to clusters, not to coefficients");
  return diff_coefficients(options);
}

}  // namespace

void add_diff(CommandLine& line) {
  const auto options = std::make_shared<DiffOptions>();
  const Command command =
      line.add_command("diff", "Compare two cluster documents or two coefficients documents");
  command.add_option("before", options->before, "Cluster or coefficients document").required();
  command.add_option("after", options->after, "Document of the same kind to compare with").required();
  command.add_flag(
      "--all", options->all,
      "Also show differences within the noise (clusters) or the uncertainty of the fits (coefficients)");
  command.add_flag("--json", options->json, "Print the whole comparison as JSON");
  command
      .add_option("--threshold", options->threshold_fraction,
                  "Clusters: relative change that counts if it also exceeds the noise (default 0.05)")
      .check(number_between(0, 10));
  command.add_flag("--any", options->any, "Clusters: exit 1 on any change, improvements included");
  command.footer(
      "Clusters: exits 1 if a device, node or link got worse by more than the threshold and the noise of both\n"
      "measurements, otherwise 0. Coefficients: exits 1 if a value changed by at least two standard errors of "
      "both\n"
      "fits combined.\n"
      "Example: sextant diff last-month.json today.json");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
