// The operations that the probe times on a GPU, on an emulated one: each leaves what it should, and detects
// when it does not.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/gpu/gpu_devices.h"
#include "sextant/error.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class EmulatedProbe : public testing::Test {
 protected:
  void SetUp() override { emulated_limit_blocks(8); }  // of kernels that do with any number
  void TearDown() override {
    emulated_limit_blocks(0);
    emulated_host() = {};
    emulated_show_devices(0, 8);
  }
  // Runs it, and what it needs is what it says.
  static std::string ran(const GpuOperationOrReason& made, double work) {
    if (made.operation == nullptr) return made.reason;
    EXPECT_EQ(made.operation->work(), work);
    int reads = 0;
    EXPECT_GT(made.operation->run_s(2, [&] { ++reads; }), 0);
    EXPECT_EQ(reads, 1);
    EXPECT_TRUE(made.operation->is_right()) << made.operation->how();
    return made.operation->how();
  }

  std::unique_ptr<GpuDevices> gpus_ = make_gpu_devices();
};

TEST_F(EmulatedProbe, SaysWhatThereIs) {
  EXPECT_EQ(gpus_->absence(), "");
  EXPECT_EQ(gpus_->versions(), "driver 13.0, runtime 12.8, cuBLASLt emulated");
  const std::vector<GpuFacts> gpus = gpus_->list();
  ASSERT_EQ(gpus.size(), 8U);
  EXPECT_EQ(gpus[3].index, 3);
  EXPECT_EQ(gpus[3].bus_id, "0000:03:00.0");
  EXPECT_EQ(gpus[3].compute_capability, 90);
  EXPECT_EQ(gpus[3].memory_bytes, 16.0 * 1024 * 1024 * 1024);
  EXPECT_LT(gpus[3].free_memory_bytes, gpus[3].memory_bytes);
  EXPECT_TRUE(gpus[3].is_ecc_on);
}

TEST_F(EmulatedProbe, WithoutADeviceSaysWhyForEveryOperation) {
  emulated_show_devices(0, 0);
  EXPECT_EQ(make_gpu_devices()->absence(), "no GPU can be used: the driver shows none");
  emulated_host().answers = false;
  const auto none = make_gpu_devices();
  EXPECT_EQ(none->absence(), "no GPU can be used: no CUDA-capable device is detected");
  EXPECT_TRUE(none->list().empty());
  EXPECT_EQ(none->make(0, GpuGemm{Precision::bf16, {"", 16, 16, 16, false}, false}).reason, none->absence());
  EXPECT_EQ(none->make(0, GpuMemory{GpuMemoryAccess::read, 1024}).reason, none->absence());
  EXPECT_EQ(none->make(0, GpuDecode{{}}).reason, none->absence());
  EXPECT_EQ(none->make(0, GpuPrefill{{}}).reason, none->absence());
  EXPECT_EQ(none->make(0, GpuLaunches{GpuLaunch::kernel, 1}).reason, none->absence());
  EXPECT_EQ(none->make(0, GpuTransfer{true, true, 8}).reason, none->absence());
  EXPECT_EQ(none->make(0, GpuPeerCopy{1, GpuPeerWay::copy_engine, false, 8}).reason, none->absence());
}

TEST_F(EmulatedProbe, MemoryIsCopiedReadAndWritten) {
  const std::size_t bytes = 40'000;
  const auto each = static_cast<double>(bytes);
  for (const auto access :
       {GpuMemoryAccess::copy_engine, GpuMemoryAccess::copy_kernel, GpuMemoryAccess::copy_kernel_deep}) {
    EXPECT_THAT(ran(gpus_->make(0, GpuMemory{access, bytes}), 2 * each), StartsWith("device clock; warm: "));
  }
  const GpuOperationOrReason engine = gpus_->make(0, GpuMemory{GpuMemoryAccess::copy_engine, bytes});
  static_cast<void>(emulated_launches());
  static_cast<void>(engine.operation->run_s(1, {}));
  EXPECT_EQ(emulated_launches().size(), 1U) << "more than the gate: no copy engine";
  ran(gpus_->make(0, GpuMemory{GpuMemoryAccess::read, bytes}), each);
  ran(gpus_->make(0, GpuMemory{GpuMemoryAccess::read_deep, bytes}), each);
  ran(gpus_->make(0, GpuMemory{GpuMemoryAccess::write, bytes}), each);
  ran(gpus_->make(0, GpuMemory{GpuMemoryAccess::triad, bytes}), 3 * each);
}

// Two megabytes and more of the emulated one of cache.
TEST_F(EmulatedProbe, SaysWhetherTheCacheIsCold) {
  EXPECT_THAT(ran(gpus_->make(0, GpuMemory{GpuMemoryAccess::copy_engine, 1 << 20}), 2.0 * (1 << 20)),
              HasSubstr("cold: 2.00 MiB in turn against 1.00 MiB of cache"));
}

TEST_F(EmulatedProbe, MatricesAreMultipliedInEveryPrecision) {
  const GemmShape plain{"", 48, 64, 32, false}, transposed{"", 48, 64, 32, true};
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    EXPECT_THAT(ran(gpus_->make(0, GpuGemm{precision, plain, false}), plain.flop()),
                StartsWith("cuBLASLt emulated; "));
    EXPECT_THAT(ran(gpus_->make(0, GpuGemm{precision, transposed, false}), plain.flop()), HasSubstr("warm"));
  }
  ran(gpus_->make(0, GpuGemm{Precision::fp8, transposed, false}), plain.flop());
  EXPECT_EQ(gpus_->make(0, GpuGemm{Precision::fp8, plain, false}).reason, "no algorithm for fp8");
  EXPECT_EQ(gpus_->make(0, GpuGemm{Precision::fp64, plain, false}).reason, "no GEMM in fp64 is known here");
}

// Three times the cache in sets of operands is used in turn, and the last one used is checked.
TEST_F(EmulatedProbe, OperandsOfAColdProductTakeTurns) {
  const std::size_t before = emulated_used_bytes();
  const GpuOperationOrReason made = gpus_->make(0, GpuGemm{Precision::bf16, {"", 256, 256, 256, true}, true});
  const std::size_t set = 3 * 2 * 256 * 256;
  const std::size_t sets = (3 * (1 << 20) + set - 1) / set;
  EXPECT_GE(emulated_used_bytes() - before, sets * set);
  EXPECT_LT(emulated_used_bytes() - before, (sets + 1) * set + (128 << 20));
  EXPECT_THAT(ran(made, 2.0 * 256 * 256 * 256), HasSubstr("cold"));
}

TEST_F(EmulatedProbe, AttentionIsRightAndSaysItsSplits) {
  emulated_limit_blocks(0);
  const AttentionShape decode{2, 1100, 4, 2, 128};
  // Eight blocks at once: two splits of four sequences and heads.
  EXPECT_THAT(ran(gpus_->make(0, GpuDecode{decode}), decode.kv_bytes()),
              AllOf(HasSubstr("2 splits a sequence"), HasSubstr("4 query heads, 2 key-value heads of 128")));
  const AttentionShape prefill{1, 100, 2, 1, 64};
  EXPECT_THAT(ran(gpus_->make(0, GpuPrefill{prefill}), prefill.causal_flop()), HasSubstr("causal"));
}

// Blocks that never run leave what was there.
TEST_F(EmulatedProbe, AttentionThatIsNotWholeIsNoticed) {
  emulated_limit_blocks(1);
  const GpuOperationOrReason decode = gpus_->make(0, GpuDecode{{2, 1100, 4, 2, 128}});
  static_cast<void>(decode.operation->run_s(1, {}));
  EXPECT_FALSE(decode.operation->is_right());
  const GpuOperationOrReason prefill = gpus_->make(0, GpuPrefill{{1, 300, 1, 1, 64}});
  static_cast<void>(prefill.operation->run_s(1, {}));
  EXPECT_FALSE(prefill.operation->is_right());
}

TEST_F(EmulatedProbe, AttentionRefusesShapesThatDoNotFit) {
  EXPECT_THAT(gpus_->make(0, GpuDecode{{1, 64, 8, 8, 96}}).reason, HasSubstr("head_dim 64 and 128 only"));
  EXPECT_THAT(gpus_->make(0, GpuPrefill{{1, 64, 8, 3, 64}}).reason, HasSubstr("multiple of kv_heads"));
  EXPECT_THAT(gpus_->make(0, GpuDecode{{1, 64, 32, 1, 64}}).reason, HasSubstr("more than 16 query heads"));
  EXPECT_NE(gpus_->make(0, GpuPrefill{{1, 64, 32, 1, 64}}).operation, nullptr);
}

TEST_F(EmulatedProbe, LaunchesAreCountedOneByOneOrAsAGraph) {
  const auto launches = [&](GpuLaunch kind, int nodes) {
    const GpuOperationOrReason made = gpus_->make(0, GpuLaunches{kind, nodes});
    static_cast<void>(made.operation->run_s(1, {}));
    static_cast<void>(emulated_launches());
    static_cast<void>(made.operation->run_s(10, {}));
    EXPECT_EQ(made.operation->work(), 0);
    EXPECT_TRUE(made.operation->is_right());
    return emulated_launches().size();
  };
  EXPECT_EQ(launches(GpuLaunch::kernel, 1), 10U);
  EXPECT_EQ(launches(GpuLaunch::kernel_round_trip, 1), 10U);
  EXPECT_EQ(launches(GpuLaunch::kernel_on_device, 1), 11U) << "and the gate";
  EXPECT_EQ(launches(GpuLaunch::graph, 7), 70U);
  EXPECT_EQ(launches(GpuLaunch::graph_round_trip, 3), 30U);
}

TEST_F(EmulatedProbe, HostMemoryGoesBothWays) {
  for (const bool is_pinned : {true, false}) {
    for (const bool to_device : {true, false}) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{100'001}}) {
        EXPECT_EQ(ran(gpus_->make(0, GpuTransfer{to_device, is_pinned, bytes}), static_cast<double>(bytes)),
                  std::string(is_pinned ? "pinned" : "pageable") + " host memory, waited for; host clock");
      }
    }
  }
}

TEST_F(EmulatedProbe, PeersCopyByEngineAndKernelOneWayAndBoth) {
  for (const GpuPeerWay way : {GpuPeerWay::copy_engine, GpuPeerWay::kernel_write, GpuPeerWay::kernel_read}) {
    EXPECT_THAT(ran(gpus_->make(0, GpuPeerCopy{1, way, false, 10'000}), 10'000),
                HasSubstr("directly from GPU to GPU"));
    EXPECT_THAT(ran(gpus_->make(1, GpuPeerCopy{0, way, true, 10'000}), 20'000), HasSubstr("both ways at once"));
  }
  emulated_host().peers_see_each_other = false;
  EXPECT_THAT(ran(gpus_->make(0, GpuPeerCopy{1, GpuPeerWay::copy_engine, false, 8}), 8),
              HasSubstr("through host memory"));
  EXPECT_THAT(gpus_->make(0, GpuPeerCopy{1, GpuPeerWay::kernel_read, false, 8}).reason,
              HasSubstr("do not see each other"));
}

TEST_F(EmulatedProbe, TooLargeBuffersAreTheMachinesFault) {
  try {
    static_cast<void>(gpus_->make(0, GpuMemory{GpuMemoryAccess::triad, std::size_t{17} << 30}));
    FAIL() << "17 GiB of 16";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
    EXPECT_THAT(error.what(), HasSubstr("CUDA: out of memory (while allocating 18253611008 bytes"));
  }
}

}  // namespace
}  // namespace sextant
