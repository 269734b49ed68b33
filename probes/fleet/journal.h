// Every finished measurement on disk as it comes: one JSON object a line, appended. What a killed coordinator
// leaves is whole but for its last line, and `--resume` measures what is missing.
//
//   {"journal": "sextant.fleet/1.0", "started_utc": "...", "options": ...}
//   {"host": "va-1", "devices": what the probe of its devices printed}
//   {"pair": a PairMeasurement}
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/network/pair_measurement.h"

namespace sextant {

struct FleetJournal {
  std::string started_utc;
  Json options;                         // what was measured and how: a resumed probe must ask for the same
  std::map<std::string, Json> devices;  // by host
  std::vector<PairMeasurement> pairs;
};

// Error(bad_input) with file and line for anything but a last line that was not finished.
[[nodiscard]] FleetJournal read_journal(const std::filesystem::path& file);

class JournalWriter {
 public:
  // Begins anew, or goes on after what is there (a last line that was not finished is cut off).
  static JournalWriter begin(const std::filesystem::path& file, const Json& options);
  static JournalWriter resume(const std::filesystem::path& file);

  // On the disk when they return; Error(machine) when the disk refuses.
  void add_devices(const std::string& host, const Json& devices);
  void add_pair(const PairMeasurement& pair);

 private:
  JournalWriter(std::filesystem::path file, int flags);
  void write_line(const Json& line);

  std::filesystem::path file_;
  Descriptor end_;
};

}  // namespace sextant
