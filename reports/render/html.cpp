#include "reports/render/html.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "reports/assets/assets.h"
#include "reports/render/escape.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

// The page may run what it contains and load nothing: a chart or a name that tried to fetch would be refused.
// Vega compiles its expressions, hence unsafe-eval.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:";

std::string html(const Text& text) { return "<p>" + escape_html(text.text) + "</p>\n"; }
std::string html(const Warning& warning) {
  return "<p class=\"warning\" role=\"note\"><strong>Warning.</strong> " + escape_html(warning.text) + "</p>\n";
}

std::string html(const FactList& facts) {
  std::string text = "<div class=\"facts\">\n";
  for (const Fact& fact : facts.facts) {
    text += "<div class=\"fact\"><span class=\"label\">" + escape_html(fact.label) + "</span><b>" +
            escape_html(fact.value.text) + "</b>";
    if (!fact.detail.empty()) text += "<span class=\"detail\">" + escape_html(fact.detail) + "</span>";
    text += "</div>\n";
  }
  return text + "</div>\n";
}

// A number, or a text that is short enough to stay on one line.
const char* cell_class(const char* element, bool numeric, const std::string& text) {
  constexpr std::size_t kOneLine = 20;
  if (numeric) return " class=\"number\"";
  return element == std::string_view("td") && text.size() <= kOneLine ? " class=\"short\"" : "";
}

std::string html_cell(const char* element, bool numeric, const std::string& text,
                      const std::string& more = "") {
  return std::string("<") + element + cell_class(element, numeric, text) + more + ">" + escape_html(text) +
         "</" + element + ">";
}

// Numbers are sorted by their value, not by their text.
std::string sort_key(const Cell& cell) {
  return cell.value.is_number() ? " data-value=\"" + cell.value.dump() + "\"" : "";
}

std::string html(const Table& table) {
  // The box scrolls, also by the keyboard; the caption stays as wide as the page, whatever the width of the table.
  std::string text = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
                     escape_html(table.caption) + "\"><table id=\"table-" + escape_html(table.id) + "\">";
  if (!table.folded) text += "<caption><span>" + escape_html(table.caption) + "</span></caption>";
  text += "\n<thead><tr>";
  for (const Column& column : table.columns) text += html_cell("th", column.numeric, column.title);
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    SEXTANT_CHECK(row.size() == table.columns.size());
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += html_cell("td", table.columns[i].numeric, row[i].text, sort_key(row[i]));
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  if (!table.folded) return text;
  return "<details><summary>" + escape_html(table.caption) + " (" + std::to_string(table.rows.size()) +
         " rows)</summary>\n" + text + "</details>\n";
}

std::string html(const Chart& chart) {
  const std::string id = escape_html(chart.id);
  return "<figure id=\"chart-" + id + "\"><div class=\"chart\" data-spec=\"spec-" + id +
         "\"></div>\n<figcaption>" + escape_html(chart.caption) +
         "</figcaption>\n<script type=\"application/json\" id=\"spec-" + id + "\">" + script_json(chart.spec) +
         "</script></figure>\n";
}

std::string html(const LeadText& verdict) {
  return "<p class=\"verdict\">" + escape_html(verdict.text) + "</p>\n";
}

// CSS takes any number of digits; four are finer than a pixel.
std::string percent_of(double part, double whole) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g%%", whole > 0 ? 100 * part / whole : 0.0);
  return text.data();
}

std::string chip(const std::string& colour) {
  return "<i class=\"chip\" style=\"background:" + escape_html(colour) + "\"></i>";
}

std::string html_parts(const std::vector<BarPart>& parts) {
  std::string text = "<ul class=\"parts\">";
  for (const BarPart& part : parts)
    text += "<li>" + chip(part.colour) + escape_html(part.label) + " <b>" + escape_html(part.value.text) +
            "</b></li>\n";
  return text + "</ul>\n";
}

std::string html_bar(const Bar& bar, double scale) {
  std::string text = "<div class=\"bar\"><span class=\"label\">" + escape_html(bar.label) + "</span>";
  if (!bar.detail.empty()) text += " <span class=\"detail\">" + escape_html(bar.detail) + "</span>";
  text += "\n<div class=\"track\">";
  for (const BarPart& part : bar.parts) {
    const std::string said = escape_html(part.label + " " + part.value.text);
    text += "<span class=\"part\" style=\"width:" + percent_of(part.size, scale) +
            ";background:" + escape_html(part.colour) + "\" title=\"" + said + "\"></span>";
  }
  if (bar.high > 0)
    text += "<span class=\"interval\" style=\"left:" + percent_of(bar.low, scale) +
            ";width:" + percent_of(bar.high - bar.low, scale) + "\"></span>";
  if (bar.limit > 0)
    text += "<span class=\"limit\" style=\"left:" + percent_of(bar.limit, scale) + "\"></span>";
  return text + "</div></div>\n";
}

std::string html(const BarList& list) {
  double scale = 0;
  for (const Bar& bar : list.bars) {
    double end = 0;
    for (const BarPart& part : bar.parts) end += part.size;
    scale = std::max({scale, end, bar.limit, bar.high});
  }
  std::string text = "<figure class=\"bars\" id=\"bars-" + escape_html(list.id) + "\">\n";
  for (const Bar& bar : list.bars) {
    text += html_bar(bar, scale);
    if (list.names_parts) text += html_parts(bar.parts);
  }
  return text + "<figcaption>" + escape_html(list.caption) + "</figcaption></figure>\n";
}

std::string html(const Machines& machines) {
  std::string text = "<div class=\"machine\"><span class=\"label\">" + escape_html(machines.label) +
                     "</span><b>" + escape_html(machines.detail) + "</b>\n<div class=\"devices\">";
  for (const std::vector<std::string>& colours : machines.colours) {
    text += "<span class=\"device\">";
    for (const std::string& colour : colours)
      text += "<i style=\"background:" + escape_html(colour) + "\"></i>";
    text += "</span>";
  }
  return text + "</div></div>\n";
}

std::string html(const MachineMap& map) {
  std::string text =
      "<figure class=\"map\" id=\"map-" + escape_html(map.id) + "\">\n<div class=\"machines\">\n";
  for (const Machines& machines : map.machines) text += html(machines);
  return text + "</div>\n" + html_parts(map.tasks) + "<figcaption>" + escape_html(map.caption) +
         "</figcaption></figure>\n";
}

bool is_half_chart(const Block& block) {
  const Chart* chart = std::get_if<Chart>(&block);
  return chart != nullptr && !chart->wide;
}

std::string html(const Section& section) {
  const std::string title = "<h2>" + escape_html(section.title) + "</h2>";
  std::string text = "<section id=\"" + escape_html(section.id) + "\">\n" +
                     (section.folded ? "<details class=\"fold\"><summary>" + title + "</summary>" : title) +
                     "\n";
  bool in_pair = false;  // neighbouring half-page charts stand side by side
  for (const Block& block : section.blocks) {
    if (is_half_chart(block) != in_pair) {
      text += in_pair ? "</div>\n" : "<div class=\"pair\">\n";
      in_pair = !in_pair;
    }
    text += std::visit([](const auto& each) { return html(each); }, block);
  }
  return text + (in_pair ? "</div>\n" : "") + (section.folded ? "</details>" : "") + "</section>\n";
}

std::string html_header(const Content& content) {
  std::string text = "<header>\n<h1>" + escape_html(content.title) + "</h1>\n<p class=\"byline\">Written by " +
                     escape_html(content.written_by) + " at " + escape_html(content.written_utc) +
                     "</p>\n<nav>";
  for (const Section& section : content.sections) {
    text += "<a href=\"#" + escape_html(section.id) + "\">" + escape_html(section.title) + "</a>\n";
  }
  const bool has_folds = std::any_of(content.sections.begin(), content.sections.end(),
                                     [](const Section& section) { return section.folded; });
  return text + (has_folds ? "<a href=\"#all\">Open all</a>\n" : "") + "</nav>\n</header>\n";
}

std::string license(const char* name, std::string_view text) {
  return std::string("<h3>") + name + "</h3>\n<pre>" + escape_html(text) + "</pre>\n";
}

std::string html_footer() {
  return "<footer>\n<p>The charts are drawn by Vega, Vega-Lite and Vega-Embed (BSD-3-Clause), which this page "
         "contains; "
         "opening it needs no network.</p>\n<details><summary>Their licenses</summary>\n" +
         license("Vega", assets::vega_license()) + license("Vega-Lite", assets::vega_lite_license()) +
         license("Vega-Embed", assets::vega_embed_license()) +
         license("Contained in them", assets::bundled_licenses()) + "</details>\n</footer>\n";
}

// Without the last line that points developer tools to a source map beside the file, which a page does not
// have.
std::string script(std::string_view source) {
  const std::size_t map = source.rfind("//# sourceMappingURL=");
  if (map != std::string_view::npos) source = source.substr(0, map);
  return "<script>" + std::string(source) + "</script>\n";
}

bool has_charts(const Content& content) {
  for (const Section& section : content.sections) {
    for (const Block& block : section.blocks) {
      if (std::holds_alternative<Chart>(block)) return true;
    }
  }
  return false;
}

std::string html_scripts(const Content& content) {
  if (!has_charts(content)) return script(assets::page_js());
  return script(assets::vega_js()) + script(assets::vega_lite_js()) + script(assets::vega_embed_js()) +
         script(assets::page_js());
}

}  // namespace

std::string write_html(const Content& content) {
  std::string page = std::string("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n") +
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"" + kPolicy + "\">\n" +
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
                     "<link rel=\"icon\" href=\"data:,\">\n<title>" + escape_html(content.title) +
                     "</title>\n<style>\n" + std::string(assets::page_css()) + "</style>\n</head>\n<body>\n" +
                     html_header(content) + "<main>\n" +
                     "<noscript><p class=\"warning\">The charts need JavaScript; the tables hold the same "
                     "numbers.</p></noscript>\n";
  for (const Section& section : content.sections) page += html(section);
  page += "</main>\n";
  if (has_charts(content)) page += html_footer();
  return page + html_scripts(content) + "</body>\n</html>\n";
}

}  // namespace sextant::inline reports
