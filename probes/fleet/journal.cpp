#include "probes/fleet/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>

#include "core/document.h"
#include "core/error.h"
#include "core/json_value.h"
#include "core/provenance.h"

namespace sextant {
namespace {

constexpr const char* kJournal = "sextant.fleet/1.1";
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
    journal.devices[view.required("host").text()] = DeviceReport::parse(view.required("devices"));
  }
}

// Whether a file that ends in the middle of its first line is a journal.
bool may_become_head(std::string_view text) {
  constexpr std::string_view kBegin = "{\"journal\":";
  return text.substr(0, kBegin.size()) == kBegin.substr(0, std::min(text.size(), kBegin.size()));
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
  if (number == 0 && !may_become_head(text)) throw_bad_input(file.string() + ": this is no journal");
  return journal;
}

class JournalWriter::Thread {
 public:
  // Keeps the first `whole` bytes of what is there.
  Thread(std::filesystem::path file, std::size_t whole)
      : file_(std::move(file)),
        end_(open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kPermissions)) {
    if (!end_.is_open()) fail_to_write(file_);
    if (flock(end_.number(), LOCK_EX | LOCK_NB) != 0) {
      throw_machine_failed("another probe writes to " + file_.string() +
                           ": wait for it, or choose another --journal");
    }
    struct stat status {};
    const bool is_file = fstat(end_.number(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_file && ftruncate(end_.number(), static_cast<off_t>(whole)) != 0) fail_to_write(file_);
    thread_ = std::thread([this] { run(); });
  }

  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void add(const Json& line) {
    const std::lock_guard lock(mutex_);
    throw_fault();
    unwritten_ += line.dump() + "\n";
    changed_.notify_all();
  }

  void check() {
    const std::lock_guard lock(mutex_);
    throw_fault();
  }

  void flush() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !fault_.empty() || (unwritten_.empty() && !is_writing_); });
    throw_fault();
  }

 private:
  void throw_fault() const {
    if (!fault_.empty()) throw_machine_failed("cannot write " + file_.string() + ": " + fault_);
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return is_ending_ || !unwritten_.empty(); });
      if (unwritten_.empty() || !fault_.empty()) return;
      const std::string text = std::exchange(unwritten_, {});
      is_writing_ = true;
      lock.unlock();
      const int fault = write_down(text);
      lock.lock();
      is_writing_ = false;
      if (fault != 0) fault_ = std::strerror(fault);
      changed_.notify_all();
      if (fault != 0) return;
    }
  }

  // 0, or why not.
  [[nodiscard]] int write_down(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = write(end_.number(), text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return fdatasync(end_.number()) == 0 ? 0 : errno;
  }

  const std::filesystem::path file_;
  const Descriptor end_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::string unwritten_;
  bool is_writing_ = false;
  bool is_ending_ = false;
  std::string fault_;  // what the disk said when it refused; nothing is written after that
  std::thread thread_;
};

JournalWriter::JournalWriter(const std::filesystem::path& file, const Json& options, std::size_t whole)
    : thread_(std::make_unique<Thread>(file, whole)) {
  if (whole > 0) return;
  thread_->add({{"journal", kJournal}, {"started_utc", time_utc_now()}, {"options", options}});
  thread_->flush();
}

JournalWriter::~JournalWriter() = default;
JournalWriter::JournalWriter(JournalWriter&&) noexcept = default;

JournalWriter JournalWriter::begin(const std::filesystem::path& file, const Json& options) {
  if (std::filesystem::is_regular_file(file)) {
    const FleetJournal old = read_journal(file);
    if (!old.devices.empty() || !old.pairs.empty()) {
      throw_bad_input(
          file.string() + " has " + std::to_string(old.devices.size()) + " hosts and " +
          std::to_string(old.pairs.size()) +
          " pairs of a probe that was not finished: --resume measures the rest; to begin anew, remove it");
    }
  }
  return {file, options, 0};
}

JournalWriter JournalWriter::resume(const std::filesystem::path& file, const Json& options) {
  const std::string text = read_text_file(file);
  return {file, options, text.find_last_of('\n') + 1};  // 0 when there is no whole line
}

void JournalWriter::add_devices(const std::string& host, const DeviceReport& devices) {
  thread_->add({{"host", host}, {"devices", devices.to_json()}});
}

void JournalWriter::add_pair(const PairMeasurement& pair) { thread_->add({{"pair", pair.to_json()}}); }
void JournalWriter::check() const { thread_->check(); }
void JournalWriter::flush() { thread_->flush(); }

}  // namespace sextant
