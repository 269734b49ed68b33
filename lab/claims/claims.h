// The accuracy figures that Sextant states about itself, each recomputed from documents in this repository:
// what is measured, how the fit was kept from seeing it, and the threshold that a test holds it to.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/cross_validation.h"
#include "calibrate/import/import.h"
#include "calibrate/split.h"
#include "sextant/document.h"

namespace sextant {

enum class ClaimKind { at_most, at_least, between };

struct Claim {
  std::string name;      // "vtrain.five_fold"
  std::string protocol;  // one sentence: what was left out
  ClaimKind kind = ClaimKind::at_most;
  double value = 0;
  double threshold = 0;
  double upper = 0;            // of ClaimKind::between
  std::optional<double> held;  // where the threshold is missed: what a test holds the figure to until it is met
  int records = 0;
  int free_coefficients = 0;

  [[nodiscard]] bool met() const;
  [[nodiscard]] bool holds() const;  // met, or at least as good as `held`
  friend bool operator==(const Claim&, const Claim&) = default;
};

// A record that fits badly, for the table of the worst.
struct WorstRecord {
  std::string claim;
  std::string run;
  std::string what;
  double measured = 0;
  double predicted = 0;
  std::string cause;  // the likely one; empty where it is not understood
  friend bool operator==(const WorstRecord&, const WorstRecord&) = default;
};

struct ClaimReport {
  static constexpr std::string_view kKind = "claims";
  static constexpr SchemaVersion kVersion{1, 0};

  std::vector<Claim> claims;
  std::vector<WorstRecord> worst;
  // What held-out runs showed, by family: for the intervals of the coefficients that ship. Not in the document.
  std::map<std::string, HeldOutSummary> held_out;

  [[nodiscard]] bool all_met() const;
  [[nodiscard]] bool all_hold() const;
  static ClaimReport parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Where the data is, and how to read it.
struct ClaimContext {
  std::filesystem::path data;  // the data/ folder
  Facts facts;
  std::function<void(const std::string&)> say = [](const std::string&) {};  // progress
  std::size_t worst_kept = 10;                                              // of a claim

  [[nodiscard]] Runs import(std::string_view format, const std::vector<std::string>& files) const;
};

// Claims that share their data are a family: they are computed together.
struct ClaimFamily {
  std::string_view name;  // "vtrain": the claims' names start with it
  void (*compute)(const ClaimContext& context, ClaimReport& report);
  std::span<const std::string_view> figures;  // all that it computes
};
[[nodiscard]] std::span<const ClaimFamily> claim_families();

// Those whose names start with `prefix` (all with an empty one). Throws Error(bad_input) before any is computed
// when there is none.
[[nodiscard]] ClaimReport compute_claims(const ClaimContext& context, std::string_view prefix);

// Helpers of the families.
void add_claim(ClaimReport& report, std::string name, std::string protocol, double value, double threshold,
               const CrossValidation& validation, int records);
void add_mape(const ClaimContext& context, ClaimReport& report, std::string name, std::string protocol,
              double threshold, const CrossValidation& validation, const CrossValidation::Filter& filter = {});
// Share of times inside their 90 % interval, asked to be 80 to 97 %.
void add_coverage(ClaimReport& report, std::string name, std::string protocol,
                  const CrossValidation& validation, const CrossValidation::Filter& filter);
// The causes that people found, written down beside the data: a list of {"run": start of a run's name, "cause":
// sentence}, and "what" (timer, iteration or peak_memory) where it is not of all that was measured. The first
// that fits counts.
void explain(ClaimReport& report, const std::filesystem::path& file);
// The runs of the verl logs in data/public/verl.
[[nodiscard]] Runs verl_logs(const ClaimContext& context);
// All runs of several documents; what is named alike and differs is told apart.
[[nodiscard]] Runs joined(const std::vector<Runs>& parts);

}  // namespace sextant
