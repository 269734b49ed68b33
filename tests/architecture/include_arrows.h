// Reads the #include lines of a source tree and reports where they violate the design.
//
// The design (docs/architecture.md): dependencies point one way, third-party headers stay in designated
// folders, no header includes itself through others, every header has #pragma once, every folder a README.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// Returns one sentence per violation, sorted by file: "sextant/json.h includes sextant/predict.h: core may
// include only core". Empty without violations. Throws std::runtime_error if the tree has no source at all.
[[nodiscard]] std::vector<std::string> find_violations(const std::filesystem::path& root);

}  // namespace sextant::architecture
