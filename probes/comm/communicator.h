// The communication between processes for probes and the proxy.
//
// Two backends: serial (one rank, no launcher, no library) and MPI. Only this folder includes mpi.h. Calls
// block unless stated otherwise. Lengths are in elements; all ranks of a collective must pass the same ones.
// Failures of the transport throw Error(machine).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant::inline probes {

class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // A barrier that spins while it waits; for starting a timed region together.
  virtual void barrier() = 0;
  // A barrier that yields the core while it waits; for idle ranks next to others that are being measured.
  virtual void wait_quietly() = 0;

  virtual void all_reduce_sum(std::span<float> values) = 0;
  virtual void all_reduce_sum(std::span<double> values) = 0;
  virtual void all_reduce_max(std::span<float> values) = 0;
  virtual void all_reduce_max(std::span<double> values) = 0;
  // `all` holds size() times the length of `mine`, by rank.
  virtual void all_gather(std::span<const float> mine, std::span<float> all) = 0;
  virtual void all_gather(std::span<const double> mine, std::span<double> all) = 0;
  // `all` holds size() times the length of `mine`: rank r gets its part r, summed over all ranks.
  virtual void reduce_scatter_sum(std::span<const float> all, std::span<float> mine) = 0;
  // Part r of `sent` goes to rank r, and part r of `received` comes from it; both are of equal parts.
  virtual void all_to_all(std::span<const float> sent, std::span<float> received) = 0;
  virtual void broadcast(std::span<std::byte> values, int root) = 0;
  virtual void send(std::span<const std::byte> values, int to, int tag) = 0;
  virtual void receive(std::span<std::byte> values, int from, int tag) = 0;
  // Like send and receive, for at most 1 GiB, but returns false if the other rank did not take part within
  // limit_s. The message may then still be in transit: its tag must never be used again, and its memory must
  // stay for the lifetime of the process.
  [[nodiscard]] virtual bool send_within(std::span<const std::byte> values, int to, int tag,
                                         double limit_s) = 0;
  [[nodiscard]] virtual bool receive_within(std::span<std::byte> values, int from, int tag, double limit_s) = 0;
  // Whether a message has arrived that receive would return; does not wait.
  [[nodiscard]] virtual bool has_message(int from, int tag) = 0;
  // Starts sending without waiting for the receiver; the buffer is copied, so that it can be reused at once.
  // Pending sends complete in finish_sends or when the communicator is destroyed.
  virtual void send_buffered(std::span<const std::byte> values, int to, int tag) = 0;
  virtual void finish_sends() = 0;

  // Ranks with the same colour form a communicator, ordered by key; ranks with colour < 0 join in but get null.
  [[nodiscard]] virtual std::unique_ptr<Communicator> split(int colour, int key) = 0;

  // Returns the host of every rank, by rank.
  [[nodiscard]] virtual std::vector<std::string> hosts() = 0;
};

// Makes a communicator of one rank.
[[nodiscard]] std::unique_ptr<Communicator> make_serial_communicator();

// Starts and stops the transport for a whole process; create once, in main.
class CommunicatorSession {
 public:
  // Joins the job if a launcher started this process (mpirun, srun), else is serial.
  CommunicatorSession(int* argc, char*** argv);
  ~CommunicatorSession();
  CommunicatorSession(const CommunicatorSession&) = delete;
  CommunicatorSession& operator=(const CommunicatorSession&) = delete;

  [[nodiscard]] Communicator& world() { return *world_; }

 private:
  std::unique_ptr<Communicator> world_;
};

// Ends every rank of the job with this exit code, so that no rank waits for a failed one: for the catch in
// main. Returns at once if there is only one rank, which then ends as any program does.
void abort_all_ranks(int exit_code);

// Whether this build can join a job of several ranks at all.
[[nodiscard]] bool has_multi_rank_transport();

// Returns "Open MPI 4.1.4", or the reason why there is only one rank.
[[nodiscard]] std::string transport_description();

}  // namespace sextant::inline probes
