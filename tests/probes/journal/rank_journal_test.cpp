#include "probes/journal/rank_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "tests/probes/report/reports.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RankJournalFile : public ::testing::Test {
 protected:
  RankJournalFile() { std::filesystem::remove(file_); }
  ~RankJournalFile() override { std::filesystem::remove(file_); }
  [[nodiscard]] RankJournal read() const { return parse_rank_journal(read_text_file(file_), file_.string()); }

  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("ranks-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".journal");
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

TEST_F(RankJournalFile, HasWhatWasWrittenAndGoesOn) {
  const std::vector<RankReport> reports = {rank_report(0, "a"), rank_report(1, "b")};
  {
    auto writer = RankJournalWriter::begin(file_, belongs_to_);
    writer.add_devices(reports);
    writer.add_points({value_result("memory/read", "bytes/s", 1e12)});
    writer.add_links({point(0, 1, 8), point(0, 2, 8), point(0, 1, 64), point(0, 2, 64), point(0, 3, 8)});
  }
  write_text_file(file_, read_text_file(file_) + "{\"link\": [{");  // killed while it wrote
  {
    auto writer = RankJournalWriter::resume(file_, belongs_to_);
    writer.add_links({failed_result(point(1, 2, 8), "rank 2 did not answer")});
    writer.add_collectives("node", {value_result("mpi/node/all_reduce/8", "s", 1e-6)});
  }
  const RankJournal journal = read();
  EXPECT_EQ(journal.head.belongs_to, belongs_to_);
  EXPECT_EQ(journal.devices, reports);
  ASSERT_EQ(journal.device_points.size(), 1U);
  EXPECT_EQ(journal.device_points.front().name, "memory/read");
  EXPECT_EQ(journal.points.size(), 6U);
  EXPECT_THAT(journal.measured_pairs(),
              ElementsAre(RankPair{0, 1}, RankPair{0, 2}));  // not what failed or has no fit
  EXPECT_THAT(journal.levels, ElementsAre("node"));
  ASSERT_EQ(journal.collectives.size(), 1U);
}

TEST_F(RankJournalFile, SaysWhereItMakesNoSense) {
  write_text_file(file_,
                  "{\"journal\":\"sextant.ranks/1.1\", \"started_utc\": \"x\", \"hosts\": [], "
                  "\"options\": {}}\nnonsense\n");
  try {
    static_cast<void>(read());
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file_.string() + ":2: "));
  }
}

}  // namespace
}  // namespace sextant
