#include "ask/check/verdict.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "calibrate/import/records/measured_iteration.h"
#include "sextant/predict.h"

namespace sextant::inline ask {
namespace {

constexpr std::size_t kShown = 3;

// The times of judged_times, and the interval of weight synchronization, which has one of its own.
std::vector<JudgedTime> all_judged_times(const Run& run, const Prediction& prediction) {
  std::vector<JudgedTime> times = judged_times(run, prediction);
  for (JudgedTime& time : times) {
    if (time.what == kWeightSync && !time.interval_s) time.interval_s = prediction.weight_sync_interval_s;
  }
  return times;
}

// How many times stay outside their intervals, or come to lie there, if they are predicted as `with` has them; the
// intervals move with the prediction.
int left_outside(const std::vector<JudgedTime>& own, const std::vector<JudgedTime>& with) {
  int count = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!own[i].interval_s || own[i].predicted_s <= 0 || with[i].predicted_s <= 0) continue;
    const double moved = with[i].predicted_s / own[i].predicted_s;
    if (own[i].measured_s < moved * own[i].interval_s->low ||
        own[i].measured_s > moved * own[i].interval_s->high)
      ++count;
  }
  return count;
}

// The sum of squared deviations of the times that `with` predicts, in the units of the intervals of `own`. The
// iteration is the sum of its tasks, so it counts only if no task was timed.
double deviation(const std::vector<JudgedTime>& own, const std::vector<JudgedTime>& with) {
  double sum = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].what == kIteration && own.size() > 1) continue;
    if (!own[i].interval_s || with[i].predicted_s <= 0) continue;
    constexpr double kNormal90 = 1.645, kMinDeviation = 0.03;
    const double unit =
        std::max(kMinDeviation, std::log(own[i].interval_s->high / own[i].interval_s->low) / (2 * kNormal90));
    sum += std::pow(std::log(own[i].measured_s / with[i].predicted_s) / unit, 2);
  }
  return sum;
}

// Leaves the first of each kind.
void keep_best_of_kinds(std::vector<LikelyCause>& causes) {
  std::set<std::string> kinds;
  std::erase_if(causes, [&](const LikelyCause& cause) { return !kinds.insert(cause.kind).second; });
}

// A log states the mean length of its responses, and mostly that of the longest; without it their spread is assumed.
KnownResponses known_responses(const Run& run, const Lengths& responses) {
  const bool is_unstated = std::any_of(run.unstated.begin(), run.unstated.end(), [](const Unstated& one) {
    return one.quantity == UnstatedQuantity::response_tokens;
  });
  if (run.source != RunSource::import || is_unstated) return {};
  return {true, responses.kind != LengthKind::lognormal || responses.sigma != kUsualSigma};
}

}  // namespace

bool RunVerdict::is_normal() const {
  return impossible.empty() &&
         std::none_of(times.begin(), times.end(), [](const JudgedTime& time) { return time.is_outside(); });
}

RunVerdict verdict_on(const Run& run, const Circumstances& of_run, const Coefficients& coefficients) {
  const auto predicted = [&](const Circumstances& with) {
    return predict(with.cluster, with.workflow, with.plan, coefficients, run.framework);
  };
  const Prediction own =
      predict_with_trust({of_run.cluster, of_run.workflow, of_run.plan, coefficients, run.framework});
  RunVerdict verdict{
      all_judged_times(run, own), beyond_peak(run, of_run.cluster, of_run.workflow, of_run.plan), {}, {}};
  if (!verdict.is_normal() && verdict.impossible.empty()) {
    const double whole = deviation(verdict.times, verdict.times);
    for (const Change& fault : possible_faults(of_run, known_responses(run, of_run.workflow.response_tokens))) {
      std::vector<JudgedTime> times = judged_times(run, predicted(fault.with));
      const double explained = 1 - deviation(verdict.times, times) / whole;
      constexpr double kMinExplained = 0.5;
      const int left = left_outside(verdict.times, times);
      if (explained >= kMinExplained)
        verdict.causes.push_back({fault.name, fault.kind, explained, left, std::move(times)});
    }
    std::stable_sort(verdict.causes.begin(), verdict.causes.end(),
                     [](const LikelyCause& a, const LikelyCause& b) {
                       return std::pair(a.left_outside, -a.explained) < std::pair(b.left_outside, -b.explained);
                     });
    keep_best_of_kinds(verdict.causes);
    if (verdict.causes.size() > kShown) verdict.causes.resize(kShown);
  }
  for (const Change& setting : possible_settings(of_run)) {
    const Prediction with = predicted(setting.with);
    constexpr double kMinGain = 0.01;
    if (with.fits() && with.iteration_s < (1 - kMinGain) * own.iteration_s)
      verdict.gains.push_back({setting.name, own.iteration_s - with.iteration_s});
  }
  std::stable_sort(verdict.gains.begin(), verdict.gains.end(),
                   [](const Gain& a, const Gain& b) { return a.seconds > b.seconds; });
  if (verdict.gains.size() > kShown) verdict.gains.resize(kShown);
  return verdict;
}

}  // namespace sextant::inline ask
