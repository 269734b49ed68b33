// Evidence of collectives and weight transfers, by hand.
#include <gmock/gmock.h>

#include "tests/lab/priors/evidence_fixture.h"

namespace sextant {
namespace {

using enum CoefficientId;
using ::testing::IsEmpty;

constexpr double kMiB = 1048576, kLink = 450e9;

CollectiveRow collective(MeasuredCollective kind, int nodes, int devices, double bytes, double time_s) {
  CollectiveRow row;
  row.source = "here";
  row.gpu = &h100();
  row.kind = kind;
  row.nodes = nodes;
  row.devices = devices;
  if (nodes > 1) row.network_bytes_per_s = 400e9;
  row.message_bytes = bytes;
  row.time_s = time_s;
  return row;
}
CollectiveRow all_reduce(int devices, double bytes, double time_s) {
  return collective(MeasuredCollective::all_reduce, 1, devices, bytes, time_s);
}

// With 8 devices a neighbour sees 2 x 7 / 8 of the message; the time of 512 bytes is latency.
TEST(CollectivesEvidence, BusBandwidthIsAShareOfTheLink) {
  const double moved = 1.75 * 256 * kMiB;
  const auto all = evidence_of_collectives({all_reduce(8, 512, 1e-5),
                                            all_reduce(8, 256 * kMiB, 1e-5 + moved / (0.6 * kLink)),
                                            all_reduce(6, 256 * kMiB, 1.0)});  // groups of 2, 4 and 8 alone
  EXPECT_NEAR(one_of(all, tensor_parallel_efficiency).median, 0.6, 1e-9);
  EXPECT_NEAR(one_of(all, data_parallel_efficiency).median, 0.6, 1e-9);
  EXPECT_EQ(one_of(all, data_parallel_efficiency).rows, 1);
  EXPECT_EQ(one_of(all, data_parallel_efficiency).relation, EvidenceRelation::at_most);
}

TEST(CollectivesEvidence, ActivationsAreNoGradients) {
  const auto small = evidence_of_collectives({all_reduce(2, 16 * kMiB, 16 * kMiB / (0.5 * kLink))});
  EXPECT_NEAR(one_of(small, tensor_parallel_efficiency).median, 0.5, 1e-9);
  EXPECT_THAT(all_of(small, data_parallel_efficiency), IsEmpty());
  const auto large = evidence_of_collectives({all_reduce(2, 1024 * kMiB, 1024 * kMiB / (0.9 * kLink))});
  EXPECT_NEAR(one_of(large, data_parallel_efficiency).median, 0.9, 1e-9);
  EXPECT_THAT(all_of(large, tensor_parallel_efficiency), IsEmpty());
}

TEST(CollectivesEvidence, AllToAllSendsToTheOthers) {
  const auto all = evidence_of_collectives(
      {collective(MeasuredCollective::all_to_all, 1, 4, 64 * kMiB, 0.75 * 64 * kMiB / (0.4 * kLink))});
  EXPECT_NEAR(one_of(all, expert_parallel_efficiency).median, 0.4, 1e-9);
}

// Two devices take one further step, four take three, eight five (collective.h): 4 us (1 + 0.25 steps), against
// a latency of 5.3 us.
TEST(CollectivesEvidence, LatencyHasStepsBeyondTheFirst) {
  const std::vector<CollectiveRow> rows = {all_reduce(2, 512, 5e-6), all_reduce(4, 512, 7e-6),
                                           all_reduce(8, 512, 9e-6)};
  const auto all = evidence_of_collectives(rows);
  EXPECT_NEAR(one_of(all, link_latency_scale).median, 4 / 5.3, 1e-9);
  EXPECT_EQ(one_of(all, link_latency_scale).relation, EvidenceRelation::at_least);
  EXPECT_NEAR(one_of(all, collective_step_weight).median, 0.25, 1e-9);
}

// Latency 10 us, then half of 400 GB/s until the start of three latencies more is made up for.
TEST(CollectivesEvidence, SmallMessagesHaveHalfOfTheRate) {
  const double latency_s = 1e-5, start_s = 3 * latency_s;
  std::vector<CollectiveRow> rows;
  for (double bytes = 512; bytes <= 1024 * kMiB; bytes *= 8) {
    const double moving_s = bytes < kMiB / 1024 ? 0 : bytes / 400e9;
    rows.push_back(all_reduce(2, bytes, latency_s + moving_s + start_s * moving_s / (start_s + moving_s)));
  }
  EXPECT_NEAR(one_of(evidence_of_collectives(rows), collective_ramp_weight).median, 3, 0.15);
  EXPECT_EQ(one_of(evidence_of_collectives(rows), collective_ramp_weight).rows, static_cast<int>(rows.size()));
  for (CollectiveRow& row : rows) row.time_s = latency_s + row.message_bytes / 400e9;
  EXPECT_LT(one_of(evidence_of_collectives(rows), collective_ramp_weight).median, 0.1);
}

// Two nodes of eight: 17 us (1 + 0.25) between them, 5.3 us x 0.25 (1 + 5) inside: 29.2 us.
TEST(CollectivesEvidence, LatencyBetweenNodesIsReducedInsideFirst) {
  const auto all = evidence_of_collectives({all_reduce(2, 512, 5e-6), all_reduce(4, 512, 7e-6),
                                            collective(MeasuredCollective::all_reduce, 2, 16, 8, 2 * 29.2e-6)});
  const auto found = all_of(all, link_latency_scale);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[1].median, 2, 1e-9);
}

// Four nodes exchange 2 x 3 / 4 of the message over all their adapters.
TEST(CollectivesEvidence, NodesExchangeTheirShare) {
  const double bytes = 1024 * kMiB;
  const auto all = evidence_of_collectives(
      {collective(MeasuredCollective::all_reduce, 4, 32, bytes, 1.5 * bytes / (0.7 * 400e9)),
       collective(MeasuredCollective::all_reduce, 4, 32, 16 * kMiB, 1.0)});
  EXPECT_NEAR(one_of(all, network_efficiency).median, 0.7, 1e-9);
}

TransferRow transfer(std::optional<bool> packed, double time_s) {
  TransferRow row;
  row.record = "here";
  row.framework = "verl";
  row.device = "H100-SXM-80GB";
  row.model = &published().model("Llama-3.1-8B");
  row.copies = 2;
  row.links_bytes_per_s = 8 * 50e9;
  row.packed = packed;
  row.time_s = time_s;
  return row;
}

// 8.03e9 parameters in 16 bits, twice, over 400e9 bytes/s: 80.3 ms.
TEST(TransfersEvidence, IsAShareOfTheLinks) {
  const double parameters = published().model("Llama-3.1-8B").parameters();
  EXPECT_NEAR(parameters, 8.03e9, 0.01e9);
  const auto all = evidence_of_transfers({transfer(std::nullopt, 4 * parameters / 400e9 / 0.2)});
  EXPECT_NEAR(one_of(all, weight_sync_efficiency).median, 0.2, 1e-12);
  EXPECT_THAT(all_of(all, weight_sync_tensor_overhead_s), IsEmpty());
}

// 32 layers of nine tensors, two tables and a norm: 291.
TEST(TransfersEvidence, PackingSavesATimeATensor) {
  const auto all = evidence_of_transfers({transfer(false, 1 + 291 * 1e-3), transfer(true, 1)});
  EXPECT_NEAR(one_of(all, weight_sync_tensor_overhead_s).median, 1e-3, 1e-12);
  EXPECT_EQ(one_of(all, weight_sync_tensor_overhead_s).rows, 2);
}

TEST(PriorEvidence, DistanceIsInDeviationsAndOneSidedForBounds) {
  PriorEvidence evidence;
  evidence.id = training_efficiency;  // 0.78, deviations 0.15, 0.15 and 0.1: 0.2345 together
  evidence.median = 0.78 * 1.2643;    // a deviation above
  EXPECT_NEAR(evidence.distance(), 1, 1e-3);
  evidence.relation = EvidenceRelation::at_most;
  EXPECT_EQ(evidence.distance(), 0);
  evidence.relation = EvidenceRelation::at_least;
  EXPECT_NEAR(evidence.distance(), 1, 1e-3);
  evidence.id = roofline_sharing;  // 0.75, of the value 0.1
  evidence.relation = EvidenceRelation::equals;
  evidence.median = 0.55;
  EXPECT_NEAR(evidence.distance(), 2, 1e-9);
}

}  // namespace
}  // namespace sextant
