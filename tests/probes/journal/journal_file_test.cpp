#include "probes/journal/journal_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <vector>

#include "core/json_value.h"
#include "probes/journal/journal_text.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

constexpr const char* kKind = "sextant.test/1.0";

class JournalFileTest : public ::testing::Test {
 protected:
  JournalFileTest() { std::filesystem::remove(file_); }
  ~JournalFileTest() override { std::filesystem::remove(file_); }

  [[nodiscard]] JournalFile begin() const { return JournalFile::begin(file_, kKind, ours_); }
  [[nodiscard]] JournalFile resume() const { return JournalFile::resume(file_, kKind, ours_); }
  void append(const std::string& text) const { std::ofstream(file_, std::ios::app) << text; }
  [[nodiscard]] std::vector<int> numbers() const {
    std::vector<int> all;
    head_of([&](const JsonView& line) { all.push_back(line.required("n").count()); });
    return all;
  }
  JournalHead head_of(const std::function<void(const JsonView&)>& read) const {
    return parse_journal(read_text_file(file_), file_.string(), kKind, read);
  }
  void expect_refused(ErrorKind kind, const std::string& why, const std::function<JournalFile()>& open) const {
    try {
      static_cast<void>(open());
      ADD_FAILURE() << "opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }

  const std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("journal_file_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const Json ours_ = {{"hosts", {"a", "b"}}, {"options", {{"streams", 4}}}};
};

TEST_F(JournalFileTest, HasWhatWasAddedAndGoesOn) {
  begin().add({{"n", 1}});
  resume().add({{"n", 2}});
  EXPECT_EQ(numbers(), (std::vector<int>{1, 2}));
  const JournalHead head = head_of([](const JsonView&) {});
  EXPECT_EQ(head.belongs_to, ours_);
  EXPECT_FALSE(head.started_utc.empty());
}

// A write that was cut off costs that one line, and what comes after it stays readable.
TEST_F(JournalFileTest, ALineThatWasNotFinishedIsCutOff) {
  begin().add({{"n", 1}});
  append(R"({"n": )");
  EXPECT_EQ(numbers(), (std::vector<int>{1}));
  resume().add({{"n", 2}});
  EXPECT_EQ(numbers(), (std::vector<int>{1, 2}));
}

// Measurements are kept if --resume is forgotten.
TEST_F(JournalFileTest, BeginningAnewDestroysNoMeasurement) {
  begin().add({{"n", 1}});
  expect_refused(ErrorKind::bad_input, "has 1 measurement of an unfinished probe: --resume measures",
                 [&] { return begin(); });
  EXPECT_EQ(numbers(), (std::vector<int>{1}));
}

TEST_F(JournalFileTest, BeginningAnewWhereNothingWasMeasuredIsFine) {
  static_cast<void>(begin());
  JournalFile::begin(file_, kKind, {{"options", 9}}).add({{"n", 1}});
  EXPECT_EQ(head_of([](const JsonView&) {}).belongs_to, Json({{"options", 9}}));
  EXPECT_EQ(numbers(), (std::vector<int>{1}));
}

TEST_F(JournalFileTest, WhatIsNoJournalIsLeftAlone) {
  for (const std::string text : {"my notes", "my notes\nof today\n", "{\"some\": \"file\"}\n"}) {
    std::filesystem::remove(file_);
    append(text);
    expect_refused(ErrorKind::bad_input, file_.string(), [&] { return begin(); });
    expect_refused(ErrorKind::bad_input, file_.string(), [&] { return resume(); });
    EXPECT_EQ(read_text_file(file_), text);
  }
}

TEST_F(JournalFileTest, AnotherKindIsRefused) {
  static_cast<void>(JournalFile::begin(file_, "sextant.other/1.0", ours_));
  expect_refused(ErrorKind::bad_input, std::string("expected a journal ") + kKind, [&] { return begin(); });
  expect_refused(ErrorKind::bad_input, ":1: expected a journal ", [&] { return resume(); });
}

TEST_F(JournalFileTest, AnotherProbesIsNotResumed) {
  begin().add({{"n", 1}});
  expect_refused(ErrorKind::bad_input, "belongs to a probe with different options ({\"streams\":4})", [&] {
    return JournalFile::resume(file_, kKind, {{"hosts", {"a", "b"}}, {"options", {{"streams", 5}}}});
  });
  expect_refused(ErrorKind::bad_input, "belongs to a probe with different hosts ([\"a\",\"b\"])", [&] {
    return JournalFile::resume(file_, kKind, {{"hosts", {"a"}}, {"options", {{"streams", 4}}}});
  });
  std::filesystem::remove(file_);
  expect_refused(ErrorKind::bad_input, "there is no " + file_.string(), [&] { return resume(); });
}

// Two would tear each other's lines apart.
TEST_F(JournalFileTest, OneWritesAtATime) {
  const JournalFile first = begin();
  expect_refused(ErrorKind::machine, "another probe writes to", [&] { return resume(); });
  expect_refused(ErrorKind::machine, "another probe writes to", [&] { return begin(); });
}

TEST_F(JournalFileTest, WhatWasFlushedIsThere) {
  JournalFile journal = begin();
  for (int n = 0; n < 100; ++n) journal.add({{"n", n}});
  journal.flush();
  EXPECT_EQ(numbers().size(), 100U);
}

TEST_F(JournalFileTest, AWholeLineThatMakesNoSenseIsNamed) {
  begin().add({{"n", 1}});
  append("nonsense\n");
  try {
    static_cast<void>(numbers());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file_.string() + ":3: "));
  }
}

// Ended before its first line was whole.
TEST_F(JournalFileTest, AnEmptyOneIsGoneOnWith) {
  for (const char* begun : {"", "{\"jour", "{\"journal\":\"sext"}) {
    std::filesystem::remove(file_);
    append(begun);
    EXPECT_EQ(head_of([](const JsonView&) {}).started_utc, "");
    resume().add({{"n", 1}});
    EXPECT_EQ(numbers(), (std::vector<int>{1}));
    EXPECT_EQ(head_of([](const JsonView&) {}).belongs_to, ours_);
  }
}

TEST_F(JournalFileTest, ADiskThatRefusesIsSaid) {
  expect_refused(ErrorKind::machine, "cannot write /dev/full",
                 [&] { return JournalFile::begin("/dev/full", kKind, ours_); });
  expect_refused(ErrorKind::machine, "cannot write /nowhere/journal",
                 [&] { return JournalFile::begin("/nowhere/journal", kKind, ours_); });
}

}  // namespace
}  // namespace sextant
