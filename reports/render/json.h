// Renders the data of a report for programs.
#pragma once

#include "reports/content/content.h"

namespace sextant::inline reports {

// {"title", "written_utc", "written_by", "sections": [{"id", "title", "blocks": [{"kind": "table", ...}]}]}
[[nodiscard]] Json write_json(const Content& content);

}  // namespace sextant::inline reports
