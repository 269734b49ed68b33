// Writes every finished measurement of a campaign to disk at once, for `--resume`. In a job of ranks:
//
//   {"journal": "sextant.ranks/1.1", "started_utc": "...", "hosts": of each rank, "options": ...}
//   {"device": a RankReport without links}
//   {"points": of a device, or copies between two of a host, by their numbers in the job}
//   {"link": the points of one pair of ranks}
//   {"collectives": {"level": "zone", "results": of all groups of that level}}
//
// and over many hosts:
//
//   {"journal": "sextant.fleet/1.1", "started_utc": "...", "options": ...}
//   {"host": "va-1", "devices": a DeviceReport}
//   {"pair": a PairMeasurement}
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "probes/journal/journal_file.h"
#include "probes/journal/journal_text.h"
#include "probes/network/pair_measurement.h"
#include "probes/report/device_report.h"
#include "probes/report/rank_report.h"

namespace sextant::inline probes {

// The campaigns that have a journal.
inline constexpr const char* kRanksJournal = "sextant.ranks/1.1";
inline constexpr const char* kFleetJournal = "sextant.fleet/1.1";

struct ProbeJournal {  // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  JournalHead head;
  // Ranks
  std::vector<RankReport> devices;  // by rank
  std::vector<ProbeResult> device_points;
  std::vector<ProbeResult> points;  // for links
  std::set<std::string> levels;     // finished levels of collectives
  std::vector<ProbeResult> collectives;
  // Hosts
  std::map<std::string, DeviceReport> hosts;  // by name
  std::vector<PairMeasurement> pairs;
};

// `file` is for messages. Throws Error(bad_input) with file and line for another campaign's journal and for any
// invalid line except an unfinished last one.
[[nodiscard]] ProbeJournal parse_probe_journal(const std::string& text, const std::string& file,
                                               std::string_view campaign);

// See JournalFile.
class JournalWriter {
 public:
  // Starts a journal, or continues it.
  [[nodiscard]] static JournalWriter open(const std::filesystem::path& file, std::string_view campaign,
                                          const Json& belongs_to, bool resume);

  void add_devices(const std::vector<RankReport>& reports);
  void add_points(const std::vector<ProbeResult>& points);
  void add_links(const std::vector<ProbeResult>& points);
  void add_collectives(const std::string& level, const std::vector<ProbeResult>& results);
  void add_host(const std::string& host, const DeviceReport& devices);
  void add_pair(const PairMeasurement& pair);

  // Both throw Error(machine) after a disk error; flush() returns when all lines are on the disk.
  void check() const { file_.check(); }
  void flush() { file_.flush(); }

 private:
  explicit JournalWriter(JournalFile file) : file_(std::move(file)) {}

  JournalFile file_;
};

}  // namespace sextant::inline probes
