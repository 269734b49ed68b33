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

}  // namespace
}  // namespace sextant
