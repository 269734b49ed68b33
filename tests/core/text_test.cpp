#include "core/text.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(TextTest, ShortensAtCharacters) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcd", 3), "abc...");
  EXPECT_EQ(shorten("abé", 3), "ab...");  // é is two bytes
}

TEST(TextTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(valid_utf8("é\xff!"), "é\xEF\xBF\xBD!");
  EXPECT_EQ(valid_utf8(""), "");
}

TEST(TextTest, EscapesPointerTokens) { EXPECT_EQ(pointer_token("a/b~1"), "a~1b~01"); }

TEST(TextTest, Quotes) { EXPECT_EQ(in_quotes(std::string(70, 'x')), "\"" + std::string(60, 'x') + "...\""); }

TEST(TextTest, MakesControlCharactersVisible) {
  EXPECT_EQ(printable("a\nb"), "a\\u000ab");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\u001b[31mred\\u007f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\u009b31m");  // the control sequence introducer of 8 bits
  EXPECT_EQ(printable("a\xE2\x80\xA8"
                      "b\xE2\x80\xAE"
                      "c\xE2\x81\xA6"),
            "a\\u2028b\\u202ec\\u2066");
  EXPECT_EQ(printable("é ü 文 \xE2\x80\x93"), "é ü 文 \xE2\x80\x93");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\u0000");
  EXPECT_EQ(printable_lines("one\ntwo\t\n"), "one\ntwo\\u0009\n");
  EXPECT_TRUE(has_control_characters("\xE2\x80\xA9"));
  EXPECT_FALSE(has_control_characters("文, é"));
  EXPECT_EQ(in_quotes("a\nb"), "\"a\\u000ab\"");
}

}  // namespace
}  // namespace sextant
