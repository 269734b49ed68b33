#include "probes/fleet/journal.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/document.h"
#include "core/error.h"
#include "core/json_value.h"
#include "probes/fleet/fleet_record.h"

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
  const Json options_ = {{"streams", 4}};
  const std::vector<PairMeasurement> pairs_;
};

TEST_F(JournalTest, KeepsWhatWasAdded) {
  {
    JournalWriter writer = JournalWriter::begin(file_, options_);
    writer.add_devices("h1", {{"some", "document"}});
    writer.add_pair(pairs_[0]);
  }
  {
    JournalWriter writer = JournalWriter::resume(file_);
    writer.add_pair(pairs_[1]);
  }
  const FleetJournal journal = read_journal(file_);
  EXPECT_EQ(journal.options, options_);
  EXPECT_EQ(journal.pairs, pairs_);
  ASSERT_EQ(journal.devices.count("h1"), 1U);
  EXPECT_EQ(journal.devices.at("h1"), Json({{"some", "document"}}));
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
    JournalWriter writer = JournalWriter::resume(file_);
    writer.add_pair(pairs_[1]);
  }
  EXPECT_EQ(read_journal(file_).pairs, pairs_);
}

TEST_F(JournalTest, BeginningAnewForgetsTheOldOne) {
  JournalWriter::begin(file_, options_).add_pair(pairs_[0]);
  JournalWriter::begin(file_, options_).add_pair(pairs_[1]);
  EXPECT_EQ(read_journal(file_).pairs.size(), 1U);
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

TEST_F(JournalTest, AnEmptyFileIsRefused) {
  append("");
  EXPECT_THROW(static_cast<void>(read_journal(file_)), Error);
}

TEST_F(JournalTest, ADiskThatRefusesIsSaid) {
  try {
    JournalWriter::begin("/dev/full", options_);
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
  }
}

}  // namespace
}  // namespace sextant
