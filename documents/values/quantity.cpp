#include "sextant/quantity.h"

#include <utility>

#include "documents/values/value_tables.h"
#include "sextant/provenance.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kSources{"measured", "datasheet", "assumed"};

std::optional<std::string> unless_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(std::move(text));
}

Fields<Quantity> fields_with(const Kind<double>& value) {
  return {
      required("value", &Quantity::value, value,
               "The value in SI units; the unit is in the name of the member that holds the quantity."),
      required("source", &Quantity::source, one_of<Source>(kSources)),
      optional("spread_fraction", &Quantity::spread_fraction, non_negative(),
               "Measured: half the 95 % interval of the median, divided by the median."),
      optional("time_utc", &Quantity::time_utc, text(), "Measured: when."),
      optional("note", &Quantity::note, text(), "How it was measured, or which data sheet."),
  };
}

}  // namespace

const Fields<Quantity>& documents::quantity_fields(bool zero_allowed) {
  static const Fields<Quantity> greater = fields_with(positive()), any = fields_with(non_negative());
  return zero_allowed ? any : greater;
}

Quantity Quantity::parse(const JsonView& view, bool zero_allowed) {
  return parse_fields(view, quantity_fields(zero_allowed));
}

Json Quantity::to_json() const { return fields_to_json(*this, quantity_fields(true)); }

Quantity measured(double value, double spread_fraction, std::string note) {
  return {value, Source::measured, spread_fraction, time_utc_now(), unless_empty(std::move(note))};
}

Quantity datasheet(double value, std::string note) {
  return {value, Source::datasheet, std::nullopt, std::nullopt, unless_empty(std::move(note))};
}

Quantity assumed(double value, std::string note) {
  return {value, Source::assumed, std::nullopt, std::nullopt, unless_empty(std::move(note))};
}

}  // namespace sextant
