#include "probes/fleet/launcher.h"

#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant {
namespace {

using Words = std::vector<std::string>;

TEST(Launcher, BlanksSeparateWords) {
  EXPECT_EQ(words_of("  ssh -o A=b\t{target} "), (Words{"ssh", "-o", "A=b", "{target}"}));
  EXPECT_EQ(words_of(""), Words{});
}

TEST(Launcher, QuotesKeepWordsTogether) {
  EXPECT_EQ(words_of(R"(ssh -o "ProxyCommand nc %h %p" '{target}')"),
            (Words{"ssh", "-o", "ProxyCommand nc %h %p", "{target}"}));
  EXPECT_EQ(words_of(R"(a"b c"'d e'f "" '')"), (Words{"ab cd ef", "", ""}));
}

TEST(Launcher, ABackslashKeepsTheNextCharacter) {
  EXPECT_EQ(words_of(R"(a\ b "c\"d" 'e\f' g\\h)"), (Words{"a b", "c\"d", "e\\f", "g\\h"}));
}

TEST(Launcher, AnOpenQuoteIsRefused) {
  EXPECT_THROW(static_cast<void>(words_of("ssh \"{target}")), Error);
  EXPECT_THROW(static_cast<void>(words_of("ssh '{target}")), Error);
}

}  // namespace
}  // namespace sextant
