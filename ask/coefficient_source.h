// Chooses the coefficients of a command: a file, those that ship for a framework, or none; and their names.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant::inline ask {

// The name that selects neutral coefficients in place of a file: the bare appendix.
inline constexpr const char* kNoCoefficients = "none";

struct ChosenCoefficients {
  Coefficients coefficients;
  std::string name;                // their file, or "none"
  std::string framework;           // as the document spells it
  std::vector<std::string> notes;  // sentences about choices that the user did not make
  bool is_shipped = false;         // chosen without the user
};

// `asked` is a source (document_source.h), "none", or empty for the shipped ones: those of the framework's family, else of all public
// RL iterations; none on CPU cores, because public runs are all on GPUs. Throws Error(bad_input) if no shipped
// ones are found.
[[nodiscard]] ChosenCoefficients choose_coefficients(const std::string& asked, const std::string& framework,
                                                     const Cluster& cluster);

// A coefficients document from a source (document_source.h), whose device types have the names of the clusters (data/gpus.json lists the other
// names).
struct NamedCoefficients {
  Coefficients coefficients;
  std::vector<std::string> notes;
};
[[nodiscard]] NamedCoefficients load_coefficients(const std::string& file,
                                                  const std::set<std::string>& device_types);

// Returns the coefficients for all clusters of a runs document.
[[nodiscard]] NamedCoefficients load_coefficients_for(const std::string& file, const Runs& runs);

// Returns the framework as a document spells it; adds a note if the document has no values for it.
[[nodiscard]] std::string find_framework(const Coefficients& coefficients, const std::string& file,
                                         const std::string& framework, std::vector<std::string>& notes);

}  // namespace sextant::inline ask
