// Products over a fake cuBLASLt: what is described to it is what a row-major product means, and the fastest of
// what it offers is kept.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "probes/cuda/lt_descriptors.h"
#include "probes/cuda/lt_matmul.h"
#include "sextant/error.h"
#include "tests/probes/cuda/fake_cublas_lt.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LtProducts : public testing::Test {
 protected:
  void SetUp() override {
    const int handles = fake_cublas_lt().handles;  // live as long as the program
    fake_cublas_lt() = {};
    fake_cublas_lt().handles = handles;
  }
  void TearDown() override {
    EXPECT_EQ(fake_cublas_lt().open_objects, 0);
    EXPECT_EQ(fake_cublas_lt().open_events, 0);
  }
  static LtMatmulOrReason plan(const LtMatmulSpec& spec) {
    return plan_lt_matmul(fake_cublas_lt_library(), spec);
  }
  static LtMatmulSpec small() {
    LtMatmulSpec spec;
    spec.m = 3;
    spec.n = 5;
    spec.k = 4;
    return spec;
  }
};

template <typename T>
T as(float value) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return __float2bfloat16(value);
  if constexpr (std::is_same_v<T, __half>) return __float2half(value);
  if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) return __nv_fp8_e4m3(value);
  if constexpr (std::is_same_v<T, float>) return value;
}
float number(__nv_bfloat16 value) { return __bfloat162float(value); }
float number(__half value) { return __half2float(value); }
float number(__nv_fp8_e4m3 value) { return static_cast<float>(value); }
float number(float value) { return value; }

// Small whole numbers, so that every precision has them exactly; what lies between rows and batches is not one.
template <typename T>
struct Matrices {
  Matrices(int batch, int rows, int columns, std::int64_t ld, std::int64_t stride_, int seed)
      : leading(ld == 0 ? columns : ld), stride(stride_) {
    values.assign(static_cast<std::size_t>((batch - 1) * stride + rows * leading), as<T>(NAN));
    for (int i = 0; i < batch; ++i) {
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
          at(i, row, column) = as<T>(static_cast<float>((7 * i + 3 * row + 5 * column + seed) % 7 - 3));
        }
      }
    }
  }
  T& at(int batch, int row, int column) {
    return values[static_cast<std::size_t>(batch * stride + row * leading + column)];
  }
  std::int64_t leading, stride;
  std::vector<T> values;
};

// alpha 2, beta 1: D and C are what they were.
template <typename In, typename Out>
void expect_product(const LtMatmulSpec& spec) {
  Matrices<In> a(spec.batch, spec.transpose_a ? spec.k : spec.m, spec.transpose_a ? spec.m : spec.k, spec.lda,
                 spec.stride_a, 1);
  Matrices<In> b(spec.batch, spec.transpose_b ? spec.n : spec.k, spec.transpose_b ? spec.k : spec.n, spec.ldb,
                 spec.stride_b, 2);
  Matrices<Out> c(spec.batch, spec.m, spec.n, spec.ldc, spec.stride_c, 3);
  Matrices<Out> d(spec.batch, spec.m, spec.n, spec.ldd, spec.stride_d, 4);
  const LtMatmulOrReason planned = plan_lt_matmul(fake_cublas_lt_library(), spec);
  ASSERT_NE(planned.matmul, nullptr) << planned.reason;
  planned.matmul->execute({a.values.data(), b.values.data(), c.values.data(), d.values.data()}, 2, 1, {},
                          nullptr);
  for (int i = 0; i < spec.batch; ++i) {
    for (int row = 0; row < spec.m; ++row) {
      for (int column = 0; column < spec.n; ++column) {
        float sum = number(c.at(i, row, column));
        for (int k = 0; k < spec.k; ++k) {
          sum += 2 * number(spec.transpose_a ? a.at(i, k, row) : a.at(i, row, k)) *
                 number(spec.transpose_b ? b.at(i, column, k) : b.at(i, k, column));
        }
        ASSERT_EQ(number(d.at(i, row, column)), sum) << i << ": " << row << ", " << column;
      }
    }
  }
}

TEST_F(LtProducts, AreRowMajorWhicheverWayTheOperandsLie) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      LtMatmulSpec spec = small();
      spec.transpose_a = transpose_a;
      spec.transpose_b = transpose_b;
      expect_product<__nv_bfloat16, __nv_bfloat16>(spec);
      spec.lda = 9;
      spec.ldb = 10;
      spec.ldc = 6;
      spec.ldd = 7;
      expect_product<__nv_bfloat16, __nv_bfloat16>(spec);
      spec.batch = 3;
      spec.stride_a = 50;
      spec.stride_b = 60;
      spec.stride_c = 25;
      spec.stride_d = 30;
      expect_product<__nv_bfloat16, __nv_bfloat16>(spec);
    }
  }
}

TEST_F(LtProducts, HaveTheTypesOfTheirPrecision) {
  LtMatmulSpec spec = small();
  spec.transpose_b = true;
  const auto with = [&](Precision operands, Precision output) {
    spec.precision = operands;
    spec.output = output;
    return spec;
  };
  expect_product<__nv_bfloat16, float>(with(Precision::bf16, Precision::fp32));
  expect_product<__half, __half>(with(Precision::fp16, Precision::fp16));
  expect_product<__half, float>(with(Precision::fp16, Precision::fp32));
  expect_product<__nv_fp8_e4m3, __nv_bfloat16>(with(Precision::fp8, Precision::bf16));
  expect_product<float, float>(with(Precision::fp32, Precision::fp32));
  EXPECT_EQ(fake_cublas_lt().compute, CUBLAS_COMPUTE_32F);
  expect_product<float, float>(with(Precision::tf32, Precision::fp32));
  EXPECT_EQ(fake_cublas_lt().compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(fake_cublas_lt().scale, CUDA_R_32F);
}

TEST_F(LtProducts, WithoutACAreAddedToD) {
  LtMatmulSpec spec = small();
  spec.precision = spec.output = Precision::fp32;
  Matrices<float> a(1, 3, 4, 0, 0, 1), b(1, 4, 5, 0, 0, 2), d(1, 3, 5, 0, 0, 3);
  const float before = d.at(0, 1, 2);
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += a.at(0, 1, k) * b.at(0, k, 2);
  plan(spec).matmul->execute({a.values.data(), b.values.data(), nullptr, d.values.data()}, 1, 3, {}, nullptr);
  EXPECT_EQ(d.at(0, 1, 2), sum + 3 * before);
}

TEST_F(LtProducts, AskForTheirWorkspaceAlignmentAndCandidates) {
  LtMatmulSpec spec = small();
  spec.workspace_bytes = 12345;
  spec.alignment_bytes = 64;
  spec.candidates = 7;
  static_cast<void>(plan(spec));
  EXPECT_EQ(fake_cublas_lt().asked_workspace_bytes, 12345U);
  EXPECT_THAT(fake_cublas_lt().asked_alignments, ElementsAre(64U, 64U, 64U, 64U));
  EXPECT_EQ(fake_cublas_lt().asked_candidates, 7);
}

TEST_F(LtProducts, ADeviceHasOneHandle) {
  fake_cublas_lt().device = 5;
  const int before = fake_cublas_lt().handles;
  static_cast<void>(plan(small()));
  static_cast<void>(plan(small()));
  EXPECT_EQ(fake_cublas_lt().handles, before + 1);
  fake_cublas_lt().device = 6;
  static_cast<void>(plan(small()));
  EXPECT_EQ(fake_cublas_lt().handles, before + 2);
}

TEST_F(LtProducts, WithoutAnAlgorithmSayWhichProduct) {
  for (const cublasStatus_t status : {CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE}) {
    fake_cublas_lt().finding = status;
    const LtMatmulOrReason none = plan(small());
    EXPECT_EQ(none.matmul, nullptr);
    EXPECT_EQ(none.reason, "cuBLASLt has no algorithm for a product in bf16 of 3 x 5 x 4 on this GPU");
  }
  fake_cublas_lt().finding = CUBLAS_STATUS_SUCCESS;
  fake_cublas_lt().algorithms = {{1e-3, 0, true}};
  EXPECT_THAT(plan(small()).reason, HasSubstr("no algorithm")) << "one that is offered with an error";
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

TEST_F(LtProducts, FailuresOfTheLibraryAreTheMachines) {
  fake_cublas_lt().finding = CUBLAS_STATUS_ALLOC_FAILED;
  EXPECT_THAT(failure([] { static_cast<void>(plan(small())); }, ErrorKind::machine),
              HasSubstr("(while asking for algorithms)"));
  fake_cublas_lt().finding = CUBLAS_STATUS_SUCCESS;
  fake_cublas_lt().device = 9;
  fake_cublas_lt().refuses_to_start = true;
  EXPECT_THAT(failure([] { static_cast<void>(plan(small())); }, ErrorKind::machine),
              HasSubstr("(while starting cuBLASLt)"));
  fake_cublas_lt().refuses_to_start = false;
  fake_cublas_lt().algorithms[0].fails_when_run = true;
  const LtMatmulOrReason planned = plan(small());
  EXPECT_EQ(failure([&] { planned.matmul->execute({}, 1, 0, {}, nullptr); }, ErrorKind::machine),
            "cuBLASLt: the GPU program failed to execute (while multiplying matrices)");
}

TEST_F(LtProducts, AWorkspaceSmallerThanPlannedIsRefused) {
  fake_cublas_lt().algorithms[0].workspace_bytes = 1000;
  const LtMatmulOrReason planned = plan(small());
  char workspace[999];
  EXPECT_THAT(failure(
                  [&] {
                    planned.matmul->execute({}, 1, 0, {workspace, sizeof workspace}, nullptr);
                  },
                  ErrorKind::bad_input),
              HasSubstr("planned with a workspace of 1000 bytes, not 999"));
  EXPECT_TRUE(fake_cublas_lt().runs.empty());
}

// Numbered as found, without those that are offered with an error.
TEST_F(LtProducts, ASearchKeepsTheFastestThatWorks) {
  LtMatmulSpec spec = small();
  spec.candidates = 8;
  fake_cublas_lt().algorithms = {{3e-3}, {1e-5, 0, true}, {2e-3}, {1e-4, 0, false, true}, {5e-3}};
  const LtMatmulOrReason planned = plan(spec);
  EXPECT_EQ(planned.matmul->algorithm(), "algorithm 40, tile 20, split-k 1");
  Matrices<__nv_bfloat16> a(1, 3, 4, 0, 0, 1), b(1, 4, 5, 0, 0, 2), d(1, 3, 5, 0, 0, 3);
  const LtOperands operands{a.values.data(), b.values.data(), nullptr, d.values.data()};
  constexpr double kNoEnd_s = 1e9;  // of the host's clock
  planned.matmul->search(operands, 1, 0, {}, nullptr, 2e-3, kNoEnd_s);
  EXPECT_EQ(planned.matmul->algorithm(), "algorithm 42, tile 22, split-k 1; number 2 of 3 tried");
  fake_cublas_lt().runs.clear();
  planned.matmul->execute(operands, 1, 0, {}, nullptr);
  EXPECT_THAT(fake_cublas_lt().runs, ElementsAre(2));
}

TEST_F(LtProducts, ASearchInWhichAllFailIsTheMachinesFault) {
  LtMatmulSpec spec = small();
  spec.candidates = 2;
  fake_cublas_lt().algorithms = {{1e-3, 0, false, true}, {1e-3, 0, false, true}};
  const LtMatmulOrReason planned = plan(spec);
  EXPECT_THAT(failure([&] { planned.matmul->search({}, 1, 0, {}, nullptr); }, ErrorKind::machine),
              HasSubstr("every algorithm tried for a matrix product failed"));
}

}  // namespace
}  // namespace sextant
