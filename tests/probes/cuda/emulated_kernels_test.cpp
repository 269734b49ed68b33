// The probe's own kernels and how they are launched, translated to C++: every element is touched once, and what
// checks a result finds one wrong element wherever it is.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "probes/cuda/kernels.h"
#include "probes/cuda/memory_kernels.h"

namespace sextant::gpu {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::uint32_t kUntouched = 0x5eed5eed;

std::vector<uint4> words(std::size_t count, std::uint64_t seed) {
  std::vector<uint4> values(count);
  fill_words(values.data(), count, seed, nullptr);
  return values;
}

std::uint32_t folded(const std::vector<uint4>& values) {
  std::uint32_t all = 0;
  for (const uint4& word : values) all ^= word.x ^ word.y ^ word.z ^ word.w;
  return all;
}

// Less than a block, a block and one more, many blocks with a rest.
const std::size_t kCounts[] = {1, 1023, 2049, 100'003};

TEST(EmulatedCopy, MovesEveryWordAndNoOther) {
  for (const bool is_deep : {false, true}) {
    for (const std::size_t count : kCounts) {
      const std::vector<uint4> from = words(count, 1);
      std::vector<uint4> to(count + kGuard, make_uint4(kUntouched, 0, 0, 0));
      copy_words(from.data(), to.data(), count, is_deep, nullptr);
      std::uint32_t differences = 0;
      count_differences(from.data(), to.data(), count, &differences, nullptr);
      EXPECT_EQ(differences, 0U) << count;
      for (std::size_t at = count; at < to.size(); ++at) ASSERT_EQ(to[at].x, kUntouched) << count;
      to[count - 1].w ^= 1;
      count_differences(from.data(), to.data(), count, &differences, nullptr);
      EXPECT_EQ(differences, 1U);
    }
  }
}

TEST(EmulatedRead, FoldsEveryWordOnce) {
  emulated_limit_blocks(16);          // a GPU's 8192 take seconds
  const std::size_t count = 100'001;  // three times all threads with their loads in flight, and a rest
  const std::vector<uint4> values = words(count, 2);
  std::uint32_t piecewise = 0;
  xor_words_piecewise(values.data(), count, &piecewise, nullptr);
  EXPECT_EQ(piecewise, folded(values));
  std::uint32_t plain = 0;
  xor_words(values.data(), count, false, &plain, nullptr);
  EXPECT_EQ(plain, piecewise);
  std::uint32_t deep = 0;
  xor_words(values.data(), count, true, &deep, nullptr);
  EXPECT_EQ(deep, piecewise);
  emulated_limit_blocks(0);
}

TEST(EmulatedWrite, DependsOnPlaceAndSeedAndIsChecked) {
  for (const std::size_t count : kCounts) {
    std::vector<uint4> values(count + kGuard, make_uint4(kUntouched, 0, 0, 0));
    write_words(values.data(), count, 7, nullptr);
    EXPECT_EQ(values[count].x, kUntouched);
    std::uint32_t wrong = 0;
    count_wrong_words(values.data(), count, 7, &wrong, nullptr);
    EXPECT_EQ(wrong, 0U);
    values[count / 2].z ^= 1;
    count_wrong_words(values.data(), count, 7, &wrong, nullptr);
    EXPECT_EQ(wrong, 1U);
    wrong = 0;
    count_wrong_words(values.data(), count, 8, &wrong, nullptr);
    EXPECT_EQ(wrong, count);
  }
}

TEST(EmulatedTriad, IsBPlusThreeC) {
  const std::size_t count = 5001;
  std::vector<float> a(4 * (count + kGuard), -1.0F), b(4 * count), c(4 * count);
  fill_matrix(b.data(), Element::fp32, b.size(), 3, nullptr);
  fill_matrix(c.data(), Element::fp32, c.size(), 4, nullptr);
  const auto as4 = [](std::vector<float>& values) { return reinterpret_cast<float4*>(values.data()); };
  triad(as4(a), as4(b), as4(c), count, nullptr);
  for (const std::size_t at : {std::size_t{0}, std::size_t{4099}, 4 * count - 1}) {
    EXPECT_FLOAT_EQ(a[at], b[at] + 3 * c[at]);
  }
  EXPECT_EQ(a[4 * count], -1.0F);
  std::uint32_t wrong = 0;
  count_wrong_triads(as4(a), as4(b), as4(c), count, &wrong, nullptr);
  EXPECT_EQ(wrong, 0U);
  a[5] += 1e-3F;
  a[4 * count - 1] = NAN;
  count_wrong_triads(as4(a), as4(b), as4(c), count, &wrong, nullptr);
  EXPECT_EQ(wrong, 2U);
}

TEST(EmulatedFill, IsUniformAndTheSameForASeed) {
  const std::size_t count = 700'001;  // more than there are threads
  std::vector<float> values(count), again(count), other(count);
  fill_matrix(values.data(), Element::fp32, count, 5, nullptr);
  fill_matrix(again.data(), Element::fp32, count, 5, nullptr);
  fill_matrix(other.data(), Element::fp32, count, 6, nullptr);
  EXPECT_EQ(values, again);
  EXPECT_NE(values, other);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 1);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / static_cast<double>(count), 0, 5e-3);
  EXPECT_NEAR(squares / static_cast<double>(count), 1.0 / 3, 5e-3);
  EXPECT_EQ(std::set<float>(values.end() - 100, values.end()).size(), 100U);  // to the last element
}

template <typename T>
std::vector<T> matrix(Element element, std::size_t count, std::uint64_t seed) {
  EXPECT_EQ(bytes_of(element), sizeof(T));
  std::vector<T> values(count);
  fill_matrix(values.data(), element, count, seed, nullptr);
  return values;
}
float number(float value) { return value; }
float number(__nv_bfloat16 value) { return __bfloat162float(value); }
float number(__half value) { return __half2float(value); }
float number(__nv_fp8_e4m3 value) { return static_cast<float>(value); }
void set(float& to, float value) { to = value; }
void set(__nv_bfloat16& to, float value) { to = __float2bfloat16(value); }
void set(__half& to, float value) { to = __float2half(value); }

// A product by three loops, in the order of the sizes' names; checked, and with one row spoilt checked again.
template <typename In, typename Out>
void expect_products_are_checked(Element operands, Element result, bool transpose_b) {
  const int m = 24, n = 40, k = 48;
  const auto at = [](int row, int columns, int column) {
    return static_cast<std::size_t>(row * columns + column);
  };
  const std::vector<In> a = matrix<In>(operands, at(m, k, 0), 1);
  const std::vector<In> b = matrix<In>(operands, at(k, n, 0), 2);
  std::vector<Out> d(at(m, n, 0));
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int inner = 0; inner < k; ++inner) {
        sum += static_cast<double>(number(a[at(row, k, inner)])) *
               number(b[transpose_b ? at(column, k, inner) : at(inner, n, column)]);
      }
      set(d[at(row, n, column)], static_cast<float>(sum));
    }
  }
  const Product product{a.data(), b.data(), d.data(), operands, result, m, n, k, transpose_b};
  std::uint32_t wrong = 0;
  count_wrong_products(product, 300, 1e-5, 1e-2, &wrong, nullptr);
  EXPECT_EQ(wrong, 0U);
  Product other = product;
  other.transpose_b = !transpose_b;
  count_wrong_products(other, 300, 1e-5, 1e-2, &wrong, nullptr);
  EXPECT_GT(wrong, 250U) << "B the other way round";
  for (int column = 0; column < n; ++column) set(d[at(3, n, column)], NAN);
  wrong = 0;
  count_wrong_products(product, 300, 1e-5, 1e-2, &wrong, nullptr);
  EXPECT_GT(wrong, 0U);
  EXPECT_LT(wrong, 60U) << "one row of 24";
}

TEST(EmulatedProducts, AreSummedAgainInEveryPrecision) {
  for (const bool transpose_b : {false, true}) {
    expect_products_are_checked<float, float>(Element::fp32, Element::fp32, transpose_b);
    expect_products_are_checked<__nv_bfloat16, __nv_bfloat16>(Element::bf16, Element::bf16, transpose_b);
    expect_products_are_checked<__half, __half>(Element::fp16, Element::fp16, transpose_b);
    expect_products_are_checked<__nv_fp8_e4m3, __nv_bfloat16>(Element::fp8, Element::bf16, transpose_b);
  }
}

TEST(EmulatedGate, OpensWithItsFlagOrByItself) {
  const std::uint32_t open = 1, closed = 0;
  wait_for_flag(&open, 1e9, nullptr);
  wait_for_flag(&closed, 1e-3, nullptr);
  do_nothing(nullptr);
}

// The stand-ins themselves, by hand.
TEST(EmulatedTypes, RoundToNearestTiesToEven) {
  EXPECT_EQ(__float2half(1.0F).bits, 0x3c00);
  EXPECT_EQ(__float2half(-2.0F).bits, 0xc000);
  EXPECT_EQ(__float2half(65504.0F).bits, 0x7bff);
  EXPECT_EQ(__float2half(65520.0F).bits, 0x7c00);
  EXPECT_EQ(__float2half(0x1p-24F).bits, 0x0001);
  EXPECT_EQ(__float2half(0x1p-14F).bits, 0x0400);
  EXPECT_EQ(__float2half(1.0F + 0x1p-11F).bits, 0x3c00);
  EXPECT_EQ(__float2half(1.0F + 3 * 0x1p-11F).bits, 0x3c02);
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const __half value{static_cast<std::uint16_t>(bits)};
    ASSERT_EQ(__float2half(__half2float(value)).bits, bits);
  }
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(448.0F)), 448.0F);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(1e9F)), 448.0F);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(-0.001953125F)), -0.001953125F);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(1.0625F)), 1.0F);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(1.1875F)), 1.25F);
}

}  // namespace
}  // namespace sextant::gpu
