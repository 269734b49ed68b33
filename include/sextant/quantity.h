// A number with its source. Every hardware number of a cluster is a Quantity.
#pragma once

#include <optional>
#include <string>

#include "sextant/json.h"

namespace sextant {

enum class Source { measured, datasheet, assumed };

// In a document: {"value": 1.2e11, "source": "measured", "spread_fraction": 0.01, "time_utc": "...",
// "note": "..."}. The unit is in the name of the member that holds it.
struct Quantity {
  double value = 0;  // SI unit
  Source source = Source::assumed;
  std::optional<double> spread_fraction;  // measured: half the 95 % interval of the median / median
  std::optional<std::string> time_utc;    // measured: time of the measurement
  std::optional<std::string> note;        // method of the measurement, or the datasheet

  friend bool operator==(const Quantity&, const Quantity&) = default;
  // value must be > 0 (or >= 0 with zero_allowed).
  static Quantity parse(const JsonView& view, bool zero_allowed = false);
  [[nodiscard]] Json to_json() const;
};

[[nodiscard]] Quantity measured(double value, double spread_fraction, std::string note = "");
[[nodiscard]] Quantity datasheet(double value, std::string note);
[[nodiscard]] Quantity assumed(double value, std::string note = "");

}  // namespace sextant
