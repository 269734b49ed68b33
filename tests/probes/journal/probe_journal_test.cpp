#include "probes/journal/probe_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "tests/probes/report/fleet_fixture.h"
#include "tests/probes/report/reports.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProbeJournalTest : public ::testing::Test {
 protected:
  ProbeJournalTest() { std::filesystem::remove(file_); }
  ~ProbeJournalTest() override { std::filesystem::remove(file_); }

  [[nodiscard]] JournalWriter open(const char* campaign, bool resume = false) const {
    return JournalWriter::open(file_, campaign, belongs_to_, resume);
  }
  [[nodiscard]] ProbeJournal read(const char* campaign) const {
    return parse_probe_journal(read_text_file(file_), file_.string(), campaign);
  }
  void append_text(const std::string& text) const { write_text_file(file_, read_text_file(file_) + text); }
  void expect_refused(const char* campaign, const std::string& why) const {
    try {
      static_cast<void>(read(campaign));
      ADD_FAILURE() << "read";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }

  const std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("probe_journal_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const Json belongs_to_ = {{"hosts", {"a", "b"}}, {"options", {{"budget", 1}}}};
};

ProbeResult point(int rank, int peer, double bytes) {
  ProbeResult result =
      value_result("link/" + std::to_string(static_cast<int>(bytes)), "s", 1e-6 + 1e-9 * bytes);
  result.work = bytes;
  result.rank = rank;
  result.peer = peer;
  return result;
}

TEST_F(ProbeJournalTest, OfRanksHasWhatWasWrittenAndGoesOn) {
  const std::vector<RankReport> reports = {rank_report(0, "a"), rank_report(1, "b")};
  {
    JournalWriter writer = open(kRanksJournal);
    writer.add_devices(reports);
    writer.add_points({value_result("memory/read", "bytes/s", 1e12)});
    writer.add_links({point(0, 1, 8), point(0, 2, 8), point(0, 1, 64), point(0, 2, 64), point(0, 3, 8)});
  }
  append_text("{\"link\": [{");  // killed while it wrote
  {
    JournalWriter writer = open(kRanksJournal, true);
    writer.add_links({failed_result(point(1, 2, 8), "rank 2 did not answer")});
    writer.add_collectives("node", {value_result("mpi/node/all_reduce/8", "s", 1e-6)});
  }
  const ProbeJournal journal = read(kRanksJournal);
  EXPECT_EQ(journal.head.belongs_to, belongs_to_);
  EXPECT_EQ(journal.devices, reports);
  ASSERT_EQ(journal.device_points.size(), 1U);
  EXPECT_EQ(journal.device_points.front().name, "memory/read");
  EXPECT_EQ(journal.points.size(), 6U);
  EXPECT_THAT(journal.levels, ElementsAre("node"));
  ASSERT_EQ(journal.collectives.size(), 1U);
}

TEST_F(ProbeJournalTest, OfHostsHasWhatWasWrittenAndGoesOn) {
  const std::vector<PairMeasurement> pairs =
      load_document<FleetRecord>(SEXTANT_TEST_DATA "/fleet.json").content.pairs;
  const DeviceReport devices{
      {{"some", "document"}}, {test::result("memory/read", "bytes/s", 1e12, 3)}, {"it is hot"}};
  {
    JournalWriter writer = open(kFleetJournal);
    writer.add_host("h1", devices);
    writer.add_pair(pairs[0]);
  }
  open(kFleetJournal, true).add_pair(pairs[1]);
  const ProbeJournal journal = read(kFleetJournal);
  EXPECT_EQ(journal.head.belongs_to, belongs_to_);
  EXPECT_EQ(journal.pairs, pairs);
  ASSERT_EQ(journal.hosts.count("h1"), 1U);
  EXPECT_EQ(journal.hosts.at("h1"), devices);
}

TEST_F(ProbeJournalTest, OfAnotherCampaignIsRefused) {
  static_cast<void>(open(kRanksJournal));
  expect_refused(kFleetJournal, "expected a journal sextant.fleet/1.1, got \"sextant.ranks/1.1\"");
}

TEST_F(ProbeJournalTest, ALineThatMakesNoSenseIsNamed) {
  static_cast<void>(open(kFleetJournal));
  append_text("{\"pair\": 3}\n");
  expect_refused(kFleetJournal, file_.string() + ":2: ");
}

}  // namespace
}  // namespace sextant
