#include "ask/fit_question.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "calibrate/cross_validation.h"
#include "calibrate/split.h"
#include "core/text.h"
#include "sextant/error.h"
#include "sextant/fit.h"

namespace sextant::inline ask {
namespace {

constexpr const char* kAuto = "auto";
constexpr const char* kNone = "none";

std::optional<LeaveOut> what_to_leave_out(const FitQuestion& question, const Runs& runs) {
  if (question.leave_out == kNone) return std::nullopt;
  if (question.leave_out == kAuto) return customary_leave_out(runs);
  const auto* name = std::find(kLeaveOutNames.begin(), kLeaveOutNames.end(), question.leave_out);
  if (name == kLeaveOutNames.end())
    throw_bad_input("cross-validation cannot leave out " + in_quotes(question.leave_out));
  return static_cast<LeaveOut>(name - kLeaveOutNames.begin());
}

}  // namespace

std::vector<std::string> cross_validation_names() {
  std::vector<std::string> names{kAuto, kNone};
  names.insert(names.end(), kLeaveOutNames.begin(), kLeaveOutNames.end());
  return names;
}

Coefficients fit_as_asked(const FitQuestion& question, const Runs& runs,
                          const std::vector<std::string>& selected, const Coefficients& start) {
  const Runs seen = subset(runs, selected);
  const std::optional<LeaveOut> what = what_to_leave_out(question, seen);
  Coefficients fitted = fit_coefficients(runs, selected, {}, start);
  if (what) {
    const std::vector<Fold> folds =
        leave_groups_out(seen, group_key(seen, *what), question.max_folds, question.seed);
    fitted.fit->held_out = summary_of(seen, cross_validate(seen, folds, {}, start), *what);
  }
  return fitted;
}

}  // namespace sextant::inline ask
