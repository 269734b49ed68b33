#include "cli/probe/probe_hosts.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "cli/command_line/checks.h"
#include "cli/probe/probe_hosts_report.h"
#include "cli/probe/probe_schedule.h"
#include "cli/shared/command.h"
#include "cli/shared/interrupt.h"
#include "core/progress.h"
#include "core/text.h"
#include "core/this_program.h"
#include "core/units.h"
#include "probes/comm/lone_rank.h"
#include "probes/fleet/child_process.h"
#include "probes/fleet/launcher.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

constexpr const char* kSsh =
    "ssh -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=5 -o ServerAliveCountMax=3 "
    // A shared connection would stay behind, and everything would end with its first user's.
    "-o ControlMaster=no -o ControlPath=none {target}";

// "4000" or "4000-4100"; empty: any free port.
PortRange parse_ports(const std::string& text) {
  if (text.empty()) return {};
  PortRange ports;
  const char* end = text.data() + text.size();
  auto [next, fault] = std::from_chars(text.data(), end, ports.first);
  ports.last = ports.first;
  if (fault == std::errc{} && next != end && *next == '-') {
    const auto last = std::from_chars(next + 1, end, ports.last);
    next = last.ptr;
    fault = last.ec;
  }
  if (fault != std::errc{} || next != end || ports.first == 0 || ports.last < ports.first) {
    throw_bad_input(
        "--ports: expected FIRST or FIRST-LAST with ports from 1 to 65535, such as 4000-4100, got " +
        in_quotes(text));
  }
  return ports;
}

// The options that must not change when a probe is resumed, because old and new measurements must be
// comparable.
Json options_to_json(const FleetOptions& options) {
  return {{"pair", options.pair.to_json()},
          {"probe_devices", options.probe_devices},
          {"device_options", options.device_options}};
}

// The cluster document has the bandwidth of as many streams as there are sockets.
void set_streams(ProbeHostsOptions& options) {
  PairOptions& pair = options.fleet.pair;
  if (options.sockets == 1) return;
  if (options.streams.is_given() && pair.streams != options.sockets) {
    throw_bad_input("--streams " + std::to_string(pair.streams) + " and --sockets " +
                    std::to_string(options.sockets) +
                    ": the two must be equal, because NCCL's sockets are measured as parallel streams; leave "
                    "out --streams");
  }
  pair.streams = options.sockets;
}

// Each would start a coordinator of its own, all on the same hosts and the same journal.
void refuse_ranks(const Environment& environment) {
  const std::string proof = proof_of_other_ranks(environment);
  if (proof.empty()) return;
  throw_bad_input(
      "--hosts needs a single process, which starts the others on the hosts; this job has several: " + proof +
      ". Start it alone, or leave out --hosts to probe with these ranks");
}

// The journal is opened first, so that nobody else adds to what is read; where nothing is measured nobody
// waits.
std::optional<JournalWriter> open_journal(const ProbeFiles& files, const Json& belongs_to) {
  if (files.dry_run) return std::nullopt;
  return JournalWriter::open(files.journal, kFleetJournal, belongs_to, files.resume);
}

ProbeJournal what_is_done(const ProbeFiles& files, const Json& belongs_to) {
  if (!files.resume) return {};
  ProbeJournal done = parse_probe_journal(read_journal_to_resume(files.journal), files.journal, kFleetJournal);
  expect_same_probe(done.head, belongs_to, files.journal);
  return done;
}

// Leaves out what concerns hosts that are not in the list any more.
void keep_known(ProbeJournal& done, const std::vector<Host>& hosts) {
  std::set<std::string> names;
  for (const Host& host : hosts) names.insert(host.name);
  std::erase_if(done.hosts, [&](const auto& entry) { return !names.contains(entry.first); });
  std::erase_if(done.pairs,
                [&](const auto& pair) { return !names.contains(pair.from) || !names.contains(pair.to); });
}

// The rounds without the pairs in `done`.
PairRounds rounds_for(const std::vector<Host>& hosts, const ScheduleOptions& options,
                      const ProbeJournal& done) {
  std::map<std::string, int> number_of;
  for (std::size_t i = 0; i < hosts.size(); ++i) number_of[hosts[i].name] = static_cast<int>(i);
  std::vector<RankPair> measured;
  for (const PairMeasurement& pair : done.pairs) {
    measured.push_back(pair_of(number_of[pair.from], number_of[pair.to]));
  }
  const std::vector<HostPlace> places = places_of(hosts);
  return remaining_rounds(places, schedule_pairs(places, options), measured, options);
}

}  // namespace

void add_probe_hosts(const Command& command, ProbeHostsOptions& options, ProbeFiles& files) {
  const std::string group = kManyHosts;
  command
      .add_option(
          "--hosts", options.hosts,
          "Hosts file: start a probe on each host with --launcher, measure its devices, and all pairs over TCP")
      .in_group(group);
  options.launcher = kSsh;
  command
      .add_option("--launcher", options.launcher,
                  "Command that starts a program on a host; {target} stands for the host")
      .in_group(group)
      .shows_default();
  options.fleet.program = this_program().string();
  command.add_option("--program", options.fleet.program, "Path of sextant on the hosts")
      .in_group(group)
      .shows_default();
  command
      .add_option("--ports", options.ports,
                  "TCP and UDP ports to listen on, FIRST-LAST (default: any free port)")
      .in_group(group);
  options.streams =
      command
          .add_option(
              "--streams", options.fleet.pair.streams,
              "Number of parallel TCP streams, measured in addition to a single one; --sockets sets it too")
          .check(positive_number())
          .in_group(group)
          .shows_default();
  command
      .add_option(
          "--pair-budget", options.fleet.pair.budget_s,
          "Time limit in seconds for one bandwidth of a pair; at least 40 round trips between distant hosts")
      .check(positive_number())
      .in_group(group)
      .shows_default();
  command
      .add_option("--loss-seconds", options.fleet.pair.datagrams_s,
                  "Seconds to measure loss and jitter of a pair; 0 skips them")
      .check(non_negative_number())
      .in_group(group)
      .shows_default();
  command
      .add_option(
          "--journal", files.journal,
          "File to which each measurement is written when it ends (default: --out or --samples plus .journal)")
      .in_group(group);
  command
      .add_option(
          "--sockets", options.sockets,
          "Sockets per peer in NCCL (NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD), for the bandwidth of links")
      .check(positive_number())
      .in_group(group)
      .shows_default();
  command
      .add_option("--all-pairs-up-to", options.schedule.all_pairs_up_to,
                  "Maximum number of hosts with all pairs measured; with more, a sample is measured and the "
                  "rest estimated")
      .check(positive_number())
      .in_group(group)
      .shows_default();
  command
      .add_flag("--dry-run", files.dry_run,
                "Print the measurement schedule and its estimated time, and measure nothing")
      .in_group(group);
  command.add_flag("--resume", files.resume, "Measure only what is missing in the journal").in_group(group);
}

int probe_hosts(ProbeHostsOptions options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(bugprone-signal-handler): ignoring runs no code
  refuse_ranks(process_environment());
  raise_descriptor_limit();
  const std::vector<Host> hosts = parse_host_list(read_text_file(options.hosts), options.hosts);
  options.fleet.launcher = words_of(options.launcher);
  if (options.launcher.find("{target}") == std::string::npos) {
    throw_bad_input("--launcher: expected a command that contains {target}, got " +
                    in_quotes(options.launcher));
  }
  options.fleet.ports = parse_ports(options.ports);
  set_streams(options);
  options.fleet.device_limit_s = device_limit_s(options.fleet.device_options);
  ProbeFiles& files = options.files;
  if (!files.out.empty() && !options.fleet.probe_devices) {
    throw_bad_input("--devices none makes no cluster document: replace --out by --samples");
  }
  if (files.journal.empty()) files.journal = files.journal_beside_outputs();
  if (files.journal.empty()) files.journal = options.hosts + ".journal";
  const Json belongs_to = {{"options", options_to_json(options.fleet)}};
  std::optional<JournalWriter> journal = open_journal(files, belongs_to);
  ProbeJournal done = what_is_done(files, belongs_to);
  keep_known(done, hosts);
  const PairRounds rounds = rounds_for(hosts, options.schedule, done);
  if (files.dry_run) {
    std::fputs(describe_host_schedule(options.fleet, hosts, rounds).c_str(), stdout);
    return kDone;
  }
  const Interrupt interrupt;
  std::optional<Progress> progress(std::in_place, "probing hosts", 0);
  const FleetRecord fleet = probe_fleet(hosts, rounds, options.fleet, done, *journal, interrupt.flag(),
                                        [&](const std::string& what) { progress->step(what); });
  progress.reset();
  return report_on_hosts(options, fleet);
}

}  // namespace sextant::cli
