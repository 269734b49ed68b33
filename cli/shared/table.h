// Plain text tables for terminals: columns padded to their widest cell, numbers to the right.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sextant::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  // Left-aligns a column of text that is read, not compared.
  void align_left(std::size_t column) { left_.insert(column); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Two spaces between columns, a newline after each row. The first column is left-aligned, the rest right
  // unless align_left says otherwise.
  [[nodiscard]] std::string text() const;
  // Like text(), with additional lines below each row.
  [[nodiscard]] std::string text_with(const std::vector<std::string>& below_rows) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::set<std::size_t> left_{0};
};

}  // namespace sextant::cli
