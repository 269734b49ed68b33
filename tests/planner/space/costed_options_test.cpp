// Options of one search for another: as bytes, and in its table.
#include "planner/space/costed_options.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "planner/search/search_run.h"
#include "sextant/error.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

using DeviceList = std::vector<std::uint16_t>;

// All that is offered, to whom it is handed on by hand.
class Mailbox final : public OptionExchange {
 public:
  void offer(const std::string& packed) override { offered.push_back(packed); }
  [[nodiscard]] std::vector<std::string> taken() override { return std::exchange(coming, {}); }

  std::vector<std::string> offered, coming;
};

// A search's table that shares what it has.
struct Sharer {
  explicit Sharer(const PlanRequest& request) : run(request, 0) {
    run.options().balance_load();
    run.options().share_through(mailbox);
  }
  [[nodiscard]] const std::vector<Option>& of(int task, const DeviceList& devices) {
    return run.options().of(task, devices);
  }

  SearchRun run;
  Mailbox mailbox;
};

// Compares options by their shapes: each table has its own positions.
void expect_same(const std::vector<Option>& a, SearchRun& of_a, const std::vector<Option>& b, SearchRun& of_b,
                 int task) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const ShapeTable &shapes_a = of_a.evaluator().shapes(task), &shapes_b = of_b.evaluator().shapes(task);
    EXPECT_EQ(shapes_a.at(a[i].shape), shapes_b.at(b[i].shape));
    EXPECT_EQ(shapes_a.at(a[i].even_shape), shapes_b.at(b[i].even_shape));
    EXPECT_EQ(a[i].dealing, b[i].dealing);
    EXPECT_EQ(a[i].order, b[i].order);
    EXPECT_EQ(a[i].value, b[i].value);
    EXPECT_EQ(a[i].weights_apart_s, b[i].weights_apart_s);
    EXPECT_EQ(a[i].weights_together_s, b[i].weights_together_s);
    EXPECT_EQ(a[i].by_type, b[i].by_type);
  }
}

DeviceList devices_between(int first, int last) {
  DeviceList devices(static_cast<std::size_t>(last - first));
  std::iota(devices.begin(), devices.end(), static_cast<std::uint16_t>(first));
  return devices;
}

class CostedOptionsTest : public ::testing::Test {
 protected:
  const Cluster cluster_ = mixed_64();
  const Workflow workflow_ = ppo_8b();
  const Coefficients neutral_{};
  const PlanRequest request_{cluster_, workflow_, neutral_};
};

// Also on devices of two types, where loads are dealt unevenly and memory is known by type.
TEST_F(CostedOptionsTest, WhatOneTableHasCostedAnotherHas) {
  Sharer first(request_), second(request_);
  std::map<std::pair<int, int>, DeviceList> sets;
  for (int task = 0; task < static_cast<int>(workflow_.tasks.size()); ++task) {
    for (const auto& [from, to] : {std::pair{0, 8}, {16, 32}, {20, 44}, {40, 64}, {0, 64}}) {
      sets[{task, 64 * from + to}] = devices_between(from, to);
      (void)first.of(task, devices_between(from, to));
    }
  }
  EXPECT_EQ(first.mailbox.offered.size(), sets.size());
  second.mailbox.coming = first.mailbox.offered;
  std::size_t unevenly = 0, by_type = 0;
  for (const auto& [key, devices] : sets) {
    const std::vector<Option>& known = second.of(key.first, devices);
    ASSERT_FALSE(known.empty());
    expect_same(known, second.run, first.of(key.first, devices), first.run, key.first);
    for (const Option& option : known) {
      if (option.shape != option.even_shape) ++unevenly;
      if (!option.by_type.empty()) ++by_type;
    }
  }
  EXPECT_GT(unevenly, 0U);
  EXPECT_GT(by_type, 0U);
  EXPECT_EQ(second.run.evaluator().asked(), 0U);
  EXPECT_TRUE(second.mailbox.offered.empty());
  EXPECT_EQ(second.run.options().heard().size(), sets.size());
  EXPECT_TRUE(second.run.options().heard().empty());  // once
}

// Options that both have evaluated stay as each has them, and are not received.
TEST_F(CostedOptionsTest, WhatATableHasIsNotReplaced) {
  Sharer first(request_), second(request_);
  const DeviceList devices = devices_between(0, 8);
  const std::vector<Option>* own = &second.of(0, devices);
  const std::size_t shapes = static_cast<std::size_t>(second.run.evaluator().shapes(0).size());
  (void)first.of(0, devices);
  second.mailbox.coming = first.mailbox.offered;
  EXPECT_TRUE(second.run.options().heard().empty());
  EXPECT_EQ(own, &second.of(0, devices));
  EXPECT_EQ(shapes, static_cast<std::size_t>(second.run.evaluator().shapes(0).size()));
}

// Sets of one kin: what the other looked at whole need not be looked at whole again.
TEST_F(CostedOptionsTest, KinIsLearntFromOthers) {
  std::vector<LinkException> links;
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < a; ++b)
      links.push_back({LinkScope::node,
                       "a100-z1-" + std::to_string(a),
                       "a100-z1-" + std::to_string(b),
                       {assumed(1e-4 * (a + b)), assumed(1e9 * (1 + a * b))}});
  }
  const Cluster cluster = cluster_of({{"a100", 5}}, links);
  const PlanRequest request{cluster, workflow_, neutral_};
  const int training = 4;
  const auto asked_after = [&](bool hears) {
    Sharer first(request), second(request);
    for (const int node : {1, 2, 3}) {
      DeviceList devices = devices_between(0, 8);
      for (int d = 0; d < 8; ++d) devices.push_back(static_cast<std::uint16_t>(8 * node + d));
      (void)first.of(training, devices);
    }
    if (hears) second.mailbox.coming = first.mailbox.offered;
    (void)second.of(training, devices_between(24, 40));
    return second.run.evaluator().asked();
  };
  EXPECT_LT(2 * asked_after(true), asked_after(false));
}

TEST_F(CostedOptionsTest, OfAnotherRequestAreRefused) {
  Sharer first(request_);
  (void)first.of(5, devices_between(56, 64));
  const Cluster small = cluster_of({{"a100", 1}});
  const PlanRequest of_fewer_devices{small, workflow_, neutral_};
  Sharer second(of_fewer_devices);
  second.mailbox.coming = first.mailbox.offered;
  EXPECT_THROW((void)second.of(0, devices_between(0, 8)), Error);

  CostedOptions costed = unpacked(first.mailbox.offered.front());
  costed.devices.pop_back();  // fewer than its shapes are for
  Sharer third(request_);
  third.mailbox.coming = {packed(costed)};
  EXPECT_THROW((void)third.run.options().heard(), Error);
  costed = unpacked(first.mailbox.offered.front());
  costed.task = 6;
  third.mailbox.coming = {packed(costed)};
  EXPECT_THROW((void)third.run.options().heard(), Error);
}

TEST_F(CostedOptionsTest, ABytesFewerOrMoreIsRefused) {
  Sharer first(request_);
  (void)first.of(4, devices_between(0, 8));
  const std::string& whole = first.mailbox.offered.front();
  EXPECT_EQ(packed(unpacked(whole)), whole);
  for (std::size_t length = 0; length < whole.size(); length += length < 200 ? 1 : 97)
    EXPECT_THROW((void)unpacked(whole.substr(0, length)), Error) << length;
  EXPECT_THROW((void)unpacked(whole + '\0'), Error);
}

// Whatever the bytes, they are refused or taken for some options; nothing else happens.
TEST_F(CostedOptionsTest, DamagedBytesDoNoHarm) {
  Sharer first(request_);
  (void)first.of(4, devices_between(20, 28));
  const std::string whole = first.mailbox.offered.front();
  std::mt19937_64 random(1);
  int refused = 0;
  constexpr int kTries = 20'000;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::string damaged = whole;
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n)
      damaged[random() % std::min<std::size_t>(damaged.size(), attempt % 2 == 0 ? 64 : damaged.size())] =
          static_cast<char>(random());
    try {
      (void)unpacked(damaged);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::machine);
      ++refused;
    }
  }
  EXPECT_GT(refused, kTries / 10);
  EXPECT_LT(refused, kTries);
}

}  // namespace
}  // namespace sextant::test
