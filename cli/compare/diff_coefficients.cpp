// sextant diff for two coefficients documents: what moved beyond the errors of the fits.
#include <algorithm>
#include <cmath>

#include "calibrate/difference.h"
#include "cli/compare/diff.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/json_value.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

constexpr double kFarDeviations = 2;  // the two fits disagree

bool is_far(const CoefficientDifference& difference) {
  return difference.deviations && std::abs(*difference.deviations) >= kFarDeviations;
}

std::string owner_of(const CoefficientDifference& difference) {
  if (difference.device_type == kAny && difference.framework == kAny) return "all";
  if (difference.device_type == kAny) return difference.framework;
  return difference.framework == kAny ? difference.device_type
                                      : difference.device_type + ", " + difference.framework;
}

Json to_json(const CoefficientDifference& difference) {
  Json out = {{"name", spec_of(difference.id).name},
              {"device_type", difference.device_type},
              {"framework", difference.framework},
              {"before", difference.before},
              {"after", difference.after}};
  if (difference.deviations) out["deviations"] = *difference.deviations;
  return out;
}

}  // namespace

int diff_coefficients(const DiffOptions& options) {
  const Coefficients before = load_document<Coefficients>(options.before).content;
  const Coefficients after = load_document<Coefficients>(options.after).content;
  std::vector<CoefficientDifference> found = differences(before, after);
  const auto far = std::count_if(found.begin(), found.end(), is_far);
  if (options.json) {
    Json out = Json::array();
    for (const CoefficientDifference& difference : found) out.push_back(to_json(difference));
    print_line(format_json(out));
    return far > 0 ? kAnswerIsNo : kDone;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::abs(a.deviations.value_or(0)) > std::abs(b.deviations.value_or(0));
  });
  Table table({"coefficient", "of", "before", "after", "ratio", "standard errors apart"});
  for (const CoefficientDifference& difference : found) {
    if (!options.all && difference.deviations && !is_far(difference)) continue;
    table.add({std::string(spec_of(difference.id).name), owner_of(difference), format_number(difference.before),
               format_number(difference.after),
               difference.before > 0 ? format_number(difference.after / difference.before) : "",
               difference.deviations ? format_number(*difference.deviations) : "unknown"});
  }
  std::fputs(table.text().c_str(), stdout);
  print_line(std::to_string(found.size()) + " values differ, " + std::to_string(far) + " of them by at least " +
             format_number(kFarDeviations) + " standard errors" +
             (options.all ? "" : " (--all shows the others)"));
  return far > 0 ? kAnswerIsNo : kDone;
}

}  // namespace sextant::cli
