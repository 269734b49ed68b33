// The documents of tests/data and small parts to build others from.
#pragma once

#include <string>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/run.h"
#include "tests/core/expect_error.h"

namespace sextant {

inline std::string data_file(const std::string& name) { return std::string(SEXTANT_TEST_DATA) + "/" + name; }

template <typename T>
T load_fixture(const std::string& name) {
  return load_document<T>(data_file(name)).content;
}

// The members of a document in tests/data, ready to be changed and parsed again.
inline Json fixture_body(const std::string& name) {
  Json json = parse_json(read_text_file(data_file(name)));
  json.erase("schema");
  json.erase("provenance");
  return json;
}

template <typename T>
T parse_as(const Json& json) {
  return T::parse(JsonView(json));
}

// Returns the error message of parsing the JSON as this document.
template <typename T>
[[nodiscard]] std::string refusal_as(const Json& json) {
  return refusal_of([&json] { (void)parse_as<T>(json); });
}

}  // namespace sextant
