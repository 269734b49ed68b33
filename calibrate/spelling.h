// Names of frameworks and device types, which a coefficients document and a question may spell differently.
// Matched once, where documents are read: the cost model itself compares names letter by letter.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"

namespace sextant {

// ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

// Those that a document has values of or was fitted to, ascending; "*" is none of them.
[[nodiscard]] std::vector<std::string> frameworks_of(const Coefficients& coefficients);
// The document's spelling of a framework, ignoring case; the name itself where the document has no such.
[[nodiscard]] std::string framework_as_in(const Coefficients& coefficients, const std::string& framework);
// Whether any value belongs to the framework (in the document's spelling).
[[nodiscard]] bool has_values_of(const Coefficients& coefficients, std::string_view framework);

// The device types of a cluster's nodes.
[[nodiscard]] std::set<std::string> device_types_of(const Cluster& cluster);

struct RenamedType {
  std::string from;  // in the document
  std::string to;    // in the clusters
};

// Gives device types of the document the names that clusters use, in its values and in what it was fitted to.
// full_name: one name for all spellings of a GPU. A type that the document has letter by letter stays; a second
// spelling of one GPU among `types` gets nothing.
[[nodiscard]] std::vector<RenamedType> rename_device_types(
    Coefficients& coefficients, const std::set<std::string>& types,
    const std::function<std::string(const std::string&)>& full_name);

}  // namespace sextant
