#include "cli/probe/kept_probe.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "cli/probe/error_of_all_ranks.h"
#include "cli/probe/watchdog.h"
#include "cli/shared/interrupt.h"
#include "core/json_value.h"
#include "probes/schedule/host_list.h"
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

// The hosts and options that must not change when a probe is resumed, because old and new measurements must be
// comparable.
Json belongs_to(const ProbeOptions& options, const std::string& devices,
                const std::vector<std::string>& hosts) {
  Json places = Json::array();
  for (const HostPlace& place : options.hosts.of(hosts)) places.push_back(place.region + "/" + place.zone);
  return {{"hosts", hosts},
          {"options",
           {{"devices", devices},
            {"budget_s", options.budget_s_per_point},
            {"spread_fraction", options.target_spread_fraction},
            {"model", options.model ? options.model->name : ""},
            {"tokens", options.model_tokens},
            {"tensor_parallel", options.model_tensor_parallel},
            {"smoke_test", options.is_smoke_test},
            {"pin", options.pin},
            {"places", places}}}};
}

// Opens the journal on rank 0 and returns its content on all ranks. Collective.
ProbeJournal open_journal(Communicator& ranks, const ProbeCommand& command, const std::string& devices,
                          std::optional<JournalWriter>& journal) {
  const ProbeFiles& files = command.files;
  if (files.journal.empty()) return {};
  const Json of = belongs_to(command.probe, devices, ranks.hosts());
  const std::string text = read_for_all(ranks, [&]() -> std::string {
    journal.emplace(JournalWriter::open(files.journal, kRanksJournal, of, files.resume));
    if (!files.resume) return "";
    std::string lines = read_text_file(files.journal);
    static_cast<void>(parse_probe_journal(lines, files.journal, kRanksJournal));  // complains for all
    return lines;
  });
  return files.resume ? parse_probe_journal(text, files.journal, kRanksJournal) : ProbeJournal{};
}

// Hooks that write to the journal; what was added is on the disk when they return.
void set_journal_hooks(JournalWriter& journal, ProbeHooks& hooks) {
  const auto flushed = [&journal](auto add) {
    return [&journal, add](const auto&... found) {
      (journal.*add)(found...);
      journal.flush();
    };
  };
  hooks.on_devices = flushed(&JournalWriter::add_devices);
  hooks.on_points = flushed(&JournalWriter::add_points);
  hooks.on_links = flushed(&JournalWriter::add_links);
  hooks.on_collectives = flushed(&JournalWriter::add_collectives);
}

// Heartbeats come every second.
constexpr double kShortestSilence_s = 5;

std::string hint_of(const std::string& journal) {
  if (journal.empty()) return "";
  return "; finished measurements are in " + journal + " of rank 0, and --resume measures the rest";
}

}  // namespace

HostPlaces read_places(Communicator& ranks, const std::string& file) {
  if (file.empty()) return {};
  const std::string text = read_for_all(ranks, [&] { return read_text_file(file); });
  try {
    HostPlaces all(places_of(parse_host_list(text, file)));
    static_cast<void>(all.of(ranks.hosts()));
    return all;
  } catch (const Error& error) {
    const std::string why = error.what();
    const bool is_named = why.starts_with(file);
    throw ErrorOfAllRanks(error.kind(), is_named ? why : file + ": " + why);
  }
}

struct KeptProbe::Keepers {
  std::optional<JournalWriter> journal;
  std::optional<Interrupt> interrupt;
  std::optional<Heartbeats> signs;
  std::optional<Watchdog> watchdog;
};

KeptProbe::KeptProbe(Communicator& ranks, const ProbeCommand& command, const std::string& devices,
                     double longest_silence_s)
    : keepers_(std::make_unique<Keepers>()) {
  done_ = open_journal(ranks, command, devices, keepers_->journal);
  if (keepers_->journal) set_journal_hooks(*keepers_->journal, hooks_);
  // One rank alone has nothing to show before its end, and whoever started it may want it gone at once.
  if (ranks.size() == 1) return;
  const Interrupt& interrupt = keepers_->interrupt.emplace();
  hooks_.should_stop = [&interrupt] { return interrupt.came(); };
  Heartbeats& signs = keepers_->signs.emplace(ranks);
  Watchdog& watchdog = keepers_->watchdog.emplace(
      WatchdogOptions{longest_silence_s, std::max(command.probe.answer_limit_s, kShortestSilence_s),
                      hint_of(command.files.journal), &signs});
  hooks_.on_step = [&watchdog](const std::string& what) { watchdog.hear(what); };
  hooks_.on_common_step = [&watchdog](const std::string& what) { watchdog.hear(what, true); };
  if (!command.on_remains || ranks.rank() != 0) return;
  hooks_.on_remains = [&watchdog, tell = command.on_remains](const ProbeHooks::Remains& remains) {
    watchdog.set_last_words([tell, remains](const std::map<int, std::string>& lost) { tell(remains(lost)); });
  };
}

KeptProbe::~KeptProbe() = default;

}  // namespace sextant::cli
