// Evidence on the priors of coefficients from measured tables of kernels, collectives and weight transfers.
//
// data/public/kernels/ holds times of matrix products, attention, experts, collectives and weight transfers
// from other sources. Each row gives the value that a coefficient would have if the row were all that the cost
// model predicts: a product of m x n x k in t seconds on a device of datasheet rate R shows the share 2 m n k /
// (t R). Such a value is not the coefficient: an isolated kernel that is launched back to back is faster than
// the same kernel in a framework, and a transfer's time also contains parts that the model counts separately.
// So each piece of evidence states its relation to the coefficient (EvidenceRelation).
//
// This code neither fits nor changes priors: people and a test compare the evidence with the table.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/coefficients.h"
#include "sextant/json.h"

namespace sextant::inline lab {

enum class EvidenceRelation {
  equals,    // the table measures the coefficient itself
  at_most,   // the coefficient is this or less: nothing else took time
  at_least,  // the coefficient is this or more
};
[[nodiscard]] std::string_view name_of(EvidenceRelation relation);

struct PriorEvidence {
  CoefficientId id = CoefficientId::prefill_efficiency;
  EvidenceRelation relation = EvidenceRelation::equals;
  std::string table;                      // "products.csv"
  std::string measure;                    // the computed quantity, one phrase
  std::vector<std::string> device_types;  // sorted, as data/gpus.json names them
  int rows = 0;                           // rows of the table
  // Over the values that the rows show, or over device types if a value takes several rows.
  double median = 0;
  double low = 0;  // 5 %
  double high = 0;

  // Returns how far the prior lies from the median, in the prior's own deviation combined with that of device
  // types and frameworks. 0 on the right side of a bound.
  [[nodiscard]] double distance() const;
  [[nodiscard]] Json to_json() const;
};

// Evidence that lies farther from its prior than this many deviations contradicts it.
inline constexpr double kAgreement = 2;

// Returns the evidence of all tables in `folder`, in the order of the coefficients. Throws Error(bad_input)
// with file, line and column of an invalid value.
[[nodiscard]] std::vector<PriorEvidence> evidence_of_priors(const std::filesystem::path& folder,
                                                            const Facts& facts);

}  // namespace sextant::inline lab
