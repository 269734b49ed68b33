#include "probes/trace/record/recording_pace.h"

#include <algorithm>
#include <cmath>

namespace sextant::trace {
namespace {

// A window costs that much: some ten thousand launches, a fifth of a second of an eager decode loop.
constexpr double kMaxDebt_s = 0.04;
// So much can be saved up while little is launched: the first second or two of a busier phase.
constexpr double kMaxCredit_s = 0.2;
// The share of the budget that is left for windows even if the pauses alone cost as much as is allowed.
constexpr double kMinPay = 0.1;

// The position of a window in a step: multiples of the golden ratio, which fill [0, 1) evenly, so that
// successive windows do not cover the same part of every step.
double spread(std::uint64_t window) {
  constexpr double kGolden = 0.6180339887498949;
  const double turns = kGolden * static_cast<double>(window);
  return turns - std::floor(turns);
}

}  // namespace

RecordingPace::RecordingPace(const Settings& settings)
    : window_s_(settings.window_s), every_s_(settings.every_s), max_slowdown_(settings.max_slowdown) {}

void RecordingPace::add(const DeviceCounts& counts) {
  window_launches_ += counts.launches;
  debt_s_ += tracing_cost::kLaunch_s * static_cast<double>(counts.launches) +
             tracing_cost::kNode_s * static_cast<double>(counts.nodes);
}

bool RecordingPace::records_at(double now_s) {
  if (began_s_ < 0) began_s_ = now_s_ = window_began_s_ = now_s;
  if (has_windows()) return std::fmod(now_s - began_s_, every_s_) < window_s_;
  if (max_slowdown_ <= 0) return true;
  return keeps_budget(now_s);
}

bool RecordingPace::keeps_budget(double now_s) {
  double pay = max_slowdown_;
  if (!is_recording_ && window_length_s_ > 0) {
    const double launches_per_s = static_cast<double>(window_launches_) / window_length_s_;
    pay = std::max(kMinPay * pay, pay - launches_per_s * tracing_cost::kPausedLaunch_s);
  }
  debt_s_ = std::max(-kMaxCredit_s, debt_s_ - pay * (now_s - now_s_));
  now_s_ = now_s;
  if (is_recording_ && debt_s_ > kMaxDebt_s) {
    is_recording_ = false;
    window_length_s_ = now_s - window_began_s_;
    credit_s_ = kMaxDebt_s * spread(++windows_);
  } else if (!is_recording_ && debt_s_ <= -credit_s_) {
    begin_window(now_s);
  }
  return is_recording_;
}

void RecordingPace::begin_window(double now_s) {
  is_recording_ = true;
  window_began_s_ = now_s;
  window_launches_ = 0;
}

}  // namespace sextant::trace
