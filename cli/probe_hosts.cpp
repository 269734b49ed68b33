#include "cli/probe_hosts.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
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

std::vector<std::vector<RankPair>> rounds_for(const std::vector<Host>& hosts, const FleetJournal& done) {
  std::map<std::string, int> number_of;
  for (std::size_t i = 0; i < hosts.size(); ++i) number_of[hosts[i].name] = static_cast<int>(i);
  std::set<RankPair> measured;
  for (const PairMeasurement& pair : done.pairs) {
    const int a = number_of[pair.from], b = number_of[pair.to];
    measured.insert({std::min(a, b), std::max(a, b)});
  }
  auto rounds = tournament_rounds(static_cast<int>(hosts.size()));
  for (auto& round : rounds)
    std::erase_if(round, [&](const RankPair& pair) { return measured.contains(pair); });
  std::erase_if(rounds, [](const auto& round) { return round.empty(); });
  return rounds;
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
               format_seconds(pair.round_trips.p99_s), rate(pair.rate(Direction::there, 1)),
               rate(pair.rate(Direction::back, 1)), rate(several), rate(several_back),
               loss ? format_percent(1 - static_cast<double>(loss->returned) / loss->sent) : "-",
               loss ? format_seconds(std::max(loss->jitter_there_s, loss->jitter_back_s)) : "-",
               format_seconds(pair.round_trips.clock_offset_s)});
  }
  return table.text();
}

void warn_of_failures(const FleetOutcome& outcome) {
  std::uint64_t strangers = 0;
  for (const HostOutcome& host : outcome.hosts) {
    const auto warn = [&](const std::string& what) {
      std::fprintf(stderr, "warning: %s %s\n", host.host.name.c_str(), what.c_str());
    };
    if (!host.why_lost.empty()) warn(host.why_lost);
    if (!host.why_no_devices.empty() && host.why_no_devices != host.why_lost) {
      warn("has no devices measured: " + host.why_no_devices);
    }
    strangers += host.refusals.value_or(Refusals{}).total();
  }
  for (const FailedPair& pair : outcome.failed_pairs) {
    std::fprintf(stderr, "warning: %s and %s were not measured: %s\n", pair.from.c_str(), pair.to.c_str(),
                 pair.why.c_str());
  }
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
  command.add_flag("--resume", options->resume, "Measure only what the journal has not")->group(group);
}

int probe_hosts(ProbeHostsOptions options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(bugprone-signal-handler): ignoring runs no code
  const std::vector<Host> hosts = parse_host_list(read_text_file(options.hosts), options.hosts);
  options.fleet.launcher = words_of(options.launcher);
  options.fleet.ports = parse_ports(options.ports);
  if (options.journal.empty()) {
    const std::string& beside = options.out.empty() ? options.samples : options.out;
    options.journal = (beside.empty() ? options.hosts : beside) + ".journal";
  }
  FleetJournal done = what_is_done(options);
  keep_known(done, hosts);
  JournalWriter journal = options.resume
                              ? JournalWriter::resume(options.journal)
                              : JournalWriter::begin(options.journal, options_to_json(options.fleet));
  const Interrupt interrupt;
  Progress progress("probing hosts", 0);
  const FleetOutcome outcome =
      probe_fleet(hosts, rounds_for(hosts, done), options.fleet, done, journal, interrupt.flag(),
                  [&](const std::string& what) { progress.step(what); });
  const FleetRecord record = FleetRecord::of(outcome);
  if (!options.samples.empty()) save_document(options.samples, record);
  std::fputs(describe(outcome).c_str(), stdout);
  warn_of_failures(outcome);
  if (!options.samples.empty()) say_wrote(options.samples);
  if (is_whole(outcome)) {
    fs::remove(options.journal);
    return kDone;
  }
  std::fprintf(stderr, "not all could be measured; go on with --resume\n");
  return kMachineFailed;
}

}  // namespace sextant::cli
