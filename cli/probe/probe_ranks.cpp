#include "cli/probe/probe_ranks.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "cli/probe/error_of_all_ranks.h"
#include "cli/probe/watchdog.h"
#include "cli/shared/interrupt.h"
#include "core/json_value.h"
#include "core/units.h"
#include "probes/collective/growing_groups.h"
#include "probes/journal/rank_journal.h"
#include "probes/schedule/host_list.h"
#include "probes/schedule/link_rounds.h"
#include "probes/schedule/pair_turns.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

// Returns the text that rank 0 reads on every rank, and throws its Error on every rank. Collective.
std::string read_for_all(Communicator& ranks, const std::function<std::string()>& read) {
  constexpr char kText = 't', kBadInput = 'b', kMachine = 'm';
  std::string mine;
  if (ranks.rank() == 0) {
    try {
      mine = kText + read();
    } catch (const Error& error) {
      mine = (error.kind() == ErrorKind::bad_input ? kBadInput : kMachine) + std::string(error.what());
    }
  }
  std::string shared = exchange_texts(ranks, mine).front();
  const char kind = shared.front();
  shared.erase(0, 1);
  if (kind == kText) return shared;
  throw ErrorOfAllRanks(kind == kBadInput ? ErrorKind::bad_input : ErrorKind::machine, shared);
}

Json options_to_json(const ProbeRanksOptions& all, const std::vector<std::string>& hosts) {
  const ProbeOptions& options = all.probe;
  Json places = Json::array();
  for (const HostPlace& place : options.hosts.of(hosts)) places.push_back(place.region + "/" + place.zone);
  return {{"devices", all.devices},
          {"budget_s", options.budget_s_per_point},
          {"spread_fraction", options.target_spread_fraction},
          {"model", options.model ? options.model->name : ""},
          {"tokens", options.model_tokens},
          {"tensor_parallel", options.model_tensor_parallel},
          {"smoke_test", options.is_smoke_test},
          {"pin", options.pin},
          {"places", places}};
}

// The options that must not change when a probe is resumed, because old and new measurements must be
// comparable.
Json belongs_to(const ProbeRanksOptions& options, const std::vector<std::string>& hosts) {
  return {{"hosts", hosts}, {"options", options_to_json(options, hosts)}};
}

// Opened on rank 0, and what it has on all. Collective.
RankJournal open_journal(Communicator& ranks, const ProbeRanksOptions& options,
                         std::optional<RankJournalWriter>& journal) {
  if (options.journal.empty()) return {};
  const Json of = belongs_to(options, ranks.hosts());
  const std::string text = read_for_all(ranks, [&]() -> std::string {
    journal.emplace(options.resume ? RankJournalWriter::resume(options.journal, of)
                                   : RankJournalWriter::begin(options.journal, of));
    if (!options.resume) return "";
    std::string lines = read_text_file(options.journal);
    static_cast<void>(parse_rank_journal(lines, options.journal));  // complains for all
    return lines;
  });
  return options.resume ? parse_rank_journal(text, options.journal) : RankJournal{};
}

// Signs of life come every second.
constexpr double kShortestSilence_s = 5;

// Between two steps: a device's points, a round in which a rank is silent, or a level of collectives.
double longest_silence_s(const ProbeOptions& options) {
  ProbeContext context;
  context.sampling = sampling_options(options.budget_s_per_point, options.target_spread_fraction);
  const double round_s = longest_round_s(context, rank_link_options(options)) + 8 * options.answer_limit_s;
  return round_s + longest_devices_s(options) + options.collectives_budget_s;
}

std::string hint_of(const ProbeRanksOptions& options) {
  if (options.journal.empty()) return "";
  return "; finished measurements are in " + options.journal + " of rank 0, and --resume measures the rest";
}

constexpr std::size_t kMaxShown = 200;

using Rounds = std::vector<std::vector<RankPair>>;

// "round 3: a-b c-d", by what the ranks are called.
void describe_rounds(const Rounds& rounds, const std::vector<std::string>& names, std::size_t& number,
                     std::string& text) {
  for (const auto& round : rounds) {
    std::string line = "round " + std::to_string(++number) + ":";
    for (const RankPair& pair : round) {
      if (line.size() > kMaxShown) break;
      line +=
          " " + names[static_cast<std::size_t>(pair.low)] + "-" + names[static_cast<std::size_t>(pair.high)];
    }
    text += line + (line.size() > kMaxShown ? " ... (" + std::to_string(round.size()) + " pairs)" : "") + "\n";
  }
}

void describe_groups(const std::vector<GroupLevel>& levels, std::string& text) {
  for (const GroupLevel& level : levels) {
    std::string line = "collectives:";
    for (const RankGroup& group : level.groups) {
      if (line.size() > kMaxShown) break;
      line += " " + group.name + " (" + std::to_string(group.ranks.size()) + " ranks),";
    }
    line.back() = level.groups.size() > 1 ? ' ' : '\n';
    text += line;
    if (level.groups.size() > 1) text += "(" + std::to_string(level.groups.size()) + " groups at once)\n";
  }
}

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string describe_ranks(const std::vector<HostPlace>& places) {
  std::set<std::string> hosts, zones, regions;
  for (const HostPlace& place : places) {
    hosts.insert(place.name);
    zones.insert(place.zone);
    regions.insert(place.region);
  }
  return count_of(places.size(), "rank") + " on " + count_of(hosts.size(), "host") + " in " +
         count_of(zones.size(), "zone") + " and " + count_of(regions.size(), "region");
}

// "node7/1" for the second rank of a host.
std::vector<std::string> local_names(const std::vector<std::string>& hosts) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const std::string& host : hosts) names.push_back(host + "/" + std::to_string(seen[host]++));
  return names;
}

std::string at_most(double seconds) {
  return "at most about " + format_seconds(seconds) + " (less if numbers are stable early)\n";
}

}  // namespace

HostPlaces read_places(Communicator& ranks, const std::string& file) {
  if (file.empty()) return {};
  const std::string text = read_for_all(ranks, [&] { return read_text_file(file); });
  try {
    std::vector<HostPlace> places;
    for (const Host& host : parse_host_list(text, file)) places.push_back({host.name, host.region, host.zone});
    HostPlaces all(std::move(places));
    static_cast<void>(all.of(ranks.hosts()));
    return all;
  } catch (const Error& error) {
    const std::string why = error.what();
    const bool is_named = why.starts_with(file);
    throw ErrorOfAllRanks(error.kind(), is_named ? why : file + ": " + why);
  }
}

struct KeptProbe::Keepers {
  std::optional<RankJournalWriter> journal;
  std::optional<Interrupt> interrupt;
  std::optional<Heartbeats> signs;
  std::optional<Watchdog> watchdog;
};

KeptProbe::KeptProbe(Communicator& ranks, const ProbeRanksOptions& options)
    : keepers_(std::make_unique<Keepers>()) {
  std::optional<RankJournalWriter>& journal = keepers_->journal;
  done_ = open_journal(ranks, options, journal);
  if (journal) {
    hooks_.on_devices = [&journal](const std::vector<RankReport>& reports) { journal->add_devices(reports); };
    hooks_.on_points = [&journal](const std::vector<ProbeResult>& points) { journal->add_points(points); };
    hooks_.on_links = [&journal](const std::vector<ProbeResult>& points) { journal->add_links(points); };
    hooks_.on_collectives = [&journal](const std::string& level, const std::vector<ProbeResult>& results) {
      journal->add_collectives(level, results);
    };
  }
  // One rank alone has nothing to show before its end, and whoever started it may want it gone at once.
  if (ranks.size() == 1) return;
  const Interrupt& interrupt = keepers_->interrupt.emplace();
  hooks_.should_stop = [&interrupt] { return interrupt.came(); };
  Heartbeats& signs = keepers_->signs.emplace(ranks);
  const double limit_s =
      options.longest_silence_s > 0 ? options.longest_silence_s : longest_silence_s(options.probe);
  Watchdog& watchdog = keepers_->watchdog.emplace(WatchdogOptions{
      limit_s, std::max(options.probe.answer_limit_s, kShortestSilence_s), hint_of(options), &signs});
  hooks_.on_step = [&watchdog](const std::string& what) { watchdog.hear(what); };
  hooks_.on_common_step = [&watchdog](const std::string& what) { watchdog.hear(what, true); };
  if (!options.on_remains || ranks.rank() != 0) return;
  hooks_.on_remains = [&watchdog, tell = options.on_remains](const ProbeHooks::Remains& remains) {
    watchdog.set_last_words([tell, remains](const std::map<int, std::string>& lost) { tell(remains(lost)); });
  };
}

KeptProbe::~KeptProbe() = default;

ClusterProbe probe_ranks(Communicator& ranks, const ProbeRanksOptions& options) {
  const KeptProbe kept(ranks, options);
  return probe_cluster(ranks, options.probe, kept.done(), kept.hooks());
}

std::string describe_schedule(Communicator& ranks, const ProbeOptions& options) {
  const std::vector<std::string> hosts = ranks.hosts();
  const std::vector<HostPlace> places = options.hosts.of(hosts);
  const LinkRounds rounds = schedule_links(hosts);
  const std::vector<GroupLevel> levels = growing_groups(places);
  std::string text = describe_ranks(places) + "\ndevices: all at once\n";
  std::size_t number = 0;
  describe_rounds(rounds.between_nodes, hosts, number, text);
  describe_rounds(rounds.within_nodes, local_names(hosts), number, text);
  describe_groups(levels, text);
  const SamplingOptions sampling = sampling_options(options.budget_s_per_point, options.target_spread_fraction);
  const double round_s = static_cast<double>(rank_link_options(options).message_bytes.size()) *
                         (sampling.warm_up_s + sampling.stopping.budget_s);
  const SamplingOptions collective = rank_collective_sampling(options);
  const double level_s =
      static_cast<double>(kCollectiveKindCount * rank_collective_sizes_bytes(options).size()) *
      (collective.warm_up_s + collective.stopping.budget_s);
  return text + at_most(longest_devices_s(options) + static_cast<double>(number) * round_s +
                        static_cast<double>(levels.size()) * std::min(level_s, options.collectives_budget_s));
}

std::string describe_gpu_schedule(Communicator& ranks, const ProbeOptions& options, double total_budget_s,
                                  int gpus) {
  std::vector<std::string> hosts = ranks.hosts();
  const bool is_alone = hosts.size() == 1;
  if (is_alone) hosts.assign(static_cast<std::size_t>(gpus), hosts.front());
  const std::vector<HostPlace> places = options.hosts.of(hosts);
  const std::vector<GroupLevel> levels = growing_groups(places);
  std::string text = is_alone ? count_of(hosts.size(), "GPU") + " of this host, one after another\n"
                              : describe_ranks(places) + "\nGPUs: all at once\n";
  const PairTurns turns(hosts);
  Rounds rounds;
  for (std::size_t turn = 0; turn < turns.first_count(); ++turn) rounds.push_back(turns.turn(turn));
  std::size_t number = 0;
  describe_rounds(rounds, local_names(hosts), number, text);
  if (number < turns.count()) {
    text += "if time allows: " + count_of(turns.count() - number, "more round") + " of other pairs\n";
  }
  describe_groups(levels, text);
  // GPUs, copies between those of a host, pairs, and each level of collectives: --total-budget each.
  const double budgets = (is_alone ? static_cast<double>(gpus) : 1) + (is_alone && gpus > 1 ? 1 : 0) +
                         (number > 0 ? 1 : 0) + static_cast<double>(levels.size());
  return text + at_most(budgets * total_budget_s);
}

}  // namespace sextant::cli
