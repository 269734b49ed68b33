// Every finished measurement on disk as it comes: one JSON object a line, appended. What a killed coordinator
// leaves is whole but for its last line, and `--resume` measures what is missing.
//
//   {"journal": "sextant.fleet/1.1", "started_utc": "...", "options": ...}
//   {"host": "va-1", "devices": a DeviceReport}
//   {"pair": a PairMeasurement}
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/fleet/device_report.h"
#include "probes/network/pair_measurement.h"

namespace sextant {

struct FleetJournal {  // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  std::string started_utc;
  Json options;  // what was measured and how: a resumed probe must ask for the same
  std::map<std::string, DeviceReport> devices;  // by host
  std::vector<PairMeasurement> pairs;
};

// Error(bad_input) with file and line for anything but a last line that was not finished. Of a probe that was
// ended before its first line nothing is known, and nothing was measured.
[[nodiscard]] FleetJournal read_journal(const std::filesystem::path& file);

// A thread of its own writes, so that a slow disk keeps nobody from the hosts: what is added goes to the file
// within a moment, all that came in the meantime with one fdatasync.
class JournalWriter {
 public:
  // Begins anew: Error(bad_input) when the file has measurements of a probe that was not finished, or is no
  // journal.
  static JournalWriter begin(const std::filesystem::path& file, const Json& options);
  // Goes on after what is there; a last line that was not finished is cut off.
  static JournalWriter resume(const std::filesystem::path& file, const Json& options);
  // Both: Error(machine) when another probe writes there.

  // Writes what was added; what the disk refuses then is lost without a word, so call flush() before.
  ~JournalWriter();
  JournalWriter(JournalWriter&&) noexcept;
  JournalWriter(const JournalWriter&) = delete;

  // Error(machine) when the disk refused something earlier.
  void add_devices(const std::string& host, const DeviceReport& devices);
  void add_pair(const PairMeasurement& pair);
  void check() const;
  // All that was added is on the disk when it returns; Error(machine) when it refuses.
  void flush();

 private:
  class Thread;

  JournalWriter(const std::filesystem::path& file, const Json& options, std::size_t whole);

  std::unique_ptr<Thread> thread_;
};

}  // namespace sextant
