#include "probes/host/blas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <vector>

namespace sextant {
namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// Large enough for all threads.
std::vector<double> product_of_ones(int size) {
  const std::vector<double> ones(static_cast<std::size_t>(size) * static_cast<std::size_t>(size), 1.0);
  std::vector<double> product(ones.size());
  blas_gemm({"square", size, size, size, false}, ones.data(), ones.data(), product.data());
  return product;
}

TEST(Blas, HasNoThreadsThatWaitAndStartsThemWhereThereIsWork) {
  constexpr int kSize = 256;
  for (int time = 0; time < 2; ++time) {
    const std::ptrdiff_t before = threads_of_this_process();
    end_waiting_blas_threads();
    EXPECT_LT(threads_of_this_process(), std::max<std::ptrdiff_t>(2, before));
    EXPECT_EQ(product_of_ones(kSize), std::vector<double>(kSize * kSize, kSize));
  }
}

}  // namespace
}  // namespace sextant
