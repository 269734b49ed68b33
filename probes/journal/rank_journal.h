// Writes every finished measurement of a job's ranks to disk at once, for `--resume`.
//
//   {"journal": "sextant.ranks/1.1", "started_utc": "...", "hosts": of each rank, "options": ...}
//   {"device": a RankReport without links}
//   {"points": of a device, or copies between two of a host, by their numbers in the job}
//   {"link": the points of one pair of ranks}
//   {"collectives": {"level": "zone", "results": of all groups of that level}}
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "probes/journal/journal_file.h"
#include "probes/journal/journal_text.h"
#include "probes/report/rank_report.h"
#include "probes/schedule/tournament.h"

namespace sextant {

struct RankJournal {  // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  JournalHead head;
  std::vector<RankReport> devices;
  std::vector<ProbeResult> device_points;
  std::vector<ProbeResult> points;  // for links
  std::set<std::string> levels;     // finished levels of collectives
  std::vector<ProbeResult> collectives;

  // Returns the pairs whose points all have a value and together a fit: the others are measured again.
  [[nodiscard]] std::set<RankPair> measured_pairs() const;
  [[nodiscard]] std::vector<ProbeResult> points_of_measured_pairs() const;
};

// `file` is for messages. Throws Error(bad_input) with file and line for any invalid line except an unfinished
// last one.
[[nodiscard]] RankJournal parse_rank_journal(const std::string& text, const std::string& file);

// See JournalFile; added lines are on the disk when these functions return.
class RankJournalWriter {
 public:
  [[nodiscard]] static RankJournalWriter begin(const std::filesystem::path& file, const Json& belongs_to);
  [[nodiscard]] static RankJournalWriter resume(const std::filesystem::path& file, const Json& belongs_to);

  void add_devices(const std::vector<RankReport>& reports);
  void add_points(const std::vector<ProbeResult>& points);
  void add_links(const std::vector<ProbeResult>& points);
  void add_collectives(const std::string& level, const std::vector<ProbeResult>& results);

 private:
  explicit RankJournalWriter(JournalFile file) : file_(std::move(file)) {}

  JournalFile file_;
};

}  // namespace sextant
