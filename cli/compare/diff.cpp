// sextant diff: what differs between two documents of one kind.
#include "cli/compare/diff.h"

#include <memory>

#include "cli/shared/command.h"
#include "core/json_value.h"
#include "core/text.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

// "cluster" of "sextant.cluster/1.1"; the whole text where it is no such name.
std::string kind_in(const std::string& text) {
  const Json document = parse_json(text);
  const std::string schema = JsonView(document).required("schema").text();
  const std::string prefix = "sextant.";
  return schema.starts_with(prefix) ? schema.substr(prefix.size(), schema.find('/') - prefix.size()) : schema;
}

std::string kind_of(const std::string& file) {
  const std::string text = read_text_file(file);
  try {
    return kind_in(text);
  } catch (const Error& error) {
    throw Error(error.kind(), file + ": " + error.what());
  }
}

int run(const DiffOptions& options) {
  const std::string before = kind_of(options.before), after = kind_of(options.after);
  if (before != after) {
    throw_bad_input("two documents of one kind can be compared, got " + in_quotes(before) + " (" +
                    options.before + ") and " + in_quotes(after) + " (" + options.after + ")");
  }
  if (before == Cluster::kKind) return diff_clusters(options);
  if (before != Coefficients::kKind) {
    throw_bad_input(options.before + ": clusters and coefficients can be compared, got " + in_quotes(before));
  }
  if (options.threshold_fraction) throw_bad_input("--threshold is for clusters, not for coefficients");
  if (options.any) throw_bad_input("--any is for clusters, not for coefficients");
  return diff_coefficients(options);
}

}  // namespace

void add_diff(CommandLine& line) {
  const auto options = std::make_shared<DiffOptions>();
  const Command command =
      line.add_command("diff", "Compare two clusters, or two coefficients documents: what got worse or moved");
  command.add_option("before", options->before, "Cluster or coefficients document").required();
  command.add_option("after", options->after, "Another of the same kind").required();
  command.add_flag("--all", options->all,
                   "Show also what differs by less than noise, or the fits are unsure of");
  command.add_flag("--json", options->json, "Print all of it as JSON");
  command
      .add_option("--threshold", options->threshold_fraction,
                  "Clusters: relative change that matters, where it is more than noise (0.05)")
      .check(number_between(0, 10));
  command.add_flag("--any", options->any, "Clusters: exit 1 on any change, better ones too");
  command.footer(
      "Clusters: exits 1 when a device, node or link got worse by more than the threshold and the noise of "
      "both\n"
      "measurements, 0 when all is as it was or better. Coefficients: exits 1 when a value moved by at least "
      "two\n"
      "standard errors of both fits together.\n"
      "Example: sextant diff last-month.json today.json");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
