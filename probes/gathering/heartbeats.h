// Heartbeats of a job's ranks, in parallel with their other work.
//
// Each rank sends its current step to two of them, rank 0 and rank 1, as datagrams: sending never blocks, so a
// thread of its own can do it while the rank hangs inside the transport, and a rank that was stopped, or whose
// host is gone, becomes silent. Only datagrams with the job's token are accepted. If UDP is blocked no
// heartbeat ever arrives, and no rank is considered silent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/network/socket.h"

namespace sextant::inline probes {

class Heartbeats {
 public:
  // Collective.
  explicit Heartbeats(Communicator& ranks);

  [[nodiscard]] int rank() const { return rank_; }
  // True for rank 0, and for rank 1 in case that is silent.
  [[nodiscard]] bool is_listener() const { return !sockets_.empty() && rank_ < kListeners; }
  [[nodiscard]] std::string name_of(int rank) const;

  // These functions never wait, and may be used by one thread at a time.
  void say(std::string_view what);
  void listen(double now_s);

  // At a listener: returns the ranks that sent a heartbeat once, but not within the limit.
  [[nodiscard]] std::vector<int> silent(double now_s, double limit_s) const;
  // Returns the ranks that never sent one.
  [[nodiscard]] std::vector<int> unheard() const;
  // Returns the last message of a rank: its step.
  [[nodiscard]] const std::string& last_words(int rank) const;
  [[nodiscard]] double silent_s(int rank, double now_s) const;

 private:
  static constexpr int kListeners = 2;

  struct Door {  // address of a listener
    int family = 0;
    std::string address;
    std::uint16_t port = 0;
  };
  struct Heard {
    double when_s = 0;
    std::string what;
  };

  void open_sockets();
  [[nodiscard]] std::string own_doors() const;
  void hear(std::string_view text, double now_s);

  int rank_ = 0;
  std::vector<std::string> hosts_;
  std::string token_;
  std::map<int, Descriptor> sockets_;  // by address family
  std::vector<Door> doors_;
  std::map<int, Heard> heard_;  // by rank
};

}  // namespace sextant::inline probes
