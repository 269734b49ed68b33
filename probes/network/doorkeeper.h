// Listens for the other hosts of one probe. Connections that do not authenticate within a few
// seconds are closed and counted. No client can delay others, neither by silence nor by frequent
// connections: when too many are pending, the oldest one from the address with the most is
// dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "probes/network/handshake.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct DoorkeeperLimits {
  double handshake_s = 5;
  std::size_t max_pending = 128;  // connections that have not authenticated
  std::size_t max_served = 256;   // connections that have
};

struct Refusals {
  std::uint64_t wrong_secret = 0;   // includes a recorded answer of another connection
  std::uint64_t malformed = 0;      // not a probe's message
  std::uint64_t too_slow = 0;       // no complete answer in time
  std::uint64_t left = 0;           // closed before it had answered
  std::uint64_t over_capacity = 0;  // more at once than the limit

  [[nodiscard]] std::uint64_t total() const {
    return wrong_secret + malformed + too_slow + left + over_capacity;
  }
  friend bool operator==(const Refusals&, const Refusals&) = default;
  static Refusals parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

class ProbeListener {
 public:
  // Serves one connection, on a thread of its own; an exception ends that connection only. It must return soon
  // after the connection is closed.
  using Serve = std::function<void(const Connection&, const Request&)>;

  // Starts to listen. Throws Error(machine) if no port is free.
  ProbeListener(const Secret& secret, const PortRange& ports, Serve serve, DoorkeeperLimits limits = {});
  // Closes all connections and waits until all threads have ended.
  ~ProbeListener();
  ProbeListener(const ProbeListener&) = delete;
  ProbeListener& operator=(const ProbeListener&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] Refusals refusals() const;
  [[nodiscard]] std::uint64_t admitted() const;

 private:
  struct Pending {
    Descriptor socket;
    std::string address;
    Nonce nonce{};
    Answer answer{};
    std::size_t received = 0;
    Deadline deadline;
  };
  struct Served {
    Connection connection;
    bool is_done = false;
    std::thread thread;
  };
  enum class Progress { waiting, settled };

  void run();
  void wait_for_something();
  void accept_new();
  void make_room();
  void hear_pending();
  [[nodiscard]] Progress hear(Pending& pending);
  [[nodiscard]] Progress judge(Pending& pending);
  void admit(Pending& pending, const Admission& admission);
  void forget_served();
  void count(std::uint64_t Refusals::*reason);

  const Secret secret_;
  const Serve serve_;
  const DoorkeeperLimits limits_;
  Descriptor listener_;
  std::uint16_t port_ = 0;
  Descriptor wake_;  // readable when the listener must stop
  std::list<Pending> pending_;
  std::list<Served> served_;  // is_done under mutex_
  mutable std::mutex mutex_;
  Refusals refusals_;           // under mutex_
  std::uint64_t admitted_ = 0;  // under mutex_
  std::thread thread_;
};

}  // namespace sextant::inline probes
