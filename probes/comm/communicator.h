// The one way in which probes and the proxy talk between processes.
//
// Two backends: serial (one rank, no launcher, no library) and MPI. Nothing else in Sextant includes mpi.h.
// Calls block, but for those that say otherwise. Lengths are elements; all ranks of a collective must pass the
// same ones. Failures of the transport throw Error(machine).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {

class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // A barrier that burns a core while it waits; for starting a timed region together.
  virtual void barrier() = 0;
  // A barrier that yields the core while it waits; for idle ranks beside others that are being measured.
  virtual void wait_quietly() = 0;

  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
  virtual void all_reduce_max(std::span<float> values) = 0;
  virtual void all_reduce_max(std::span<double> values) = 0;
  // `all` holds size() times the length of `mine`, by rank.
  virtual void all_gather(std::span<const float> mine, std::span<float> all) = 0;
  virtual void all_gather(std::span<const double> mine, std::span<double> all) = 0;
  // `all` holds size() times the length of `mine`: its part r, summed over all ranks, is what rank r gets.
  virtual void reduce_scatter_sum(std::span<const float> all, std::span<float> mine) = 0;
  // Part r of `sent` goes to rank r, and part r of `received` comes from it; both are of equal parts.
  virtual void all_to_all(std::span<const float> sent, std::span<float> received) = 0;
  virtual void broadcast(std::span<std::byte> values, int root) = 0;
  virtual void send(std::span<const std::byte> values, int to, int tag) = 0;
  virtual void receive(std::span<std::byte> values, int from, int tag) = 0;
  // As send and receive, of at most 1 GiB, but false when the other rank did not do its part within limit_s.
  // What was given up may still be under way: its tag is never to be used again, and its memory must stay for
  // as long as the process does.
  [[nodiscard]] virtual bool send_within(std::span<const std::byte> values, int to, int tag,
                                         double limit_s) = 0;
  [[nodiscard]] virtual bool receive_within(std::span<std::byte> values, int from, int tag, double limit_s) = 0;
  // Whether a message has come that receive would get; returns at once.
  [[nodiscard]] virtual bool has_message(int from, int tag) = 0;
  // Starts sending without waiting for the receiver; the buffer is copied, so that it can be reused at once.
  // Pending sends complete in finish_sends or when the communicator is destroyed.
  virtual void send_buffered(std::span<const std::byte> values, int to, int tag) = 0;
  virtual void finish_sends() = 0;

  // Ranks with the same colour form a communicator, ordered by key; colour < 0 takes part but gets null.
  [[nodiscard]] virtual std::unique_ptr<Communicator> split(int colour, int key) = 0;

  // Host of every rank, by rank.
  [[nodiscard]] virtual std::vector<std::string> hosts() = 0;
};

// One rank.
[[nodiscard]] std::unique_ptr<Communicator> make_serial_communicator();

// Start and stop of the transport for a whole process; create once, in main.
class CommunicatorSession {
 public:
  // Joins the job when a launcher started this process (mpirun, srun), else is serial.
  CommunicatorSession(int* argc, char*** argv);
  ~CommunicatorSession();
  CommunicatorSession(const CommunicatorSession&) = delete;
  CommunicatorSession& operator=(const CommunicatorSession&) = delete;

  [[nodiscard]] Communicator& world() { return *world_; }

 private:
  std::unique_ptr<Communicator> world_;
};

// Ends every rank of the job with this exit code, so that no rank waits for one that failed: for the
// catch in main. Returns at once when there is only one rank, which then ends as any program does.
void abort_all_ranks(int exit_code);

// Whether this build can join a job of several ranks at all.
[[nodiscard]] bool has_multi_rank_transport();

// "Open MPI 4.1.4", or why there is only one rank.
[[nodiscard]] std::string transport_description();

}  // namespace sextant
