#include "probes/cuda/lt_matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant {
namespace {

using testing::HasSubstr;

std::string complaint(const LtMatmulSpec& spec) {
  try {
    static_cast<void>(plan_lt_matmul(spec));
  } catch (const Error& error) {
    return error.kind() == ErrorKind::bad_input ? error.what() : "";
  }
  return "";
}

// Checked before any library is opened, so on every machine.
TEST(LtMatmul, RefusesWhatMakesNoSense) {
  LtMatmulSpec spec;
  spec.m = spec.n = spec.k = 16;
  LtMatmulSpec no_rows = spec;
  no_rows.m = 0;
  EXPECT_THAT(complaint(no_rows), HasSubstr("at least 1"));
  LtMatmulSpec narrow = spec;
  narrow.k = 32;
  narrow.lda = 31;
  EXPECT_THAT(complaint(narrow), HasSubstr("leading dimension of A is 31, less than its 32 columns"));
  narrow.lda = 0;
  narrow.transpose_b = true;
  narrow.ldb = 16;
  EXPECT_THAT(complaint(narrow), HasSubstr("leading dimension of B"));
  LtMatmulSpec doubles = spec;
  doubles.precision = Precision::fp64;
  EXPECT_THAT(complaint(doubles), HasSubstr("fp64"));
  LtMatmulSpec mixed = spec;
  mixed.output = Precision::fp16;
  EXPECT_THAT(complaint(mixed), HasSubstr("bf16 cannot be stored as fp16"));
}

}  // namespace
}  // namespace sextant
