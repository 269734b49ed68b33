#include "probes/report/rank_report.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "probes/comm/thread_communicator.h"
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

TEST(ExchangeResults, HaveThoseOfAllRanksInTheirOrder) {
  run_on_threads(3, [](Communicator& world) {
    std::vector<ProbeResult> mine(static_cast<std::size_t>(world.rank()),
                                  value_result("memory/read", "bytes/s", 1));
    for (ProbeResult& result : mine) result.rank = world.rank();
    const std::vector<ProbeResult> all = exchange_results(world, mine);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].rank, 1);
    EXPECT_EQ(all[2].rank, 2);
  });
}

}  // namespace
}  // namespace sextant
