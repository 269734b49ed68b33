#include "probes/fleet/journal.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/document.h"
#include "core/error.h"
#include "core/json_value.h"
#include "probes/fleet/fleet_record.h"
#include "tests/probes/fleet/fleet_fixture.h"

namespace sextant {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() : pairs_(load_document<FleetRecord>(SEXTANT_TEST_DATA "/fleet.json").content.pairs) {
    std::filesystem::remove(file_);
  }

  void append(const std::string& text) const { std::ofstream(file_, std::ios::app) << text; }

  const std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("journal_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const DeviceReport devices_{
      {{"some", "document"}}, {testing::result("memory/read", "bytes/s", 1e12, 3)}, {"it is hot"}};
  const Json options_ = {{"streams", 4}};
  const std::vector<PairMeasurement> pairs_;
};

TEST_F(JournalTest, KeepsWhatWasAdded) {
  {
    JournalWriter writer = JournalWriter::begin(file_, options_);
    writer.add_devices("h1", devices_);
    writer.add_pair(pairs_[0]);
  }
  {
    JournalWriter writer = JournalWriter::resume(file_, options_);
    writer.add_pair(pairs_[1]);
  }
  const FleetJournal journal = read_journal(file_);
  EXPECT_EQ(journal.options, options_);
  EXPECT_EQ(journal.pairs, pairs_);
  ASSERT_EQ(journal.devices.count("h1"), 1U);
  EXPECT_EQ(journal.devices.at("h1"), devices_);
}

// A write that was cut off costs that one measurement, and what comes after it stays readable.
TEST_F(JournalTest, ALineThatWasNotFinishedIsCutOff) {
  {
    JournalWriter writer = JournalWriter::begin(file_, options_);
    writer.add_pair(pairs_[0]);
  }
  append(R"({"pair": {"from": "h)");
  EXPECT_EQ(read_journal(file_).pairs.size(), 1U);
  {
    JournalWriter writer = JournalWriter::resume(file_, options_);
    writer.add_pair(pairs_[1]);
  }
  EXPECT_EQ(read_journal(file_).pairs, pairs_);
}

// Who forgets --resume must not lose what was measured.
TEST_F(JournalTest, BeginningAnewDestroysNoMeasurement) {
  JournalWriter::begin(file_, options_).add_pair(pairs_[0]);
  try {
    static_cast<void>(JournalWriter::begin(file_, options_));
    FAIL() << "forgotten";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_NE(std::string(error.what()).find("--resume"), std::string::npos) << error.what();
  }
  EXPECT_EQ(read_journal(file_).pairs.size(), 1U);
}

TEST_F(JournalTest, BeginningAnewWhereNothingWasMeasuredIsFine) {
  static_cast<void>(JournalWriter::begin(file_, options_));
  JournalWriter::begin(file_, {{"streams", 9}}).add_pair(pairs_[1]);
  const FleetJournal journal = read_journal(file_);
  EXPECT_EQ(journal.options, Json({{"streams", 9}}));
  EXPECT_EQ(journal.pairs.size(), 1U);
}

TEST_F(JournalTest, AFileThatIsNoJournalIsLeftAlone) {
  append("my notes");
  EXPECT_THROW(static_cast<void>(JournalWriter::begin(file_, options_)), Error);
  EXPECT_THROW(static_cast<void>(read_journal(file_)), Error);
  EXPECT_EQ(read_text_file(file_), "my notes");
}

// Two probes would tear each other's lines apart.
TEST_F(JournalTest, OneProbeWritesAtATime) {
  const JournalWriter first = JournalWriter::begin(file_, options_);
  try {
    static_cast<void>(JournalWriter::resume(file_, options_));
    FAIL() << "both";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
    EXPECT_NE(std::string(error.what()).find("another probe"), std::string::npos) << error.what();
  }
}

TEST_F(JournalTest, WhatWasFlushedIsThere) {
  JournalWriter writer = JournalWriter::begin(file_, options_);
  for (int i = 0; i < 100; ++i) writer.add_pair(pairs_[0]);
  writer.flush();
  EXPECT_EQ(read_journal(file_).pairs.size(), 100U);
}

TEST_F(JournalTest, AWholeLineThatMakesNoSenseIsNamed) {
  JournalWriter::begin(file_, options_).add_pair(pairs_[0]);
  append("{\"pair\": 3}\n");
  try {
    static_cast<void>(read_journal(file_));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(":3: "), std::string::npos) << error.what();
  }
}

TEST_F(JournalTest, AnotherFileIsRefused) {
  append("{\"some\": \"file\"}\n");
  EXPECT_THROW(static_cast<void>(read_journal(file_)), Error);
}

// Ended before its first line was whole.
TEST_F(JournalTest, AnEmptyOneIsGoneOnWith) {
  for (const char* begun : {"", "{\"jour", "{\"journal\":\"sext"}) {
    std::filesystem::remove(file_);
    append(begun);
    EXPECT_EQ(read_journal(file_).started_utc, "");
    JournalWriter::resume(file_, options_).add_pair(pairs_[0]);
    EXPECT_EQ(read_journal(file_).pairs.size(), 1U);
    EXPECT_EQ(read_journal(file_).options, options_);
  }
}

TEST_F(JournalTest, ADiskThatRefusesIsSaid) {
  try {
    static_cast<void>(JournalWriter::begin("/dev/full", options_));
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
  }
}

}  // namespace
}  // namespace sextant
