// A table of NCCL functions whose behaviour a test sets, without a GPU.
#pragma once

#include <atomic>
#include <future>

#include "probes/gpu/libraries/nccl_library.h"

namespace sextant {

// Only one may exist at a time: NCCL's functions have no object.
class FakeNccl {
 public:
  static constexpr int kSystemError = 2;
  static constexpr int kRemoteError = 6;

  FakeNccl() { current_ = this; }
  ~FakeNccl() { current_ = nullptr; }
  FakeNccl(const FakeNccl&) = delete;
  FakeNccl& operator=(const FakeNccl&) = delete;

  [[nodiscard]] NcclLibrary library() const {
    NcclLibrary nccl;
    nccl.init_rank = [](NcclComm* communicator, int ranks, NcclId, int) {
      current_->joined_ranks_ = ranks;
      if (current_->others_come_.valid()) current_->others_come_.wait();
      if (current_->join_status_ == kNcclSuccess) *communicator = current_->communicator();
      return current_->join_status_.load();
    };
    nccl.destroy = [](NcclComm) { return ++current_->destroyed_, kNcclSuccess; };
    nccl.abort = [](NcclComm) { return ++current_->aborted_, kNcclSuccess; };
    nccl.async_error = [](NcclComm, int* error) {
      ++current_->asked_;
      *error = current_->async_error_;
      return current_->ask_status_.load();
    };
    nccl.error_text = [](int status) {
      return status == kRemoteError ? "remote process exited" : "unhandled system error";
    };
    return nccl;
  }

  [[nodiscard]] NcclComm communicator() { return reinterpret_cast<NcclComm>(this); }

  // Joining returns this status, after the others have come if that is set.
  std::atomic<int> join_status_ = kNcclSuccess;
  std::shared_future<void> others_come_;
  std::atomic<int> async_error_ = kNcclSuccess;
  std::atomic<int> ask_status_ = kNcclSuccess;

  std::atomic<int> joined_ranks_ = 0;
  std::atomic<int> asked_ = 0;
  std::atomic<int> destroyed_ = 0;
  std::atomic<int> aborted_ = 0;

 private:
  inline static FakeNccl* current_ = nullptr;
};

}  // namespace sextant
