#include "reports/render/json.h"
#include "core/json_value.h"

namespace sextant {
namespace {

Json block_json(const Text& text) { return {{"kind", "text"}, {"text", text.text}}; }
Json block_json(const Warning& warning) { return {{"kind", "warning"}, {"text", warning.text}}; }

Json block_json(const FactList& facts) {
  Json list = Json::array();
  for (const Fact& fact : facts.facts) {
    list.push_back({{"label", fact.label},
                    {"value", fact.value.value},
                    {"shown", fact.value.text},
                    {"detail", fact.detail}});
  }
  return {{"kind", "facts"}, {"facts", std::move(list)}};
}

Json block_json(const Table& table) {
  Json rows = Json::array();
  for (const auto& cells : table.rows) {
    Json row = Json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) row[table.columns[i].key] = cells[i].value;
    rows.push_back(std::move(row));
  }
  return {{"kind", "table"}, {"id", table.id}, {"caption", table.caption}, {"rows", std::move(rows)}};
}

Json block_json(const Chart& chart) {
  return {{"kind", "chart"}, {"id", chart.id}, {"caption", chart.caption}, {"spec", chart.spec}};
}

}  // namespace

Json write_json(const Content& content) {
  Json sections = Json::array();
  for (const Section& section : content.sections) {
    Json blocks = Json::array();
    for (const Block& block : section.blocks) {
      blocks.push_back(std::visit([](const auto& each) { return block_json(each); }, block));
    }
    sections.push_back({{"id", section.id}, {"title", section.title}, {"blocks", std::move(blocks)}});
  }
  return {{"title", content.title},
          {"written_utc", content.written_utc},
          {"written_by", content.written_by},
          {"sections", std::move(sections)}};
}

}  // namespace sextant
