// Sources of documents: a file, or the text of the document itself, which begins with "{".
#pragma once

#include <string>

#include "core/in_file.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline ask {

[[nodiscard]] inline bool is_document_text(const std::string& source) {
  return source.find_first_not_of(" \t\r\n") != std::string::npos &&
         source[source.find_first_not_of(" \t\r\n")] == '{';
}

// The name in messages: the file, or "the plan document" for a text.
template <typename T>
[[nodiscard]] std::string source_name(const std::string& source) {
  return is_document_text(source) ? "the " + std::string(T::kKind) + " document" : source;
}

// Throws Error(bad_input) that begins with the source's name.
template <typename T>
[[nodiscard]] T document_of(const std::string& source) {
  if (!is_document_text(source)) return load_document<T>(source).content;
  return in_file(source_name<T>(source), [&] { return parse_document<T>(source).content; });
}

}  // namespace sextant::inline ask
