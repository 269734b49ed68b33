#include "sextant/quantity.h"

#include <utility>

#include "core/json_value.h"
#include "documents/values/names.h"
#include "sextant/provenance.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kSources{"measured", "datasheet", "assumed"};

std::optional<std::string> unless_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(std::move(text));
}

}  // namespace

Quantity Quantity::parse(const JsonView& view, bool zero_allowed) {
  view.allow_only({"value", "source", "spread_fraction", "time_utc", "note"});
  Quantity out;
  const JsonView value = view.required("value");
  out.value = zero_allowed ? value.non_negative() : value.positive();
  out.source = parse_name<Source>(view.required("source"), kSources);
  if (const auto spread = view.optional("spread_fraction")) {
    out.spread_fraction = spread->non_negative();
  }
  if (const auto time = view.optional("time_utc")) {
    out.time_utc = time->text();
  }
  if (const auto note = view.optional("note")) {
    out.note = note->text();
  }
  return out;
}

Json Quantity::to_json() const {
  Json out = {{"value", value}, {"source", name_in(kSources, source)}};
  if (spread_fraction) {
    out["spread_fraction"] = *spread_fraction;
  }
  if (time_utc) {
    out["time_utc"] = *time_utc;
  }
  if (note) {
    out["note"] = *note;
  }
  return out;
}

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
