// The kind of a document, for commands that take several kinds.
#pragma once

#include <string>

namespace sextant::cli {

// "cluster" of the document's "schema": "sextant.cluster/1.1". Throws Error(bad_input).
[[nodiscard]] std::string kind_of_document(const std::string& file);

}  // namespace sextant::cli
