// Options of tasks that share devices, against every choice of them.
#include "planner/sha_ea/best_packing.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

namespace sextant::test {
namespace {

Option option(double time_s, double resident_bytes, double working_bytes) {
  Option made;
  made.value.time_s = time_s;
  made.value.max_resident_bytes = resident_bytes;
  made.value.max_working_bytes = working_bytes;
  return made;
}

bool fits(const std::vector<Corner>& corners, const ChosenOptions& chosen) {
  for (const Corner& corner : corners) {
    double resident = 0, working = 0;
    for (const std::size_t task : corner.tasks) {
      const MemoryNeeds needs = chosen[task]->needs_on(corner.type);
      resident += needs.resident_bytes;
      working = std::max(working, needs.working_bytes);
    }
    if (resident + working > corner.free_memory_bytes) return false;
  }
  return true;
}

double time_of(const ChosenOptions& chosen) {
  double sum = 0;
  for (const Option* of_task : chosen) sum += of_task->value.time_s;
  return sum;
}

ChosenOptions fastest(const OptionLists& options) {
  ChosenOptions chosen;
  for (const auto* of_task : options) chosen.push_back(&of_task->front());
  return chosen;
}

// Infinite where nothing fits.
double best_s(const std::vector<Corner>& corners, const OptionLists& options) {
  double best = std::numeric_limits<double>::infinity();
  ChosenOptions chosen;
  const std::function<void()> choose = [&] {
    if (chosen.size() == options.size()) {
      if (fits(corners, chosen)) best = std::min(best, time_of(chosen));
      return;
    }
    for (const Option& next : *options[chosen.size()]) {
      chosen.push_back(&next);
      choose();
      chosen.pop_back();
    }
  };
  choose();
  return best;
}

// Twelve options for each task, fastest first.
std::vector<std::vector<Option>> random_lists(int tasks, std::mt19937& random) {
  std::uniform_real_distribution<double> drawn(0.5, 10);
  std::vector<std::vector<Option>> lists(static_cast<std::size_t>(tasks));
  for (auto& of_task : lists) {
    for (int o = 0; o < 12; ++o) of_task.push_back(option(drawn(random), drawn(random), drawn(random)));
    std::sort(of_task.begin(), of_task.end(),
              [](const Option& a, const Option& b) { return a.value.time_s < b.value.time_s; });
  }
  return lists;
}

TEST(ChooseFitting, TakesTheFastestWhereTheyFit) {
  const std::vector<Option> one{option(1, 10, 5), option(2, 1, 1)}, other{option(1, 20, 2)};
  const OptionLists options{&one, &other};
  ChosenOptions chosen = fastest(options);
  choose_fitting({{35, 0, {0, 1}}}, options, chosen);
  EXPECT_EQ(time_of(chosen), 2);
}

// One task works with much, the other holds much: either alone is in the way. What saves most for its time
// gives up the states, of which there is no need once the working bytes are capped.
TEST(ChooseFitting, LowersWhatTasksWorkWithTogether) {
  const std::vector<Option> one{option(4, 1, 20), option(4.5, 1, 2)};
  const std::vector<Option> other{option(4, 10, 20), option(4.5, 10, 2), option(9, 2, 2)};
  const OptionLists options{&one, &other};
  ChosenOptions chosen = fastest(options);
  choose_fitting({{14, 0, {0, 1}}}, options, chosen);
  EXPECT_EQ(time_of(chosen), 9);
}

// A stage on a large device is not held against the small ones.
TEST(ChooseFitting, AsksForEveryTypeWhatIsOnIt) {
  std::vector<Option> one{option(1, 50, 10), option(5, 10, 5)};
  one[0].by_type = {{50, 10}, {8, 2}};
  one[1].by_type = {{10, 5}, {10, 5}};
  const std::vector<Corner> corners{{80, 0, {0}}, {12, 1, {0}}};
  const OptionLists options{&one};
  ChosenOptions chosen = fastest(options);
  choose_fitting(corners, options, chosen);
  EXPECT_EQ(time_of(chosen), 1);
}

TEST(ChooseFitting, IsNearTheBestOfAllChoices) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> drawn(0.5, 10);
  int instances = 0, missed = 0, best_found = 0;
  double excess = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<std::vector<Option>> lists = random_lists(2 + round % 3, random);
    OptionLists options;
    for (const auto& of_task : lists) options.push_back(&of_task);
    std::vector<Corner> corners{{drawn(random) + 3.0 * static_cast<double>(lists.size()), 0, {0, 1}}};
    if (lists.size() > 2) corners.push_back({14, 0, {1, 2}});
    const double best = best_s(corners, options);
    ChosenOptions chosen = fastest(options);
    if (!std::isfinite(best) || fits(corners, chosen)) continue;
    ++instances;
    choose_fitting(corners, options, chosen);
    if (!fits(corners, chosen)) {
      ++missed;
      continue;
    }
    EXPECT_GE(time_of(chosen), best * (1 - 1e-12));
    best_found += time_of(chosen) <= best * (1 + 1e-12) ? 1 : 0;
    excess += time_of(chosen) / best - 1;
  }
  EXPECT_GT(instances, 200);
  EXPECT_LE(missed, instances / 50);
  EXPECT_GE(best_found, instances / 2);
  EXPECT_LE(excess / instances, 0.05);
}

TEST(ChooseBestFitting, IsTheBestOfAllChoices) {
  std::mt19937 random(12);
  std::uniform_real_distribution<double> drawn(0.5, 10);
  int found = 0, without = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<std::vector<Option>> lists = random_lists(2 + round % 3, random);
    OptionLists options;
    for (const auto& of_task : lists) options.push_back(&of_task);
    // Two corners of the same tasks, and one of a task of its own if there are four.
    const bool has_own = lists.size() == 4;
    std::vector<std::size_t> tasks;
    for (std::size_t t = 0; t < lists.size() - (has_own ? 1 : 0); ++t) tasks.push_back(t);
    std::vector<Corner> corners{{drawn(random) + 2.0 * static_cast<double>(tasks.size()), 0, tasks}};
    corners.push_back(corners.front());
    if (has_own) corners.push_back({6, 0, {3}});
    ChosenOptions chosen = fastest(options);
    const double best = best_s(corners, options);
    const bool is_found = choose_best_fitting(corners, options, chosen);
    ASSERT_EQ(is_found, std::isfinite(best));
    (is_found ? found : without) += 1;
    if (!is_found) continue;
    EXPECT_TRUE(fits(corners, chosen));
    EXPECT_NEAR(time_of(chosen), best, 1e-9 * best);
  }
  EXPECT_GT(found, 150);
  EXPECT_GT(without, 5);
}

TEST(ChooseBestFitting, LeavesTasksOfDifferentCornersToOthers) {
  const std::vector<Option> one{option(1, 10, 5)}, other{option(1, 20, 2)};
  const OptionLists options{&one, &other};
  ChosenOptions chosen = fastest(options);
  EXPECT_FALSE(choose_best_fitting({{50, 0, {0, 1}}, {50, 1, {0}}}, options, chosen));
}

}  // namespace
}  // namespace sextant::test
