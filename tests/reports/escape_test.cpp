#include "reports/render/escape.h"

#include <gmock/gmock.h>

#include "core/json_value.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(EscapeHtml, MakesMarkupHarmless) {
  EXPECT_EQ(escape_html("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escape_html("plain · µs"), "plain · µs");
}

TEST(EscapeMarkdown, KeepsTextInsideItsTableCell) {
  EXPECT_EQ(escape_markdown("a|b"), "a\\|b");
  EXPECT_EQ(escape_markdown("two\nlines"), "two lines");
  EXPECT_EQ(escape_markdown("<b>*x*</b>"), "\\<b\\>\\*x\\*\\</b\\>");
  EXPECT_EQ(escape_markdown("weight_sync"), "weight\\_sync");
}

TEST(ScriptJson, CannotEndItsScriptElement) {
  const Json hostile = {{"name", "</script><!-- <script>"}};
  const std::string text = script_json(hostile);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_EQ(Json::parse(text), hostile);
}

TEST(ScriptJson, ReplacesBytesThatAreNotUtf8) {
  const std::string text = script_json({{"name", "a\xff"}});
  EXPECT_EQ(Json::parse(text)["name"], "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace sextant
