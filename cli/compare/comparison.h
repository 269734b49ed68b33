// A table that compares several documents of one kind, and what it needs to know of the files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ask/inputs.h"

namespace sextant::cli {

// A value of a document beside that of the first one.
struct ComparedValue {
  std::string value;
  std::string change;  // "-12 %"; empty: none, or it is no number
  std::string sure;    // "97 % sure", "within the noise"; empty: nothing to be sure of
};

struct ComparisonRow {
  std::string what;
  std::vector<ComparedValue> values;  // by document

  [[nodiscard]] bool differs() const;
};

struct Comparison {
  std::string kind;                // "plan"
  std::vector<std::string> names;  // of the documents
  std::vector<ComparisonRow> rows;
  std::vector<std::string> notes;
};

// Prints rows that differ, or all of them.
void print_comparison(const Comparison& comparison, bool all);
[[nodiscard]] Json comparison_json(const Comparison& comparison);

// "-12 %" from a to b; empty if that is not a number.
[[nodiscard]] std::string shown_change(double from, double to);
// "97 % sure" for a chance of 0.97 or of 0.03; "cannot tell" near one half. "72 to 97 % sure" if the chance depends on what
// is assumed.
[[nodiscard]] std::string shown_sureness(double chance);
[[nodiscard]] std::string shown_sureness(double chance, double other);

// The files' names without folder and suffix, if all of them differ.
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& files);

struct CompareOptions {
  std::vector<std::string> files;
  ModelInputs inputs;  // for plans
  bool all = false;
  bool json = false;
};

[[nodiscard]] Comparison compare_plans(const CompareOptions& options);
[[nodiscard]] Comparison compare_runs(const CompareOptions& options);
[[nodiscard]] Comparison compare_cluster_documents(const CompareOptions& options);

}  // namespace sextant::cli
