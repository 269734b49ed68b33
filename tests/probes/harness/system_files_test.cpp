#include "probes/harness/system_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/harness/fake_root.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SystemFiles, ReadsBelowItsRoot) {
  const FakeRoot root;
  root.write("/sys/number", "42");
  root.write("/sys/word", "performance");
  EXPECT_EQ(root.files().number("/sys/number"), 42);
  EXPECT_EQ(root.files().text("/sys/word"), "performance");
  EXPECT_THAT(root.files().list("/sys"), ElementsAre("number", "word"));
}

TEST(SystemFiles, WhatIsNotThereIsNothing) {
  const FakeRoot root;
  root.write("/sys/word", "max");
  EXPECT_FALSE(root.files().text("/sys/other").has_value());
  EXPECT_FALSE(root.files().number("/sys/other").has_value());
  EXPECT_FALSE(root.files().number("/sys/word").has_value());
  EXPECT_THAT(root.files().list("/proc"), IsEmpty());
}

TEST(ParseCpuList, ReadsRangesAndSingleNumbers) {
  EXPECT_THAT(parse_cpu_list("0-2,8"), ElementsAre(0, 1, 2, 8));
  EXPECT_THAT(parse_cpu_list("5"), ElementsAre(5));
  EXPECT_THAT(parse_cpu_list(""), IsEmpty());
}

TEST(ParseCacheSize, KnowsTheKernelsUnits) {
  EXPECT_EQ(parse_cache_size("48K"), 48 * 1024);
  EXPECT_EQ(parse_cache_size("2M"), 2 * 1024 * 1024);
  EXPECT_EQ(parse_cache_size("?"), 0);
}

}  // namespace
}  // namespace sextant
