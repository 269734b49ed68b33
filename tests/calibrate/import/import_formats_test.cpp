#include "calibrate/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/calibrate/import/facts_fixture.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ImportFormatsTest, AreInAlphabeticalOrder) {
  std::vector<std::string_view> names;
  for (const ImportFormat& format : import_formats()) {
    names.push_back(format.name);
    EXPECT_NE(format.read, nullptr);
    EXPECT_FALSE(format.help.empty()) << format.name;
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(ImportFormatsTest, AreRefusedByName) {
  EXPECT_THAT(refusal_of([] { (void)import_runs("punch-cards", {"a"}, published()); }),
              StartsWith("unknown format \"punch-cards\"; expected one of "));
  if (!import_formats().empty()) {
    EXPECT_THAT(refusal_of([] { (void)import_runs(import_formats().front().name, {}, published()); }),
                HasSubstr("needs at least one file"));
  }
}

}  // namespace
}  // namespace sextant
