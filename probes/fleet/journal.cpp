#include "probes/fleet/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/document.h"
#include "core/error.h"
#include "core/json_value.h"
#include "core/provenance.h"

namespace sextant {
namespace {

constexpr const char* kJournal = "sextant.fleet/1.0";
constexpr int kPermissions = 0644;

[[noreturn]] void fail_to_write(const std::filesystem::path& file) {
  throw_machine_failed("cannot write " + file.string() + ": " + std::strerror(errno));
}

void read_head(FleetJournal& journal, const JsonView& view) {
  if (view.required("journal").text() != kJournal) view.fail(std::string("expected a journal ") + kJournal);
  journal.started_utc = view.required("started_utc").text();
  journal.options = view.required("options").json();
}

void read_line(FleetJournal& journal, const JsonView& view) {
  if (const auto pair = view.optional("pair")) {
    journal.pairs.push_back(PairMeasurement::parse(*pair));
  } else {
    journal.devices[view.required("host").text()] = view.required("devices").json();
  }
}

}  // namespace

FleetJournal read_journal(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  FleetJournal journal;
  std::size_t begin = 0;
  int number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    ++number;
    try {
      const Json line = parse_json(std::string_view(text).substr(begin, end - begin));
      number == 1 ? read_head(journal, JsonView(line)) : read_line(journal, JsonView(line));
    } catch (const Error& error) {
      throw_bad_input(file.string() + ":" + std::to_string(number) + ": " + error.what());
    }
    begin = end + 1;
  }
  if (number == 0) throw_bad_input(file.string() + ": there is no whole line in it");
  return journal;
}

JournalWriter::JournalWriter(std::filesystem::path file, int flags)
    : file_(std::move(file)),
      end_(open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, kPermissions)) {
  if (!end_.is_open()) fail_to_write(file_);
}

JournalWriter JournalWriter::begin(const std::filesystem::path& file, const Json& options) {
  JournalWriter writer(file, O_TRUNC);
  writer.write_line({{"journal", kJournal}, {"started_utc", time_utc_now()}, {"options", options}});
  return writer;
}

JournalWriter JournalWriter::resume(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  JournalWriter writer(file, 0);
  const std::size_t whole = text.find_last_of('\n') + 1;  // 0 when there is none
  if (ftruncate(writer.end_.number(), static_cast<off_t>(whole)) != 0) fail_to_write(file);
  return writer;
}

void JournalWriter::add_devices(const std::string& host, const Json& devices) {
  write_line({{"host", host}, {"devices", devices}});
}

void JournalWriter::add_pair(const PairMeasurement& pair) { write_line({{"pair", pair.to_json()}}); }

void JournalWriter::write_line(const Json& line) {
  const std::string text = line.dump() + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(end_.number(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_write(file_);
    written += static_cast<std::size_t>(count);
  }
  if (fdatasync(end_.number()) != 0) fail_to_write(file_);
}

}  // namespace sextant
