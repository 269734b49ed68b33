// The three writers, on a small content.
#include <gmock/gmock.h>

#include <limits>

#include "core/json_value.h"
#include "reports/assets/assets.h"
#include "reports/render/html.h"
#include "reports/render/json.h"
#include "reports/render/markdown.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Content small_content() {
  Table table{"t", "A table", {{"name", "name"}, {"time_s", "time", true}}, {}};
  table.rows.push_back({"a|<b>", seconds_cell(1.5)});
  Section section{"s", "First & last", {}};
  section.blocks = {Text{"A sentence."}, Warning{"Look out."}, FactList{{{"Runs", count_cell(3), "detail"}}},
                    table, Chart{"c", "A chart", {{"mark", "</script>"}}, false}};
  return {"Title <1>", "2026-01-31T12:00:00Z", "sextant test", {section}};
}

TEST(Markdown, WritesSectionsAndTables) {
  EXPECT_EQ(write_markdown(small_content()),
            "# Title \\<1\\>\n\n## First \\& last\n\nA sentence.\n\n> **Warning:** Look out.\n\n"
            "- Runs: **3** (detail)\n\n**A table**\n\n| name | time |\n| --- | ---: |\n"
            "| a\\|\\<b\\> | 1.50 s |\n\nWritten by sextant test at 2026-01-31T12:00:00Z.\n");
}

TEST(JsonWriter, HoldsValuesNotTexts) {
  const Json json = write_json(small_content());
  EXPECT_EQ(json["title"], "Title <1>");
  const Json& blocks = json["sections"][0]["blocks"];
  EXPECT_EQ(blocks[2]["facts"][0]["value"], 3);
  EXPECT_EQ(blocks[3]["rows"][0], (Json{{"name", "a|<b>"}, {"time_s", 1.5}}));
  EXPECT_EQ(blocks[4]["kind"], "chart");
}

TEST(Html, EscapesEveryText) {
  const std::string page = write_html(small_content());
  EXPECT_THAT(page, HasSubstr("<title>Title &lt;1&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("<h2>First &amp; last</h2>"));
  EXPECT_THAT(page, HasSubstr("a|&lt;b&gt;</td>"));
  EXPECT_THAT(page, HasSubstr("{\"mark\":\"\\u003c/script>\"}"));
}

Content with_answer() {
  Bar bar{"Memory", {{"states <1>", bytes_cell(3e9), 3, "#ff0000"}, {"rest", bytes_cell(1e9), 1, "#00ff00"}},
          "fits",   8,
          3.5,      6};
  Section answer{"summary", "Summary", {}};
  answer.blocks = {LeadText{"It takes <2> s."}, BarList{"memory", "How to read it", {bar}, true},
                   MachineMap{"layout",
                              "A square is a GPU",
                              {{"node0 to node3", "4 x 2 H100", {{"#ff0000", "#00ff00"}, {}}}},
                              {{"training", Cell("dp2"), 0, "#ff0000"}}}};
  Section more{"more", "More", {Text{"A sentence."}}};
  more.folded = true;
  return {"Title", "2026-01-31T12:00:00Z", "sextant test", {answer, more}};
}

// The whole width is 8: the parts take 3 and 1, the interval begins at 3.5 and ends at 6.
TEST(Html, DrawsBarsAndMachinesWithoutAScript) {
  const std::string page = write_html(with_answer());
  EXPECT_THAT(page, HasSubstr("<p class=\"verdict\">It takes &lt;2&gt; s.</p>"));
  EXPECT_THAT(page, HasSubstr("style=\"width:37.5%;background:#ff0000\" title=\"states &lt;1&gt; "));
  EXPECT_THAT(page, HasSubstr("style=\"width:12.5%;background:#00ff00\""));
  EXPECT_THAT(page, HasSubstr("<span class=\"interval\" style=\"left:43.75%;width:31.25%\">"));
  EXPECT_THAT(page, HasSubstr("<span class=\"limit\" style=\"left:100%\">"));
  EXPECT_THAT(page, HasSubstr("<span class=\"device\"><i style=\"background:#ff0000\"></i><i "
                              "style=\"background:#00ff00\"></i></span><span class=\"device\"></span>"));
  EXPECT_THAT(page,
              HasSubstr("<section id=\"more\">\n<details class=\"fold\"><summary><h2>More</h2></summary>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#all\">Open all</a>"));
  EXPECT_THAT(write_html(small_content()), Not(HasSubstr("#all\">")));
}

TEST(Markdown, ListsWhatBarsAndMachinesShow) {
  const std::string text = write_markdown(with_answer());
  EXPECT_THAT(text, HasSubstr("**It takes \\<2\\> s.**"));
  EXPECT_THAT(text, HasSubstr("**Memory** (fits)\n\n- states \\<1\\>: "));
  EXPECT_THAT(text, HasSubstr("- node0 to node3: 4 x 2 H100\n\n- training: dp2\n"));
  const Json blocks = write_json(with_answer())["sections"][0]["blocks"];
  EXPECT_EQ(blocks[1]["bars"][0]["parts"][0]["value"], 3e9);
  EXPECT_EQ(blocks[1]["bars"][0]["interval"], (Json{3.5, 6}));
  EXPECT_EQ(blocks[2]["machines"][0]["detail"], "4 x 2 H100");
}

TEST(Html, ContainsTheLibrariesWithTheirLicenses) {
  const std::string page = write_html(small_content());
  EXPECT_THAT(page, HasSubstr(std::string(assets::vega_js())));
  EXPECT_THAT(page, HasSubstr("University of Washington Interactive Data Lab"));
  EXPECT_THAT(page, HasSubstr("Mike Bostock"));
  EXPECT_THAT(page, Not(HasSubstr("sourceMappingURL")));
}

TEST(Html, LoadsNothing) {
  const std::string page = write_html(small_content());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* loading : {"<script src", "<iframe", "@import", "<img", "url("}) {
    std::string own = page.substr(0, page.find("<script>"));  // before the libraries
    EXPECT_THAT(own, Not(HasSubstr(loading)));
  }
}

TEST(Html, LeavesTheLibrariesOutOfAPageWithoutCharts) {
  Content content = small_content();
  content.sections[0].blocks.pop_back();
  const std::string page = write_html(content);
  EXPECT_LT(page.size(), 20000U);
  EXPECT_THAT(page, HasSubstr("chartsExpected"));  // still says that all none of them are drawn
}

TEST(Assets, CannotEndTheScriptElementThatHoldsThem) {
  for (const std::string_view source :
       {assets::vega_js(), assets::vega_lite_js(), assets::vega_embed_js(), assets::page_js()}) {
    EXPECT_FALSE(source.empty());
    EXPECT_EQ(source.find("</script"), std::string_view::npos);
    EXPECT_EQ(source.find("<!--"), std::string_view::npos);
  }
  EXPECT_EQ(assets::page_css().find("</style"), std::string_view::npos);
}

TEST(Cells, ShowNoNumberThatIsNone) {
  EXPECT_EQ(percent_cell(std::numeric_limits<double>::infinity()).value, nullptr);
  EXPECT_EQ(seconds_cell(std::numeric_limits<double>::quiet_NaN()).text, empty_cell().text);
  EXPECT_EQ(percent_cell(0.125).value, 0.125);
}

}  // namespace
}  // namespace sextant
