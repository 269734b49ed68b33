// Json itself, where core/json.h names it.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/json.h"

// Compiled once, in json_instances.cpp, and not for every file that includes this: a quarter of what such a
// file takes. Of versions in which every member is known to compile.
#if NLOHMANN_JSON_VERSION_MAJOR == 3 && NLOHMANN_JSON_VERSION_MINOR == 11
#define SEXTANT_JSON_IS_INSTANTIATED
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class std::vector<sextant::Json>;
extern template class nlohmann::detail::serializer<sextant::Json>;
#endif
