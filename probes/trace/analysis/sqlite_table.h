// Reads whole tables of an SQLite database without the library: file format 3, sqlite.org/fileformat.html.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant::trace {

using SqliteValue = std::variant<std::monostate, std::int64_t, double, std::string>;

// A row by the names of its columns.
class SqliteRow {
 public:
  SqliteRow(const std::vector<std::string>& columns, const std::vector<SqliteValue>& values)
      : columns_(&columns), values_(&values) {}

  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view column) const;
  [[nodiscard]] std::string text(std::string_view column) const;  // empty: there is none

 private:
  [[nodiscard]] const SqliteValue* find(std::string_view column) const;

  const std::vector<std::string>* columns_;
  const std::vector<SqliteValue>* values_;
};

class SqliteDatabase {
 public:
  // `bytes` must outlive the database. Throws Error(bad_input) if it is none.
  explicit SqliteDatabase(std::string_view bytes);

  [[nodiscard]] bool has_table(const std::string& table) const { return tables_.contains(table); }
  // Calls `take` for each row, none if there is no such table. Pages that are damaged are skipped.
  void for_each_row(const std::string& table, const std::function<void(const SqliteRow&)>& take) const;

 private:
  struct Table {
    std::uint32_t root = 0;
    std::vector<std::string> columns;
    int row_number = -1;  // position of the column that is the row's number (INTEGER PRIMARY KEY); -1: none
  };
  using TakeCell = std::function<void(std::int64_t row, const std::string& payload)>;

  [[nodiscard]] std::string_view page(std::uint32_t number) const;  // empty: there is none
  void walk(std::uint32_t page, int depth, const TakeCell& take) const;
  void take_leaf_cell(std::string_view bytes, const TakeCell& take) const;
  void take_schema();

  std::string_view bytes_;
  std::size_t page_size_ = 0, usable_size_ = 0;
  std::map<std::string, Table> tables_;
};

}  // namespace sextant::trace
