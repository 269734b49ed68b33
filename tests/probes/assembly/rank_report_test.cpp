#include "probes/rank_report.h"

#include <gtest/gtest.h>

#include "tests/probes/assembly/reports.h"

namespace sextant {
namespace {

TEST(RankReport, RoundTripsThroughJsonExactly) {
  RankReport report = rank_report(3, "a", 1e11 / 3);
  add_link(report, 4, 1e-6, 1e9);
  report.warnings = {"a: hot"};
  EXPECT_EQ(RankReport::parse(JsonView(parse_json(format_json(report.to_json())))), report);
  report.cpu.reset();
  EXPECT_EQ(RankReport::parse(JsonView(parse_json(format_json(report.to_json())))), report);
}

TEST(ExchangeReports, ASingleRankHasItsOwn) {
  const auto world = make_serial_communicator();
  const RankReport mine = rank_report(0, "a");
  EXPECT_EQ(exchange_reports(*world, mine), std::vector<RankReport>{mine});
}

}  // namespace
}  // namespace sextant
