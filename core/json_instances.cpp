// What core/json_value.h says is compiled elsewhere.
#include "core/json_value.h"

#ifdef SEXTANT_JSON_IS_INSTANTIATED
template class nlohmann::basic_json<nlohmann::ordered_map>;
template class std::vector<sextant::Json>;
template class nlohmann::detail::serializer<sextant::Json>;
#endif
