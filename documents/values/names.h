// Names of enum values in documents: one array of names in the order of the enum's values.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "sextant/json.h"

namespace sextant::inline documents {

template <typename Enum, std::size_t kCount>
[[nodiscard]] std::string_view name_in(const std::array<std::string_view, kCount>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

// Throws an error that lists the names if the text is not one of them.
template <typename Enum, std::size_t kCount>
[[nodiscard]] Enum parse_name(const JsonView& view, const std::array<std::string_view, kCount>& names) {
  return static_cast<Enum>(view.one_of({names.begin(), names.end()}));
}

}  // namespace sextant::inline documents
