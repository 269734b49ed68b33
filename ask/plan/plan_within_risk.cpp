#include "ask/plan/plan_within_risk.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/units.h"
#include "planner/search/known_options.h"

namespace sextant::inline ask {
namespace {

// These are parts of the budget.
constexpr double kToLearn = 0.1;  // how uncertain the memory of plans is here
constexpr double kToPlan = 0.7;   // where the first search found a plan,
constexpr double kToLook = 0.45;  // and where it did not: the rest is for plans of any risk
constexpr double kToMend = 0.1;   // for a plan in the place of one that is too risky
constexpr int kMendings = 2;
constexpr double kToNarrow = 0.05;  // for a plan between a share of the memory that fails and one that is risky
constexpr int kNarrowings = 3;
constexpr double kToCost = 0.5;  // costing of more than the default executions ends then

bool is_found(const PlanOutput& answer) { return answer.result.outcome == PlanOutcome::found; }

double iteration_s(const PlanOutput& answer) { return answer.result.prediction->iteration_s; }

class Rounds {
 public:
  Rounds(PlanRequest request, const RiskLimit& limit)
      : request_(std::move(request)), limit_(limit), whole_(request_.budget) {
    request_.known_options = std::make_shared<KnownOptions>(request_);
    if (whole_.seconds > 0) request_.costing_deadline = start_ + seconds_of(kToCost * whole_.seconds);
  }

  [[nodiscard]] AnswerWithinRisk run();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] static Clock::duration seconds_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  // Returns whether a plan was found. at_least: part of the budget, also where less is left.
  bool search(double part, double at_least = 1e-3);
  bool search_of_any_risk();
  void search_between(bool finds);
  void allow_all_options();

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // The budget's share that is left. Searches of thousands of devices take longer than their parts, and the next
  // one will too.
  [[nodiscard]] double left() const {
    if (whole_.seconds <= 0) return left_;
    constexpr double kMaxOverrun = 0.2;
    const double overrun = std::min(overrun_s_ / whole_.seconds, kMaxOverrun);
    return std::clamp(1 - seconds() / whole_.seconds - overrun, 0.0, left_);
  }

  // False if the last plan will do and the remaining time is too short for a better one.
  [[nodiscard]] bool is_worth_searching() const {
    constexpr double kTooShort = 0.1;
    return !is_interrupted_ && (left() > kTooShort || !within_);
  }

  PlanRequest request_;
  const RiskLimit& limit_;
  const Budget whole_;
  Clock::time_point start_ = Clock::now();
  double left_ = 1;       // of the budget, not given to a search yet
  double overrun_s_ = 0;  // of the last search
  bool is_interrupted_ = false;
  bool is_last_risky_ = false;
  double risky_share_ = 1;  // the memory that the last search filled which found a plan above the limit
  int risky_ = 0;           // plans above the limit
  std::optional<PlanOutput> within_;  // the fastest within the limit
  std::optional<PlanOutput> other_;   // the least risky of the others
  double other_risk_ = 1;             // its probability
  PlanOutput none_;                   // of those that found no plan the one that looked at most plans
};

bool Rounds::search(double part, double at_least) {
  part = std::min(part, std::max(left(), at_least));
  left_ -= part;
  request_.budget = part_of(whole_, part);
  const double before_s = seconds();
  PlanOutput answer = limit_.search(request_);
  overrun_s_ = std::max(0.0, seconds() - before_s - request_.budget.seconds);
  is_interrupted_ = answer.record.was_interrupted;
  if (!is_found(answer)) {
    if (answer.result.candidates >= none_.result.candidates) none_ = std::move(answer);
    none_.record.was_interrupted = is_interrupted_;
    return false;
  }
  const std::optional<MemoryRisk> risk = limit_.risk_of(answer.result);
  is_last_risky_ = risk && risk->probability > limit_.probability;
  if (is_last_risky_) {
    ++risky_;
    risky_share_ = request_.memory_share;
  }
  // Other plans are about as uncertain as this one. If that was not enough, they are a little more so.
  constexpr double kAlike = 0.9999, kMoreUncertain = 0.99;
  const double margin = risky_ > 1 ? kMoreUncertain : kAlike;
  if (risk)
    request_.memory_share =
        std::min(request_.memory_share, margin * share_for_risk(limit_.probability, risk->log_deviation));
  if (is_last_risky_) {
    if (!other_ || risk->probability < other_risk_) {
      other_ = std::move(answer);
      other_risk_ = risk->probability;
    }
  } else if (!within_ || iteration_s(answer) <= iteration_s(*within_)) {
    within_ = std::move(answer);
  }
  return true;
}

// A risky plan is a better answer than none, so that it gets time even if the others have spent it.
bool Rounds::search_of_any_risk() {
  request_.memory_share = 1;
  if (whole_.seconds <= 0) return search(1);
  constexpr double kMoment_s = 0.5;
  const double at_least = kMoment_s / whole_.seconds;
  request_.costing_deadline = Clock::now() + seconds_of(at_least * whole_.seconds);
  return search(1, at_least);
}

// A plan above the limit says how much of the memory plans may fill that are as uncertain as it is. Where none fits
// into that, there may be plans between: less uncertain ones, which may fill more. finds: the last search did.
void Rounds::search_between(bool finds) {
  allow_all_options();
  for (int i = 0; i < kMendings && finds && !within_ && !is_interrupted_; ++i) finds = search(kToNarrow);
  double failing = request_.memory_share, risky = risky_share_;
  for (int i = 0; i < kNarrowings && !finds && !within_ && !is_interrupted_; ++i) {
    request_.memory_share = std::sqrt(failing * risky);
    const double share = request_.memory_share;
    (search(kToNarrow) ? risky : failing) = share;
  }
  if (!within_) request_.memory_share = failing;
}

// Searches whose costing was late have seen the default executions only, of which none may fit.
void Rounds::allow_all_options() {
  constexpr double kPatience_s = 60;
  if (request_.costing_deadline) request_.costing_deadline = Clock::now() + seconds_of(kPatience_s);
}

AnswerWithinRisk Rounds::run() {
  const bool has_budget = whole_.seconds > 0 || whole_.evaluations > 0;
  const bool is_known = has_budget && search(kToLearn);
  bool finds = is_known;
  if (is_worth_searching()) finds = search(is_known || !has_budget ? kToPlan : kToLook);
  for (int i = 0; i < kMendings && finds && is_last_risky_ && !is_interrupted_; ++i) finds = search(kToMend);
  const bool was_late = request_.costing_deadline && Clock::now() > *request_.costing_deadline;
  if (!within_ && !other_ && was_late && !is_interrupted_) {
    allow_all_options();
    finds = search(kToLook);
  }
  if (!within_ && !other_ && !is_interrupted_) finds = search_of_any_risk();
  if (!within_ && other_ && !is_interrupted_) search_between(finds);
  const double share = request_.memory_share;
  if (within_) return {std::move(*within_), share};
  if (!other_) return {std::move(none_), share};
  other_->warning = "no plan was found with a probability of at most " + format_percent(limit_.probability) +
                    " of running out of memory; for this plan it is " + format_percent(other_risk_) +
                    " (smaller models, --lora-rank and more GPUs need less; --max-memory-risk accepts more)";
  return {std::move(*other_), share};
}

}  // namespace

Budget part_of(const Budget& whole, double part) {
  return {whole.seconds * part,
          static_cast<std::uint64_t>(std::ceil(static_cast<double>(whole.evaluations) * part))};
}

AnswerWithinRisk plan_within_risk(PlanRequest request, const RiskLimit& limit) {
  return Rounds(std::move(request), limit).run();
}

}  // namespace sextant::inline ask
