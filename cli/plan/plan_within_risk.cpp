#include "cli/plan/plan_within_risk.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/units.h"
#include "planner/search/known_options.h"

namespace sextant::cli {
namespace {

// These are parts of the budget.
constexpr double kToLearn = 0.1;  // how uncertain the memory of plans is here
constexpr double kToPlan = 0.7;   // where the first search found a plan,
constexpr double kToLook = 0.45;  // and where it did not: the rest is for plans of any risk
constexpr double kToMend = 0.1;   // for a plan in the place of one that is too risky
constexpr int kMendings = 2;

bool is_found(const PlanOutput& answer) { return answer.result.outcome == PlanOutcome::found; }

double iteration_s(const PlanOutput& answer) { return answer.result.prediction->iteration_s; }

class Rounds {
 public:
  Rounds(PlanRequest request, const RiskLimit& limit)
      : request_(std::move(request)), limit_(limit), whole_(request_.budget) {
    request_.known_options = std::make_shared<KnownOptions>(request_);
    if (whole_.seconds > 0)
      request_.costing_deadline =
          std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                 std::chrono::duration<double>(whole_.seconds));
  }

  [[nodiscard]] AnswerWithinRisk run();

 private:
  // Returns whether a plan was found.
  bool search(double part);

  PlanRequest request_;
  const RiskLimit& limit_;
  const Budget whole_;
  double left_ = 1;  // of the budget
  bool is_interrupted_ = false;
  bool is_last_risky_ = false;
  int risky_ = 0;                     // plans above the limit
  std::optional<PlanOutput> within_;  // the fastest within the limit
  std::optional<PlanOutput> other_;   // the fastest of the riskier ones
  PlanOutput none_;                   // the last that found no plan
};

bool Rounds::search(double part) {
  part = std::min(part, left_);
  left_ -= part;
  request_.budget = part_of(whole_, part);
  PlanOutput answer = limit_.search(request_);
  is_interrupted_ = answer.record.was_interrupted;
  if (!is_found(answer)) {
    none_ = std::move(answer);
    return false;
  }
  const std::optional<MemoryRisk> risk = limit_.risk_of(answer.result);
  is_last_risky_ = risk && risk->probability > limit_.probability;
  if (is_last_risky_) ++risky_;
  // Other plans are about as uncertain as this one. If that was not enough, they are a little more so.
  constexpr double kAlike = 0.9999, kMoreUncertain = 0.99;
  const double margin = risky_ > 1 ? kMoreUncertain : kAlike;
  if (risk)
    request_.memory_share =
        std::min(request_.memory_share, margin * share_for_risk(limit_.probability, risk->log_deviation));
  std::optional<PlanOutput>& fastest = is_last_risky_ ? other_ : within_;
  if (!fastest || iteration_s(answer) <= iteration_s(*fastest)) fastest = std::move(answer);
  return true;
}

AnswerWithinRisk Rounds::run() {
  const bool has_budget = whole_.seconds > 0 || whole_.evaluations > 0;
  const bool is_known = has_budget && search(kToLearn);
  bool finds = !is_interrupted_ && search(is_known || !has_budget ? kToPlan : kToLook);
  for (int i = 0; i < kMendings && finds && is_last_risky_ && !is_interrupted_; ++i) finds = search(kToMend);
  const double share = request_.memory_share;
  if (!within_ && !finds && !is_interrupted_) {
    request_.memory_share = 1;
    search(left_);
  }
  if (within_) return {std::move(*within_), "", share};
  if (!other_) return {std::move(none_), "", share};
  const std::optional<MemoryRisk> risk = limit_.risk_of(other_->result);
  std::string warning = "no plan was found with a probability of at most " +
                        format_percent(limit_.probability) + " of running out of memory; for this plan it is " +
                        format_percent(risk->probability);
  return {std::move(*other_), std::move(warning), share};
}

}  // namespace

Budget part_of(const Budget& whole, double part) {
  return {whole.seconds * part,
          static_cast<std::uint64_t>(std::ceil(static_cast<double>(whole.evaluations) * part))};
}

AnswerWithinRisk plan_within_risk(PlanRequest request, const RiskLimit& limit) {
  return Rounds(std::move(request), limit).run();
}

}  // namespace sextant::cli
