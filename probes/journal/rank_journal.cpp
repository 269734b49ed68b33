#include "probes/journal/rank_journal.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/json_value.h"
#include "probes/link/link_probe.h"

namespace sextant {
namespace {

constexpr const char* kJournal = "sextant.ranks/1.1";

std::vector<ProbeResult> results_of(const JsonView& view) {
  std::vector<ProbeResult> results;
  for (const JsonView& result : view.items()) results.push_back(ProbeResult::parse(result));
  return results;
}

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

void read_line(RankJournal& journal, const JsonView& view) {
  if (const auto device = view.optional("device")) {
    put(journal.devices, RankReport::parse(*device));
  } else if (const auto points = view.optional("points")) {
    append(journal.device_points, results_of(*points));
  } else if (const auto link = view.optional("link")) {
    append(journal.points, results_of(*link));
  } else {
    const JsonView collectives = view.required("collectives");
    journal.levels.insert(collectives.required("level").text());
    append(journal.collectives, results_of(collectives.required("results")));
  }
}

}  // namespace

std::set<RankPair> RankJournal::measured_pairs() const {
  std::map<RankPair, std::vector<ProbeResult>> by_pair;
  for (const ProbeResult& point : points) by_pair[{point.rank, point.peer}].push_back(point);
  std::set<RankPair> pairs;
  for (auto& [pair, of_pair] : by_pair) {
    if (fit_link(pair, std::move(of_pair)).fit) pairs.insert(pair);
  }
  return pairs;
}

std::vector<ProbeResult> RankJournal::points_of_measured_pairs() const {
  const std::set<RankPair> pairs = measured_pairs();
  std::vector<ProbeResult> measured;
  for (const ProbeResult& point : points) {
    if (pairs.contains({point.rank, point.peer})) measured.push_back(point);
  }
  return measured;
}

RankJournal parse_rank_journal(const std::string& text, const std::string& file) {
  RankJournal journal;
  journal.head = parse_journal(text, file, kJournal, [&](const JsonView& line) { read_line(journal, line); });
  return journal;
}

RankJournalWriter RankJournalWriter::begin(const std::filesystem::path& file, const Json& belongs_to) {
  return RankJournalWriter(JournalFile::begin(file, kJournal, belongs_to));
}

RankJournalWriter RankJournalWriter::resume(const std::filesystem::path& file, const Json& belongs_to) {
  return RankJournalWriter(JournalFile::resume(file, kJournal, belongs_to));
}

void RankJournalWriter::add_devices(const std::vector<RankReport>& reports) {
  for (const RankReport& report : reports) file_.add({{"device", report.to_json()}});
  file_.flush();
}

void RankJournalWriter::add_points(const std::vector<ProbeResult>& points) {
  if (!points.empty()) file_.add({{"points", to_json(points)}});
  file_.flush();
}

void RankJournalWriter::add_links(const std::vector<ProbeResult>& points) {
  std::map<RankPair, std::vector<ProbeResult>> by_pair;
  for (const ProbeResult& point : points) by_pair[{point.rank, point.peer}].push_back(point);
  for (const auto& [pair, of_pair] : by_pair) file_.add({{"link", to_json(of_pair)}});
  file_.flush();
}

void RankJournalWriter::add_collectives(const std::string& level, const std::vector<ProbeResult>& results) {
  file_.add({{"collectives", {{"level", level}, {"results", to_json(results)}}}});
  file_.flush();
}

}  // namespace sextant
