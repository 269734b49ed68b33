// What measured tables of kernels, collectives and weight transfers say about the priors of coefficients.
//
// data/public/kernels/ holds times of matrix products, attention, experts, collectives and weight transfers
// that others measured. From each row follows the value that a coefficient would have if the row were all that
// the cost model predicts: a product of m x n x k in t seconds on a device of datasheet rate R shows the share
// 2 m n k / (t R). Such a value is not the coefficient: an isolated kernel that is launched back to back is
// faster than the same kernel in a framework, and a transfer's time also holds what the model counts apart. So
// each piece of evidence says how the coefficient relates to it (EvidenceRelation).
//
// Nothing here is fitted to or changes a prior: it is held against the table, by people and by a test.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/coefficients.h"
#include "sextant/json.h"

namespace sextant {

enum class EvidenceRelation {
  equals,    // the table measures what the coefficient stands for
  at_most,   // the coefficient is this or less: nothing else took time
  at_least,  // the coefficient is this or more
};
[[nodiscard]] std::string_view name_of(EvidenceRelation relation);

struct PriorEvidence {
  CoefficientId id = CoefficientId::prefill_efficiency;
  EvidenceRelation relation = EvidenceRelation::equals;
  std::string table;                      // "products.csv"
  std::string measure;                    // what was computed of it, one phrase
  std::vector<std::string> device_types;  // sorted, as data/gpus.json names them
  int rows = 0;                           // of the table
  // Of the values that the rows show, or the device types where a value takes several rows.
  double median = 0;
  double low = 0;  // 5 %
  double high = 0;

  // How far the prior lies from the median, in the prior's own deviation combined with that of device types
  // and frameworks. On the right side of a bound 0.
  [[nodiscard]] double distance() const;
  [[nodiscard]] Json to_json() const;
};

// Evidence that lies farther from its prior than this many deviations contradicts it.
inline constexpr double kAgreement = 2;

// All that the tables in `folder` say, in the order of the coefficients. Throws Error(bad_input) naming file,
// line and column of what is wrong.
[[nodiscard]] std::vector<PriorEvidence> evidence_of_priors(const std::filesystem::path& folder,
                                                            const Facts& facts);

}  // namespace sextant
