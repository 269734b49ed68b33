// On several ranks: real messages, but only their content and the shape of the result are looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/json_value.h"
#include "probes/link/link_probe.h"
#include "probes/ranks/cluster_probe.h"
#include "probes/report/rank_report.h"
#include "tests/probes/comm/ranks.h"

namespace sextant {
namespace {

using test::world;

ProbeContext tiny_context() {
  ProbeContext context;
  context.sampling = sampling_options(2e-3, 0.02);
  return context;
}

TEST(MeasureLinksOnRanks, EveryPairHasEveryPointVerified) {
  LinkOptions options;
  options.message_bytes = {1, 8, 65536, 1 << 20};
  const int size = world().size();
  const LinkOutcome outcome = measure_links(world(), tournament_rounds(size), tiny_context(), options);
  EXPECT_TRUE(outcome.lost.empty());
  if (world().rank() != 0) {
    EXPECT_TRUE(outcome.points.empty());
    return;
  }
  ASSERT_EQ(outcome.points.size(),
            options.message_bytes.size() * static_cast<std::size_t>(size * (size - 1) / 2));
  for (std::size_t at = 0; at < outcome.points.size(); ++at) {
    const ProbeResult& point = outcome.points[at];
    EXPECT_TRUE(point.has_value()) << point.sentence;
    EXPECT_GT(point.value, 0);
    EXPECT_TRUE(std::isfinite(point.value));
    EXPECT_EQ(point.work, static_cast<double>(options.message_bytes[at % options.message_bytes.size()]));
    EXPECT_LT(point.rank, point.peer);
  }
}

TEST(ExchangeTextsOnRanks, EveryoneHasEveryonesText) {
  const auto text_of = [](int rank) { return std::string(static_cast<std::size_t>(3 * rank), 'a') + "!"; };
  const auto texts = exchange_texts(world(), text_of(world().rank()));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(world().size()));
  for (int rank = 0; rank < world().size(); ++rank) {
    EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank));
  }
}

TEST(ProbeClusterOnRanks, IsTheSameOnEveryRank) {
  ProbeOptions options;
  options.budget_s_per_point = 2e-3;
  options.is_smoke_test = true;
  options.name = "test";
  const ClusterProbe probe = probe_cluster(world(), options);
  EXPECT_EQ(probe.cluster.device_count(), world().size());
  EXPECT_EQ(probe.cluster.levels().count(LinkLevel::within_node), 1U);
  EXPECT_GT(probe.cluster.link({0}, {1}).bytes_per_s.value, 0);
  EXPECT_EQ(probe.cluster.link({0}, {1}).bytes_per_s.source, Source::measured);
  const std::string mine = format_json(probe.cluster.to_json()) + format_json(samples_to_json(probe));
  for (const std::string& text : exchange_texts(world(), mine)) EXPECT_EQ(text, mine);
}

}  // namespace
}  // namespace sextant
