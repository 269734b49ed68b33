#include "documents/values/fields.h"

namespace sextant::inline documents {
namespace {

Json common(std::string_view name) { return {{"$ref", "common.schema.json#/$defs/" + std::string(name)}}; }

template <typename V>
Kind<V> scalar(std::function<V(const JsonView&)> read, Json schema) {
  return {std::move(read), [](const V& value) { return Json(value); }, std::move(schema)};
}

}  // namespace

Kind<int> count() {
  return scalar<int>([](const JsonView& view) { return view.count(1); }, common("count"));
}

Kind<int> number_of() {
  return scalar<int>([](const JsonView& view) { return view.count(0); }, common("number_of"));
}

Kind<int> whole(int minimum, int maximum) {
  return scalar<int>([=](const JsonView& view) { return static_cast<int>(view.integer(minimum, maximum)); },
                     {{"type", "integer"}, {"minimum", minimum}, {"maximum", maximum}});
}

Kind<double> number() { return scalar<double>(&JsonView::number, {{"type", "number"}}); }
Kind<double> positive() { return scalar<double>(&JsonView::positive, common("positive")); }
Kind<double> non_negative() { return scalar<double>(&JsonView::non_negative, common("non_negative")); }
Kind<double> fraction() { return scalar<double>(&JsonView::fraction, common("fraction")); }

Kind<double> share(std::string_view refusal) {
  const auto read = [refusal](const JsonView& view) {
    constexpr double kMinimum = 1e-6;
    const double value = view.positive();
    if (value > 1) view.fail(std::string(refusal));
    if (value < kMinimum) view.fail("expected a share of at least 1e-6");
    return value;
  };
  return scalar<double>(read, {{"type", "number"}, {"minimum", 1e-6}, {"maximum", 1}});
}

Kind<std::string> text() { return scalar<std::string>(&JsonView::text, common("text")); }
Kind<std::string> any_text() { return scalar<std::string>(&JsonView::any_text, {{"type", "string"}}); }
Kind<bool> flag() { return scalar<bool>(&JsonView::flag, {{"type", "boolean"}}); }

Kind<std::string> one_of(const std::vector<std::string_view>& names) {
  return scalar<std::string>([names](const JsonView& view) { return std::string(names[view.one_of(names)]); },
                             {{"enum", names}});
}

Kind<DeviceId> device() {
  return {[](const JsonView& view) { return DeviceId{view.count(0)}; },
          [](const DeviceId& device) { return Json(device.value); }, common("device")};
}

Kind<Precision> precision() {
  return {parse_precision, [](const Precision& value) { return Json(name_of(value)); }, common("precision")};
}

Kind<Quantity> quantity() { return part<Quantity>("common.schema.json#/$defs/quantity"); }

Kind<Quantity> amount() {
  Kind<Quantity> kind = quantity();
  kind.read = [read = kind.read](const JsonView& view) {
    constexpr double kMinimum = 0.1, kMaximum = 1e24;
    Quantity quantity = read(view);
    if (quantity.value < kMinimum || quantity.value > kMaximum)
      view.required("value").fail("expected a number from 0.1 to 1e24");
    return quantity;
  };
  return kind;
}

Kind<Quantity> quantity_or_zero() {
  Kind<Quantity> kind = part<Quantity>("common.schema.json#/$defs/quantity_or_zero");
  kind.read = [](const JsonView& view) { return Quantity::parse(view, true); };
  return kind;
}

Json described(std::string_view help, const Json& schema, const Json& default_value) {
  if (schema.is_null()) return nullptr;
  Json out = Json::object();
  if (!help.empty()) out["description"] = help;
  out.update(schema);
  if (default_value.is_primitive() && !default_value.is_null()) out["default"] = default_value;
  return out;
}

}  // namespace sextant::inline documents
