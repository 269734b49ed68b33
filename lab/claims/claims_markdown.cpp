#include "lab/claims/claims_markdown.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/units.h"

namespace sextant::inline lab {
namespace {

std::string shown(const Claim& claim, double value) {
  return claim.kind == ClaimKind::at_least ? format_number(value) : format_percent(value);
}

std::string bound_of(const Claim& claim) {
  switch (claim.kind) {
    case ClaimKind::at_most:
      return "at most " + shown(claim, claim.threshold);
    case ClaimKind::at_least:
      return "at least " + shown(claim, claim.threshold);
    case ClaimKind::between:
      return shown(claim, claim.threshold) + " to " + shown(claim, claim.upper);
  }
  return "";
}

// The bound that a test enforces for a missed figure; empty for one that is met, whose bound is the threshold.
std::string held_at(const Claim& claim) {
  if (claim.met()) return "";
  return claim.held ? shown(claim, *claim.held) : "not held";
}

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + cell + " |";
  return out + "\n";
}

// The worst of all figures, each run and time once.
std::vector<WorstRecord> ten_worst(const ClaimReport& report) {
  constexpr std::size_t kShown = 10;
  std::vector<WorstRecord> worst = report.worst;
  std::stable_sort(worst.begin(), worst.end(), [](const WorstRecord& a, const WorstRecord& b) {
    return std::abs(std::log(a.predicted / a.measured)) > std::abs(std::log(b.predicted / b.measured));
  });
  std::vector<WorstRecord> kept;
  for (const WorstRecord& record : worst) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const WorstRecord& other) {
      return other.run == record.run && other.what == record.what;
    });
    if (!known && kept.size() < kShown) kept.push_back(record);
  }
  return kept;
}

}  // namespace

std::string claims_as_markdown(const ClaimReport& report) {
  const auto met =
      std::count_if(report.claims.begin(), report.claims.end(), [](const Claim& c) { return c.met(); });
  std::string out =
      "# Accuracy\n\n"
      "Every figure is of times (or memory) that the fit behind it never saw, unless it says \"in sample\": "
      "whole groups\n"
      "of runs are left out in turn, and each fold is fitted from the priors. `scripts/accuracy` computes this "
      "page, and\n"
      "`docs/accuracy.json`, from the measurements in `data/`. `scripts/nightly` computes them all again, each "
      "change those without\n"
      "many fits; a test fails where one is not what is\n"
      "stated here, where one that meets what is asked no longer does, and where a missed one is worse than "
      "the value in\n"
      "\"held at\": a missed figure is held there, which is no part of what is asked, until it is met.\n"
      "MAPE is the mean of |predicted / measured - 1|. Free coefficients are those that the runs of a fold "
      "depend on at\n"
      "all, with the deviations of device types and frameworks; priors hold most of them.\n"
      "Figures of the probe and of the tracer have none: they are measured, and nothing is fitted.\n\n" +
      std::to_string(met) + " of " + std::to_string(report.claims.size()) +
      " figures meet what is asked of them.\n\n";
  out += row({"figure", "value", "asked", "", "held at", "records", "free coefficients", "what was left out"});
  out += row({"---", "---:", "---:", "---", "---:", "---:", "---:", "---"});
  for (const Claim& claim : report.claims) {
    out += row({"`" + claim.name + "`", shown(claim, claim.value), bound_of(claim),
                claim.met() ? "met" : "**missed**", held_at(claim), std::to_string(claim.records),
                std::to_string(claim.free_coefficients), claim.protocol});
  }
  out += "\n## Worst records\n\nThe ten of all figures that fit worst, by the logarithm of the error.\n\n";
  out += row({"figure", "run", "what", "measured", "predicted", "error", "likely cause"});
  out += row({"---", "---", "---", "---:", "---:", "---:", "---"});
  for (const WorstRecord& record : ten_worst(report)) {
    const bool memory = record.what == kPeakMemory;
    const auto number = [&](double value) { return memory ? format_bytes(value) : format_seconds(value); };
    out += row({"`" + record.claim + "`", record.run, record.what, number(record.measured),
                number(record.predicted), format_percent(record.predicted / record.measured - 1, 0),
                record.cause.empty() ? "not understood" : record.cause});
  }
  return out;
}

}  // namespace sextant::inline lab
