#include "reports/render/markdown.h"

#include "reports/render/escape.h"

namespace sextant::inline reports {
namespace {

std::string markdown(const Text& text) { return escape_markdown(text.text) + "\n\n"; }
std::string markdown(const Warning& warning) {
  return "> **Warning:** " + escape_markdown(warning.text) + "\n\n";
}
std::string markdown(const Chart&) { return ""; }

std::string markdown(const LeadText& verdict) { return "**" + escape_markdown(verdict.text) + "**\n\n"; }

std::string markdown(const std::vector<BarPart>& parts) {
  std::string text;
  for (const BarPart& part : parts)
    text += "- " + escape_markdown(part.label) + ": " + escape_markdown(part.value.text) + "\n";
  return text;
}

std::string markdown(const BarList& list) {
  std::string text;
  for (const Bar& bar : list.bars) {
    text += "**" + escape_markdown(bar.label) + "**";
    if (!bar.detail.empty()) text += " (" + escape_markdown(bar.detail) + ")";
    text += "\n\n" + markdown(bar.parts) + "\n";
  }
  return text;
}

std::string markdown(const MachineMap& map) {
  std::string text;
  for (const Machines& machines : map.machines)
    text += "- " + escape_markdown(machines.label) + ": " + escape_markdown(machines.detail) + "\n";
  return text + "\n" + markdown(map.tasks) + "\n";
}

std::string markdown(const FactList& facts) {
  std::string text;
  for (const Fact& fact : facts.facts) {
    text += "- " + escape_markdown(fact.label) + ": **" + escape_markdown(fact.value.text) + "**";
    if (!fact.detail.empty()) text += " (" + escape_markdown(fact.detail) + ")";
    text += "\n";
  }
  return text + "\n";
}

std::string markdown(const Table& table) {
  std::string text = "**" + escape_markdown(table.caption) + "**\n\n|";
  for (const Column& column : table.columns) text += " " + escape_markdown(column.title) + " |";
  text += "\n|";
  for (const Column& column : table.columns) text += column.numeric ? " ---: |" : " --- |";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const Cell& cell : row) text += " " + escape_markdown(cell.text) + " |";
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

std::string write_markdown(const Content& content) {
  std::string text = "# " + escape_markdown(content.title) + "\n\n";
  for (const Section& section : content.sections) {
    text += "## " + escape_markdown(section.title) + "\n\n";
    for (const Block& block : section.blocks) {
      text += std::visit([](const auto& each) { return markdown(each); }, block);
    }
  }
  return text + "Written by " + escape_markdown(content.written_by) + " at " + content.written_utc + ".\n";
}

}  // namespace sextant::inline reports
