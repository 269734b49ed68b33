#include "planner/coschedule/control/permit_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "planner/coschedule/control/local_socket.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxLine = 1024;  // a job's name and a word

// A job, or a process that has not said hello yet.
struct Connection {
  OpenFile file;
  std::string received;
  int member = -1;
  bool has_failed = false, is_hung = false;
  std::string joins;            // the job's name, while it waits for the group that has it
  std::optional<Phase> wanted;  // not granted yet
  std::uint64_t asked = 0;      // rank of that request among all
  SteadyClock::time_point idle_since = SteadyClock::now();
  SteadyClock::time_point progressed = {};  // when the permit was granted, or the share grew
  double ended_fraction = 0;                // of the rollout
  std::string taken_back;                   // why its permit was, until the job has been told
};

// "1200 s", "0.25 s".
std::string seconds_in_words(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds);
  return text.data();
}

class Server {
 public:
  Server(const Group& group, const std::filesystem::path& socket, const PermitServerOptions& options)
      : group_(std::make_unique<const Group>(group)),
        options_(options),
        socket_(socket),
        queue_(std::in_place, *group_, options.order, options.tail_threshold),
        listener_(listen_at(socket)) {}
  ~Server() {
    std::error_code ignored;
    std::filesystem::remove(socket_, ignored);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  ServedPermits run() {
    if (options_.on_ready) options_.on_ready();
    constexpr int kPoll_ms = 200;  // between looks at is_cancelled
    while (!is_over()) {
      std::vector<pollfd> polled{{listener_.number(), POLLIN, 0}};
      for (const auto& [number, connection] : connections_) polled.push_back({number, POLLIN, 0});
      if (::poll(polled.data(), polled.size(), kPoll_ms) < 0) continue;
      for (const pollfd& of : polled) {
        if (of.revents == 0) continue;
        if (of.fd == listener_.number()) {
          accept_one();
        } else if (const auto found = connections_.find(of.fd); found != connections_.end()) {
          receive(found->second);
        }
      }
      set_idle_aside();
      take_back_overdue();
      find_hung();
      grant();
      drop_failed();
    }
    return {*group_, std::move(log_)};
  }

 private:
  [[nodiscard]] bool is_over() const {
    if (options_.is_cancelled != nullptr && options_.is_cancelled->load(std::memory_order_relaxed)) return true;
    return options_.ends_when_all_left &&
           std::none_of(connections_.begin(), connections_.end(),
                        [&](const auto& item) { return is_waited_for(item.second); }) &&
           std::all_of(group_->members.begin(), group_->members.end(),
                       [&](const Member& member) { return have_been_there_.contains(member.job.name); });
  }

  // A job that does not hang, or a process that may still say which job it is.
  [[nodiscard]] bool is_waited_for(const Connection& connection) const {
    if (connection.member >= 0 || !connection.joins.empty()) return !connection.is_hung;
    return SteadyClock::now() - connection.idle_since < std::chrono::duration<double>(options_.patience_s);
  }

  void accept_one() {
    OpenFile file = accept_own_user(listener_);
    if (!file.is_open()) return;
    const int number = file.number();
    Connection connection;
    connection.file = std::move(file);
    connections_.emplace(number, std::move(connection));
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
    if (connection.member < 0 && !connection.joins.empty()) return "error wait for the answer of hello";
    if (connection.member < 0) return "error hello NAME comes first";
    if (word == "acquire") return acquire(connection, rest);
    if (word == "release") return release(connection);
    if (word == "progress") return progress(connection, rest);
    return "error expected hello, acquire, progress or release";
  }

  [[nodiscard]] static std::optional<int> position_of(const Group& group, const std::string& name) {
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      if (group.members[m].job.name == name) return static_cast<int>(m);
    }
    return std::nullopt;
  }

  std::string hello(Connection& connection, const std::string& name) {
    if (connection.member >= 0 || !connection.joins.empty()) return "error hello was said before";
    if (const std::optional<int> member = position_of(*group_, name)) return join(connection, *member);
    try {
      std::optional<Group> latest = options_.latest_group ? options_.latest_group() : std::nullopt;
      if (!latest || !position_of(*latest, name)) return "error " + group_->name + " has no job of this name";
      next_group_ = std::make_unique<const Group>(std::move(*latest));
    } catch (const Error& error) {
      return "error " + first_line(error.what());
    }
    connection.joins = name;
    return "";
  }

  [[nodiscard]] static std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
  }

  std::string join(Connection& connection, int member) {
    const std::string& name = group_->members[static_cast<std::size_t>(member)].job.name;
    if (queue_->is_there(member)) return "error another process is job " + name;
    connection.member = member;
    connection.idle_since = SteadyClock::now();
    have_been_there_.insert(name);
    queue_->join(member);
    note(member, PhaseEvent::joined, Phase::rollout);
    return "ok";
  }

  // Goes on with the next group as soon as nobody holds a permit of this one. Requests keep their order.
  void change_group() {
    std::vector<Connection*> waiting;
    for (auto& [number, connection] : connections_) {
      if (connection.member >= 0 && queue_->phase_of(connection.member)) return;
      if (connection.wanted) waiting.push_back(&connection);
    }
    std::sort(waiting.begin(), waiting.end(),
              [](const Connection* a, const Connection* b) { return a->asked < b->asked; });
    const std::unique_ptr<const Group> old = std::exchange(group_, std::move(next_group_));
    queue_.emplace(*group_, options_.order, options_.tail_threshold);
    for (auto& [number, connection] : connections_) {
      if (connection.member < 0) continue;
      const std::string& name = old->members[static_cast<std::size_t>(connection.member)].job.name;
      const std::optional<int> member = position_of(*group_, name);
      connection.member = member.value_or(-1);
      if (member) {
        queue_->join(*member);
      } else {
        log(name, PhaseEvent::left, Phase::rollout);
        answer(connection, "error " + group_->name + " no longer has this job");
        connection.has_failed = true;
      }
    }
    for (const Connection* connection : waiting) {
      if (connection->member >= 0) (void)queue_->request(connection->member, *connection->wanted);
    }
    for (auto& [number, connection] : connections_) {
      if (connection.joins.empty()) continue;
      const std::string name = std::exchange(connection.joins, {});
      const std::optional<int> member = position_of(*group_, name);
      answer(connection,
             member ? join(connection, *member) : "error " + group_->name + " has no job of this name");
    }
  }

  std::string acquire(Connection& connection, const std::string& name) {
    const std::optional<Phase> phase = phase_named(name);
    if (!phase) return "error expected rollout, training or sync";
    if (!connection.taken_back.empty()) return "error " + std::exchange(connection.taken_back, {});
    if (!queue_->request(connection.member, *phase)) return "error release comes first";
    connection.wanted = phase;
    connection.asked = ++asked_;
    connection.is_hung = false;
    note(connection.member, PhaseEvent::asked, *phase);
    return "";
  }

  std::string release(Connection& connection) {
    const std::optional<Phase> phase = queue_->phase_of(connection.member);
    if (!connection.taken_back.empty()) return "error " + std::exchange(connection.taken_back, {});
    if (!queue_->release(connection.member)) return "error nothing is held";
    connection.idle_since = SteadyClock::now();
    note(connection.member, PhaseEvent::released, *phase);
    return "ok";
  }

  // Others wait no longer for members that have asked for nothing for a while.
  void set_idle_aside() {
    const bool has_waiting = std::any_of(connections_.begin(), connections_.end(),
                                         [](const auto& item) { return item.second.wanted.has_value(); });
    if (!has_waiting || options_.order == ServingOrder::first_come) return;
    const auto patience = std::chrono::duration<double>(options_.patience_s);
    for (const auto& [number, connection] : connections_) {
      if (connection.member < 0 || !queue_->is_idle(connection.member)) continue;
      if (SteadyClock::now() - connection.idle_since < patience) continue;
      queue_->set_aside(connection.member);
      note(connection.member, PhaseEvent::set_aside, Phase::rollout);
    }
  }

  // Takes permits back from jobs that hang.
  void take_back_overdue() {
    if (options_.max_overrun <= 0) return;
    for (auto& [number, connection] : connections_) {
      if (connection.member < 0) continue;
      const std::optional<Phase> phase = queue_->phase_of(connection.member);
      if (!phase) continue;
      const double bound_s = phase_bound_s(*group_, connection.member, *phase);
      const std::chrono::duration<double> silent = SteadyClock::now() - connection.progressed;
      if (silent.count() <= std::max(options_.max_overrun * bound_s, options_.patience_s)) continue;
      queue_->take_back(connection.member);
      connection.idle_since = SteadyClock::now();
      connection.taken_back = "the permit was taken back: the " + std::string(name_of(*phase)) + " of " +
                              group_->members[static_cast<std::size_t>(connection.member)].job.name +
                              " had neither ended nor progressed for " + seconds_in_words(silent.count()) +
                              ", and its bound is " + seconds_in_words(bound_s) +
                              " (coschedule run --max-overrun)";
      note(connection.member, PhaseEvent::taken_back, *phase, silent.count());
    }
  }

  // Nobody waits for these jobs any more, and neither does the end of the server.
  void find_hung() {
    if (options_.max_overrun <= 0) return;
    for (auto& [number, connection] : connections_) {
      if (connection.member < 0 || connection.is_hung || connection.wanted ||
          queue_->phase_of(connection.member))
        continue;
      const std::chrono::duration<double> silent = SteadyClock::now() - connection.idle_since;
      const double bound_s = iteration_bound_s(*group_, connection.member);
      if (silent.count() <= std::max(options_.max_overrun * bound_s, options_.patience_s)) continue;
      connection.is_hung = true;
      queue_->set_aside(connection.member);
      note(connection.member, PhaseEvent::hung, Phase::rollout, silent.count());
    }
  }

  std::string progress(Connection& connection, const std::string& text) {
    if (!connection.taken_back.empty()) return "error " + connection.taken_back;
    char* end = nullptr;
    const double share = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(share >= 0 && share <= 1))
      return "error expected a share from 0 to 1";
    if (share > connection.ended_fraction) {
      connection.ended_fraction = share;
      connection.progressed = SteadyClock::now();
    }
    if (!queue_->progress(connection.member, share)) return "keep";
    note(connection.member, PhaseEvent::moved_tail, Phase::rollout);
    return "move";
  }

  void grant() {
    if (next_group_) change_group();
    if (next_group_) return;
    for (const int member : queue_->granted()) {
      note(member, PhaseEvent::granted, *queue_->phase_of(member));
      for (auto& [number, connection] : connections_) {
        if (connection.member != member) continue;
        connection.wanted.reset();
        connection.progressed = SteadyClock::now();
        connection.ended_fraction = 0;
        answer(connection, "granted");
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
      const bool has_hung = !at->second.taken_back.empty();
      at = connections_.erase(at);
      if (member < 0) continue;
      const bool has_crashed = queue_->phase_of(member).has_value() || queue_->waits(member) || has_hung;
      queue_->leave(member);
      note(member, has_crashed ? PhaseEvent::crashed : PhaseEvent::left, Phase::rollout);
      has_dropped = true;
    }
    if (has_dropped) {
      grant();
      drop_failed();
    }
  }

  void note(int member, PhaseEvent event, Phase phase, double silent_s = 0) {
    log(group_->members[static_cast<std::size_t>(member)].job.name, event, phase, silent_s);
  }

  void log(const std::string& job, PhaseEvent event, Phase phase, double silent_s = 0) {
    const double time_s = std::chrono::duration<double>(SteadyClock::now() - began_).count();
    log_.push_back({time_s, job, event, phase, silent_s});
    if (options_.on_event) options_.on_event(log_.back());
  }

  std::unique_ptr<const Group> group_, next_group_;  // next: when no permit is held
  const PermitServerOptions& options_;
  std::filesystem::path socket_;
  std::optional<PermitQueue> queue_;
  std::set<std::string> have_been_there_;
  OpenFile listener_;
  std::map<int, Connection> connections_;  // by descriptor
  std::vector<PhaseRecord> log_;
  std::uint64_t asked_ = 0;
  SteadyClock::time_point began_ = SteadyClock::now();
};

}  // namespace

double phase_bound_s(const Group& group, int member, Phase phase) {
  const Job& job = group.members.at(static_cast<std::size_t>(member)).job;
  switch (phase) {
    case Phase::rollout:
      return job.rollout_s + job.rollout_warm_start_s;
    case Phase::training:
      return job.training_s_on(group.training_nodes) + job.training_warm_start_s;
    case Phase::sync:
      break;
  }
  return job.sync_s > 0 ? job.sync_s : job.solo_s();
}

double iteration_bound_s(const Group& group, int member) {
  const double sync_s = group.members.at(static_cast<std::size_t>(member)).job.sync_s;
  return phase_bound_s(group, member, Phase::rollout) + phase_bound_s(group, member, Phase::training) + sync_s;
}

ServedPermits serve_permits(const Group& group, const std::filesystem::path& socket,
                            const PermitServerOptions& options) {
  return Server(group, socket, options).run();
}

}  // namespace sextant::coschedule
