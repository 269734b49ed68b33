// Reads the #include lines of a source tree and says where they break the design.
//
// The design (docs/architecture.md): dependencies point one way, third-party headers stay in their room, no
// header includes itself through others, every header has #pragma once, every folder a README.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::architecture {

// One sentence a fault, sorted by file: "sextant/json.h includes sextant/predict.h: core may include only core".
// Empty when the tree is as designed. Throws std::runtime_error when the tree has no source at all.
[[nodiscard]] std::vector<std::string> find_violations(const std::filesystem::path& root);

}  // namespace sextant::architecture
