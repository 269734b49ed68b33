#include "core/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sextant/document.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> lines_in(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  for_each_line(file, [&lines](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

TEST(TextLines, EndWithAFeedOrAReturn) {
  std::vector<std::string> lines;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  for_each_line(std::string_view("a\n\n b\rc\r\nd"), take);
  EXPECT_THAT(lines, ElementsAre("a", "", " b", "c", "", "d"));
}

// Lines that end on both sides of what is read at once, and those that are longer.
TEST(TextLines, AFileHasTheSameLinesWhereverItIsCut) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log";
  std::vector<std::string> lines;
  std::string text;
  for (const std::size_t size : {1048575, 1, 0, 1048577, 3000000, 7}) {
    lines.emplace_back(size, static_cast<char>('a' + lines.size()));
    text += lines.back() + "\n";
  }
  write_text_file(file, text);
  EXPECT_EQ(lines_in(file), lines);
  write_text_file(file, text.substr(0, text.size() - 1));
  EXPECT_EQ(lines_in(file), lines);
  write_text_file(file, "");
  EXPECT_THAT(lines_in(file), ::testing::IsEmpty());
}

TEST(TextLines, AnEndlessLineComesInParts) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log";
  write_text_file(file, std::string(20'000'000, 'x') + "\nend\n");
  std::size_t bytes = 0, parts = 0;
  for (const std::string& line : lines_in(file)) {
    EXPECT_LE(line.size(), std::size_t{17} << 20);
    bytes += line.size();
    ++parts;
  }
  EXPECT_EQ(bytes, 20'000'003U);
  EXPECT_EQ(parts, 3U);
}

TEST(TextLines, TheBeginningIsAllOfAShortFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log";
  write_text_file(file, "step:1 - a:2\n");
  EXPECT_EQ(beginning_of_file(file, 6), "step:1");
  EXPECT_EQ(beginning_of_file(file, 100), "step:1 - a:2\n");
  EXPECT_NE(refusal_of([&] { (void)beginning_of_file(folder.path() / "none", 1); }), "");
  EXPECT_NE(refusal_of([&] { for_each_line(folder.path() / "none", [](std::string_view) {}); }), "");
}

}  // namespace
}  // namespace sextant
