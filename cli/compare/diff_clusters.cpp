// sextant diff for two cluster documents: which devices, nodes and links got worse or better beyond noise.
#include <algorithm>
#include <cmath>

#include "cli/compare/diff.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "probes/fleet/compare/cluster_difference.h"

namespace sextant::cli {
namespace {

std::string with_unit(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "flop/s") return format_flop_per_s(*value);
  if (unit == "bytes/s") return format_bytes_per_s(*value);
  if (unit == "bytes") return format_bytes(*value);
  return unit == "s" ? format_seconds(*value) : std::to_string(std::llround(*value));
}

std::string change_of(const ValueChange& change) {
  if (!change.before || !change.after || !std::isfinite(change.size())) return "";
  const double fraction = *change.after / *change.before - 1;
  return (fraction > 0 ? "+" : "") + format_percent(fraction);
}

std::string noise_of(const ValueChange& change) {
  return change.noise_fraction ? format_percent(*change.noise_fraction) : "";
}

bool is_shown(const ValueChange& change, const ClusterDifference& difference, bool all) {
  return all || is_hidden_by_noise(change, difference.threshold_fraction) ||
         (change.verdict != ChangeVerdict::same && change.verdict != ChangeVerdict::missing);
}

std::string counted(const ClusterDifference& difference, bool all) {
  std::string line = std::to_string(difference.changes.size()) + " compared:";
  for (const ChangeVerdict verdict : {ChangeVerdict::worse, ChangeVerdict::changed, ChangeVerdict::better}) {
    line += " " + std::to_string(difference.count(verdict)) + " " + std::string(name_of(verdict)) + ",";
  }
  const auto hidden = static_cast<std::size_t>(std::count_if(
      difference.changes.begin(), difference.changes.end(),
      [&](const ValueChange& change) { return is_hidden_by_noise(change, difference.threshold_fraction); }));
  line += " " + std::to_string(difference.count(ChangeVerdict::missing)) + " in one document only, ";
  if (hidden > 0) line += std::to_string(hidden) + " cannot be told from noise, ";
  line += std::to_string(difference.count(ChangeVerdict::same) - hidden) + " the same within " +
          format_percent(difference.threshold_fraction);
  return line + (all ? "" : " (--all shows them)");
}

void print_table(const ClusterDifference& difference, bool all) {
  Table table({"what", "where", "before", "after", "change", "noise", "verdict"});
  bool is_empty = true;
  std::vector<std::string> notes;
  for (const ValueChange& change : difference.changes) {
    if (!is_shown(change, difference, all)) continue;
    const bool is_hidden = is_hidden_by_noise(change, difference.threshold_fraction);
    is_empty = false;
    table.add({change.what, change.where, with_unit(change.before, change.unit),
               with_unit(change.after, change.unit), change_of(change), noise_of(change),
               is_hidden ? "cannot tell" : std::string(name_of(change.verdict))});
    if (!change.note.empty()) notes.push_back(change.where + ", " + change.what + ": " + change.note);
  }
  if (!is_empty) std::fputs(table.text().c_str(), stdout);
  for (const std::string& note : notes) print_line(note);
}

void print_settings(const std::vector<SettingChange>& settings) {
  const auto shown = [](const std::optional<std::string>& value) {
    return value ? "\"" + *value + "\"" : std::string("not set");
  };
  if (!settings.empty()) print_line("Settings that differ, a possible cause:");
  for (const SettingChange& setting : settings) {
    print_line("  " + setting.name + ": " + shown(setting.before) + " before, " + shown(setting.after) +
               " after");
  }
}

}  // namespace

int diff_clusters(const DiffOptions& options) {
  ChangeRule rule;
  if (options.threshold_fraction) rule.threshold_fraction = *options.threshold_fraction;
  const ClusterDifference difference =
      compare_clusters(load_document<Cluster>(options.before), load_document<Cluster>(options.after), rule);
  if (options.json) {
    print_document(difference);
  } else {
    print_table(difference, options.all);
    print_line(counted(difference, options.all));
    print_settings(difference.environment);
  }
  const bool is_worse = difference.count(ChangeVerdict::worse) > 0;
  const bool is_other = difference.count(ChangeVerdict::better) + difference.count(ChangeVerdict::changed) > 0;
  return is_worse || (options.any && is_other) ? kAnswerIsNo : kDone;
}

}  // namespace sextant::cli
