#include "cli/coschedule/permit_commands.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <list>
#include <optional>
#include <thread>

#include "cli/coschedule/permit_relay.h"
#include "cli/shared/command.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "planner/coschedule/control/local_socket.h"
#include "planner/coschedule/control/permit_server.h"
#include "planner/coschedule/rounds.h"
#include "sextant/error.h"

namespace sextant::cli {

using namespace coschedule;

namespace {

const Group& served_group(const Placement& placement, const CoscheduleOptions& options) {
  for (const Group& group : placement.groups) {
    if (group.name == options.group) return group;
  }
  if (options.group.empty() && placement.groups.size() == 1) return placement.groups.front();
  std::string names;
  for (const Group& group : placement.groups) names += (names.empty() ? "" : ", ") + group.name;
  throw_bad_input(options.state + ": --group: expected one of its groups (" + names + ")");
}

// The group of that name as the placement has it now.
std::optional<Group> group_named(const std::string& name, const std::string& state) {
  for (Group& group : load_document<Placement>(state).content.groups) {
    if (group.name == name) return std::move(group);
  }
  return std::nullopt;
}

std::string sentence_of(const PhaseRecord& record) {
  switch (record.event) {
    case PhaseEvent::crashed:
      return record.job + " crashed; its permit has returned, and the others go on";
    case PhaseEvent::taken_back:
      return record.job + ": its " + std::string(name_of(record.phase)) +
             " has neither ended nor progressed for " + format_seconds(record.silent_s) +
             " (--max-overrun); its permit has returned, the job is set aside, and the others go on";
    case PhaseEvent::hung:
      return record.job + " has asked for nothing for " + format_seconds(record.silent_s) +
             " and counts as hung (--max-overrun); --until-left waits for it no longer";
    case PhaseEvent::set_aside:
      return record.job + " asks for nothing, and the others wait for it no longer (--patience)";
    case PhaseEvent::joined:
    case PhaseEvent::left:
      return record.job + " " + std::string(name_of(record.event));
    default:
      return "";
  }
}

// The share of the responses at which a job is told to move its tail; none reaches it if tails stay.
double served_threshold(const Placement& placement, const CoscheduleOptions& options) {
  if (options.tail_threshold && placement.probability < 1 &&
      *options.tail_threshold != placement.tail_threshold)
    std::fprintf(stderr, "warning: --tail-threshold: the promises of %s count on tails that %s\n",
                 options.state.c_str(), words_of_tails(placement.tail_threshold).c_str());
  const double threshold = options.tail_threshold.value_or(placement.tail_threshold);
  return threshold > 0 ? threshold : std::numeric_limits<double>::infinity();
}

void print_measured(const Group& group, const std::vector<PhaseRecord>& log) {
  Table table({"job", "iterations", "iteration", "of that waiting", "at most, as placed", "state"});
  table.align_left(5);
  const std::vector<MemberIterations> planned = member_iterations(group);
  const std::vector<MeasuredJob> jobs = measured_jobs(group, log);
  for (std::size_t m = 0; m < jobs.size(); ++m) {
    const MeasuredJob& job = jobs[m];
    const bool is_measured = job.iteration_s > 0;
    table.add({job.name, std::to_string(job.iterations), is_measured ? format_seconds(job.iteration_s) : "",
               is_measured ? format_seconds(job.waiting_s) : "",
               m < planned.size() ? format_seconds(planned[m].mean_s) : "", words_of_state(job)});
  }
  std::fputs(table.text().c_str(), stdout);
  print_line("iterations are means, the first of each job left out");
}

// One job of this host.
struct RelayedJob {
  OpenFile local;
  Connection remote;
  std::atomic<bool> has_ended = false;
  std::thread thread;
};

// Jobs of this host, each with a connection of its own to the server.
class RelayedJobs {
 public:
  explicit RelayedJobs(Endpoint server, const Secret& key) : server_(std::move(server)), key_(key) {}
  ~RelayedJobs() {
    for (RelayedJob& job : jobs_) hang_up(job.remote.socket);
    for (RelayedJob& job : jobs_) job.thread.join();
  }
  RelayedJobs(const RelayedJobs&) = delete;
  RelayedJobs& operator=(const RelayedJobs&) = delete;

  void add(OpenFile local) {
    Connection remote = connect_to_permits(server_, key_);
    RelayedJob& job = jobs_.emplace_back();
    job.local = std::move(local);
    job.remote = std::move(remote);
    job.thread = std::thread([&job] {
      try {
        relay_lines(job.local.number(), job.remote, RelaySide::job);
      } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      // Both ends see that the connection has ended.
      ::shutdown(job.local.number(), SHUT_RDWR);
      hang_up(job.remote.socket);
      job.has_ended = true;
    });
    has_had_some_ = true;
  }

  // True if there were some, and none is left.
  [[nodiscard]] bool have_all_left() {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      if (!job->has_ended) {
        ++job;
        continue;
      }
      job->thread.join();
      job = jobs_.erase(job);
    }
    return has_had_some_ && jobs_.empty();
  }

 private:
  Endpoint server_;
  const Secret& key_;
  std::list<RelayedJob> jobs_;
  bool has_had_some_ = false;
};

// Removes the socket at the end.
struct SocketName {
  std::filesystem::path path;
  explicit SocketName(std::filesystem::path of) : path(std::move(of)) {}
  ~SocketName() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  SocketName(const SocketName&) = delete;
  SocketName& operator=(const SocketName&) = delete;
};

}  // namespace

int connect_permits(const CoscheduleOptions& options) {
  if (options.server.empty())
    throw_bad_input("coschedule connect: --server is required, HOST:PORT of coschedule run");
  if (options.socket.empty())
    throw_bad_input("coschedule connect: --socket is required, a path for the Unix socket of this host's jobs");
  const Endpoint server = endpoint_of(options.server);
  const Secret key = permit_key(options.key_file, false);
  (void)connect_to_permits(server, key);  // says now whether the server and its key are right
  const OpenFile listener = listen_at(options.socket);
  const SocketName name(options.socket);
  const Interrupt interrupt;
  std::fprintf(stderr, "permits of %s at %s\n", server.text().c_str(), options.socket.c_str());
  RelayedJobs jobs(server, key);
  while (!interrupt.came() && !(jobs.have_all_left() && options.until_left)) {
    constexpr int kPoll_ms = 200;
    pollfd polled{listener.number(), POLLIN, 0};
    if (::poll(&polled, 1, kPoll_ms) <= 0) continue;
    OpenFile local = accept_own_user(listener);
    if (!local.is_open()) continue;
    try {
      jobs.add(std::move(local));
    } catch (const Error& error) {
      std::fprintf(stderr, "a job got no connection: %s\n", error.what());
    }
  }
  return kDone;
}

int run_group(const CoscheduleOptions& options) {
  if (options.socket.empty())
    throw_bad_input("coschedule run: --socket is required, a path for the Unix socket");
  if (options.max_overrun > 0 && options.max_overrun < 1)
    throw_bad_input(
        "coschedule run: --max-overrun: phases may take their whole bound: expected 0, or at least 1");
  const Placement placement = load_document<Placement>(options.state).content;
  const Group& group = served_group(placement, options);
  const Interrupt interrupt;
  PermitServerOptions serving;
  serving.order = options.order;
  serving.tail_threshold = served_threshold(placement, options);
  serving.ends_when_all_left = options.until_left;
  serving.is_cancelled = &interrupt.flag();
  serving.patience_s = options.patience_s;
  serving.max_overrun = options.max_overrun;
  serving.latest_group = [&] { return group_named(group.name, options.state); };
  serving.on_event = [](const PhaseRecord& record) {
    if (const std::string sentence = sentence_of(record); !sentence.empty())
      std::fprintf(stderr, "%s\n", sentence.c_str());
  };
  if (!options.listen_port && !options.key_file.empty())
    throw_bad_input("coschedule run: --key-file is the key of --listen, which is missing");
  std::optional<PermitGateway> gateway;
  if (options.listen_port)
    gateway.emplace(permit_key(options.key_file, true), static_cast<std::uint16_t>(*options.listen_port),
                    options.socket);
  serving.on_ready = [&] {
    std::fprintf(stderr, "permits for %s at %s%s\n", group.name.c_str(), options.socket.c_str(),
                 gateway ? (" and at TCP port " + std::to_string(gateway->port())).c_str() : "");
  };
  const auto [served, log] = serve_permits(group, options.socket, serving);
  if (gateway && gateway->refusals().total() > 0)
    std::fprintf(stderr, "refused connections: %llu, %llu of them with a wrong key\n",
                 static_cast<unsigned long long>(gateway->refusals().total()),
                 static_cast<unsigned long long>(gateway->refusals().wrong_secret));
  print_measured(served, log);
  if (!options.out.empty()) {
    write_text_file(options.out, csv_of(log));
    say_wrote(options.out);
  }
  return kDone;
}

}  // namespace sextant::cli
