#include "probes/host/blas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

namespace sextant {
namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// A thread that was joined may be listed for a moment longer: it is waited for.
bool has_fewer_threads_than(std::ptrdiff_t count) {
  constexpr int kPolls = 1000;
  for (int poll = 0; poll < kPolls && threads_of_this_process() >= count; ++poll)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return threads_of_this_process() < count;
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
    EXPECT_TRUE(has_fewer_threads_than(std::max<std::ptrdiff_t>(2, before)))
        << threads_of_this_process() << " threads, before " << before;
    EXPECT_EQ(product_of_ones(kSize), std::vector<double>(kSize * kSize, kSize));
  }
}

}  // namespace
}  // namespace sextant
