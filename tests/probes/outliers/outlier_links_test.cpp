// Bad cables, bad hosts and bad directions found by name among healthy ones. All randomness is seeded.
#include "probes/outliers/outlier_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace sextant {
namespace {

using testing::IsEmpty;

struct Fabric {
  std::size_t hosts = 8;
  double pair_noise = 0.02;
  double host_noise = 0;
  bool has_both_directions = false;
  std::function<double(std::size_t, std::size_t)> factor = [](std::size_t, std::size_t) { return 1; };
};

std::vector<std::string> names_of(std::size_t hosts) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < hosts; ++i) names.push_back("host-" + std::to_string(i));
  return names;
}

std::vector<PairRate> rates_of(const Fabric& fabric, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> effects(fabric.hosts);
  for (double& effect : effects) effect = fabric.host_noise * normal(random);
  std::vector<PairRate> rates;
  for (std::size_t from = 0; from < fabric.hosts; ++from) {
    for (std::size_t to = 0; to < fabric.hosts; ++to) {
      if (from == to || (!fabric.has_both_directions && to < from)) continue;
      const double off = effects[from] + effects[to] + fabric.pair_noise * normal(random);
      rates.push_back({from, to, 12e9 * std::exp(off) * fabric.factor(from, to), {}});
    }
  }
  return rates;
}

std::vector<OddLink> found_in(const Fabric& fabric, std::mt19937_64& random, const OddRule& rule = {}) {
  return find_odd_links(names_of(fabric.hosts), rates_of(fabric, random), rule);
}

bool is_pair(std::size_t a, std::size_t b, std::size_t one, std::size_t other) {
  return std::minmax(a, b) == std::minmax(one, other);
}

// How many of so many fabrics have just the one that is named.
int alone(const Fabric& fabric, OddLinkKind kind, const std::string& from, const std::string& to,
          double off_fraction) {
  constexpr int kFabrics = 200;
  std::mt19937_64 random(11);
  int found = 0;
  for (int i = 0; i < kFabrics; ++i) {
    const std::vector<OddLink> odd = found_in(fabric, random);
    if (odd.size() != 1 || odd[0].kind != kind || odd[0].from != from || odd[0].to != to) continue;
    found += std::abs(odd[0].off_fraction - off_fraction) < 0.05 ? 1 : 0;
  }
  return found;
}

constexpr int kMaximum = 190;  // 95 % of 200 fabrics

struct Healthy {
  std::size_t hosts;
  double host_noise;
  bool has_both_directions;
};

class HealthyFabrics : public testing::TestWithParam<Healthy> {};

// Without a practical fraction, so that chance alone decides.
TEST_P(HealthyFabrics, RaiseNoMoreAlarmsThanClaimed) {
  std::mt19937_64 random(GetParam().hosts);
  constexpr int kFabrics = 1000;
  int above_95 = 0, above_99 = 0;
  for (int i = 0; i < kFabrics; ++i) {
    double sure = 0;
    for (const OddLink& odd :
         found_in({GetParam().hosts, 0.02, GetParam().host_noise, GetParam().has_both_directions}, random,
                  {0, 0.95})) {
      sure = std::max(sure, odd.sure);
    }
    above_95 += sure >= 0.95 ? 1 : 0;
    above_99 += sure >= 0.99 ? 1 : 0;
  }
  EXPECT_LE(above_95, 50 + 3.1 * std::sqrt(kFabrics * 0.05 * 0.95));
  EXPECT_LE(above_99, 10 + 3.1 * std::sqrt(kFabrics * 0.01 * 0.99));
}

INSTANTIATE_TEST_SUITE_P(Sizes, HealthyFabrics,
                         testing::Values(Healthy{3, 0, false}, Healthy{4, 0, false}, Healthy{4, 0.03, true},
                                         Healthy{5, 0, true}, Healthy{6, 0.03, false}, Healthy{8, 0, false},
                                         Healthy{8, 0.03, true}, Healthy{16, 0, true},
                                         Healthy{24, 0.03, false}));

TEST(OddLinks, ABadCableIsThePairAndNotItsHosts) {
  Fabric fabric;
  fabric.factor = [](std::size_t a, std::size_t b) { return is_pair(a, b, 2, 5) ? 0.5 : 1; };
  EXPECT_GE(alone(fabric, OddLinkKind::pair, "host-2", "host-5", -0.5), kMaximum);
}

TEST(OddLinks, ABadAdapterIsTheHostAndNotItsPairs) {
  Fabric fabric;
  fabric.factor = [](std::size_t a, std::size_t b) { return a == 3 || b == 3 ? 0.5 : 1; };
  EXPECT_GE(alone(fabric, OddLinkKind::host, "host-3", "", -0.5), kMaximum);
}

// Hosts that differ by 8 % are odd now and then; the pairs are what counts here.
TEST(OddLinks, HostsThatDifferSteadilyDoNotHideABadCable) {
  Fabric fabric{12, 0.01, 0.08};
  fabric.factor = [](std::size_t a, std::size_t b) { return is_pair(a, b, 0, 7) ? 0.8 : 1; };
  std::mt19937_64 random(12);
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<OddLink> odd = found_in(fabric, random);
    std::erase_if(odd, [](const OddLink& link) { return link.kind != OddLinkKind::pair; });
    found += odd.size() == 1 && odd[0].from + odd[0].to == "host-0host-7" ? 1 : 0;
  }
  EXPECT_GE(found, kMaximum);
}

// The link between two bad adapters is as slow as the slower one, which is no fault of its own.
TEST(OddLinks, TwoBadAdaptersShareALinkThatIsNotOdd) {
  Fabric fabric{12, 0.01};
  fabric.factor = [](std::size_t a, std::size_t b) {
    const auto of = [](std::size_t host) { return host == 1 ? 0.5 : host == 4 ? 0.6 : 1; };
    return std::min(of(a), of(b));
  };
  std::mt19937_64 random(3);
  const std::vector<OddLink> odd = found_in(fabric, random);
  ASSERT_EQ(odd.size(), 2U);
  EXPECT_EQ(odd[0].from, "host-1");
  EXPECT_NEAR(odd[0].off_fraction, -0.5, 0.03);
  EXPECT_EQ(odd[1].from, "host-4");
  EXPECT_EQ(odd[1].kind, OddLinkKind::host);
}

TEST(OddLinks, OneBadDirectionIsNamed) {
  Fabric fabric{8, 0.02, 0, true};
  fabric.factor = [](std::size_t from, std::size_t to) { return from == 6 && to == 1 ? 0.6 : 1; };
  EXPECT_GE(alone(fabric, OddLinkKind::direction, "host-6", "host-1", -0.4), kMaximum);
}

TEST(OddLinks, AHostMaySendBadlyAndReceiveWell) {
  Fabric fabric{8, 0.02, 0, true};
  fabric.factor = [](std::size_t from, std::size_t) { return from == 2 ? 0.5 : 1; };
  EXPECT_GE(alone(fabric, OddLinkKind::sending, "host-2", "", -0.5), kMaximum);
  fabric.factor = [](std::size_t, std::size_t to) { return to == 2 ? 0.5 : 1; };
  EXPECT_GE(alone(fabric, OddLinkKind::receiving, "host-2", "", -0.5), kMaximum);
}

TEST(OddLinks, ABadCableBesideABadAdapter) {
  Fabric fabric{10, 0.01};
  fabric.factor = [](std::size_t a, std::size_t b) {
    return a == 3 || b == 3 ? 0.5 : is_pair(a, b, 0, 1) ? 0.7 : 1;
  };
  std::mt19937_64 random(5);
  const std::vector<OddLink> odd = found_in(fabric, random);
  ASSERT_EQ(odd.size(), 2U);
  EXPECT_EQ(odd[0].kind, OddLinkKind::host);
  EXPECT_EQ(describe(odd[1]).substr(0, 35), "the link host-0 - host-1 is " + describe(odd[1]).substr(28, 7));
  EXPECT_EQ(odd[1].from + odd[1].to, "host-0host-1");
  EXPECT_NEAR(odd[1].off_fraction, -0.3, 0.05);
}

TEST(OddLinks, PairsMayBeMissing) {
  std::mt19937_64 random(6);
  Fabric fabric{12, 0.02};
  fabric.factor = [](std::size_t a, std::size_t b) { return a == 3 || b == 3 ? 0.5 : 1; };
  std::vector<PairRate> rates = rates_of(fabric, random);
  std::erase_if(rates, [](const PairRate& rate) { return (rate.from + rate.to) % 3 == 0; });
  const std::vector<OddLink> odd = find_odd_links(names_of(12), rates);
  ASSERT_EQ(odd.size(), 1U);
  EXPECT_EQ(odd[0].from, "host-3");
  EXPECT_THAT(find_odd_links(names_of(4), {}), IsEmpty());
  EXPECT_THAT(find_odd_links({}, {}), IsEmpty());
}

}  // namespace
}  // namespace sextant
