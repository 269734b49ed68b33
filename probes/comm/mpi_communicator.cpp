#include "probes/comm/mpi_communicator.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <list>
#include <thread>

#include "probes/comm/host_name.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// MPI counts are int, so longer messages travel in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;
// wait_quietly first polls this long (ranks that arrive together do not pay a nap), then naps.
constexpr auto kPollingPhase = std::chrono::microseconds(50);
constexpr auto kNap = std::chrono::microseconds(100);

int as_count(std::size_t length) {
  SEXTANT_CHECK(length <= kPiece);
  return static_cast<int>(length);
}

template <typename T, typename Action>
void in_pieces(std::span<T> values, Action action) {
  for (std::size_t done = 0; done < values.size(); done += kPiece) {
    action(values.subspan(done, std::min(kPiece, values.size() - done)));
  }
}

MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

// Polls, as blocking calls do; the clock is asked now and then. What is late is given up: nobody waits for it
// any more, but MPI may still be at work on its memory.
bool is_done_within(MPI_Request& request, double limit_s) {
  constexpr int kPollsBetweenLooks = 64;
  const double end_s = MPI_Wtime() + limit_s;
  int done = 0;
  for (;;) {
    for (int poll = 0; poll < kPollsBetweenLooks; ++poll) {
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "waiting for a message");
      if (done != 0) return true;
    }
    if (MPI_Wtime() >= end_s) break;
  }
  MPI_Cancel(&request);
  MPI_Request_free(&request);
  return false;
}

class MpiCommunicator final : public Communicator {
 public:
  // Takes over `comm`.
  explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "setting the error handler");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "asking for the rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "asking for the number of ranks");
  }

  ~MpiCommunicator() override {
    // A destructor must not throw; a failed transport has been reported by the call that met it.
    for (Pending& pending : pending_) MPI_Wait(&pending.request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void barrier() override { check_mpi(MPI_Barrier(comm_), "barrier"); }
  void wait_quietly() override;

  void all_reduce_sum(std::span<float> values) override { all_reduce(values, MPI_SUM); }
  void all_reduce_sum(std::span<double> values) override { all_reduce(values, MPI_SUM); }
  void all_reduce_max(std::span<float> values) override { all_reduce(values, MPI_MAX); }
  void all_reduce_max(std::span<double> values) override { all_reduce(values, MPI_MAX); }
  void all_gather(std::span<const float> mine, std::span<float> all) override { gather(mine, all); }
  void all_gather(std::span<const double> mine, std::span<double> all) override { gather(mine, all); }

  void reduce_scatter_sum(std::span<const float> all, std::span<float> mine) override {
    SEXTANT_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size_));
    check_mpi(
        MPI_Reduce_scatter_block(all.data(), mine.data(), as_count(mine.size()), MPI_FLOAT, MPI_SUM, comm_),
        "reduce-scatter");
  }
  void all_to_all(std::span<const float> sent, std::span<float> received) override {
    SEXTANT_CHECK(sent.size() == received.size());
    const int count = as_count(sent.size() / static_cast<std::size_t>(size_));
    check_mpi(MPI_Alltoall(sent.data(), count, MPI_FLOAT, received.data(), count, MPI_FLOAT, comm_),
              "all-to-all");
  }

  void broadcast(std::span<std::byte> values, int root) override {
    in_pieces(values, [&](std::span<std::byte> piece) {
      check_mpi(MPI_Bcast(piece.data(), as_count(piece.size()), MPI_BYTE, root, comm_), "broadcast");
    });
  }
  void send(std::span<const std::byte> values, int to, int tag) override {
    in_pieces(values, [&](std::span<const std::byte> piece) {
      check_mpi(MPI_Send(piece.data(), as_count(piece.size()), MPI_BYTE, to, tag, comm_), "send");
    });
  }
  void receive(std::span<std::byte> values, int from, int tag) override {
    in_pieces(values, [&](std::span<std::byte> piece) { receive_piece(piece, from, tag); });
  }
  bool send_within(std::span<const std::byte> values, int to, int tag, double limit_s) override;
  bool receive_within(std::span<std::byte> values, int from, int tag, double limit_s) override;
  bool has_message(int from, int tag) override {
    int has_come = 0;
    check_mpi(MPI_Iprobe(from, tag, comm_, &has_come, MPI_STATUS_IGNORE), "looking for a message");
    return has_come != 0;
  }
  void send_buffered(std::span<const std::byte> values, int to, int tag) override;
  void finish_sends() override;

  [[nodiscard]] std::unique_ptr<Communicator> split(int colour, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm_, colour < 0 ? MPI_UNDEFINED : colour, key, &part), "split");
    return part == MPI_COMM_NULL ? nullptr : std::make_unique<MpiCommunicator>(part);
  }
  [[nodiscard]] std::vector<std::string> hosts() override;

 private:
  struct Pending {
    std::vector<std::byte> buffer;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  template <typename T>
  void all_reduce(std::span<T> values, MPI_Op operation) {
    in_pieces(values, [&](std::span<T> piece) {
      check_mpi(
          MPI_Allreduce(MPI_IN_PLACE, piece.data(), as_count(piece.size()), type_of(T{}), operation, comm_),
          "all-reduce");
    });
  }
  template <typename T>
  void gather(std::span<const T> mine, std::span<T> all) {
    SEXTANT_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size_));
    const int count = as_count(mine.size());
    check_mpi(MPI_Allgather(mine.data(), count, type_of(T{}), all.data(), count, type_of(T{}), comm_),
              "all-gather");
  }
  void receive_piece(std::span<std::byte> piece, int from, int tag);
  void reclaim_finished_sends();

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  std::list<Pending> pending_;
  std::list<Pending> spare_;  // finished, kept for their buffers
};

void MpiCommunicator::wait_quietly() {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm_, &request), "quiet barrier");
  const auto start = std::chrono::steady_clock::now();
  int done = 0;
  while (true) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "quiet barrier");
    if (done != 0) return;
    if (std::chrono::steady_clock::now() - start > kPollingPhase) std::this_thread::sleep_for(kNap);
  }
}

void MpiCommunicator::receive_piece(std::span<std::byte> piece, int from, int tag) {
  MPI_Status status;
  check_mpi(MPI_Recv(piece.data(), as_count(piece.size()), MPI_BYTE, from, tag, comm_, &status), "receive");
  int received = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &received), "receive");
  SEXTANT_CHECK(received == as_count(piece.size()));
}

bool MpiCommunicator::send_within(std::span<const std::byte> values, int to, int tag, double limit_s) {
  SEXTANT_CHECK(values.size() <= kPiece);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(values.data(), as_count(values.size()), MPI_BYTE, to, tag, comm_, &request), "send");
  return is_done_within(request, limit_s);
}

bool MpiCommunicator::receive_within(std::span<std::byte> values, int from, int tag, double limit_s) {
  SEXTANT_CHECK(values.size() <= kPiece);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Irecv(values.data(), as_count(values.size()), MPI_BYTE, from, tag, comm_, &request), "receive");
  return is_done_within(request, limit_s);
}

void MpiCommunicator::send_buffered(std::span<const std::byte> values, int to, int tag) {
  reclaim_finished_sends();
  in_pieces(values, [&](std::span<const std::byte> piece) {
    if (spare_.empty()) spare_.emplace_back();
    pending_.splice(pending_.end(), spare_, spare_.begin());
    Pending& pending = pending_.back();
    pending.buffer.assign(piece.begin(), piece.end());
    check_mpi(
        MPI_Isend(pending.buffer.data(), as_count(piece.size()), MPI_BYTE, to, tag, comm_, &pending.request),
        "buffered send");
  });
}

void MpiCommunicator::reclaim_finished_sends() {
  for (auto pending = pending_.begin(); pending != pending_.end();) {
    int done = 0;
    check_mpi(MPI_Test(&pending->request, &done, MPI_STATUS_IGNORE), "buffered send");
    const auto next = std::next(pending);
    if (done != 0) spare_.splice(spare_.end(), pending_, pending);
    pending = next;
  }
}

void MpiCommunicator::finish_sends() {
  for (Pending& pending : pending_) {
    check_mpi(MPI_Wait(&pending.request, MPI_STATUS_IGNORE), "buffered send");
  }
  spare_.splice(spare_.end(), pending_);
}

std::vector<std::string> MpiCommunicator::hosts() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> mine{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(mine.data(), &length), "asking for the host's name");
  const std::string name = host_name(process_environment(), mine.data());
  mine.fill(0);
  name.copy(mine.data(), mine.size() - 1);
  std::vector<char> all(mine.size() * static_cast<std::size_t>(size_));
  check_mpi(MPI_Allgather(mine.data(), as_count(mine.size()), MPI_CHAR, all.data(), as_count(mine.size()),
                          MPI_CHAR, comm_),
            "gathering the hosts' names");
  std::vector<std::string> names;
  for (std::size_t start = 0; start < all.size(); start += mine.size()) names.emplace_back(&all[start]);
  return names;
}

}  // namespace

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw_machine_failed(std::string("MPI failed in ") + what + ": " + text.data());
}

std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm parent) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(parent, &copy), "duplicating a communicator");
  return std::make_unique<MpiCommunicator>(copy);
}

}  // namespace sextant::inline probes
