#include "core/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "sextant/document.h"

namespace sextant::inline core {
namespace {

std::string place_in(const std::string& file, int line) { return file + ":" + std::to_string(line); }

std::string column_named(std::string_view column) { return "column " + in_quotes(column); }

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

// The whole of the text as a number; spaces around it are a writer's alignment, not part of it.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return std::nullopt;
  }
  text = text.substr(first, text.find_last_not_of(' ') - first + 1);
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);  // which from_chars does not take
  }
  Number number{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string expected_integer(std::int64_t minimum, std::int64_t maximum) {
  using limits = std::numeric_limits<std::int64_t>;
  std::string out = "an integer";
  if (minimum != limits::min()) {
    out += " >= " + std::to_string(minimum);
  }
  if (maximum != limits::max() && maximum != std::numeric_limits<int>::max()) {
    out += std::string(minimum != limits::min() ? " and" : "") + " <= " + std::to_string(maximum);
  }
  return out;
}

// Splits a text into records, one at a time.
class Splitter {
 public:
  struct Record {
    std::vector<std::string> cells;
    int line = 1;
  };

  Splitter(std::string_view text, const std::string& file) : rest_(text), file_(file) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kByteOrderMark)) {
      rest_.remove_prefix(kByteOrderMark.size());
    }
  }

  // The next record that is not an empty line.
  std::optional<Record> next() {
    while (take_line_end()) {
    }
    if (rest_.empty()) {
      return std::nullopt;
    }
    Record record;
    record.line = line_;
    do {
      record.cells.push_back(take_cell());
    } while (take(','));
    if (!rest_.empty() && !take_line_end()) {
      throw_bad_input(place_in(file_, line_) + ": expected a comma or the end of the line, got " +
                      in_quotes(rest_.substr(0, 1)));
    }
    return record;
  }

 private:
  bool take(char wanted) {
    if (!rest_.starts_with(wanted)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  bool take_line_end() {
    const std::size_t length = rest_.starts_with("\r\n") ? 2 : rest_.starts_with('\n') ? 1 : 0;
    rest_.remove_prefix(length);
    line_ += length > 0 ? 1 : 0;
    return length > 0;
  }

  std::string take_cell() { return take('"') ? take_quoted() : take_plain(); }

  std::string take_plain() {
    std::size_t length = 0;
    while (length < rest_.size() && rest_[length] != ',' && rest_[length] != '\n' &&
           !rest_.substr(length).starts_with("\r\n")) {
      if (rest_[length] == '"') {
        throw_bad_input(place_in(file_, line_) + ": a quote inside a field that does not begin with one");
      }
      ++length;
    }
    std::string cell(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return cell;
  }

  // After the opening quote.
  std::string take_quoted() {
    const int first_line = line_;
    std::string cell;
    while (true) {
      const std::size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) {
        throw_bad_input(place_in(file_, first_line) + ": a quoted field that never ends");
      }
      const std::string_view part = rest_.substr(0, quote);
      line_ += static_cast<int>(std::count(part.begin(), part.end(), '\n'));
      cell += part;
      rest_.remove_prefix(quote + 1);
      if (!take('"')) {
        return cell;
      }
      cell += '"';  // doubled
    }
  }

  std::string_view rest_;
  const std::string& file_;
  int line_ = 1;
};

CsvRow::Header header_of(Splitter::Record record, const std::string& file) {
  CsvRow::Header header{file, std::move(record.cells), {}};
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    const std::string& name = header.columns[i];
    if (is_blank(name)) {
      throw_bad_input(place_in(file, record.line) + ": column " + std::to_string(i + 1) + " has no name");
    }
    if (!header.position.emplace(name, i).second) {
      throw_bad_input(place_in(file, record.line) + ": two columns are named " + in_quotes(name));
    }
  }
  return header;
}

// A reader that asks for a column of a file of another form.
[[noreturn]] void fail_without_column(const CsvRow::Header& header, std::string_view column) {
  throw_bad_input(header.file + ": there is no " + column_named(column));
}

std::size_t position_of(const CsvRow::Header& header, std::string_view column) {
  const auto found = header.position.find(column);
  if (found == header.position.end()) {
    fail_without_column(header, column);
  }
  return found->second;
}

}  // namespace

CsvRow::CsvRow(std::shared_ptr<const Header> header, std::vector<std::string> cells, int line)
    : header_(std::move(header)), cells_(std::move(cells)), line_(line) {
  SEXTANT_CHECK(cells_.size() == header_->columns.size());
}

std::string CsvRow::place() const { return place_in(header_->file, line_); }

bool CsvRow::has_column(std::string_view column) const { return header_->position.contains(column); }

bool CsvRow::is_empty(std::string_view column) const { return is_blank(any_text(column)); }

const std::string& CsvRow::any_text(std::string_view column) const {
  return cells_[position_of(*header_, column)];
}

const std::string& CsvRow::text(std::string_view column) const {
  const std::string& cell = any_text(column);
  if (is_blank(cell)) {
    fail_expected(column, "text");
  }
  return cell;
}

double CsvRow::checked(std::string_view column, double value, bool is_right, const std::string& wanted) const {
  if (!is_right) {
    fail_expected(column, wanted);
  }
  return value;
}

double CsvRow::number(std::string_view column) const {
  const double value = parse_number<double>(any_text(column)).value_or(std::nan(""));
  return checked(column, value, std::isfinite(value), "a number");
}

double CsvRow::positive(std::string_view column) const {
  const double value = number(column);
  return checked(column, value, value > 0, "a number > 0");
}

double CsvRow::non_negative(std::string_view column) const {
  const double value = number(column);
  return checked(column, value, value >= 0, "a number >= 0");
}

std::int64_t CsvRow::integer(std::string_view column, std::int64_t minimum, std::int64_t maximum) const {
  const auto value = parse_number<std::int64_t>(any_text(column));
  if (!value || *value < minimum || *value > maximum) {
    fail_expected(column, expected_integer(minimum, maximum));
  }
  return *value;
}

int CsvRow::count(std::string_view column, int minimum) const {
  return static_cast<int>(integer(column, minimum, std::numeric_limits<int>::max()));
}

bool CsvRow::flag(std::string_view column) const {
  static const std::vector<std::string_view> kNames = {"false", "no", "0", "true", "yes", "1"};
  const auto found = std::find(kNames.begin(), kNames.end(), lower(any_text(column)));
  if (found == kNames.end()) {
    fail_expected(column, "true or false");
  }
  return found - kNames.begin() >= 3;
}

std::size_t CsvRow::one_of(std::string_view column, const std::vector<std::string_view>& names) const {
  const auto found = std::find(names.begin(), names.end(), any_text(column));
  if (found == names.end()) {
    std::string wanted = "one of";
    for (const std::string_view name : names) {
      wanted += (name == names.front() ? " " : ", ") + std::string(name);
    }
    fail_expected(column, wanted);
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::string> CsvRow::optional_text(std::string_view column) const {
  return is_empty(column) ? std::nullopt : std::optional(any_text(column));
}

std::optional<double> CsvRow::optional_number(std::string_view column) const {
  return is_empty(column) ? std::nullopt : std::optional(number(column));
}

std::optional<int> CsvRow::optional_count(std::string_view column, int minimum) const {
  return is_empty(column) ? std::nullopt : std::optional(count(column, minimum));
}

void CsvRow::fail(std::string_view column, const std::string& reason) const {
  throw_bad_input(place() + ": " + column_named(column) + ": " + reason);
}

void CsvRow::fail_expected(std::string_view column, const std::string& wanted) const {
  const std::string& cell = any_text(column);
  fail(column, "expected " + wanted + ", got " + (is_blank(cell) ? "nothing" : in_quotes(cell)));
}

CsvTable::CsvTable(std::shared_ptr<const CsvRow::Header> header, std::vector<CsvRow> rows)
    : header_(std::move(header)), rows_(std::move(rows)) {}

bool CsvTable::has_column(std::string_view column) const { return header_->position.contains(column); }

void CsvTable::require_columns(std::initializer_list<std::string_view> columns) const {
  for (const std::string_view column : columns) {
    if (!has_column(column)) {
      fail_without_column(*header_, column);
    }
  }
}

CsvTable parse_csv(std::string_view text, const std::string& file) {
  Splitter splitter(text, file);
  std::optional<Splitter::Record> record = splitter.next();
  if (!record) {
    throw_bad_input(file + ": expected a row of column names, got an empty file");
  }
  const auto header = std::make_shared<const CsvRow::Header>(header_of(std::move(*record), file));
  std::vector<CsvRow> rows;
  while ((record = splitter.next())) {
    if (record->cells.size() != header->columns.size()) {
      throw_bad_input(place_in(file, record->line) + ": expected " + std::to_string(header->columns.size()) +
                      " cells, as in the header, got " + std::to_string(record->cells.size()));
    }
    rows.emplace_back(header, std::move(record->cells), record->line);
  }
  return {header, std::move(rows)};
}

CsvTable load_csv(const std::filesystem::path& file) { return parse_csv(read_text_file(file), file.string()); }

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string exact_number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

}  // namespace sextant::inline core
