// Documents on disk: {"schema": "sextant.<kind>/<major>.<minor>", "provenance": {...}, ...}.
//
// A document that is written by hand may leave out the provenance, name its JSON Schema ("$schema"), and contain
// comments (// to the end of the line, or /* */). Sextant writes documents without comments.
//
// Reading refuses another kind and a later version, and every message starts with the file's name. A new member
// that may be missing raises the minor version, so that an older program reports a newer document instead of an
// unknown member. Writing is atomic: a temporary file in the same folder, fsync, rename.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "sextant/error.h"
#include "sextant/json.h"
#include "sextant/provenance.h"

namespace sextant {

struct SchemaVersion {
  int major = 1;
  int minor = 0;
};

// The members that a type must have if it is stored as a document of its own:
//   static constexpr std::string_view kKind      the <kind> of the schema name
//   static constexpr SchemaVersion kVersion      the version that this program writes
//   static T parse(const JsonView&)              reads all members except "schema" and "provenance"
//   Json to_json() const                         writes the same members
template <typename T>
struct Document {
  Provenance provenance;
  T content;
};

// Returns the file's whole text. Throws Error(bad_input) if it cannot be opened.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& file);

// Replaces the file atomically and creates missing parent folders. Throws Error(machine) if the disk refuses.
void write_text_file(const std::filesystem::path& file, std::string_view text);

namespace detail {
// Checks "schema" and "provenance", which is empty if it is missing, then calls read_body with the remaining
// members except "$schema".
void open_document(std::string_view text, std::string_view kind, SchemaVersion version, Provenance& provenance,
                   const std::function<void(const JsonView&)>& read_body);
// Leaves out an empty provenance.
[[nodiscard]] std::string close_document(const Json& body, std::string_view kind, SchemaVersion version,
                                         const Provenance& provenance);
}  // namespace detail

template <typename T>
[[nodiscard]] Document<T> parse_document(std::string_view text) {
  Document<T> document;
  detail::open_document(text, T::kKind, T::kVersion, document.provenance,
                        [&](const JsonView& body) { document.content = T::parse(body); });
  return document;
}

template <typename T>
[[nodiscard]] std::string format_document(const Document<T>& document) {
  return detail::close_document(document.content.to_json(), T::kKind, T::kVersion, document.provenance);
}

template <typename T>
[[nodiscard]] Document<T> load_document(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  try {
    return parse_document<T>(text);
  } catch (const Error& error) {
    throw Error(error.kind(), file.string() + ": " + error.what());
  }
}

template <typename T>
void save_document(const std::filesystem::path& file, const Document<T>& document) {
  write_text_file(file, format_document(document));
}

// Saves the content with the provenance of this process.
template <typename T>
void save_document(const std::filesystem::path& file, const T& content) {
  save_document(file, Document<T>{current_provenance(), content});
}

}  // namespace sextant
