#include "probes/report/rank_report.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/probes/report/reports.h"

namespace sextant {
namespace {

TEST(RankReport, RoundTripsThroughJsonExactly) {
  RankReport report = rank_report(3, "a", 1e11 / 3);
  add_link(report, 4, 1e-6, 1e9);
  report.warnings = {"a: hot"};
  EXPECT_EQ(RankReport::parse(JsonView(parse_json(format_json(report.to_json())))), report);
  report.cpu.reset();
  report.gpu_model = "NVIDIA H200";
  report.host_memory_bytes = 2e12;
  report.settings = {{"NCCL_DEBUG", "WARN"}};
  report.place.emplace();
  report.place->host = "a";
  report.place->compute_capability = 90;
  report.place->nvlinks = {{true, NvLinkRemote::nvswitch, ""}};
  report.results[0].how = "device clock";
  report.results[0].conditions.states = {{1.9e9, 3e9, 500, 50, "thermal"}};
  EXPECT_EQ(RankReport::parse(JsonView(parse_json(format_json(report.to_json())))), report);
}

TEST(ExchangeReports, ASingleRankHasItsOwn) {
  const auto world = make_serial_communicator();
  const RankReport mine = rank_report(0, "a");
  EXPECT_EQ(exchange_reports(*world, mine), std::vector<RankReport>{mine});
}

}  // namespace
}  // namespace sextant
