// Files that every page contains, embedded into the program when it is built.
#pragma once

#include <string_view>

namespace sextant::assets {

[[nodiscard]] std::string_view vega_js();
[[nodiscard]] std::string_view vega_lite_js();
[[nodiscard]] std::string_view vega_embed_js();
[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view page_js();
[[nodiscard]] std::string_view vega_license();
[[nodiscard]] std::string_view vega_lite_license();
[[nodiscard]] std::string_view vega_embed_license();
[[nodiscard]] std::string_view bundled_licenses();

}  // namespace sextant::assets
