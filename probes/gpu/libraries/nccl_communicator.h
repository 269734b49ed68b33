// A rank's membership in an NCCL communicator that never blocks the program for ever: neither while it joins,
// nor in a collective whose other ranks are gone.
//
// NCCL's own solution is a non-blocking communicator (ncclCommInitRankConfig with blocking = 0, since 2.14). It
// is not used: since 2.23 such a communicator starts a thread for every collective (ncclGroupEndInternal in
// NCCL's src/group.cc), which would add to the time of small messages and decode steps, and which no framework
// pays by default. So NCCL joins by ncclCommInitRank, which every NCCL has, on a thread that is abandoned after
// the timeout.
#pragma once

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "probes/gpu/libraries/nccl_library.h"

namespace sextant::inline probes {

// Hundreds of ranks take some ten seconds.
inline constexpr double kNcclJoinLimit_s = 120;

struct NcclSeat {
  int ranks = 1;
  int rank = 0;
  NcclId id{};  // rank 0's, on all ranks
};

class NcclCommunicator {
 public:
  // Collective over the ranks. `select` makes the rank's GPU current in the calling thread. Throws
  // Error(machine) if NCCL refuses, or if the ranks have not joined within the limit; then the joining thread
  // is abandoned, and destroys a communicator that it may still get. The library outlives all.
  NcclCommunicator(const NcclLibrary& nccl, const NcclSeat& seat, std::function<void()> select,
                   double limit_s = kNcclJoinLimit_s);
  // Waits for the other ranks as ncclCommDestroy does, except during unwinding from a failure.
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  [[nodiscard]] const NcclLibrary& nccl() const { return nccl_; }

  // Calls NCCL with the communicator; `call` returns NCCL's status. Throws Error(machine) on a bad status or if
  // the communicator was aborted.
  template <typename Call>
  void use(const std::string& doing, Call call) {
    const std::lock_guard lock(mutex_);
    refuse_if_ended();
    nccl_.check(call(communicator_), doing);
  }

  // Aborts it if NCCL reports an error that occurred after a call had returned. Throws Error(machine) if there
  // was one, now or before.
  void check(const std::string& doing);

  // Frees the kernels that wait for other ranks; queued work is invalid.
  void end(const std::string& why);

 private:
  void refuse_if_ended() const;                                        // both with mutex_ held
  [[nodiscard]] std::string reported_error(const std::string& doing);  // empty: none
  void end_locked(const std::string& why);

  const NcclLibrary& nccl_;
  std::function<void()> select_;
  int exceptions_;
  std::mutex mutex_;  // NCCL must not be called during the abort
  NcclComm communicator_ = nullptr;
  std::string ended_;  // the reason; empty while it is usable
};

// Monitors a communicator while its program waits in a call that cannot check it (a copy, a stream): aborts it
// if NCCL reports an error, so that the wait ends. Not for measurements timed to the microsecond.
class NcclWatch {
 public:
  explicit NcclWatch(NcclCommunicator& communicator, double period_s = 0.1);

  // The reason why this process's first communicator was aborted, or empty. Its rank's later results are void.
  [[nodiscard]] static std::string first_failure();

 private:
  void look(const std::stop_token& stop, double period_s);

  NcclCommunicator& communicator_;
  std::jthread thread_;
};

}  // namespace sextant::inline probes
