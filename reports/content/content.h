// The content of a report, independent of its format: sections of blocks.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/json_value.h"

namespace sextant::inline reports {

// Returns a finite number, or null: JSON has no NaN, and a ratio to zero cannot be shown.
[[nodiscard]] Json finite_or_null(double value);

struct Cell {
  std::string text;  // for people
  Json value;        // for programs: SI number, string, boolean or null

  Cell(std::string shown) : text(std::move(shown)), value(text) {}  // NOLINT: a text is a cell
  Cell(const char* shown) : Cell(std::string(shown)) {}             // NOLINT
  Cell(std::string shown, Json data) : text(std::move(shown)), value(std::move(data)) {}
};

// Cells for the usual quantities, formatted by core/units.h.
[[nodiscard]] Cell seconds_cell(double seconds);
[[nodiscard]] Cell bytes_cell(double bytes);
[[nodiscard]] Cell percent_cell(double fraction);
[[nodiscard]] Cell number_cell(double value);
[[nodiscard]] Cell count_cell(std::size_t count);
[[nodiscard]] Cell empty_cell();

struct Column {
  std::string key;    // in JSON, with the unit: "measured_s"
  std::string title;  // for people
  bool numeric = false;
};

struct Table {
  std::string id;
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as columns
  bool folded = false;                  // long: the page shows it on demand
};

// A block of sentences.
struct Text {
  std::string text;
};

// A warning for the reader before trusting a number.
struct Warning {
  std::string text;
};

// The few numbers at the top.
struct Fact {
  std::string label;
  Cell value;
  std::string detail;  // small print below the value; may be empty
};
struct FactList {
  std::vector<Fact> facts;
};

struct Chart {
  std::string id;
  std::string caption;  // how to read it
  Json spec;            // Vega-Lite, its rows in "data"
  bool wide = true;     // false: half the page, two side by side
};

// The answer in one or two sentences, before everything else.
struct LeadText {
  std::string text;
};

// Bars of one scale, divided into coloured parts, which need no script. A colour is one of CSS.
struct BarPart {
  std::string label;
  Cell value;
  double size = 0;
  std::string colour;
};
struct Bar {
  std::string label;
  std::vector<BarPart> parts;
  std::string detail;        // beside the label; may be empty
  double limit = 0;          // a mark that the bar must not pass; 0: none
  double low = 0, high = 0;  // interval of the bar's end; high 0: none
};
struct BarList {
  std::string id;
  std::string caption;
  std::vector<Bar> bars;
  bool names_parts = false;  // lists the parts of each bar below it
};

// Machines and what their devices do. Equal machines share a box.
struct Machines {
  std::string label;                              // "node0 to node3"
  std::string detail;                             // "4 x 8 H100"
  std::vector<std::vector<std::string>> colours;  // by device, one for each of its tasks
};
struct MachineMap {
  std::string id;
  std::string caption;
  std::vector<Machines> machines;
  std::vector<BarPart> tasks;  // each with its colour and, as value, its layout in words
};

using Block = std::variant<Text, Warning, FactList, Table, Chart, LeadText, BarList, MachineMap>;

struct Section {
  std::string id;
  std::string title;
  std::vector<Block> blocks;
  bool folded = false;  // the page shows it on demand
};

struct Content {
  std::string title;
  std::string written_utc;  // when, and by which program
  std::string written_by;
  std::vector<Section> sections;
};

}  // namespace sextant::inline reports
