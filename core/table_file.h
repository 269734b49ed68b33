// Loads a table that people write: a document as in sextant/document.h, without a mandatory
// provenance.
#pragma once

#include <filesystem>
#include <string>

#include "core/json_value.h"
#include "sextant/document.h"

namespace sextant::inline core {

template <typename T>
[[nodiscard]] T load_table(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  try {
    Json json = parse_json(text);
    (void)JsonView(json).required("schema");
    if (!json.contains("provenance"))
      json["provenance"] = Provenance{"-", "-", "1970-01-01T00:00:00Z", "-"}.to_json();
    return parse_document<T>(json.dump()).content;
  } catch (const Error& error) {
    throw Error(error.kind(), file.string() + ": " + error.what());
  }
}

}  // namespace sextant::inline core
