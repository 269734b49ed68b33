#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

template <typename T>
void add_row(Table& table, const std::optional<Document<T>>& document) {
  if (!document) return;
  const Provenance& from = document->provenance;
  table.rows.push_back({std::string(T::kKind), from.tool_version, from.time_utc, from.host, from.command});
}

}  // namespace

std::optional<Section> provenance_section(const ReportInput& input) {
  Table table{"provenance",
              "Documents of this report",
              {{"document", "document"},
               {"tool_version", "written by"},
               {"time_utc", "time (UTC)"},
               {"host", "host"},
               {"command", "command"}},
              {}};
  add_row(table, input.cluster);
  add_row(table, input.runs);
  add_row(table, input.coefficients);
  add_row(table, input.accuracy);
  add_row(table, input.plan);
  add_row(table, input.prediction);
  add_row(table, input.search);
  add_row(table, input.explanation);
  if (table.rows.empty()) return std::nullopt;
  return Section{"provenance", "Where the numbers come from", {std::move(table)}};
}

}  // namespace sextant::inline reports
