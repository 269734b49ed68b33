// The devices that `sextant probe` measures, and the results of GPUs that it passes on: the host's GPUs,
// sensors, links and collectives are the test's.
#include "cli/probe/probe_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>

#include "probes/comm/thread_communicator.h"
#include "sextant/error.h"
#include "sextant/json.h"
#include "tests/core/temporary_folder.h"
#include "tests/probes/comm/fake_hosts.h"
#include "tests/probes/cuda/fake_gpu_host.h"

namespace sextant::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

MakeGpuDevices gpus_or(const std::string& absence) {
  return [absence]() -> std::unique_ptr<GpuDevices> {
    static FakeClock clock;
    auto gpus = std::make_unique<FakeGpus>(clock, 2);
    gpus->absence_ = absence;
    return gpus;
  };
}

std::string failure(const std::function<void()>& what, ErrorKind kind) {
  try {
    what();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

TEST(FindTarget, TakesGpusWhereThereAreSome) {
  const auto world = make_serial_communicator();
  for (const char* wanted : {"gpu", "auto"}) {
    const Target target = find_target(*world, wanted, gpus_or(""));
    ASSERT_NE(target.gpus, nullptr) << wanted;
    EXPECT_EQ(target.no_gpus, "");
  }
  const Target cores = find_target(*world, "cpu", gpus_or(""));
  EXPECT_EQ(cores.gpus, nullptr);
  EXPECT_EQ(cores.no_gpus, "") << "nobody asked";
}

TEST(FindTarget, WithoutGpusTakesCoresUnlessGpusWereAskedFor) {
  const auto world = make_serial_communicator();
  const Target target = find_target(*world, "auto", gpus_or("the driver is asleep"));
  EXPECT_EQ(target.gpus, nullptr);
  EXPECT_EQ(target.no_gpus, "the driver is asleep");
  EXPECT_EQ(failure([&] { static_cast<void>(find_target(*world, "gpu", gpus_or("the driver is asleep"))); },
                    ErrorKind::machine),
            "the driver is asleep");
}

// A device that one rank lacks decides for all, and all say so.
TEST(FindTarget, OfRanksIsGpusWhereEveryRankHasOne) {
  for (const bool is_one_missing : {false, true}) {
    run_on_threads(2, [&](Communicator& threads) {
      OnFakeHosts ranks(threads, {"a", "b"});
      const bool lacks = is_one_missing && ranks.rank() == 1;
      const Target target = find_target(ranks, "auto", gpus_or(lacks ? "no driver" : ""));
      EXPECT_EQ(target.gpus == nullptr, is_one_missing);
      const std::string why = is_one_missing ? "no driver" : "";
      EXPECT_THAT(target.no_gpus, HasSubstr(why));
      EXPECT_EQ(target.no_gpus.empty(), why.empty());
    });
  }
}

ProbeCommand quick() {
  ProbeCommand options;
  options.probe.name = "here";
  options.probe.is_smoke_test = true;
  options.probe.budget_s_per_point = 0.005;
  options.probe.target_spread_fraction = 0.5;
  return options;
}

// Collectives take their time on this machine's clock.
GpuTools tools_of(FakeHost& host) {
  return {host.gpus, host.sensors, host.fabric, host.make_collectives, host.tree.files(), steady_clock()};
}

Measured measured(FakeHost& host, const ProbeCommand& options) {
  const auto world = make_serial_communicator();
  return measure_gpus(tools_of(host), *world, options);
}

ProbeCommand with_journal(const std::string& file, bool resume) {
  ProbeCommand options = quick();
  options.files.journal = file;
  options.files.resume = resume;
  return options;
}

std::set<std::string> names_of(const std::vector<ProbeResult>& results) {
  std::set<std::string> names;
  for (const ProbeResult& result : results) names.insert(result.name);
  return names;
}

TEST(MeasureGpus, HandsOnTheClusterItsTablesAndItsLinks) {
  FakeHost host(2);
  host.make_collectives = on_host_memory;
  ProbeCommand options = quick();
  std::vector<ProbeResult> seen;
  options.probe.on_results = [&](const std::vector<ProbeResult>& results) { seen = results; };
  const Measured found = measured(host, options);
  EXPECT_EQ(found.probe.cluster.name(), "here");
  EXPECT_EQ(found.probe.cluster.device_count(), 2);
  EXPECT_TRUE(found.probe.is_whole());
  EXPECT_THAT(found.text, AllOf(HasSubstr("NVIDIA H200"), HasSubstr("memory/copy/engine"), HasSubstr("link")));
  EXPECT_TRUE(found.more_samples.contains("links"));
  EXPECT_THAT(names_of(seen), AllOf(Contains("memory/triad"), Contains("attention/decode/3x300"),
                                    Contains("nccl/pair/8"), Contains("nccl/all_reduce/8192")));
}

// Small products, and few messages between pairs.
TEST(MeasureGpus, ASmokeTestIsSmall) {
  FakeHost host(2);
  host.make_collectives = on_host_memory;
  const Measured found = measured(host, quick());
  const std::set<std::string> names = names_of(found.probe.results);
  EXPECT_TRUE(names.contains("gemm/bf16/512"));
  EXPECT_FALSE(names.contains("gemm/bf16/8192"));
  EXPECT_TRUE(names.contains("nccl/pair/8"));
  EXPECT_TRUE(names.contains("nccl/pair/65536"));
  EXPECT_FALSE(names.contains("nccl/pair/4096"));
}

TEST(MeasureGpus, MeasuresAModelsProductsInEachPrecision) {
  FakeHost host(1);
  ProbeCommand options = quick();
  Model model;
  model.name = "tiny";
  model.layers = 2;
  model.hidden = 128;
  model.intermediate = 256;
  model.heads = 8;
  model.kv_heads = 4;
  model.head_dim = 64;
  model.vocabulary = 512;
  options.probe.model = model;
  options.probe.model_tokens = 96;
  options.probe.model_tensor_parallel = 2;
  options.model_precisions = {Precision::bf16, Precision::fp16};
  const std::set<std::string> names = names_of(measured(host, options).probe.results);
  EXPECT_TRUE(names.contains("gemm/bf16/tiny/down"));
  EXPECT_TRUE(names.contains("gemm/fp16/tiny/down"));
  EXPECT_EQ(host.gpus.heads_, 4) << "of each of the two that share the model";
}

TEST(MeasureGpus, ABudgetThatIsOverWaivesTheRestAndKeepsWhatThereIs) {
  FakeHost host(1);
  ProbeCommand options = quick();
  options.total_budget_s = 1e-9;
  std::vector<ProbeResult> seen;
  options.probe.on_results = [&](const std::vector<ProbeResult>& results) { seen = results; };
  ::testing::internal::CaptureStdout();
  EXPECT_NE(failure([&] { static_cast<void>(measured(host, options)); }, ErrorKind::machine), "");
  // Too little for a cluster: what was seen is printed and handed over all the same.
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("NVIDIA H200"));
  EXPECT_FALSE(seen.empty());
}

// One process that is given a journal, and one that is not.
TEST(MeasureGpus, OfOneProcessAreKeptWhereAJournalIsNamed) {
  TemporaryFolder folder;
  const std::string file = folder.path() / "journal";
  FakeHost host(2);
  host.make_collectives = on_host_memory;
  const Measured first = measured(host, with_journal(file, false));
  ASSERT_TRUE(std::filesystem::exists(file));
  FakeHost broken(2);
  broken.make_collectives = on_host_memory;
  broken.gpus.throws_ = "memory";
  const Measured second = measured(broken, with_journal(file, true));
  EXPECT_EQ(without_times(second.probe.cluster), without_times(first.probe.cluster));
}

// Ranks of one host with a GPU each, as threads.
std::vector<Measured> measured_by_ranks(int count, const ProbeCommand& options,
                                        const std::string& throws = "") {
  std::vector<Measured> all(static_cast<std::size_t>(count));
  run_on_threads(count, [&](Communicator& threads) {
    OnFakeHosts world(threads, std::vector<std::string>(static_cast<std::size_t>(count), "a"));
    FakeHost host(count);
    host.make_collectives = on_host_memory;
    host.gpus.throws_ = throws;
    host.gpus.broken_gpu_ = world.rank();
    all[static_cast<std::size_t>(world.rank())] = measure_gpus(tools_of(host), world, options);
  });
  return all;
}

TEST(MeasureGpus, OfRanksAreKeptAndNotMeasuredAgain) {
  TemporaryFolder folder;
  const std::string file = folder.path() / "journal";
  const auto first = measured_by_ranks(2, with_journal(file, false));
  EXPECT_EQ(without_times(first[0].probe.cluster), without_times(first[1].probe.cluster));
  ASSERT_TRUE(std::filesystem::exists(file));
  EXPECT_THAT(read_text_file(file), HasSubstr("\"devices\":\"GPUs\""));
  // A GPU that has broken in the meantime is not asked.
  const auto second = measured_by_ranks(2, with_journal(file, true), "memory");
  EXPECT_EQ(without_times(second[0].probe.cluster), without_times(first[0].probe.cluster));
  EXPECT_THAT(
      failure([&] { static_cast<void>(measured_by_ranks(3, with_journal(file, true))); }, ErrorKind::bad_input),
      HasSubstr("belongs to a probe with different hosts"));
}

// A host with a rank that sees several GPUs, beside another.
TEST(MeasureGpus, OfOneRankAHostAreKeptToo) {
  TemporaryFolder folder;
  const std::string file = folder.path() / "journal";
  const auto measured_on_hosts = [&](bool resume, const std::string& throws) {
    run_on_threads(2, [&](Communicator& threads) {
      OnFakeHosts world(threads, {"a", "b"});
      FakeHost host(2);
      host.make_collectives = on_host_memory;
      host.gpus.throws_ = throws;
      const Measured found = measure_gpus(tools_of(host), world, with_journal(file, resume));
      EXPECT_EQ(found.probe.cluster.device_count(), 4);
    });
  };
  measured_on_hosts(false, "");
  ASSERT_TRUE(std::filesystem::exists(file));
  measured_on_hosts(true, "memory");  // a GPU that has broken in the meantime is not asked
}

TEST(Measure, WithoutGpusSaysWhyTheyAreWaived) {
  const auto world = make_serial_communicator();
  ProbeCommand options = quick();
  options.probe.pin = false;
  const Measured found = measure({nullptr, "the driver is asleep"}, *world, options);
  EXPECT_THAT(found.text, AllOf(HasSubstr("gemm"), HasSubstr("GPUs waived: the driver is asleep")));
}

}  // namespace
}  // namespace sextant::cli
