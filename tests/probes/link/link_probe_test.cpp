#include "probes/link/link_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ProbeResult point(double bytes, double time_s) {
  ProbeResult result;
  result.name = "link/" + std::to_string(static_cast<int>(bytes));
  result.outcome = ProbeOutcome::measured;
  result.work = bytes;
  result.value = time_s;
  return result;
}

TEST(FitLink, FitsItsPoints) {
  const LinkMeasurement link = fit_link({0, 1}, {point(8, 1e-6 + 8e-9), point(1000000, 1e-6 + 1e-3)});
  ASSERT_TRUE(link.fit.has_value());
  EXPECT_NEAR(link.fit->latency_s, 1e-6, 1e-15);
  EXPECT_NEAR(link.fit->bytes_per_s, 1e9, 1);
  EXPECT_THAT(link.sentence, HasSubstr("1.00 GB/s"));
}

TEST(FitLink, APointThatFailedLeavesNoFitAndItsReason) {
  const LinkMeasurement link =
      fit_link({0, 1}, {point(8, 1e-6), failed_result(point(1000, 1e-3), "the message came back changed")});
  EXPECT_FALSE(link.fit.has_value());
  EXPECT_EQ(link.sentence, "link/1000: the message came back changed");
}

TEST(MeasureLinks, OneRankHasNoneAndSaysWhy) {
  const auto world = make_serial_communicator();
  EXPECT_THAT(measure_links(*world, ProbeContext(), default_message_bytes()), IsEmpty());
  EXPECT_EQ(waived_links().outcome, ProbeOutcome::waived);
  EXPECT_THAT(waived_links().sentence, HasSubstr("only one rank"));
}

}  // namespace
}  // namespace sextant
