#include "probes/journal/fleet_journal.h"

#include "core/json_value.h"

namespace sextant {
namespace {

constexpr const char* kJournal = "sextant.fleet/1.1";

void read_line(FleetJournal& journal, const JsonView& view) {
  if (const auto pair = view.optional("pair")) {
    journal.pairs.push_back(PairMeasurement::parse(*pair));
  } else {
    journal.devices[view.required("host").text()] = DeviceReport::parse(view.required("devices"));
  }
}

}  // namespace

FleetJournal read_journal(const std::filesystem::path& file) {
  FleetJournal journal;
  journal.head = parse_journal(read_journal_to_resume(file), file.string(), kJournal,
                               [&](const JsonView& line) { read_line(journal, line); });
  return journal;
}

JournalWriter JournalWriter::begin(const std::filesystem::path& file, const Json& belongs_to) {
  return JournalWriter(JournalFile::begin(file, kJournal, belongs_to));
}

JournalWriter JournalWriter::resume(const std::filesystem::path& file, const Json& belongs_to) {
  return JournalWriter(JournalFile::resume(file, kJournal, belongs_to));
}

void JournalWriter::add_devices(const std::string& host, const DeviceReport& devices) {
  file_.add({{"host", host}, {"devices", devices.to_json()}});
}

void JournalWriter::add_pair(const PairMeasurement& pair) { file_.add({{"pair", pair.to_json()}}); }

}  // namespace sextant
