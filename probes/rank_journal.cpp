#include "probes/rank_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "core/document.h"
#include "core/error.h"
#include "core/provenance.h"
#include "probes/link/link_probe.h"

namespace sextant {
namespace {

constexpr const char* kJournal = "sextant.ranks/1.0";
constexpr int kPermissions = 0644;

[[noreturn]] void fail_to_write(const std::filesystem::path& file) {
  throw_machine_failed("cannot write " + file.string() + ": " + std::strerror(errno));
}

std::vector<ProbeResult> results_of(const JsonView& view) {
  std::vector<ProbeResult> results;
  for (const JsonView& result : view.items()) results.push_back(ProbeResult::parse(result));
  return results;
}

void append(std::vector<ProbeResult>& all, std::vector<ProbeResult> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void read_head(RankJournal& journal, const JsonView& view) {
  if (view.required("journal").text() != kJournal) view.fail(std::string("expected a journal ") + kJournal);
  journal.started_utc = view.required("started_utc").text();
  for (const JsonView& host : view.required("hosts").items()) journal.hosts.push_back(host.text());
  journal.options = view.required("options").json();
}

void read_line(RankJournal& journal, const JsonView& view) {
  if (const auto device = view.optional("device")) {
    journal.devices.push_back(RankReport::parse(*device));
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

RankJournal parse_rank_journal(const std::string& text, const std::string& file) {
  RankJournal journal;
  std::size_t begin = 0;
  int number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    ++number;
    try {
      const Json line = parse_json(std::string_view(text).substr(begin, end - begin));
      number == 1 ? read_head(journal, JsonView(line)) : read_line(journal, JsonView(line));
    } catch (const Error& error) {
      throw_bad_input(file + ":" + std::to_string(number) + ": " + error.what());
    }
    begin = end + 1;
  }
  if (number == 0) throw_bad_input(file + ": there is no whole line in it");
  return journal;
}

RankJournalWriter::RankJournalWriter(std::filesystem::path file, int flags)
    : file_(std::move(file)),
      descriptor_(open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, kPermissions)) {
  if (descriptor_ < 0) fail_to_write(file_);
}

RankJournalWriter::RankJournalWriter(RankJournalWriter&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

RankJournalWriter::~RankJournalWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

RankJournalWriter RankJournalWriter::begin(const std::filesystem::path& file,
                                           const std::vector<std::string>& hosts, const Json& options) {
  std::error_code ignored, fault;
  if (std::filesystem::is_regular_file(file, ignored) && std::filesystem::file_size(file, ignored) > 0)
    std::filesystem::rename(file, file.string() + ".old", fault);
  if (fault) throw_machine_failed("cannot rename " + file.string() + ": " + fault.message());
  RankJournalWriter writer(file, O_TRUNC);
  const Json head = {
      {"journal", kJournal}, {"started_utc", time_utc_now()}, {"hosts", hosts}, {"options", options}};
  writer.write(head.dump() + "\n");
  return writer;
}

RankJournalWriter RankJournalWriter::resume(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  RankJournalWriter writer(file, 0);
  const std::size_t whole = text.find_last_of('\n') + 1;  // 0 when there is none
  if (ftruncate(writer.descriptor_, static_cast<off_t>(whole)) != 0) fail_to_write(file);
  return writer;
}

void RankJournalWriter::add_devices(const std::vector<RankReport>& reports) {
  std::string lines;
  for (const RankReport& report : reports) lines += Json{{"device", report.to_json()}}.dump() + "\n";
  write(lines);
}

void RankJournalWriter::add_links(const std::vector<ProbeResult>& points) {
  std::map<RankPair, std::vector<ProbeResult>> by_pair;
  for (const ProbeResult& point : points) by_pair[{point.rank, point.peer}].push_back(point);
  std::string lines;
  for (const auto& [pair, of_pair] : by_pair) lines += Json{{"link", to_json(of_pair)}}.dump() + "\n";
  write(lines);
}

void RankJournalWriter::add_collectives(const std::string& level, const std::vector<ProbeResult>& results) {
  write(Json{{"collectives", {{"level", level}, {"results", to_json(results)}}}}.dump() + "\n");
}

void RankJournalWriter::write(const std::string& lines) {
  std::size_t written = 0;
  while (written < lines.size()) {
    const ssize_t count = ::write(descriptor_, lines.data() + written, lines.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_write(file_);
    written += static_cast<std::size_t>(count);
  }
  if (fdatasync(descriptor_) != 0) fail_to_write(file_);
}

}  // namespace sextant
