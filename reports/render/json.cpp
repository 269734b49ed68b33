#include "reports/render/json.h"
#include "core/json_value.h"

namespace sextant::inline reports {
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

Json block_json(const LeadText& verdict) { return {{"kind", "verdict"}, {"text", verdict.text}}; }

Json parts_json(const std::vector<BarPart>& parts) {
  Json list = Json::array();
  for (const BarPart& part : parts)
    list.push_back({{"label", part.label}, {"value", part.value.value}, {"shown", part.value.text}});
  return list;
}

Json block_json(const BarList& bars) {
  Json list = Json::array();
  for (const Bar& bar : bars.bars) {
    Json one = {{"label", bar.label}, {"parts", parts_json(bar.parts)}, {"detail", bar.detail}};
    if (bar.limit > 0) one["limit"] = bar.limit;
    if (bar.high > 0) one["interval"] = {bar.low, bar.high};
    list.push_back(std::move(one));
  }
  return {{"kind", "bars"}, {"id", bars.id}, {"caption", bars.caption}, {"bars", std::move(list)}};
}

Json block_json(const MachineMap& map) {
  Json list = Json::array();
  for (const Machines& machines : map.machines)
    list.push_back({{"label", machines.label}, {"detail", machines.detail}});
  return {{"kind", "machines"},
          {"id", map.id},
          {"caption", map.caption},
          {"machines", std::move(list)},
          {"tasks", parts_json(map.tasks)}};
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

}  // namespace sextant::inline reports
