#include "probes/comm/host_name.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(HostName, IsTheHostsOwnUnlessTheRankWasGivenOne) {
  const auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  const auto given = [](const std::string& name) {
    return name == kHostNameVariable ? std::optional<std::string>("va-1") : std::nullopt;
  };
  const auto empty = [](const std::string&) { return std::optional<std::string>(""); };
  EXPECT_EQ(host_name(nothing, "node7"), "node7");
  EXPECT_EQ(host_name(given, "node7"), "va-1");
  EXPECT_EQ(host_name(empty, "node7"), "node7");
}

}  // namespace
}  // namespace sextant
