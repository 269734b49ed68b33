#include "costmodel/terms/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace sextant {
namespace {

using Matrix = std::vector<std::vector<double>>;

std::vector<DeviceId> devices(int n) {
  std::vector<DeviceId> all;
  all.reserve(static_cast<std::size_t>(n));
  for (int d = 0; d < n; ++d) all.push_back(DeviceId{d});
  return all;
}

BottleneckRing find(const Matrix& cost) {
  const std::vector<DeviceId> members = devices(static_cast<int>(cost.size()));
  return find_bottleneck_ring(members, [&](DeviceId a, DeviceId b) { return cost[a.index()][b.index()]; });
}

Matrix random_costs(int n, std::mt19937& random, bool symmetric) {
  std::uniform_real_distribution<double> any(1, 100);
  Matrix cost(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n), 0));
  for (std::size_t i = 0; i < cost.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      cost[i][j] = any(random);
      cost[j][i] = symmetric ? cost[i][j] : any(random);
    }
  }
  return cost;
}

// Tries every ring.
double brute_force(const Matrix& cost) {
  std::vector<std::size_t> order(cost.size());
  std::iota(order.begin(), order.end(), 0);
  double best = 1e300;
  do {
    double worst = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      worst = std::max(worst, cost[order[i]][order[(i + 1) % order.size()]]);
    best = std::min(best, worst);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return best;
}

TEST(Ring, EqualsBruteForceOnSmallGroups) {
  std::mt19937 random(7);
  for (int n = 2; n <= 8; ++n) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Matrix cost = random_costs(n, random, repeat % 2 == 0);
      const BottleneckRing ring = find(cost);
      EXPECT_DOUBLE_EQ(ring.upper_s, brute_force(cost)) << n << " members";
      EXPECT_TRUE(ring.exact());
      EXPECT_DOUBLE_EQ(cost[ring.from.index()][ring.to.index()], ring.upper_s);
    }
  }
}

TEST(Ring, LargestExactGroupFindsThePlantedRing) {
  std::mt19937 random(11);
  const int n = kExactRingSize;
  Matrix cost = random_costs(n, random, true);
  for (auto& row : cost) {
    for (double& value : row) value += 10;
  }
  std::vector<std::size_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t next = order[(i + 1) % order.size()];
    cost[order[i]][next] = cost[next][order[i]] = 1;
  }
  EXPECT_DOUBLE_EQ(find(cost).upper_s, 1);
}

TEST(Ring, LargeGroupsAreBoundedOnBothSides) {
  std::mt19937 random(13);
  for (const int n : {13, 20, 40}) {
    const Matrix cost = random_costs(n, random, false);
    const BottleneckRing ring = find(cost);
    EXPECT_LE(ring.lower_s, ring.upper_s);
    // A ring leaves and enters every member, so no member's cheapest way out can exceed the lower bound.
    double least = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
      double cheapest = 1e300;
      for (std::size_t j = 0; j < cost.size(); ++j) {
        if (i != j) cheapest = std::min(cheapest, cost[i][j]);
      }
      least = std::max(least, cheapest);
    }
    EXPECT_GE(ring.lower_s, least);
    EXPECT_DOUBLE_EQ(cost[ring.from.index()][ring.to.index()], ring.upper_s);
  }
}

TEST(Ring, NodesInAZoneAreExactAtAnySize) {
  // 8 nodes of 8: fast inside, slow between; any ring crosses, and one exists that crosses only slow links
  // once.
  Matrix cost(64, std::vector<double>(64, 0));
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 64; ++j) cost[i][j] = i / 8 == j / 8 ? 1 : 7;
  }
  const BottleneckRing ring = find(cost);
  EXPECT_DOUBLE_EQ(ring.upper_s, 7);
  EXPECT_TRUE(ring.exact());
}

TEST(Ring, LowerBoundSeesAnArticulationPoint) {
  // Two cliques of 10 joined only through member 0: removing it parts them, so a ring needs another, slow edge.
  const std::size_t n = 21;
  Matrix cost(n, std::vector<double>(n, 50));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const bool first = i <= 10 && j <= 10, second = (i == 0 || i > 10) && (j == 0 || j > 10);
      if (first || second) cost[i][j] = 1;
    }
  }
  const BottleneckRing ring = find(cost);
  EXPECT_DOUBLE_EQ(ring.lower_s, 50);
  EXPECT_TRUE(ring.exact());
}

TEST(Ring, TwoMembersPayTheSlowerDirection) {
  const BottleneckRing ring = find({{0, 3}, {8, 0}});
  EXPECT_DOUBLE_EQ(ring.upper_s, 8);
  EXPECT_TRUE(ring.exact());
}

}  // namespace
}  // namespace sextant
