#include "cli/probe_hosts.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "cli/checks.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/table.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/text.h"
#include "core/units.h"
#include "probes/fleet/fleet_cluster.h"
#include "probes/fleet/fleet_oddities.h"
#include "probes/fleet/fleet_record.h"

namespace sextant::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSsh =
    "ssh -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=5 -o ServerAliveCountMax=3 {target}";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

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
    throw_bad_input("--ports: expected FIRST or FIRST-LAST, got " + in_quotes(text));
  }
  return ports;
}

// What must not change when a probe goes on: else old and new measurements are not of one kind.
Json options_to_json(const FleetOptions& options) {
  return {{"pair", options.pair.to_json()},
          {"probe_devices", options.probe_devices},
          {"device_options", options.device_options}};
}

FleetJournal what_is_done(const ProbeHostsOptions& options) {
  if (!options.resume) return {};
  if (!fs::exists(options.journal)) {
    throw_bad_input("--resume: there is no " + options.journal +
                    ", the journal of a probe that was not finished");
  }
  FleetJournal done = read_journal(options.journal);
  if (done.options != options_to_json(options.fleet)) {
    throw_bad_input("--resume: " + options.journal + " is of a probe with other options (" +
                    compact(done.options) + ")");
  }
  return done;
}

// Leaves out what concerns hosts that are not in the list any more.
void keep_known(FleetJournal& done, const std::vector<Host>& hosts) {
  std::set<std::string> names;
  for (const Host& host : hosts) names.insert(host.name);
  std::erase_if(done.devices, [&](const auto& entry) { return !names.contains(entry.first); });
  std::erase_if(done.pairs,
                [&](const auto& pair) { return !names.contains(pair.from) || !names.contains(pair.to); });
}

std::vector<HostPlace> places_of(const std::vector<Host>& hosts) {
  std::vector<HostPlace> places;
  for (const Host& host : hosts) places.push_back({host.name, host.region, host.zone});
  return places;
}

PairRounds rounds_for(const std::vector<Host>& hosts, const ScheduleOptions& options,
                      const FleetJournal& done) {
  std::map<std::string, int> number_of;
  for (std::size_t i = 0; i < hosts.size(); ++i) number_of[hosts[i].name] = static_cast<int>(i);
  std::vector<RankPair> measured;
  for (const PairMeasurement& pair : done.pairs) {
    const int a = number_of[pair.from], b = number_of[pair.to];
    measured.push_back({std::min(a, b), std::max(a, b)});
  }
  const std::vector<HostPlace> places = places_of(hosts);
  return remaining_rounds(places, schedule_pairs(places, options), measured, options);
}

// What a round costs beside its pairs: commands and answers of all agents.
constexpr double kRound_s = 0.5;
// Round trips that the estimate takes for granted; only warm-ups depend on them.
constexpr double kZoneRoundTrip_s = 2e-4, kRegionRoundTrip_s = 2e-3, kFarRoundTrip_s = 0.15;

int show_schedule(const ProbeHostsOptions& options, const std::vector<Host>& hosts, const PairRounds& rounds) {
  const PairOptions& pair = options.fleet.pair;
  std::size_t pairs = 0;
  for (const auto& round : rounds) pairs += round.size();
  const PairSeconds seconds{pair.longest_s(kZoneRoundTrip_s), pair.longest_s(kRegionRoundTrip_s),
                            pair.longest_s(kFarRoundTrip_s), kRound_s};
  const double all = 0.5 * static_cast<double>(hosts.size()) * static_cast<double>(hosts.size() - 1);
  print_line(std::to_string(hosts.size()) + " hosts: " + std::to_string(pairs) + " of " + format_number(all) +
             " pairs in " + std::to_string(rounds.size()) + " rounds, at most " +
             format_seconds(schedule_seconds(places_of(hosts), rounds, seconds)) +
             " (less where rates are stable early)" +
             (options.fleet.probe_devices ? ", after the probe of the devices, all hosts at once" : ""));
  constexpr std::size_t kMostShown = 200;
  std::size_t number = 0;
  for (const auto& round : rounds) {
    std::string line = "round " + std::to_string(++number) + ":";
    for (const RankPair& one : round) {
      if (line.size() > kMostShown) break;
      line += " " + hosts[static_cast<std::size_t>(one.low)].name + "-" +
              hosts[static_cast<std::size_t>(one.high)].name;
    }
    print_line(line + (line.size() > kMostShown ? " ... (" + std::to_string(round.size()) + " pairs)" : ""));
  }
  return kDone;
}

std::string describe(const FleetOutcome& outcome) {
  Table table(
      {"pair", "round trip", "p99", "one stream", "back", "several", "back", "loss", "jitter", "clock"});
  const auto rate = [](const StreamRate* stream) {
    return stream == nullptr ? "-" : format_bytes_per_s(stream->bytes_per_s);
  };
  for (const PairMeasurement& pair : outcome.pairs) {
    const int streams = pair.rates.back().streams;
    const StreamRate* several = streams > 1 ? pair.rate(Direction::there, streams) : nullptr;
    const StreamRate* several_back = streams > 1 ? pair.rate(Direction::back, streams) : nullptr;
    const auto& loss = pair.datagrams;
    table.add({pair.from + " " + pair.to, format_seconds(pair.round_trips.median_s),
               pair.round_trips.p99_s ? format_seconds(*pair.round_trips.p99_s) : "-",
               rate(pair.rate(Direction::there, 1)), rate(pair.rate(Direction::back, 1)), rate(several),
               rate(several_back),
               loss ? format_percent(1 - static_cast<double>(loss->returned) / loss->sent) : "-",
               loss ? format_seconds(std::max(loss->jitter_there_s, loss->jitter_back_s)) : "-",
               format_seconds(pair.round_trips.clock_offset_s)});
  }
  return table.text();
}

void warn_of_failures(const FleetOutcome& outcome) {
  std::uint64_t strangers = 0;
  std::set<std::string> lost;
  for (const HostOutcome& host : outcome.hosts) {
    const auto warn = [&](const std::string& what) {
      std::fprintf(stderr, "warning: %s %s\n", host.host.name.c_str(), what.c_str());
    };
    if (!host.why_lost.empty()) {
      warn(host.why_lost);
      lost.insert(host.host.name);
    }
    if (!host.why_no_devices.empty() && host.why_no_devices != host.why_lost) {
      warn("has no devices measured: " + host.why_no_devices);
    }
    strangers += host.refusals.value_or(Refusals{}).total();
  }
  std::size_t of_lost = 0;
  for (const FailedPair& pair : outcome.failed_pairs) {
    if (lost.contains(pair.from) || lost.contains(pair.to)) {
      ++of_lost;
      continue;
    }
    std::fprintf(stderr, "warning: %s and %s were not measured: %s\n", pair.from.c_str(), pair.to.c_str(),
                 pair.why.c_str());
  }
  if (of_lost > 0) std::fprintf(stderr, "warning: %zu pairs of these hosts were not measured\n", of_lost);
  if (strangers > 0) {
    std::fprintf(stderr, "warning: %llu connections of others were refused\n",
                 static_cast<unsigned long long>(strangers));
  }
}

bool is_whole(const FleetOutcome& outcome) {
  return !outcome.is_interrupted && outcome.failed_pairs.empty() &&
         std::all_of(outcome.hosts.begin(), outcome.hosts.end(), [](const HostOutcome& host) {
           return host.why_lost.empty() && host.why_no_devices.empty();
         });
}

// What there is goes to where it was asked for, whatever is missing.
int hand_over(const ProbeHostsOptions& options, const FleetOutcome& outcome) {
  if (!options.samples.empty()) save_document(options.samples, FleetRecord::of(outcome));
  const FleetCluster fleet = assemble_fleet_cluster(options.name, outcome, options.sockets);
  if (fleet.cluster && !options.out.empty()) save_document(options.out, *fleet.cluster);
  if (options.json && fleet.cluster) {
    print_document(*fleet.cluster);
  } else {
    std::fputs(describe(outcome).c_str(), stdout);
  }
  warn_of_failures(outcome);
  for (const std::string& odd : describe_oddities(outcome)) std::fprintf(stderr, "warning: %s\n", odd.c_str());
  if (options.fleet.probe_devices) {
    for (const std::string& warning : fleet.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    if (!fleet.cluster) std::fprintf(stderr, "warning: no cluster document: %s\n", fleet.why_not.c_str());
  }
  if (!options.samples.empty()) say_wrote(options.samples);
  if (fleet.cluster && !options.out.empty()) say_wrote(options.out);
  if (is_whole(outcome)) {
    fs::remove(options.journal);
    return kDone;
  }
  std::fprintf(stderr, "%s; what was measured is in %s, and --resume measures the rest\n",
               outcome.is_interrupted ? "interrupted" : "not all could be measured", options.journal.c_str());
  return kMachineFailed;
}

}  // namespace

void add_probe_hosts(CLI::App& command, const std::shared_ptr<ProbeHostsOptions>& options) {
  const std::string group = "Many hosts";
  command
      .add_option("--hosts", options->hosts,
                  "Hosts file: start a probe on each by --launcher, measure devices and all pairs over TCP")
      ->group(group);
  options->launcher = kSsh;
  command
      .add_option("--launcher", options->launcher, "What starts a program on a host, which {target} stands for")
      ->group(group)
      ->capture_default_str();
  options->fleet.program = fs::read_symlink("/proc/self/exe").string();
  command.add_option("--program", options->fleet.program, "Sextant on the hosts")
      ->group(group)
      ->capture_default_str();
  command.add_option("--ports", options->ports, "Ports to listen on, FIRST-LAST; any free one unless given")
      ->group(group);
  command.add_option("--streams", options->fleet.pair.streams, "TCP streams at once, beside one alone")
      ->check(positive_number())
      ->group(group)
      ->capture_default_str();
  command.add_option("--pair-budget", options->fleet.pair.budget_s, "Most seconds for one bandwidth of a pair")
      ->check(positive_number())
      ->group(group)
      ->capture_default_str();
  command
      .add_option("--loss-seconds", options->fleet.pair.datagrams_s,
                  "How long loss and jitter of a pair are watched; 0 for not at all")
      ->check(CLI::NonNegativeNumber)
      ->group(group)
      ->capture_default_str();
  command
      .add_option("--journal", options->journal,
                  "Every finished measurement goes here at once; the --out or --samples file with .journal "
                  "unless given")
      ->group(group);
  command
      .add_option("--sockets", options->sockets,
                  "Sockets that NCCL opens to a peer (NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD): whose "
                  "bandwidth the "
                  "cluster document has")
      ->check(positive_number())
      ->group(group)
      ->capture_default_str();
  command
      .add_option("--all-pairs-up-to", options->schedule.all_pairs_up_to,
                  "Hosts; of more a sample of the pairs is measured and the rest estimated")
      ->check(positive_number())
      ->group(group)
      ->capture_default_str();
  command.add_flag("--dry-run", options->dry_run, "Print which pairs are measured when, and how long it takes")
      ->group(group);
  command.add_flag("--resume", options->resume, "Measure only what the journal has not")->group(group);
}

int probe_hosts(ProbeHostsOptions options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(bugprone-signal-handler): ignoring runs no code
  const std::vector<Host> hosts = parse_host_list(read_text_file(options.hosts), options.hosts);
  options.fleet.launcher = words_of(options.launcher);
  if (options.launcher.find("{target}") == std::string::npos) {
    throw_bad_input("--launcher: {target} must be in it, for the host: got " + in_quotes(options.launcher));
  }
  options.fleet.ports = parse_ports(options.ports);
  if (options.sockets > 1) options.fleet.pair.streams = options.sockets;
  if (!options.out.empty() && !options.fleet.probe_devices) {
    throw_bad_input("--devices none makes no cluster document: leave out --out, or take --samples");
  }
  if (options.journal.empty()) {
    const std::string& beside = options.out.empty() ? options.samples : options.out;
    options.journal = (beside.empty() ? options.hosts : beside) + ".journal";
  }
  FleetJournal done = what_is_done(options);
  keep_known(done, hosts);
  const PairRounds rounds = rounds_for(hosts, options.schedule, done);
  if (options.dry_run) return show_schedule(options, hosts, rounds);
  JournalWriter journal = options.resume
                              ? JournalWriter::resume(options.journal)
                              : JournalWriter::begin(options.journal, options_to_json(options.fleet));
  const Interrupt interrupt;
  std::optional<Progress> progress(std::in_place, "probing hosts", 0);
  const FleetOutcome outcome = probe_fleet(hosts, rounds, options.fleet, done, journal, interrupt.flag(),
                                           [&](const std::string& what) { progress->step(what); });
  progress.reset();
  return hand_over(options, outcome);
}

}  // namespace sextant::cli
