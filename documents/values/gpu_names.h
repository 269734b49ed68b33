// Names of GPUs: the same GPU has several, by case, separators and the aliases of data/gpus.json.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace sextant::inline documents {

// Other names of GPUs, each with the name in data/gpus.json. CMake writes them into the library (gpu_aliases.cpp.in), so that
// a program that uses it needs no data folder.
[[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& gpu_aliases();

// Whether both texts name the same GPU: "H20" and "H20-96GB" do. Case, spaces, '-' and '_' are ignored.
[[nodiscard]] bool is_same_gpu(std::string_view a, std::string_view b);

}  // namespace sextant::inline documents
