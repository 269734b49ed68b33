#include "reports/import/toml_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

TrainerSettings read(const std::string& text) {
  const ConfigurationFile file("rl.toml", text);
  TrainerSettings settings;
  read_toml_file(file.path(), settings);
  return settings;
}

std::string toml_refusal(const std::string& text) {
  return sextant::refusal_of([&] { (void)read(text); });
}

TEST(TomlFile, HasLeavesByDottedKeysWithTheirLines) {
  if (!has_toml()) GTEST_SKIP() << "this build has no toml++ (SEXTANT_TOML)";
  const TrainerSettings settings = read(
      "a = 1\n[b.c]\nd = 'x' # comment\ne.f = [1, 2.5]\n[g]\n[[h.i]]\nj = true\n[[h.i]]\n[h.i.k]\nl = 3\n");
  EXPECT_EQ(*settings.find("a"), 1);
  EXPECT_EQ(*settings.find("b.c.d"), "x");
  EXPECT_THAT(settings.place_of("b.c.d"), HasSubstr("rl.toml:3: b.c.d"));
  EXPECT_EQ(*settings.find("b.c.e.f"), Json::array({1, 2.5}));
  EXPECT_EQ(*settings.find("g"), Json::object());
  EXPECT_EQ(*settings.find("h.i"), Json::parse(R"([{"j": true}, {"k": {"l": 3}}])"));
}

TEST(TomlFile, NumbersAndTimesThatJsonHasNotAreTexts) {
  if (!has_toml()) GTEST_SKIP() << "this build has no toml++ (SEXTANT_TOML)";
  const TrainerSettings settings = read("a = inf\nb = nan\nc = 2026-08-06T03:42:03Z\nd = 1e-6\n");
  EXPECT_EQ(*settings.find("a"), "inf");
  EXPECT_EQ(*settings.find("b"), "nan");
  EXPECT_EQ(*settings.find("c"), "2026-08-06T03:42:03Z");
  EXPECT_EQ(*settings.find("d"), 1e-6);
}

TEST(TomlFile, RefusalsHaveFileAndLine) {
  if (!has_toml()) {
    EXPECT_THAT(toml_refusal("a = 1\n"), HasSubstr("libtomlplusplus-dev"));
    return;
  }
  EXPECT_THAT(toml_refusal("a = 1\nb =\n"), HasSubstr("rl.toml:2: "));
  EXPECT_THAT(toml_refusal("a = 1\na = 2\n"), HasSubstr("rl.toml:2: "));
  EXPECT_THAT(toml_refusal("a = 'x\n"), HasSubstr("rl.toml:1: "));
}

TEST(TomlFile, DeepNestingIsRefused) {
  if (!has_toml()) GTEST_SKIP() << "this build has no toml++ (SEXTANT_TOML)";
  std::string key = "a";
  for (int i = 0; i < 100'000; ++i) key += ".a";
  EXPECT_THAT(toml_refusal("b = 1\n" + key + " = 1\n"), HasSubstr("rl.toml:2: settings are nested too deeply"));
  EXPECT_THAT(toml_refusal("a = " + std::string(200, '[') + std::string(200, ']')),
              HasSubstr("rl.toml:1: settings are nested too deeply"));
  EXPECT_THAT(toml_refusal("a = " + std::string(100'000, '[')), HasSubstr("rl.toml:1: "));
}

}  // namespace
}  // namespace sextant::test
