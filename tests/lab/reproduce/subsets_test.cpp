// Which devices an operator leaves out, with times that are made up.
#include "lab/reproduce/subsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sextant {
namespace {

Node node(const std::string& name, const std::string& type, const std::string& region) {
  Node out;
  out.name = name;
  out.region = out.zone = region;
  out.device_type = type;
  out.devices = 2;
  return out;
}

Cluster cluster() {
  DeviceType type;
  type.memory_bytes = assumed(40e9);
  type.memory_bytes_per_s = assumed(1e12);
  type.flop_per_s[Precision::bf16] = assumed(100e12);
  const LinkRate link{assumed(1e-5), assumed(1e9)};
  return Cluster("c", {{"fast", type}, {"slow", type}},
                 {node("a", "fast", "near"), node("b", "fast", "far"), node("c", "slow", "near")},
                 {{LinkLevel::within_node, link},
                  {LinkLevel::within_zone, link},
                  {LinkLevel::within_region, link},
                  {LinkLevel::between_regions, link}});
}

std::set<std::string> names_of(const Cluster& part) {
  std::set<std::string> names;
  for (const Node& one : part.nodes()) names.insert(one.name);
  return names;
}

// The time of an iteration on the nodes that are left.
using Times = std::map<std::set<std::string>, double>;
std::set<std::string> best_of(const Times& times) {
  return names_of(best_part(cluster(), [&](const Subcluster& part) -> std::optional<double> {
                    const auto found = times.find(names_of(part.cluster));
                    return found == times.end() ? std::nullopt : std::optional<double>(found->second);
                  }).cluster);
}

TEST(BestPart, IsAllWhereEveryDeviceHelps) {
  EXPECT_EQ(best_of({{{"a", "b", "c"}, 1}, {{"a", "b"}, 2}, {{"c"}, 4}}),
            (std::set<std::string>{"a", "b", "c"}));
}

TEST(BestPart, LeavesASlowTypeOutAndThenAFarRegion) {
  EXPECT_EQ(best_of({{{"a", "b", "c"}, 6}, {{"a", "b"}, 5}, {{"c"}, 9}, {{"a"}, 4}}),
            (std::set<std::string>{"a"}));
}

// From all on, not from the types alone: the slow machine next door beats the fast one far away.
TEST(BestPart, LeavesAMachineOut) {
  EXPECT_EQ(best_of({{{"a", "b", "c"}, 6}, {{"a", "b"}, 7}, {{"c"}, 9}, {{"a", "c"}, 4}}),
            (std::set<std::string>{"a", "c"}));
}

TEST(BestPart, IsWhatFitsWhereTheWholeDoesNot) {
  EXPECT_EQ(best_of({{{"a", "b"}, 5}}), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(best_of({}), (std::set<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace sextant
