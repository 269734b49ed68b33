#include "core/units.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

TEST(UnitsTest, Seconds) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(1.234), "1.23 s");
  EXPECT_EQ(format_seconds(0.0456), "45.6 ms");
  EXPECT_EQ(format_seconds(7.8e-6), "7.80 us");
  EXPECT_EQ(format_seconds(3e-9), "3.00 ns");
  EXPECT_EQ(format_seconds(2e-12), "0.002 ns");
  EXPECT_EQ(format_seconds(12345), "12345 s");
  EXPECT_EQ(format_seconds(-0.25), "-250 ms");
}

TEST(UnitsTest, NoUnitShowsAThousandOfTheNextOne) {
  EXPECT_EQ(format_seconds(0.99949), "999 ms");
  EXPECT_EQ(format_seconds(0.99951), "1.00 s");
  EXPECT_EQ(format_bytes_per_s(999.96e6), "1.00 GB/s");
}

TEST(UnitsTest, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
  EXPECT_EQ(format_bytes(80e9), "74.5 GiB");
}

TEST(UnitsTest, Rates) {
  EXPECT_EQ(format_bytes_per_s(12.3e9), "12.3 GB/s");
  EXPECT_EQ(format_bytes_per_s(3.35e12), "3.35 TB/s");
  EXPECT_EQ(format_flop_per_s(123e9), "123 GFLOP/s");
  EXPECT_EQ(format_flop_per_s(989.4e12), "989 TFLOP/s");
}

TEST(UnitsTest, Percent) {
  EXPECT_EQ(format_percent(0.123), "12.3 %");
  EXPECT_EQ(format_percent(0.12345, 2), "12.35 %");
  EXPECT_EQ(format_percent(1, 0), "100 %");
  EXPECT_EQ(format_percent(-0.001, 0), "0 %");
  EXPECT_EQ(format_percent(-1e-9, 2), "0.00 %");
  EXPECT_EQ(format_percent(-0.01, 0), "-1 %");
}

TEST(UnitsTest, Numbers) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.001234), "0.00123");
  EXPECT_EQ(format_number(0.5), "0.500");
  EXPECT_EQ(format_number(12.345), "12.3");
  EXPECT_EQ(format_number(123456), "123456");
  EXPECT_EQ(format_number(1234567), "1.23e+06");
  EXPECT_EQ(format_number(0.000123), "0.000123");
  EXPECT_EQ(format_number(-2), "-2.00");
}

TEST(UnitsTest, WhatIsNotFiniteIsSaid) {
  EXPECT_EQ(format_seconds(HUGE_VAL), "inf s");
  EXPECT_EQ(format_number(HUGE_VAL), "inf");
}

}  // namespace
}  // namespace sextant
