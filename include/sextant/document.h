// Documents on disk: {"schema": "sextant.<kind>/<major>.<minor>", "provenance": {...}, ...}.
//
// Reading refuses another kind and a later version, and every message starts with the file's name. A new member
// that may be missing raises the minor version: an older program then says that the document is newer, and not
// that it does not know a member. Writing is atomic: a temporary file beside the target, fsync, rename.
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

// What a type that is stored as a document of its own must offer.
//   static constexpr std::string_view kKind      the <kind> of the schema name
//   static constexpr SchemaVersion kVersion      what this program writes
//   static T parse(const JsonView&)              members beside "schema" and "provenance"
//   Json to_json() const                         the same members
template <typename T>
struct Document {
  Provenance provenance;
  T content;
};

// Reads the file's whole text; Error(bad_input) when it cannot be opened.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& file);

// Replaces the file atomically; creates missing parent folders; Error(machine) when the disk refuses.
void write_text_file(const std::filesystem::path& file, std::string_view text);

namespace detail {
// Hands on the body without "schema" and "provenance", after checking both.
void open_document(std::string_view text, std::string_view kind, SchemaVersion version, Provenance& provenance,
                   const std::function<void(const JsonView&)>& read_body);
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

// Saves with the provenance of this process.
template <typename T>
void save_document(const std::filesystem::path& file, const T& content) {
  save_document(file, Document<T>{current_provenance(), content});
}

}  // namespace sextant
