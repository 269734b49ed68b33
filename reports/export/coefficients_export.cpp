#include "reports/export/coefficients_export.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/csv.h"
#include "core/json_value.h"

namespace sextant::inline reports {
namespace {

std::vector<std::string> device_types_of(const Coefficients& coefficients) {
  std::set<std::string> types;
  for (const Coefficient& entry : coefficients.values) {
    if (entry.device_type != kAny) types.insert(entry.device_type);
  }
  return {types.begin(), types.end()};
}

std::string exact(double value) { return exact_number(value); }
std::string exact(const std::optional<double>& value) { return value ? exact(*value) : std::string(); }

// A name that C++ takes: letters, digits and underscores.
std::string identifier(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())) != 0) out = "_" + out;
  return out;
}

// The value as a C++ literal of type double.
std::string literal(double value) {
  const std::string text = exact(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string coefficients_as_json(const Coefficients& coefficients, std::string_view framework) {
  Json out = Json::object();
  const std::vector<std::string> types = device_types_of(coefficients);
  for (const CoefficientSpec& spec : coefficient_table()) {
    Json values = {{"unit", spec.unit}, {std::string(kAny), coefficients.value(spec.id, kAny, framework)}};
    if (spec.by_device_type()) {
      for (const std::string& type : types) values[type] = coefficients.value(spec.id, type, framework);
    }
    out[std::string(spec.name)] = std::move(values);
  }
  return format_json(out) + "\n";
}

std::string coefficients_as_csv(const Coefficients& coefficients) {
  std::string out = "name,unit,device_type,framework,value,low,high,prior,standard_error,identified,at_bound\n";
  for (const Coefficient& entry : coefficients.values) {
    const CoefficientSpec& spec = spec_of(entry.id);
    out += std::string(spec.name) + "," + std::string(spec.unit) + "," + csv_field(entry.device_type) + "," +
           csv_field(entry.framework) + "," + exact(entry.value) + "," + exact(entry.low) + "," +
           exact(entry.high) + "," + exact(entry.prior) + "," + exact(entry.standard_error) + "," +
           (entry.identified ? "true" : "false") + "," + (entry.at_bound ? "true" : "false") + "\n";
  }
  return out;
}

std::string coefficients_as_header(const Coefficients& coefficients, std::string_view framework) {
  const std::vector<std::string> types = device_types_of(coefficients);
  std::string out =
      "// Coefficients of Sextant's cost model" +
      (framework == kAny ? std::string() : " for the framework " + std::string(framework)) +
      ". Written by sextant export; do not edit.\n#pragma once\n\nnamespace sextant_coefficients {\n";
  std::set<std::string> taken;
  const auto write_namespace = [&](const std::string& name, std::string_view type) {
    std::string unique = name;
    for (int n = 2; !taken.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    out += "\n// " +
           (type == kAny ? std::string("Values for device types that are not listed")
                         : "Values for " + std::string(type)) +
           ".\nnamespace " + unique + " {\n";
    for (const CoefficientSpec& spec : coefficient_table()) {
      out += "inline constexpr double " + std::string(spec.name) + " = " +
             literal(coefficients.value(spec.id, type, framework)) + ";  // " + std::string(spec.unit) + ": " +
             std::string(spec.help) + "\n";
    }
    out += "}  // namespace " + unique + "\n";
  };
  write_namespace("any_device", kAny);
  for (const std::string& type : types) write_namespace(identifier(type), type);
  return out + "\n}  // namespace sextant_coefficients\n";
}

}  // namespace sextant::inline reports
