#include "probes/host/gemm_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using testing::HasSubstr;

// A millisecond a point: the values mean little, but everything runs.
ProbeContext tiny_context() {
  ProbeContext context;
  context.sampling = sampling_options(1e-3, 0.02);
  return context;
}

GemmShape odd_shape(bool transpose_b) { return {"odd", 33, 17, 65, transpose_b}; }

void expect_value(const ProbeResult& result) {
  EXPECT_TRUE(result.has_value()) << result.name << ": " << result.sentence;
  EXPECT_GT(result.value, 0) << result.name;
  EXPECT_TRUE(std::isfinite(result.value)) << result.name;
  EXPECT_FALSE(result.samples_s.empty()) << result.name;
}

TEST(MeasureGemm, SinglePrecision) {
  for (const bool transpose_b : {false, true}) {
    const ProbeResult result = measure_gemm(Precision::fp32, odd_shape(transpose_b), tiny_context());
    expect_value(result);
    EXPECT_EQ(result.name, "gemm/fp32/odd");
    EXPECT_EQ(result.work, 2.0 * 33 * 17 * 65);
    EXPECT_EQ(result.unit, "flop/s");
  }
}

TEST(MeasureGemm, DoublePrecision) {
  expect_value(measure_gemm(Precision::fp64, odd_shape(false), tiny_context()));
  expect_value(measure_gemm(Precision::fp64, odd_shape(true), tiny_context()));
}

TEST(MeasureGemm, WhatCpusDoNotHaveIsWaivedWithTheReason) {
  const ProbeResult result = measure_gemm(Precision::tf32, odd_shape(false), tiny_context());
  EXPECT_EQ(result.outcome, ProbeOutcome::waived);
  EXPECT_THAT(result.sentence, HasSubstr("tf32"));
}

TEST(MeasureGemm, WhatDoesNotFitIsWaivedWithTheReason) {
  ProbeContext context = tiny_context();
  context.memory_limit_bytes = 1000;
  const ProbeResult result = measure_gemm(Precision::fp32, odd_shape(false), context);
  EXPECT_EQ(result.outcome, ProbeOutcome::waived);
  EXPECT_THAT(result.sentence, HasSubstr("may take here"));
}

// All ranks measure or none does: one that could not makes the others waive too.
TEST(MeasureGemm, IsWaivedWhenAnotherRankCannot) {
  ProbeContext context = tiny_context();
  context.agreement = [](bool) { return false; };
  EXPECT_EQ(measure_gemm(Precision::fp32, odd_shape(false), context).outcome, ProbeOutcome::waived);
}

template <HalfFormat format>
void slow_half_gemm(const GemmShape& shape, const HalfBits* a, const HalfBits* b, float* c) {
  for (int row = 0; row < shape.m; ++row) {
    for (int column = 0; column < shape.n; ++column) {
      float sum = 0;
      for (int inner = 0; inner < shape.k; ++inner) {
        const int at_b = shape.transpose_b ? column * shape.k + inner : inner * shape.n + column;
        sum += from_half(a[row * shape.k + inner], format) * from_half(b[at_b], format);
      }
      c[row * shape.n + column] = sum;
    }
  }
}

TEST(MeasureHalfGemm, AcceptsARightProduct) {
  expect_value(
      measure_half_gemm(HalfFormat::bf16, &slow_half_gemm<HalfFormat::bf16>, odd_shape(true), tiny_context()));
  expect_value(
      measure_half_gemm(HalfFormat::fp16, &slow_half_gemm<HalfFormat::fp16>, odd_shape(false), tiny_context()));
}

// The operands are bf16 and the function takes them for fp16.
TEST(MeasureHalfGemm, AWrongProductFailsAndHasNoValue) {
  const ProbeResult result =
      measure_half_gemm(HalfFormat::bf16, &slow_half_gemm<HalfFormat::fp16>, odd_shape(false), tiny_context());
  EXPECT_EQ(result.outcome, ProbeOutcome::failed);
  EXPECT_EQ(result.value, 0);
}

TEST(MeasureHalfGemm, WithoutTheFunctionItIsWaivedByName) {
  const ProbeResult result = measure_half_gemm(HalfFormat::bf16, nullptr, odd_shape(false), tiny_context());
  EXPECT_EQ(result.outcome, ProbeOutcome::waived);
  EXPECT_THAT(result.sentence, HasSubstr("cblas_sbgemm"));
}

// Measured where the library has it and waived where not, but never anything else.
TEST(MeasureGemm, HalfPrecisionFollowsTheLoadedLibrary) {
  const ProbeResult result = measure_gemm(Precision::bf16, odd_shape(false), tiny_context());
  if (find_half_gemm(HalfFormat::bf16) == nullptr) {
    EXPECT_EQ(result.outcome, ProbeOutcome::waived);
  } else {
    expect_value(result);
  }
}

TEST(MeasureModelGemm, ReportsEveryShapeByName) {
  Model model;
  model.name = "small";
  model.hidden = 32;
  model.intermediate = 48;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_dim = 8;
  model.vocabulary = 100;
  const auto results = measure_model_gemm(model, 16, 2, 1e9, tiny_context());
  ASSERT_EQ(results.size(), 7U);
  EXPECT_EQ(results.front().name, "gemm/fp32/small/qkv");
  for (const ProbeResult& result : results) expect_value(result);
}

TEST(MeasureModelGemm, ShapesThatWouldTakeTooLongAreWaived) {
  Model model;
  model.name = "small";
  const auto results = measure_model_gemm(model, 16, 1, 1.0, tiny_context());
  for (const ProbeResult& result : results) {
    EXPECT_EQ(result.outcome, ProbeOutcome::waived);
    EXPECT_THAT(result.sentence, HasSubstr("too long"));
  }
}

TEST(GemmLibrary, SaysWhichItIs) { EXPECT_THAT(gemm_library(), HasSubstr("OpenBLAS")); }

}  // namespace
}  // namespace sextant
