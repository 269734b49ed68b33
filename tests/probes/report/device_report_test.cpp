#include "probes/report/device_report.h"

#include <gtest/gtest.h>

#include "sextant/error.h"
#include "tests/probes/report/fleet_fixture.h"

namespace sextant {
namespace {

constexpr std::size_t kEnough = 1 << 20;

std::string samples_text() {
  const std::vector<ProbeResult> results = {test::result("memory/read", "bytes/s", 2e12, 1)};
  return Json({{"results", to_json(results)}, {"warnings", {"it is hot"}}}).dump();
}

TEST(DeviceReport, HasWhatAProbePrintedAndWrote) {
  const DeviceReport report = read_device_report(R"({"a": 1})", samples_text(), kEnough);
  EXPECT_EQ(report.cluster, Json({{"a", 1}}));
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results.front().rank, 1);
  EXPECT_EQ(report.warnings, std::vector<std::string>{"it is hot"});
  const Json json = report.to_json();
  EXPECT_EQ(DeviceReport::parse(JsonView(json)), report);
}

TEST(DeviceReport, TooManySamplesAreLeftOutAndThatIsSaid) {
  const DeviceReport report = read_device_report(R"({"a": 1})", samples_text(), 10);
  EXPECT_TRUE(report.results.front().samples_s.empty());
  EXPECT_EQ(report.results.front().value, 2e12);
  EXPECT_EQ(report.warnings.size(), 2U);
}

TEST(DeviceReport, WhatMakesNoSenseIsRefused) {
  EXPECT_THROW(static_cast<void>(read_device_report("no JSON", "", kEnough)), Error);
  EXPECT_THROW(static_cast<void>(read_device_report("{}", "[]", kEnough)), Error);
  const Json no_report = 3;
  EXPECT_THROW(static_cast<void>(DeviceReport::parse(JsonView(no_report))), Error);
}

}  // namespace
}  // namespace sextant
