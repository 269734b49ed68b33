#include "cli/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/in_file.h"
#include "core/units.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {

bool ComparisonRow::differs() const {
  return std::any_of(values.begin(), values.end(),
                     [&](const ComparedValue& one) { return one.value != values.front().value; });
}

void print_comparison(const Comparison& comparison, bool all) {
  std::vector<std::string> header{comparison.kind};
  for (std::size_t i = 0; i < comparison.names.size(); ++i) {
    header.push_back(comparison.names[i]);
    if (i > 0) header.insert(header.end(), {"change", "how sure"});
  }
  Table table(header);
  std::size_t same = 0;
  for (const ComparisonRow& row : comparison.rows) {
    if (!all && !row.differs()) {
      ++same;
      continue;
    }
    std::vector<std::string> cells{row.what};
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      cells.push_back(row.values[i].value);
      if (i > 0) cells.insert(cells.end(), {row.values[i].change, row.values[i].sure});
    }
    table.add(std::move(cells));
  }
  if (same < comparison.rows.size()) print_text(table.text());
  if (same > 0) print_line(std::to_string(same) + " rows are the same (--all shows them)");
  for (const std::string& note : comparison.notes) print_line(note);
}

Json comparison_json(const Comparison& comparison) {
  Json rows = Json::array();
  for (const ComparisonRow& row : comparison.rows) {
    Json values = Json::array();
    for (const ComparedValue& one : row.values)
      values.push_back(Json{{"value", one.value}, {"change", one.change}, {"sure", one.sure}});
    rows.push_back(Json{{"what", row.what}, {"values", values}});
  }
  return Json{
      {"kind", comparison.kind}, {"documents", comparison.names}, {"rows", rows}, {"notes", comparison.notes}};
}

std::string shown_change(double from, double to) {
  const double change = to / from - 1;
  if (!std::isfinite(change)) return "";
  constexpr double kNone = 5e-4;
  return std::abs(change) < kNone ? "0 %" : (change > 0 ? "+" : "") + format_percent(change);
}

std::string shown_sureness(double chance) { return shown_sureness(chance, chance); }

std::string shown_sureness(double chance, double other) {
  constexpr double kTell = 0.8, kTop = 0.99;
  const double a = std::max(chance, 1 - chance), b = std::max(other, 1 - other);
  const double low = std::min(a, b), high = std::max(a, b);
  if (high < kTell) return "cannot tell";
  if (low > kTop) return "over 99 % sure";
  const std::string to = format_percent(std::min(high, kTop), 0), from = format_percent(low, 0);
  return (from == to ? to : from.substr(0, from.find(' ')) + " to " + to) + " sure";
}

std::vector<std::string> short_names(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(std::filesystem::path(file).stem().string());
  return std::set<std::string>(names.begin(), names.end()).size() == files.size() ? names : files;
}

}  // namespace sextant::cli
