#include "calibrate/import/benchmarks/link_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/document.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string example(const std::string& name) {
  return read_text_file(SEXTANT_SOURCE_DIR "/tests/data/benchmarks/" + name);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The file lists the first rank of each of two processes with eight GPUs.
TEST(NcclTests, BetweenNodesAreOfAllGpusOfANode) {
  const LinkBenchmarks read = read_nccl_tests(example("nccl-half.txt"), "half.txt");
  ASSERT_EQ(read.links.size(), 1U);
  const LinkBenchmark& link = read.links.front();
  EXPECT_EQ(link.link, BenchmarkedLink::between_nodes);
  EXPECT_TRUE(link.is_of_node);
  EXPECT_EQ(link.nodes, 2);
  EXPECT_EQ(link.gpus_per_node, 8);
  EXPECT_EQ(link.gpu, " NVIDIA H100 80GB HBM3");
  EXPECT_THAT(link.bytes_per_s, ElementsAre(192.89e9, 192.66e9));  // of the largest size
  EXPECT_EQ(link.what, "all_reduce of 16 GPUs on 2 nodes, 8.00 GiB");
}

TEST(NcclTests, OfANodeAreOfAGpuWhateverStandsBefore) {
  const LinkBenchmarks read = read_nccl_tests(example("nccl-node.txt"), "out.txt");
  const LinkBenchmark& link = read.links.front();
  EXPECT_EQ(link.link, BenchmarkedLink::within_node);
  EXPECT_EQ(link.gpus_per_node, 8);
  EXPECT_THAT(link.bytes_per_s, ElementsAre(366.64e9, 365.57e9));
  EXPECT_THAT(link.what, HasSubstr("all_gather of 8 GPUs on 1 node"));
}

// In a chain of sends one GPU of a node sends to the next; of an all-to-all of 16 GPUs half is for the other node.
TEST(NcclTests, OperationsUseTheNetworkDifferently) {
  const std::string none = replaced(example("nccl-half.txt"), "  sum  ", "  none ");
  const LinkBenchmark chain = read_nccl_tests(none, "sendrecv.txt").links.front();
  EXPECT_FALSE(chain.is_of_node);
  EXPECT_EQ(chain.bytes_per_s.front(), 192.89e9);
  const LinkBenchmark all = read_nccl_tests(none, "alltoall.txt").links.front();
  EXPECT_THAT(all.bytes_per_s.front(), DoubleNear(102.87e9 * 8 / 2, 1));
  EXPECT_THAT(refusal_of([&] { (void)read_nccl_tests(none, "out.txt"); }),
              HasSubstr("the operation is not named"));
}

TEST(NcclTests, WrongElementsAreLeftOut) {
  const std::string wrong = replaced(example("nccl-half.txt"), "192.89      0", "192.89      7");
  const LinkBenchmarks read = read_nccl_tests(wrong, "half.txt");
  EXPECT_TRUE(read.links.empty());
  EXPECT_THAT(read.left_out.front().reason, HasSubstr("wrong elements"));
}

TEST(NcclTests, RefusesAnotherText) {
  EXPECT_THAT(refusal_of([] { (void)read_nccl_tests("hello\n", "a.txt"); }),
              HasSubstr("a.txt: no row of nccl-tests"));
}

TEST(Nvbandwidth, HasTheLinksWithinANodeAndToTheHost) {
  const LinkBenchmarks read = read_nvbandwidth(example("nvbandwidth.txt"), "n.txt");
  ASSERT_EQ(read.links.size(), 2U);  // a local copy is none
  EXPECT_EQ(read.links[0].link, BenchmarkedLink::host_and_device);
  EXPECT_THAT(read.links[0].bytes_per_s, ElementsAre(55.23e9, 55.19e9));
  EXPECT_EQ(read.links[1].link, BenchmarkedLink::within_node);
  EXPECT_THAT(read.links[1].bytes_per_s, ElementsAre(391.21e9, 390.87e9));
  EXPECT_THAT(refusal_of([] { (void)read_nvbandwidth("Running device_local_copy.\n 0 1.5\n", "n.txt"); }),
              HasSubstr("no result of device_to_device"));
}

TEST(Iperf3, HasRateAndLatencyOfAConnection) {
  const LinkBenchmarks read = read_iperf3(example("iperf3.json"), "i.json");
  const LinkBenchmark& link = read.links.front();
  EXPECT_THAT(link.bytes_per_s, ElementsAre(9.38e9 / 8, 9.40e9 / 8, 9.42e9 / 8));  // without the omitted second
  EXPECT_THAT(*link.latency_s, DoubleNear(15.06e-3, 1e-9));
  EXPECT_EQ(link.what, "iperf3 from 10.0.0.1 to 10.1.0.2");
  EXPECT_THAT(refusal_of([] { (void)read_iperf3(R"({"error": "unable to connect"})", "i.json"); }),
              HasSubstr("unable to connect"));
}

LinkBenchmarks superbench(const std::string& text) { return read_superbench(text, "s.jsonl"); }

std::string superbench_refusal(const std::string& text) {
  return refusal_of([&] { (void)superbench(text); });
}

TEST(SuperBench, HasTheLinksWithinANodeAndToTheHost) {
  const LinkBenchmarks read = superbench(example("superbench.jsonl"));
  ASSERT_EQ(read.links.size(), 2U);
  EXPECT_EQ(read.links[0].link, BenchmarkedLink::within_node);
  EXPECT_THAT(read.links[0].bytes_per_s, ElementsAre(366.5e9, 364.5e9));  // of the largest size, of each node
  EXPECT_EQ(read.links[0].what, "allreduce of a node, 8.00 GiB, of SuperBench on 2 nodes");
  EXPECT_EQ(read.links[0].nodes, 2);
  EXPECT_EQ(read.links[1].link, BenchmarkedLink::host_and_device);
  EXPECT_EQ(read.links[1].bytes_per_s.size(), 8U);
  std::vector<std::string> left_out;
  for (const LeftOut& one : read.left_out) left_out.push_back(one.record);
  EXPECT_THAT(left_out,
              ElementsAre("s.jsonl, gemm-flops", "s.jsonl, ib-loopback", "s.jsonl, nccl-bw:gdr-only"));
}

TEST(SuperBench, CopiesStandForCollectivesThatAreNotThere) {
  const LinkBenchmarks read = superbench(
      R"({"node": "a", "gpu-copy-bw:perf/gpu0_to_gpu1_write_by_dma_bw": 250.5, "gpu-copy-bw:perf/gpu0_to_gpu1_write_by_sm_bw": 9,)"
      R"( "gpu-copy-bw:perf/gpu0_and_gpu1_write_by_dma_bw": 400, "gpu-copy-bw:perf/cpu_to_gpu1_by_dma_under_numa0_bw": 20,)"
      R"( "gpu-copy-bw:perf/cpu_to_gpu1_by_dma_under_numa1_bw": 26, "mem-bw/H2D_Mem_BW:0": 25.5})");
  ASSERT_EQ(read.links.size(), 2U);
  EXPECT_THAT(read.links[0].bytes_per_s, ElementsAre(250.5e9));
  EXPECT_EQ(read.links[0].gpus_per_node, 2);
  EXPECT_THAT(read.links[1].bytes_per_s, ::testing::UnorderedElementsAre(26e9, 25.5e9));
}

TEST(SuperBench, RatesOfSeveralNodesAreLeftOut) {
  const std::string rest = R"("mem-bw/h2d_bw": 26})";
  const LinkBenchmarks groups =
      superbench(R"({"node": "a", "nccl-bw:pairs/allreduce_0_1:8192_busbw": 40, )" + rest);
  EXPECT_THAT(groups.left_out.front().reason, HasSubstr("groups of nodes"));
  const LinkBenchmarks one = superbench(R"({"node": "a", "nccl-bw/allreduce_8192_busbw": 40, )" + rest + "\n" +
                                        R"({"node": "b", )" + rest + "\n");
  ASSERT_EQ(one.links.size(), 1U);
  EXPECT_THAT(one.left_out.front().reason, HasSubstr("ran alone or with the others"));
}

TEST(SuperBench, RefusalsNameFileAndLine) {
  EXPECT_THAT(superbench_refusal(""), HasSubstr("s.jsonl:1: expected a line of JSON for each node"));
  EXPECT_THAT(superbench_refusal("{\"node\": \"a\"}\n{\n"), HasSubstr("s.jsonl:2: "));
  EXPECT_THAT(superbench_refusal("[1]\n"), HasSubstr("s.jsonl:1: expected an object of metrics"));
  EXPECT_THAT(superbench_refusal("{\"node\": \"a\"}\n{\"node\": \"a\"}\n"),
              HasSubstr("s.jsonl:2: node a is there twice"));
  EXPECT_THAT(superbench_refusal("{\"node\": \"a\", \"gemm-flops/fp16_tc_flops:0\": 1}\n"),
              HasSubstr("gemm-flops: rates of arithmetic"));
}

TEST(BenchmarkFormats, AreInAlphabeticalOrder) {
  std::string_view last;
  for (const BenchmarkFormat& format : benchmark_formats()) {
    EXPECT_LT(last, format.name);
    EXPECT_EQ(find_benchmark_format(format.name), &format);
    last = format.name;
  }
  EXPECT_EQ(find_benchmark_format("verl"), nullptr);
}

}  // namespace
}  // namespace sextant
