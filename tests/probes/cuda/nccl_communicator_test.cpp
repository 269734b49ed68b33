#include "probes/gpu/libraries/nccl_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "sextant/error.h"
#include "tests/probes/cuda/fake_nccl.h"

namespace sextant {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kShort_s = 0.05;
const NcclSeat kSeat{4, 2, {}};

void select_nothing() {}

template <typename Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
    return error.what();
  }
  return "";
}

// Within a time that no machine is too slow for.
template <typename Condition>
bool comes_true(Condition condition) {
  for (int look = 0; look < 1000 && !condition(); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

TEST(NcclCommunicator, JoinsAndIsDestroyed) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  int selected = 0;
  {
    NcclCommunicator communicator(nccl, kSeat, [&] { ++selected; });
    EXPECT_EQ(fake.joined_ranks_, 4);
    EXPECT_EQ(selected, 1);  // in the thread that joins
    communicator.use("summing", [&](NcclComm comm) { return comm == fake.communicator() ? kNcclSuccess : 1; });
    communicator.check("summing");
  }
  EXPECT_EQ(fake.destroyed_, 1);
  EXPECT_EQ(fake.aborted_, 0);
}

TEST(NcclCommunicator, ARefusalIsNcclsOwnText) {
  FakeNccl fake;
  fake.join_status_ = FakeNccl::kSystemError;
  const NcclLibrary nccl = fake.library();
  EXPECT_EQ(complaint_of([&] { const NcclCommunicator communicator(nccl, kSeat, select_nothing); }),
            "NCCL: unhandled system error (while joining 4 ranks)");
}

TEST(NcclCommunicator, AGpuThatCannotBeSelectedIsSaid) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  const auto select = [] { throw_machine_failed("CUDA: no device"); };
  EXPECT_EQ(complaint_of([&] { const NcclCommunicator communicator(nccl, kSeat, select); }), "CUDA: no device");
  EXPECT_EQ(fake.joined_ranks_, 0);
}

TEST(NcclCommunicator, DoesNotWaitForeverForARankThatNeverComes) {
  FakeNccl fake;
  std::promise<void> others;
  fake.others_come_ = others.get_future().share();
  const NcclLibrary nccl = fake.library();
  const std::string complaint =
      complaint_of([&] { const NcclCommunicator communicator(nccl, kSeat, select_nothing, kShort_s); });
  EXPECT_THAT(complaint,
              AllOf(HasSubstr("4 ranks did not connect within 50.0 ms"), HasSubstr("rank 2"),
                    HasSubstr("died or never started"), HasSubstr("NCCL_SOCKET_IFNAME"), Not(HasSubstr("\n"))));
  EXPECT_EQ(fake.aborted_, 0);
  // A communicator without a waiting rank is ended when it arrives later.
  others.set_value();
  EXPECT_TRUE(comes_true([&] { return fake.aborted_ == 1; }));
  EXPECT_EQ(fake.destroyed_, 0);
}

TEST(NcclCommunicator, AnAsynchronousErrorEndsIt) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  NcclCommunicator communicator(nccl, kSeat, select_nothing);
  fake.async_error_ = kNcclInProgress;
  communicator.check("summing");  // no error
  fake.async_error_ = FakeNccl::kRemoteError;
  const std::string said = "NCCL: remote process exited (while summing): another rank or the network failed";
  EXPECT_EQ(complaint_of([&] { communicator.check("summing"); }), said);
  EXPECT_EQ(fake.aborted_, 1);
  // From then on nothing reaches NCCL.
  const auto never = [](NcclComm) -> int { throw std::logic_error("used after its end"); };
  EXPECT_EQ(complaint_of([&] { communicator.use("gathering", never); }), said);
  EXPECT_EQ(complaint_of([&] { communicator.check("gathering"); }), said);
  EXPECT_EQ(fake.aborted_, 1);
}

TEST(NcclCommunicator, ThatNcclCannotBeAskedIsAnError) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  NcclCommunicator communicator(nccl, kSeat, select_nothing);
  fake.ask_status_ = FakeNccl::kSystemError;
  EXPECT_THAT(complaint_of([&] { communicator.check("summing"); }), HasSubstr("unhandled system error"));
  EXPECT_EQ(fake.aborted_, 1);
}

TEST(NcclCommunicator, ABadStatusIsThrownWithWhatWasDone) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  NcclCommunicator communicator(nccl, kSeat, select_nothing);
  EXPECT_EQ(complaint_of([&] { communicator.use("summing", [](NcclComm) { return FakeNccl::kRemoteError; }); }),
            "NCCL: remote process exited (while summing)");
}

TEST(NcclCommunicator, OnTheWayOutOfAFailureItDoesNotWaitForOthers) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  EXPECT_EQ(complaint_of([&] {
              const NcclCommunicator communicator(nccl, kSeat, select_nothing);
              throw_machine_failed("out of memory");
            }),
            "out of memory");
  EXPECT_EQ(fake.aborted_, 1);
  EXPECT_EQ(fake.destroyed_, 0);
}

TEST(NcclWatch, EndsWhatReportsAnErrorAndKeepsTheReason) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  NcclCommunicator communicator(nccl, kSeat, select_nothing);
  {
    const NcclWatch watch(communicator, 1e-3);
    EXPECT_TRUE(comes_true([&] { return fake.asked_ > 3; }));  // again and again
    EXPECT_EQ(fake.aborted_, 0);
    fake.async_error_ = FakeNccl::kRemoteError;
    EXPECT_TRUE(comes_true([&] { return fake.aborted_ == 1; }));
  }
  EXPECT_THAT(NcclWatch::first_failure(), HasSubstr("remote process exited (while waiting for other GPUs)"));
  EXPECT_NE(complaint_of([&] { communicator.check("summing"); }), "");
}

TEST(NcclWatch, StopsAtOnce) {
  FakeNccl fake;
  const NcclLibrary nccl = fake.library();
  NcclCommunicator communicator(nccl, kSeat, select_nothing);
  const auto start = std::chrono::steady_clock::now();
  { const NcclWatch watch(communicator, 60); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace sextant
