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
