#include "probes/journal/probe_journal.h"

#include <algorithm>

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

// Stores the report of a rank; a new one replaces the earlier one.
void put(std::vector<RankReport>& devices, RankReport report) {
  const auto place = std::lower_bound(devices.begin(), devices.end(), report.rank,
                                      [](const RankReport& a, int rank) { return a.rank < rank; });
  if (place != devices.end() && place->rank == report.rank) {
    *place = std::move(report);
  } else {
    devices.insert(place, std::move(report));
  }
}

void read_line(ProbeJournal& journal, const JsonView& view) {
  if (const auto device = view.optional("device")) {
    put(journal.devices, RankReport::parse(*device));
  } else if (const auto points = view.optional("points")) {
    append(journal.device_points, parse_results(*points));
  } else if (const auto link = view.optional("link")) {
    append(journal.points, parse_results(*link));
  } else if (const auto collectives = view.optional("collectives")) {
    journal.levels.insert(collectives->required("level").text());
    append(journal.collectives, parse_results(collectives->required("results")));
  } else if (const auto pair = view.optional("pair")) {
    journal.pairs.push_back(PairMeasurement::parse(*pair));
  } else {
    journal.hosts[view.required("host").text()] = DeviceReport::parse(view.required("devices"));
  }
}

}  // namespace

ProbeJournal parse_probe_journal(const std::string& text, const std::string& file, std::string_view campaign) {
  ProbeJournal journal;
  journal.head = parse_journal(text, file, campaign, [&](const JsonView& line) { read_line(journal, line); });
  return journal;
}

JournalWriter JournalWriter::open(const std::filesystem::path& file, std::string_view campaign,
                                  const Json& belongs_to, bool resume) {
  return JournalWriter(resume ? JournalFile::resume(file, campaign, belongs_to)
                              : JournalFile::begin(file, campaign, belongs_to));
}

void JournalWriter::add_devices(const std::vector<RankReport>& reports) {
  for (const RankReport& report : reports) file_.add({{"device", report.to_json()}});
}

void JournalWriter::add_points(const std::vector<ProbeResult>& points) {
  if (!points.empty()) file_.add({{"points", to_json(points)}});
}

void JournalWriter::add_links(const std::vector<ProbeResult>& points) {
  std::map<std::pair<int, int>, std::vector<ProbeResult>> by_pair;
  for (const ProbeResult& point : points) by_pair[{point.rank, point.peer}].push_back(point);
  for (const auto& [pair, of_pair] : by_pair) file_.add({{"link", to_json(of_pair)}});
}

void JournalWriter::add_collectives(const std::string& level, const std::vector<ProbeResult>& results) {
  file_.add({{"collectives", {{"level", level}, {"results", to_json(results)}}}});
}

void JournalWriter::add_host(const std::string& host, const DeviceReport& devices) {
  file_.add({{"host", host}, {"devices", devices.to_json()}});
}

void JournalWriter::add_pair(const PairMeasurement& pair) { file_.add({{"pair", pair.to_json()}}); }

}  // namespace sextant::inline probes
