#include "probes/journal/fleet_journal.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "probes/report/fleet_record.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "tests/probes/report/fleet_fixture.h"

namespace sextant {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() : pairs_(load_document<FleetRecord>(SEXTANT_TEST_DATA "/fleet.json").content.pairs) {
    std::filesystem::remove(file_);
  }
  ~JournalTest() override { std::filesystem::remove(file_); }

  const std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("journal_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const DeviceReport devices_{
      {{"some", "document"}}, {testing::result("memory/read", "bytes/s", 1e12, 3)}, {"it is hot"}};
  const Json belongs_to_ = {{"options", {{"streams", 4}}}};
  const std::vector<PairMeasurement> pairs_;
};

TEST_F(JournalTest, KeepsWhatWasAdded) {
  {
    JournalWriter writer = JournalWriter::begin(file_, belongs_to_);
    writer.add_devices("h1", devices_);
    writer.add_pair(pairs_[0]);
  }
  JournalWriter::resume(file_, belongs_to_).add_pair(pairs_[1]);
  const FleetJournal journal = read_journal(file_);
  EXPECT_EQ(journal.head.belongs_to, belongs_to_);
  EXPECT_EQ(journal.pairs, pairs_);
  ASSERT_EQ(journal.devices.count("h1"), 1U);
  EXPECT_EQ(journal.devices.at("h1"), devices_);
}

TEST_F(JournalTest, AWholeLineThatMakesNoSenseIsNamed) {
  JournalWriter::begin(file_, belongs_to_).add_pair(pairs_[0]);
  write_text_file(file_, read_text_file(file_) + "{\"pair\": 3}\n");
  try {
    static_cast<void>(read_journal(file_));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(":3: "), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sextant
