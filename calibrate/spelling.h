// Names of frameworks and device types, which documents and options may spell differently. They are matched
// once, when documents are read: the cost model itself compares names exactly.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"

namespace sextant::inline calibrate {

// ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

// Returns the frameworks that a document has values for or was fitted to, ascending, without "*".
[[nodiscard]] std::vector<std::string> frameworks_of(const Coefficients& coefficients);
// Returns the document's spelling of a framework, ignoring case; the name itself if the document has none.
[[nodiscard]] std::string framework_as_in(const Coefficients& coefficients, const std::string& framework);
// Whether any value is specific to the framework (in the document's spelling).
[[nodiscard]] bool has_values_of(const Coefficients& coefficients, std::string_view framework);

// The device types of a cluster's nodes.
[[nodiscard]] std::set<std::string> device_types_of(const Cluster& cluster);

struct RenamedType {
  std::string from;  // in the document
  std::string to;    // in the clusters
};

// Renames device types of the document to the names that clusters use, in its values and in its fit. full_name
// maps all spellings of a GPU to one name. A type that the document spells exactly the same stays; a second
// spelling of one GPU among `types` is not matched.
[[nodiscard]] std::vector<RenamedType> rename_device_types(
    Coefficients& coefficients, const std::set<std::string>& types,
    const std::function<std::string(const std::string&)>& full_name);

}  // namespace sextant::inline calibrate
