#include "reports/content/content.h"

#include <cmath>

#include "core/json_value.h"
#include "core/units.h"

namespace sextant::inline reports {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

namespace {

Cell quantity_cell(double value, std::string (*format)(double)) {
  if (!std::isfinite(value)) return empty_cell();
  return {format(value), Json(value)};
}

}  // namespace

Cell seconds_cell(double seconds) { return quantity_cell(seconds, format_seconds); }
Cell bytes_cell(double bytes) { return quantity_cell(bytes, format_bytes); }
Cell number_cell(double value) { return quantity_cell(value, format_number); }
Cell percent_cell(double fraction) {
  return quantity_cell(fraction, [](double value) { return format_percent(value); });
}
Cell count_cell(std::size_t count) { return {std::to_string(count), Json(count)}; }
Cell empty_cell() { return {"–", Json(nullptr)}; }

}  // namespace sextant::inline reports
