// Writes every finished measurement of a fleet to disk at once, for `--resume`.
//
//   {"journal": "sextant.fleet/1.1", "started_utc": "...", "options": ...}
//   {"host": "va-1", "devices": a DeviceReport}
//   {"pair": a PairMeasurement}
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "probes/journal/journal_file.h"
#include "probes/journal/journal_text.h"
#include "probes/network/pair_measurement.h"
#include "probes/report/device_report.h"

namespace sextant {

struct FleetJournal {  // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  JournalHead head;
  std::map<std::string, DeviceReport> devices;  // by host
  std::vector<PairMeasurement> pairs;
};

// Throws Error(bad_input) if there is none, and with file and line for any invalid line except an unfinished
// last one.
[[nodiscard]] FleetJournal read_journal(const std::filesystem::path& file);

// See JournalFile.
class JournalWriter {
 public:
  [[nodiscard]] static JournalWriter begin(const std::filesystem::path& file, const Json& belongs_to);
  [[nodiscard]] static JournalWriter resume(const std::filesystem::path& file, const Json& belongs_to);

  void add_devices(const std::string& host, const DeviceReport& devices);
  void add_pair(const PairMeasurement& pair);
  void check() const { file_.check(); }
  void flush() { file_.flush(); }

 private:
  explicit JournalWriter(JournalFile file) : file_(std::move(file)) {}

  JournalFile file_;
};

}  // namespace sextant
