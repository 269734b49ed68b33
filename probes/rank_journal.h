// Every finished measurement of a job's ranks on disk as it comes: one JSON object a line, appended. What a
// killed job leaves is whole but for its last line, and `--resume` measures what is missing.
//
//   {"journal": "sextant.ranks/1.0", "started_utc": "...", "hosts": of each rank, "options": ...}
//   {"device": a RankReport without links}
//   {"link": the points of one pair of ranks}
//   {"collectives": {"level": "zone", "results": of all groups of that level}}
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/link/tournament.h"
#include "probes/rank_report.h"

namespace sextant {

struct RankJournal {
  std::string started_utc;
  std::vector<std::string> hosts;  // by rank: a probe that goes on must have the same
  Json options = Json::object();   // what was measured and how; likewise
  std::vector<RankReport> devices;
  std::vector<ProbeResult> points;  // of links
  std::set<std::string> levels;     // of collectives that are done
  std::vector<ProbeResult> collectives;

  // Those all of whose points have a value and together a fit: others are measured again.
  [[nodiscard]] std::set<RankPair> measured_pairs() const;
};

// `file` is for messages. Error(bad_input) with file and line for anything but a last line that was not
// finished.
[[nodiscard]] RankJournal parse_rank_journal(const std::string& text, const std::string& file);

class RankJournalWriter {
 public:
  // Begins anew, or goes on after what is there (a last line that was not finished is cut off). What was there
  // when it began anew is FILE.old then, so that a forgotten --resume loses nothing.
  [[nodiscard]] static RankJournalWriter begin(const std::filesystem::path& file,
                                               const std::vector<std::string>& hosts, const Json& options);
  [[nodiscard]] static RankJournalWriter resume(const std::filesystem::path& file);
  ~RankJournalWriter();
  RankJournalWriter(RankJournalWriter&& other) noexcept;
  RankJournalWriter& operator=(RankJournalWriter&&) = delete;

  // On the disk when they return; Error(machine) when the disk refuses.
  void add_devices(const std::vector<RankReport>& reports);
  void add_links(const std::vector<ProbeResult>& points);
  void add_collectives(const std::string& level, const std::vector<ProbeResult>& results);

 private:
  RankJournalWriter(std::filesystem::path file, int flags);
  void write(const std::string& lines);

  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace sextant
