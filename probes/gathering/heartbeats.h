// Signs of life of a job's ranks, beside whatever they do together.
//
// Each rank sends what it is doing to two of them, rank 0 and rank 1, as datagrams: sending waits for nobody,
// so that a thread of its own can do it while the rank hangs inside of the transport, and a rank that was
// stopped, or whose host is gone, falls silent. Only who knows the job's token is heard. Where UDP is not let
// through nobody is ever heard, and nobody is taken for silent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/network/socket.h"

namespace sextant {

class Heartbeats {
 public:
  // Collective.
  explicit Heartbeats(Communicator& ranks);

  [[nodiscard]] int rank() const { return rank_; }
  // Rank 0, and rank 1 for when that is silent.
  [[nodiscard]] bool is_listener() const { return !sockets_.empty() && rank_ < kListeners; }
  [[nodiscard]] std::string name_of(int rank) const;

  // These wait for nothing, and are of one thread at a time.
  void say(std::string_view what);
  void listen(double now_s);

  // At a listener: who was heard once, but not for so long.
  [[nodiscard]] std::vector<int> silent(double now_s, double limit_s) const;
  // Who was never heard.
  [[nodiscard]] std::vector<int> unheard() const;
  // What a rank said last: what it was doing.
  [[nodiscard]] const std::string& last_words(int rank) const;
  [[nodiscard]] double silent_s(int rank, double now_s) const;

 private:
  static constexpr int kListeners = 2;

  struct Door {  // of a listener
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

}  // namespace sextant
