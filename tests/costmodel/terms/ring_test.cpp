#include "costmodel/problem/ring.h"

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

// Costs between blocks, as between nodes, and which block every member is of.
struct Blocked {
  Matrix cost;
  std::vector<int> block_of;
};

Blocked random_blocks(int n, int blocks, bool symmetric, std::mt19937& random) {
  Blocked blocked;
  // Within a block mostly faster than between any two.
  Matrix between = random_costs(blocks, random, symmetric);
  for (std::size_t b = 0; b < between.size(); ++b)
    between[b][b] = random() % 4 == 0 ? 50 : std::uniform_real_distribution<double>(0.1, 1)(random);
  for (int i = 0; i < n; ++i) blocked.block_of.push_back(static_cast<int>(random()) % blocks);
  for (int& block : blocked.block_of) block = std::abs(block);
  for (const int i : blocked.block_of) {
    blocked.cost.emplace_back();
    for (const int j : blocked.block_of)
      blocked.cost.back().push_back(between[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
  }
  return blocked;
}

BottleneckRing find(const Blocked& blocked) {
  const std::vector<DeviceId> members = devices(static_cast<int>(blocked.cost.size()));
  return find_bottleneck_ring(members, blocked.block_of,
                              [&](DeviceId a, DeviceId b) { return blocked.cost[a.index()][b.index()]; });
}

TEST(Ring, OfBlocksEqualsThatOfTheirMembers) {
  std::mt19937 random(17);
  for (int trial = 0; trial < 600; ++trial) {
    const int n = 2 + static_cast<int>(random() % (kExactRingSize - 1));
    const Blocked blocked = random_blocks(n, 1 + static_cast<int>(random() % 6), trial % 4 != 0, random);
    const BottleneckRing ring = find(blocked);
    ASSERT_TRUE(ring.exact());
    ASSERT_DOUBLE_EQ(ring.upper_s, find(blocked.cost).upper_s) << "trial " << trial;
    ASSERT_NE(ring.from, ring.to);
    ASSERT_DOUBLE_EQ(blocked.cost[ring.from.index()][ring.to.index()], ring.upper_s);
  }
}

// Steps inside a block may be slower than those between blocks.
TEST(Ring, OfBlocksWithEqualStepsBetweenThemEqualsBruteForce) {
  std::mt19937 random(23);
  for (int trial = 0; trial < 200; ++trial) {
    Blocked blocked =
        random_blocks(2 + static_cast<int>(random() % 7), 1 + static_cast<int>(random() % 4), true, random);
    for (std::size_t i = 0; i < blocked.cost.size(); ++i) {
      for (std::size_t j = 0; j < blocked.cost.size(); ++j) {
        const bool is_inside = blocked.block_of[i] == blocked.block_of[j];
        blocked.cost[i][j] = is_inside ? 10.0 * blocked.block_of[i] : 15;
      }
    }
    const BottleneckRing ring = find(blocked);
    ASSERT_TRUE(ring.exact());
    ASSERT_DOUBLE_EQ(ring.upper_s, brute_force(blocked.cost)) << "trial " << trial;
    ASSERT_DOUBLE_EQ(blocked.cost[ring.from.index()][ring.to.index()], ring.upper_s);
  }
}

// Two types of nodes, each with one member of the ring: far more members than are searched exactly.
TEST(Ring, OfManyNodesOfFewTypesIsExact) {
  constexpr std::size_t kMembers = 200;
  Matrix cost(kMembers, std::vector<double>(kMembers, 0));
  for (std::size_t i = 0; i < kMembers; ++i) {
    for (std::size_t j = 0; j < kMembers; ++j)
      cost[i][j] = i % 3 == 0 && j % 3 == 0 ? 5 : i % 3 == 0 || j % 3 == 0 ? 7 : 2;
  }
  const BottleneckRing ring = find(cost);
  EXPECT_TRUE(ring.exact());
  EXPECT_DOUBLE_EQ(ring.upper_s, 7);
}

TEST(Ring, OfManyMembersInBlocksIsBetweenTheBoundsOfMembersAlone) {
  std::mt19937 random(19);
  int exact = 0, exact_alone = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Blocked blocked = random_blocks(64, 8, true, random);
    const BottleneckRing ring = find(blocked), alone = find(blocked.cost);
    ASSERT_LE(ring.upper_s, alone.upper_s);
    ASSERT_GE(ring.lower_s, alone.lower_s);
    exact += ring.exact() ? 1 : 0;
    exact_alone += alone.exact() ? 1 : 0;
  }
  EXPECT_GE(exact, exact_alone);
}

TEST(Ring, ABlockOfTooFewMembersIsNotPassedMoreOften) {
  // A star: the middle has fast edges to four others, which are slow among themselves. With two members the
  // ring passes the middle twice and needs a slow edge; with four it does not.
  const auto star = [](int in_the_middle) {
    Blocked blocked;
    for (int i = 0; i < in_the_middle; ++i) blocked.block_of.push_back(0);
    for (int other = 1; other <= 4; ++other) blocked.block_of.push_back(other);
    for (const int i : blocked.block_of) {
      blocked.cost.emplace_back();
      for (const int j : blocked.block_of) blocked.cost.back().push_back(i == 0 || j == 0 ? 1 : 9);
    }
    return find(blocked);
  };
  EXPECT_DOUBLE_EQ(star(2).upper_s, 9);
  EXPECT_DOUBLE_EQ(star(3).upper_s, 9);
  EXPECT_DOUBLE_EQ(star(4).upper_s, 1);
}

TEST(Ring, LargeGroupsAreBoundedOnBothSides) {
  std::mt19937 random(13);
  for (const int n : {13, 20, 40}) {
    const Matrix cost = random_costs(n, random, false);
    const BottleneckRing ring = find(cost);
    EXPECT_LE(ring.lower_s, ring.upper_s);
    // A ring leaves and enters every member, so no member's cheapest way out can exceed the lower bound.
    double minimum = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
      double cheapest = 1e300;
      for (std::size_t j = 0; j < cost.size(); ++j) {
        if (i != j) cheapest = std::min(cheapest, cost[i][j]);
      }
      minimum = std::max(minimum, cheapest);
    }
    EXPECT_GE(ring.lower_s, minimum);
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
