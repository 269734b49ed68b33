// Comma-separated tables of published data: RFC 4180 with column names in the first row.
//
//   for (const CsvRow& row : load_csv(file).rows()) {
//     const double time_s = row.positive("time_ms") * 1e-3;
//   }
//
// Reading is strict, as in sextant/json.h: a value is either usable or Error(bad_input) such as
// `runs.csv:12: column "time_ms": expected a number, got "n/a"`. Cells keep the spaces around them; a
// field in double quotes may hold commas, line ends and doubled quotes. Lines end with CRLF or LF; an empty
// line is not a row. A UTF-8 byte order mark is skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/error.h"

namespace sextant::inline core {

// A row with the names of its columns; cheap to copy, and it may outlive its table.
class CsvRow {
 public:
  // The part that all rows of a table share.
  struct Header {
    std::string file;  // for messages
    std::vector<std::string> columns;
    std::map<std::string, std::size_t, std::less<>> position;
  };

  CsvRow(std::shared_ptr<const Header> header, std::vector<std::string> cells, int line);

  [[nodiscard]] int line() const { return line_; }  // 1-based, where the row begins
  [[nodiscard]] std::string place() const;          // "runs.csv:12"
  [[nodiscard]] const std::vector<std::string>& cells() const { return cells_; }
  [[nodiscard]] bool has_column(std::string_view column) const;
  // The column must exist (in all calls below too); a cell is empty if it has no characters or only spaces.
  [[nodiscard]] bool is_empty(std::string_view column) const;

  [[nodiscard]] const std::string& text(std::string_view column) const;      // not empty
  [[nodiscard]] const std::string& any_text(std::string_view column) const;  // also empty
  [[nodiscard]] double number(std::string_view column) const;                // finite
  [[nodiscard]] double positive(std::string_view column) const;              // > 0
  [[nodiscard]] double non_negative(std::string_view column) const;          // >= 0
  [[nodiscard]] std::int64_t integer(std::string_view column,
                                     std::int64_t minimum = std::numeric_limits<std::int64_t>::min(),
                                     std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] int count(std::string_view column, int minimum = 0) const;  // an integer that fits an int
  [[nodiscard]] bool flag(std::string_view column) const;                   // true/false, yes/no, 1/0, any case
  // One of the given names; returns its position.
  [[nodiscard]] std::size_t one_of(std::string_view column, const std::vector<std::string_view>& names) const;

  // Returns nullopt if the cell is empty.
  [[nodiscard]] std::optional<std::string> optional_text(std::string_view column) const;
  [[nodiscard]] std::optional<double> optional_number(std::string_view column) const;
  [[nodiscard]] std::optional<int> optional_count(std::string_view column, int minimum = 0) const;

  // Throws Error(bad_input) with "file:line: column \"name\": reason".
  [[noreturn]] void fail(std::string_view column, const std::string& reason) const;

 private:
  [[noreturn]] void fail_expected(std::string_view column, const std::string& wanted) const;
  [[nodiscard]] double checked(std::string_view column, double value, bool is_right,
                               const std::string& wanted) const;

  std::shared_ptr<const Header> header_;
  std::vector<std::string> cells_;  // one per column
  int line_;
};

class CsvTable {
 public:
  CsvTable(std::shared_ptr<const CsvRow::Header> header, std::vector<CsvRow> rows);

  [[nodiscard]] const std::string& file() const { return header_->file; }
  [[nodiscard]] const std::vector<std::string>& columns() const { return header_->columns; }
  [[nodiscard]] const std::vector<CsvRow>& rows() const { return rows_; }
  [[nodiscard]] bool has_column(std::string_view column) const;
  // Lets a reader reject a file of another format at once: throws Error(bad_input) with the missing columns.
  void require_columns(std::initializer_list<std::string_view> columns) const;

 private:
  std::shared_ptr<const CsvRow::Header> header_;
  std::vector<CsvRow> rows_;
};

// `file` is the name that messages show. Rejects text without a header, a column without a name or twice, a row
// with more or fewer cells than columns, and an unclosed or stray quote.
[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::string& file);

// Reads the whole file; throws Error(bad_input) if it cannot be opened.
[[nodiscard]] CsvTable load_csv(const std::filesystem::path& file);

// A field as it is written: in double quotes if it has a comma, a quote or the end of a line.
[[nodiscard]] std::string csv_field(const std::string& text);
// The shortest text that reads back as the same double.
[[nodiscard]] std::string exact_number(double value);

}  // namespace sextant::inline core
