// A rank's place among the GPUs that NCCL joins, which never keeps its program waiting for ever: not while it
// joins, and not in a collective whose other ranks are gone.
//
// NCCL's own way is a communicator that never blocks (ncclCommInitRankConfig with blocking = 0, since 2.14). It
// is not taken: since 2.23 such a communicator starts a thread for every collective (ncclGroupEndInternal in
// NCCL's src/group.cc), which small messages and decode steps would be measured with, and which no framework
// pays by default. So NCCL joins by ncclCommInitRank, which every NCCL has, on a thread that is given up when
// time is over.
#pragma once

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "probes/gpu/libraries/nccl_library.h"

namespace sextant {

// Hundreds of ranks take some ten seconds.
inline constexpr double kNcclJoinLimit_s = 120;

struct NcclSeat {
  int ranks = 1;
  int rank = 0;
  NcclId id{};  // of rank 0, on all
};

class NcclCommunicator {
 public:
  // Collective over the ranks. `select` makes the rank's GPU current in the thread that calls it.
  // Error(machine) when NCCL refuses, or when the ranks have not come together within the limit; then the
  // thread that joins is left, and ends what it may still get. The library outlives all.
  NcclCommunicator(const NcclLibrary& nccl, const NcclSeat& seat, std::function<void()> select,
                   double limit_s = kNcclJoinLimit_s);
  // Waits for the other ranks as ncclCommDestroy does, but not on the way out of a failure.
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  [[nodiscard]] const NcclLibrary& nccl() const { return nccl_; }

  // Calls NCCL with the communicator; `call` returns NCCL's status. Error(machine) when that is bad or the
  // communicator was ended.
  template <typename Call>
  void use(const std::string& doing, Call call) {
    const std::lock_guard lock(mutex_);
    refuse_if_ended();
    nccl_.check(call(communicator_), doing);
  }

  // Ends it when NCCL reports an error that came after a call had returned. Error(machine) when there was one,
  // now or before.
  void check(const std::string& doing);

  // Frees the kernels that wait for other ranks; what was queued is void.
  void end(const std::string& why);

 private:
  void refuse_if_ended() const;                                        // these with mutex_ held
  [[nodiscard]] std::string reported_error(const std::string& doing);  // empty: none
  void end_locked(const std::string& why);

  const NcclLibrary& nccl_;
  std::function<void()> select_;
  int exceptions_;
  std::mutex mutex_;  // NCCL must not be called while it is ended
  NcclComm communicator_ = nullptr;
  std::string ended_;  // why; empty while it lives
};

// Looks after a communicator whose program waits where it cannot look itself (in a copy, for a stream): ends it
// when NCCL reports an error, so that the wait is over. For those, not for what is timed to the microsecond.
class NcclWatch {
 public:
  explicit NcclWatch(NcclCommunicator& communicator, double period_s = 0.1);

  // Why the first one of this process was ended; empty: none was. What its rank computed since is void.
  [[nodiscard]] static std::string first_failure();

 private:
  void look(const std::stop_token& stop, double period_s);

  NcclCommunicator& communicator_;
  std::jthread thread_;
};

}  // namespace sextant
