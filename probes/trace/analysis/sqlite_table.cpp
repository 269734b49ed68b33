#include "probes/trace/analysis/sqlite_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>

#include "sextant/error.h"

namespace sextant::trace {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeader = 100;

std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count && at + i < bytes.size(); ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// Seven bits a byte, the ninth byte has eight.
std::uint64_t sqlite_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (int i = 0; i < 9 && at < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) return number << 8 | byte;
    number = number << 7 | (byte & 0x7FU);
    if (byte < 0x80) return number;
  }
  return number;
}

std::int64_t signed_number(std::string_view bytes, std::size_t at, std::size_t count) {
  const std::uint64_t number = big_endian(bytes, at, count);
  const unsigned unused = static_cast<unsigned>(64 - 8 * count);
  return static_cast<std::int64_t>(number << unused) >> unused;
}

// The value of a serial type, and its bytes.
SqliteValue sqlite_value(std::uint64_t type, std::string_view bytes, std::size_t& at) {
  constexpr std::array<std::size_t, 7> kSizes{0, 1, 2, 3, 4, 6, 8};
  if (type >= 1 && type <= 6) {
    const std::size_t from = at;
    at += kSizes[type];
    return signed_number(bytes, from, kSizes[type]);
  }
  if (type == 7) {
    const double number = std::bit_cast<double>(big_endian(bytes, at, 8));
    at += 8;
    return number;
  }
  if (type == 8 || type == 9) return static_cast<std::int64_t>(type - 8);
  if (type < 12) return {};
  const std::size_t size = (type - 12) / 2, from = std::min(at, bytes.size());
  at += std::min(size, bytes.size());
  return std::string(bytes.substr(from, size));
}

std::vector<SqliteValue> sqlite_record(std::string_view payload) {
  std::size_t at = 0;
  const std::size_t body = sqlite_varint(payload, at);
  std::vector<std::uint64_t> types;
  while (at < body && at < payload.size()) types.push_back(sqlite_varint(payload, at));
  std::vector<SqliteValue> values;
  at = body;
  for (const std::uint64_t type : types) {
    if (at > payload.size()) break;
    values.push_back(sqlite_value(type, payload, at));
  }
  return values;
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// The parts between the outermost commas of "CREATE TABLE name (a INTEGER, b TEXT)".
std::vector<std::string> column_definitions(const std::string& sql) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char c : sql) {
    if (c == ')' && --depth == 0) break;
    if (c == '(' && depth++ == 0) continue;
    if (depth == 0) continue;
    if (c == ',' && depth == 1) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string first_word(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r\"`[");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_first_of(" \t\n\r\"`]", first) - first);
}

}  // namespace

const SqliteValue* SqliteRow::find(std::string_view column) const {
  const auto found = std::find(columns_->begin(), columns_->end(), column);
  const auto at = static_cast<std::size_t>(found - columns_->begin());
  return at < values_->size() ? &(*values_)[at] : nullptr;
}

std::optional<std::int64_t> SqliteRow::integer(std::string_view column) const {
  const SqliteValue* value = find(column);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::string SqliteRow::text(std::string_view column) const {
  const SqliteValue* value = find(column);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? "" : *text;
}

SqliteDatabase::SqliteDatabase(std::string_view bytes) : bytes_(bytes) {
  if (bytes.size() < kHeader || !bytes.starts_with(kMagic)) throw_bad_input("it is no SQLite database");
  page_size_ = big_endian(bytes, 16, 2);
  if (page_size_ == 1) page_size_ = 65536;
  usable_size_ = page_size_ - std::min<std::size_t>(page_size_ / 2, big_endian(bytes, 20, 1));
  if (page_size_ < 512 || !std::has_single_bit(page_size_)) throw_bad_input("it is no SQLite database");
  take_schema();
}

std::string_view SqliteDatabase::page(std::uint32_t number) const {
  const std::size_t from = page_size_ * (std::size_t{number} - 1);
  return number == 0 || from >= bytes_.size() ? std::string_view() : bytes_.substr(from, page_size_);
}

// The payload of a cell, whose end may be on a chain of other pages.
void SqliteDatabase::take_leaf_cell(std::string_view bytes, const TakeCell& take) const {
  std::size_t at = 0;
  const std::uint64_t size = sqlite_varint(bytes, at);
  const auto row = static_cast<std::int64_t>(sqlite_varint(bytes, at));
  if (size > bytes_.size() || at > bytes.size()) return;
  const std::size_t max_local = usable_size_ - 35, min_local = (usable_size_ - 12) * 32 / 255 - 23;
  std::size_t local = size;
  if (size > max_local) {
    local = min_local + (size - min_local) % (usable_size_ - 4);
    if (local > max_local) local = min_local;
  }
  std::string payload(bytes.substr(at, local));
  auto next = static_cast<std::uint32_t>(local < size ? big_endian(bytes, at + local, 4) : 0);
  while (payload.size() < size) {
    const std::string_view more = page(next);
    if (more.size() < 5) return;
    payload.append(more.substr(4, std::min<std::size_t>(usable_size_ - 4, size - payload.size())));
    next = static_cast<std::uint32_t>(big_endian(more, 0, 4));
  }
  take(row, payload);
}

// A B-tree of rows: inner pages (5) point to others, leaves (13) have cells.
void SqliteDatabase::walk(std::uint32_t number, int depth, const TakeCell& take) const {
  constexpr int kMaxDepth = 20;
  constexpr std::uint64_t kInner = 5, kLeaf = 13;
  const std::string_view bytes = page(number);
  const std::size_t header = number == 1 ? kHeader : 0;
  const std::uint64_t kind = big_endian(bytes, header, 1);
  if (bytes.empty() || depth > kMaxDepth || (kind != kInner && kind != kLeaf)) return;
  const std::size_t cells = big_endian(bytes, header + 3, 2), pointers = header + (kind == kInner ? 12 : 8);
  for (std::size_t i = 0; i < cells && pointers + 2 * i + 2 <= bytes.size(); ++i) {
    const std::size_t cell = big_endian(bytes, pointers + 2 * i, 2);
    if (cell >= bytes.size()) continue;
    if (kind == kLeaf) {
      take_leaf_cell(bytes.substr(cell), take);
    } else {
      walk(static_cast<std::uint32_t>(big_endian(bytes, cell, 4)), depth + 1, take);
    }
  }
  if (kind == kInner) walk(static_cast<std::uint32_t>(big_endian(bytes, header + 8, 4)), depth + 1, take);
}

void SqliteDatabase::take_schema() {
  static const std::vector<std::string> kColumns{"type", "name", "tbl_name", "rootpage", "sql"};
  walk(1, 0, [this](std::int64_t, const std::string& payload) {
    const std::vector<SqliteValue> values = sqlite_record(payload);
    const SqliteRow row(kColumns, values);
    if (row.text("type") != "table") return;
    Table table;
    table.root = static_cast<std::uint32_t>(row.integer("rootpage").value_or(0));
    for (const std::string& definition : column_definitions(row.text("sql"))) {
      if (upper_case(definition).find("INTEGER NOT NULL PRIMARY KEY") != std::string::npos ||
          upper_case(definition).find("INTEGER PRIMARY KEY") != std::string::npos)
        table.row_number = static_cast<int>(table.columns.size());
      table.columns.push_back(first_word(definition));
    }
    tables_[row.text("name")] = std::move(table);
  });
}

void SqliteDatabase::for_each_row(const std::string& name,
                                  const std::function<void(const SqliteRow&)>& take) const {
  const auto found = tables_.find(name);
  if (found == tables_.end()) return;
  const Table& table = found->second;
  walk(table.root, 0, [&](std::int64_t number, const std::string& payload) {
    std::vector<SqliteValue> values = sqlite_record(payload);
    const auto at = static_cast<std::size_t>(table.row_number);
    if (table.row_number >= 0 && at < values.size()) values[at] = number;
    take(SqliteRow(table.columns, values));
  });
}

}  // namespace sextant::trace
