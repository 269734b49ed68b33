#include "core/tails.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Tails, NormalAsInTables) {
  EXPECT_NEAR(normal_tail(1.959964), 0.05, 1e-8);
  EXPECT_NEAR(normal_tail(-2.575829), 0.01, 1e-8);
  EXPECT_EQ(normal_tail(0), 1);
}

TEST(Tails, DeviationsAreTheInverse) {
  for (const double tail : {1.0, 0.99, 0.5, 0.05, 1e-6, 1e-12}) {
    EXPECT_NEAR(normal_tail(normal_deviations(tail)) / tail, 1, 1e-9) << tail;
  }
}

// Two-sided 5 % and 1 % points of any table of Student's distribution, odd and even degrees.
TEST(Tails, StudentAsInTables) {
  struct Point {
    int degrees;
    double five, one;
  };
  for (const Point& point : {Point{1, 12.706, 63.657},
                             {2, 4.303, 9.925},
                             {3, 3.182, 5.841},
                             {4, 2.776, 4.604},
                             {7, 2.365, 3.499},
                             {10, 2.228, 3.169},
                             {30, 2.042, 2.750},
                             {120, 1.980, 2.617}}) {
    EXPECT_NEAR(student_tail(point.five, point.degrees), 0.05, 5e-5) << point.degrees;
    EXPECT_NEAR(student_tail(-point.one, point.degrees), 0.01, 2e-5) << point.degrees;
  }
}

TEST(Tails, StudentGoesOnWhereTheSumEnds) {
  for (const double t : {0.5, 2.0, 4.0, 5.0}) {
    const double summed = student_tail(t, 200), approximated = student_tail(t, 201);
    EXPECT_LT(approximated, summed * 1.02) << t;
    EXPECT_GT(approximated, summed * 0.98) << t;
  }
  EXPECT_NEAR(student_tail(2, 1'000'000) / normal_tail(2), 1, 1e-4);
}

}  // namespace
}  // namespace sextant
