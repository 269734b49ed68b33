#include "cli/shared/table.h"

#include <algorithm>

namespace sextant::cli {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(header_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < widths.size() && c < row.size(); ++c)
      widths[c] = std::max(widths[c], width_of(row[c]));
  };
  widen(header_);
  for (const auto& row : rows_) widen(row);
  std::string out;
  const auto append = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < widths.size() && c < row.size(); ++c) {
      const std::string padding(widths[c] - width_of(row[c]), ' ');
      if (c > 0) line += "  ";
      line += left_.contains(c) ? row[c] + padding : padding + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  append(header_);
  for (const auto& row : rows_) append(row);
  return out;
}

std::string Table::text_with(const std::vector<std::string>& below_rows) const {
  const std::string rows = text();
  std::string out;
  std::size_t line = 0;
  for (std::size_t from = 0; from < rows.size(); ++line) {
    const std::size_t end = rows.find('\n', from) + 1;
    out += rows.substr(from, end - from);
    if (line > 0) out += below_rows[line - 1];
    from = end;
  }
  return out;
}

}  // namespace sextant::cli
