// Which coefficients a command takes: a file, those that ship for a framework, or none; and under which names.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant::cli {

// Instead of a file: all neutral, the bare appendix.
inline constexpr const char* kNoCoefficients = "none";

struct ChosenCoefficients {
  Coefficients coefficients;
  std::string name;                // their file, or "none"
  std::string framework;           // as the document spells it
  std::vector<std::string> notes;  // what the user did not say and should know; sentences
};

// asked: a file, "none", or empty for those that ship: of the framework's family, else of all public RL
// iterations; none on CPU cores, as public runs are all of GPUs. Throws Error(bad_input) when nothing that
// ships is found.
[[nodiscard]] ChosenCoefficients choose_coefficients(const std::string& asked, const std::string& framework,
                                                     const Cluster& cluster);

// A coefficients document with its device types under the names that clusters use (data/gpus.json knows the
// others).
struct NamedCoefficients {
  Coefficients coefficients;
  std::vector<std::string> notes;
};
[[nodiscard]] NamedCoefficients load_coefficients(const std::string& file,
                                                  const std::set<std::string>& device_types);

// Of all clusters of a runs document; notes go to stderr.
[[nodiscard]] Coefficients load_coefficients_for(const std::string& file, const Runs& runs);

// The framework as a document spells it; says in `notes` when the document has no values of it.
[[nodiscard]] std::string find_framework(const Coefficients& coefficients, const std::string& file,
                                         const std::string& framework, std::vector<std::string>& notes);

// Each on a line of stderr.
void say(const std::vector<std::string>& notes);

}  // namespace sextant::cli
