// Clusters side by side, each with the first one by the rules of sextant diff.
#include <cmath>
#include <map>

#include "cli/compare/comparison.h"
#include "core/units.h"
#include "probes/fleet/compare/cluster_difference.h"

namespace sextant::cli {
namespace {

std::string shown_value(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "flop/s") return format_flop_per_s(*value);
  if (unit == "bytes/s") return format_bytes_per_s(*value);
  if (unit == "bytes") return format_bytes(*value);
  return unit == "s" ? format_seconds(*value) : std::to_string(std::llround(*value));
}

// Without a stated noise of both the threshold of diff alone decides.
std::string sureness_of(const ValueChange& change) {
  if (change.verdict == ChangeVerdict::same)
    return change.before == change.after ? ""
           : change.noise_fraction       ? "within the noise"
                                         : "cannot tell: no spread stated";
  if (change.verdict == ChangeVerdict::missing) return "in one document only";
  return std::string(name_of(change.verdict)) +
         (change.noise_fraction ? ", beyond the noise" : ", no spread stated");
}

}  // namespace

Comparison compare_cluster_documents(const CompareOptions& options) {
  std::vector<Document<Cluster>> clusters;
  for (const std::string& file : options.files) clusters.push_back(load_document<Cluster>(file));
  Comparison out{"cluster", short_names(options.files), {}, {}};
  std::map<std::string, std::size_t> known;  // row by "what, where"
  for (std::size_t i = 1; i < clusters.size(); ++i) {
    for (const ValueChange& change : compare_clusters(clusters.front(), clusters[i]).changes) {
      if (change.unit.empty()) {
        out.notes.push_back(options.files[i] + ": " + change.where + ", " + change.what + ": " + change.note);
        continue;
      }
      const std::string what = change.what + ", " + change.where;
      const auto [found, is_new] = known.emplace(what, out.rows.size());
      if (is_new) {
        out.rows.push_back({what, std::vector<ComparedValue>(clusters.size(), {"-", "", ""})});
      }
      ComparisonRow& row = out.rows[found->second];
      if (change.before) row.values.front().value = shown_value(change.before, change.unit);
      row.values[i] = {shown_value(change.after, change.unit),
                       change.before && change.after ? shown_change(*change.before, *change.after) : "",
                       sureness_of(change)};
    }
  }
  return out;
}

}  // namespace sextant::cli
