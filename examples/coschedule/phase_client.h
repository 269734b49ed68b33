// A job's side of `sextant coschedule run`: a permit before each phase of an iteration, given back after it.
//
//   sextant::PhaseClient permits(socket, "job-a");
//   for (;;) {
//     { const auto permit = permits.acquire("rollout");  generate(); }
//     { const auto permit = permits.acquire("training"); train(); }
//   }
//
// This header needs nothing of Sextant but itself, so a program may copy it. If the process ends, however it does,
// the system closes the connection and the permit returns. Not for several threads at a time.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace sextant {

class PhaseClient {
 public:
  // Throws std::runtime_error if no server listens there, or if the group has no job of this name.
  PhaseClient(const std::string& socket, const std::string& job) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.size() >= sizeof address.sun_path) throw std::runtime_error(socket + ": the path is too long");
    std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
    number_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    try {
      if (number_ < 0 || ::connect(number_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error(socket + ": no permit server: " + std::strerror(errno));
      expect("hello " + job, "ok");
    } catch (...) {
      ::close(number_);
      throw;
    }
  }
  ~PhaseClient() { ::close(number_); }
  PhaseClient(const PhaseClient&) = delete;
  PhaseClient& operator=(const PhaseClient&) = delete;

  // Gives the permit back at the end of its scope.
  class Permit {
   public:
    explicit Permit(PhaseClient& client) : client_(&client) {}
    Permit(Permit&& other) noexcept : client_(std::exchange(other.client_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit() {
      if (client_ == nullptr) return;
      try {
        client_->release();
      } catch (const std::exception& error) {  // the server is gone, or has taken the permit back
        client_->failure_ = error.what();
      }
    }

   private:
    PhaseClient* client_;
  };

  // Waits for the nodes of "rollout", "training" or "sync". Throws std::runtime_error with the reason if the server is
  // gone, or if it took the last permit back because the phase had neither ended nor progressed for too long; the next
  // call waits for nodes again then.
  [[nodiscard]] Permit acquire(const std::string& phase) {
    if (!failure_.empty()) throw std::runtime_error(std::exchange(failure_, {}));
    expect("acquire " + phase, "granted");
    return Permit(*this);
  }

  // In a rollout: the share of its responses that have ended, 0 to 1. True: move the others to a few workers now, and
  // leave the rest of the nodes to other jobs; the permit is still to be given back at the end of the rollout.
  // Throws std::runtime_error with the reason if the permit was taken back.
  [[nodiscard]] bool progress(double ended_fraction) {
    const std::string request = "progress " + std::to_string(ended_fraction), answer = ask(request);
    if (answer != "move" && answer != "keep") throw std::runtime_error(request + ": " + answer);
    return answer == "move";
  }

  void release() { expect("release", "ok"); }

 private:
  std::string ask(const std::string& request) {
    const std::string line = request + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t count = ::send(number_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw std::runtime_error("the permit server is gone");
      sent += static_cast<std::size_t>(count);
    }
    while (received_.find('\n') == std::string::npos) {
      char buffer[512];
      const ssize_t count = ::recv(number_, buffer, sizeof buffer, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw std::runtime_error("the permit server is gone");
      received_.append(buffer, static_cast<std::size_t>(count));
    }
    const std::size_t end = received_.find('\n');
    std::string answer = received_.substr(0, end);
    received_.erase(0, end + 1);
    return answer;
  }

  void expect(const std::string& request, const std::string& answer) {
    const std::string got = ask(request);
    if (got != answer) throw std::runtime_error(request + ": " + got);
  }

  int number_ = -1;
  std::string received_;
  std::string failure_;  // of the last release by a Permit, which cannot throw
};

}  // namespace sextant
