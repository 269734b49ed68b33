// The accuracy figures that Sextant states about itself, each recomputed from documents in this repository: the
// measured quantity, how the fit was kept from seeing it, and the threshold that a test checks.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/cross_validation.h"
#include "calibrate/import/records/facts.h"
#include "calibrate/split.h"
#include "sextant/document.h"
#include "sextant/run.h"

namespace sextant::inline lab {

enum class ClaimKind { at_most, at_least, between };

struct Claim {
  std::string name;      // "vtrain.five_fold"
  std::string protocol;  // one sentence: which runs were held out
  ClaimKind kind = ClaimKind::at_most;
  double value = 0;
  double threshold = 0;
  double upper = 0;            // for ClaimKind::between
  std::optional<double> held;  // if the threshold is missed: the value that a test checks until it is met
  int records = 0;
  int free_coefficients = 0;

  [[nodiscard]] bool met() const;
  [[nodiscard]] bool holds() const;  // met, or at least as good as `held`
  friend bool operator==(const Claim&, const Claim&) = default;
};

// A record that fits badly, for the table of the worst ones.
struct WorstRecord {
  std::string claim;
  std::string run;
  std::string what;
  double measured = 0;
  double predicted = 0;
  std::string cause;  // the likely one; empty if unknown
  friend bool operator==(const WorstRecord&, const WorstRecord&) = default;
};

struct ClaimReport {
  static constexpr std::string_view kKind = "claims";
  static constexpr SchemaVersion kVersion{1, 0};

  std::vector<Claim> claims;
  std::vector<WorstRecord> worst;
  // Summaries of held-out runs, by family: for the intervals of the shipped coefficients. Not in the document.
  std::map<std::string, HeldOutSummary> held_out;

  [[nodiscard]] bool all_met() const;
  [[nodiscard]] bool all_hold() const;
  static ClaimReport parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// The location of the data, and options for reading it.
struct ClaimContext {
  std::filesystem::path data;          // the data/ folder
  std::filesystem::path coefficients;  // the documents that ship; empty: data/coefficients
  Facts facts;
  std::function<void(const std::string&)> say = [](const std::string&) {};  // progress
  std::size_t worst_kept = 10;                                              // per claim
  mutable std::shared_ptr<const Coefficients> iteration_priors;             // of shared_priors.h, if needed

  // The published runs of a source, data/runs/SOURCE.json.
  [[nodiscard]] Runs published(const std::string& source) const;
  // The coefficients that ship for a family of frameworks.
  [[nodiscard]] Coefficients shipped(std::string_view family) const;
};

// Claims that share their data form a family: they are computed together.
struct ClaimFamily {
  std::string_view name;  // "vtrain": the claims' names start with it
  void (*compute)(const ClaimContext& context, ClaimReport& report);
  std::span<const std::string_view> figures;  // all that it computes
};
[[nodiscard]] std::span<const ClaimFamily> claim_families();

// Computes the claims whose names start with `prefix` (all if it is empty). Throws Error(bad_input) before any
// is computed if there is none.
[[nodiscard]] ClaimReport compute_claims(const ClaimContext& context, std::string_view prefix);

// Computes those claims of the report again that are about the coefficients that ship.
void judge_shipped_again(const ClaimContext& context, ClaimReport& report);

// Helpers for the families.
void add_claim(ClaimReport& report, std::string name, std::string protocol, double value, double threshold,
               const CrossValidation& validation, int records);
void add_mape(const ClaimContext& context, ClaimReport& report, std::string name, std::string protocol,
              double threshold, const CrossValidation& validation, const CrossValidation::Filter& filter = {});
// Adds the share of times inside their 90 % interval, which must be 80 to 97 %.
void add_coverage(ClaimReport& report, std::string name, std::string protocol,
                  const CrossValidation& validation, const CrossValidation::Filter& filter);
// Adds the causes that people found, from a file next to the data: a list of {"run": start of a run's name,
// "cause": sentence}, and "what" (timer, iteration or peak_memory) if it does not apply to all measurements.
// The first match counts.
void explain(ClaimReport& report, const std::filesystem::path& file);
// The runs of the verl logs in data/public/verl.
[[nodiscard]] Runs verl_logs(const ClaimContext& context);
// Returns all runs of several documents; different ones with the same name are renamed.
[[nodiscard]] Runs joined(const std::vector<Runs>& parts);

}  // namespace sextant::inline lab
