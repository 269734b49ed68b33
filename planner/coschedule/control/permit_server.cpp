#include "planner/coschedule/control/permit_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "planner/coschedule/control/local_socket.h"

namespace sextant::coschedule {
namespace {

constexpr std::size_t kMaxLine = 1024;  // a job's name and a word

// A job, or a process that has not said hello yet.
struct Connection {
  OpenFile file;
  std::string received;
  int member = -1;
  bool has_failed = false;
};

class Server {
 public:
  Server(const Group& group, const std::filesystem::path& socket, const PermitServerOptions& options)
      : group_(group),
        options_(options),
        socket_(socket),
        queue_(group, options.order, options.tail_threshold),
        has_been_there_(group.members.size(), false),
        listener_(listen_at(socket)) {}
  ~Server() {
    std::error_code ignored;
    std::filesystem::remove(socket_, ignored);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::vector<PhaseRecord> run() {
    constexpr int kPoll_ms = 200;  // between looks at is_cancelled
    while (!is_over()) {
      std::vector<pollfd> polled{{listener_.number(), POLLIN, 0}};
      for (const auto& [number, connection] : connections_) polled.push_back({number, POLLIN, 0});
      if (::poll(polled.data(), polled.size(), kPoll_ms) <= 0) continue;
      for (const pollfd& of : polled) {
        if (of.revents == 0) continue;
        if (of.fd == listener_.number()) {
          accept_one();
        } else if (const auto found = connections_.find(of.fd); found != connections_.end()) {
          receive(found->second);
        }
      }
      grant();
      drop_failed();
    }
    return std::move(log_);
  }

 private:
  [[nodiscard]] bool is_over() const {
    if (options_.is_cancelled != nullptr && options_.is_cancelled->load(std::memory_order_relaxed)) return true;
    return options_.ends_when_all_left && connections_.empty() &&
           std::all_of(has_been_there_.begin(), has_been_there_.end(), [](bool was) { return was; });
  }

  void accept_one() {
    OpenFile file = accept_own_user(listener_);
    if (!file.is_open()) return;
    const int number = file.number();
    connections_.emplace(number, Connection{std::move(file), "", -1, false});
  }

  void receive(Connection& connection) {
    char buffer[4096];
    const ssize_t count = ::recv(connection.file.number(), buffer, sizeof buffer, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      connection.has_failed = true;
      return;
    }
    connection.received.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = connection.received.find('\n')) != std::string::npos;) {
      const std::string line = connection.received.substr(0, end);
      connection.received.erase(0, end + 1);
      answer(connection, serve(connection, line));
    }
    if (connection.received.size() > kMaxLine) {
      answer(connection, "error a line is too long");
      connection.has_failed = true;
    }
  }

  // The answer; empty if it comes later.
  std::string serve(Connection& connection, const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space),
                      rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (word == "hello") return hello(connection, rest);
    if (connection.member < 0) return "error hello NAME comes first";
    if (word == "acquire") return acquire(connection.member, rest);
    if (word == "release") return release(connection.member);
    if (word == "progress") return progress(connection.member, rest);
    return "error expected hello, acquire, progress or release";
  }

  std::string hello(Connection& connection, const std::string& name) {
    if (connection.member >= 0) return "error hello was said before";
    for (std::size_t m = 0; m < group_.members.size(); ++m) {
      if (group_.members[m].job.name != name) continue;
      const int member = static_cast<int>(m);
      if (queue_.is_there(member)) return "error another process is job " + name;
      connection.member = member;
      has_been_there_[m] = true;
      queue_.join(member);
      note(member, PhaseEvent::joined, Phase::rollout);
      return "ok";
    }
    return "error " + group_.name + " has no job of this name";
  }

  std::string acquire(int member, const std::string& name) {
    const std::optional<Phase> phase = phase_named(name);
    if (!phase) return "error expected rollout, training or sync";
    if (!queue_.request(member, *phase)) return "error release comes first";
    note(member, PhaseEvent::asked, *phase);
    return "";
  }

  std::string release(int member) {
    const std::optional<Phase> phase = queue_.phase_of(member);
    if (!queue_.release(member)) return "error nothing is held";
    note(member, PhaseEvent::released, *phase);
    return "ok";
  }

  std::string progress(int member, const std::string& text) {
    char* end = nullptr;
    const double share = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(share >= 0 && share <= 1))
      return "error expected a share from 0 to 1";
    if (!queue_.progress(member, share)) return "keep";
    note(member, PhaseEvent::moved_tail, Phase::rollout);
    return "move";
  }

  void grant() {
    for (const int member : queue_.granted()) {
      note(member, PhaseEvent::granted, *queue_.phase_of(member));
      for (auto& [number, connection] : connections_) {
        if (connection.member == member) answer(connection, "granted");
      }
    }
  }

  // Answers are a few bytes: a client that does not read them is dropped instead of waited for.
  void answer(Connection& connection, std::string line) {
    if (line.empty()) return;
    line += '\n';
    const ssize_t sent = ::send(connection.file.number(), line.data(), line.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(line.size())) connection.has_failed = true;
  }

  void drop_failed() {
    bool has_dropped = false;
    for (auto at = connections_.begin(); at != connections_.end();) {
      if (!at->second.has_failed) {
        ++at;
        continue;
      }
      const int member = at->second.member;
      at = connections_.erase(at);
      if (member < 0) continue;
      const bool has_crashed = queue_.phase_of(member).has_value() || queue_.waits(member);
      queue_.leave(member);
      note(member, has_crashed ? PhaseEvent::crashed : PhaseEvent::left, Phase::rollout);
      has_dropped = true;
    }
    if (has_dropped) {
      grant();
      drop_failed();
    }
  }

  void note(int member, PhaseEvent event, Phase phase) {
    const double time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    log_.push_back({time_s, group_.members[static_cast<std::size_t>(member)].job.name, event, phase});
    if (options_.on_event) options_.on_event(log_.back());
  }

  const Group& group_;
  const PermitServerOptions& options_;
  std::filesystem::path socket_;
  PermitQueue queue_;
  std::vector<bool> has_been_there_;
  OpenFile listener_;
  std::map<int, Connection> connections_;  // by descriptor
  std::vector<PhaseRecord> log_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<PhaseRecord> serve_permits(const Group& group, const std::filesystem::path& socket,
                                       const PermitServerOptions& options) {
  return Server(group, socket, options).run();
}

}  // namespace sextant::coschedule
