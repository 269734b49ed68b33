// The hot loop of a search allocates nothing: candidates and moves whose parts were costed before. A program of
// its own, as it counts every allocation there is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "planner/evaluate/evaluator.h"
#include "tests/planner/planning_case.h"

namespace {

std::size_t allocations = 0;  // of this program's one thread

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  constexpr std::size_t kMinimum = alignof(std::max_align_t);
  alignment = std::max(alignment, kMinimum);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(bytes, 1); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace sextant::test {
namespace {

class Allocations : public ::testing::Test {
 protected:
  Allocations() { limits_.tensor_parallel_limit = 8; }
  [[nodiscard]] Candidate plan() { return random_candidate(random_, evaluator_, workflow_, cluster_, limits_); }
  // The allocations of an action that is done once more.
  template <typename Action>
  [[nodiscard]] static std::size_t of_again(Action action) {
    action();
    const std::size_t before = allocations;
    action();
    return allocations - before;
  }

  Cluster cluster_ = mixed_64();
  Workflow workflow_ = ppo_8b();
  Coefficients coefficients_;
  Evaluator evaluator_{{cluster_, workflow_, coefficients_}};
  std::mt19937 random_{1};
  ShapeLimits limits_;
};

TEST_F(Allocations, AreCounted) {
  EXPECT_GT(of_again([this] { (void)plan(); }), 0U);
}

TEST_F(Allocations, OfCandidatesThatWereCostedAreNone) {
  std::vector<Candidate> candidates;
  candidates.reserve(16);
  for (int i = 0; i < 16; ++i) candidates.push_back(plan());
  EXPECT_EQ(of_again([&] {
              for (const Candidate& candidate : candidates) (void)evaluator_.evaluate(candidate);
            }),
            0U);
}

TEST_F(Allocations, OfMovesThatWereTriedAreNone) {
  (void)evaluator_.evaluate(plan());
  const auto move_all = [this] {
    for (int task = 0; task < evaluator_.task_count(); ++task) {
      const int size = static_cast<int>(evaluator_.placement(task).devices.size());
      for (int first = 0; first + 1 < size; ++first) {
        evaluator_.swap_positions(task, first, first + 1);
        (void)evaluator_.score();
        evaluator_.undo();
      }
    }
  };
  EXPECT_EQ(of_again(move_all), 0U);
}

TEST_F(Allocations, OfMovesThatAreKeptAreNone) {
  (void)evaluator_.evaluate(plan());
  const auto there_and_back = [this] {
    for (int task = 0; task < evaluator_.task_count(); ++task) {
      const int size = static_cast<int>(evaluator_.placement(task).devices.size());
      for (int i = 0; size > 1 && i < 2; ++i) {
        evaluator_.swap_positions(task, 0, size - 1);
        (void)evaluator_.score();
        evaluator_.keep();
      }
    }
  };
  EXPECT_EQ(of_again(there_and_back), 0U);
}

}  // namespace
}  // namespace sextant::test
