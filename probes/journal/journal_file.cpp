#include "probes/journal/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "probes/journal/journal_text.h"
#include "probes/network/socket.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/provenance.h"

namespace sextant::inline probes {
namespace {

namespace fs = std::filesystem;

constexpr int kPermissions = 0644;

[[noreturn]] void fail_to_write(const fs::path& file) {
  throw_machine_failed("cannot write " + file.string() + ": " + std::strerror(errno));
}

// A file that was just made is as durable as the folder that names it. Not every file system can be asked.
void sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open()) static_cast<void>(fsync(opened.number()));
}

Descriptor open_locked(const fs::path& file, int flags) {
  Descriptor opened(open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, kPermissions));
  if (!opened.is_open()) fail_to_write(file);
  if (flock(opened.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw_machine_failed("another probe writes to " + file.string() +
                         ": wait for it, or choose another --journal");
  }
  return opened;
}

// The content of the file, once no other process writes; empty if there is no file.
std::string text_of(const fs::path& file) { return fs::is_regular_file(file) ? read_text_file(file) : ""; }

// Keeps the first `whole` bytes.
void cut(const Descriptor& opened, const fs::path& file, std::size_t whole) {
  struct stat status {};
  const bool is_file = fstat(opened.number(), &status) == 0 && S_ISREG(status.st_mode);
  if (is_file && ftruncate(opened.number(), static_cast<off_t>(whole)) != 0) fail_to_write(file);
}

void refuse_measurements(const std::string& text, const fs::path& file, std::string_view kind) {
  // Only the number of the other lines matters: a measurement that this program cannot read is still one.
  const std::string first = text.substr(0, text.find('\n') + 1);
  static_cast<void>(parse_journal(first.empty() ? text : first, file.string(), kind, [](const JsonView&) {}));
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines < 2) return;
  throw_bad_input(file.string() + " has " + std::to_string(lines - 1) +
                  (lines == 2 ? " measurement" : " measurements") +
                  " of an unfinished probe: --resume measures the rest; to start again, remove it or choose "
                  "another --journal");
}

}  // namespace

class JournalFile::Thread {
 public:
  Thread(fs::path file, Descriptor opened)
      : file_(std::move(file)), end_(std::move(opened)), thread_([this] { run(); }) {}

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

  const fs::path file_;
  const Descriptor end_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::string unwritten_;
  bool is_writing_ = false;
  bool is_ending_ = false;
  std::string fault_;  // what the disk said when it refused; nothing is written after that
  std::thread thread_;
};

JournalFile::JournalFile(std::unique_ptr<Thread> thread) : thread_(std::move(thread)) {}
JournalFile::~JournalFile() = default;
JournalFile::JournalFile(JournalFile&&) noexcept = default;

JournalFile JournalFile::begin(const fs::path& file, std::string_view kind, const Json& belongs_to) {
  Descriptor opened = open_locked(file, O_CREAT);
  refuse_measurements(text_of(file), file, kind);
  cut(opened, file, 0);
  sync_folder_of(file);
  JournalFile journal(std::make_unique<Thread>(file, std::move(opened)));
  journal.add_head(kind, belongs_to);
  return journal;
}

JournalFile JournalFile::resume(const fs::path& file, std::string_view kind, const Json& belongs_to) {
  static_cast<void>(read_journal_to_resume(file));  // complains where there is none
  Descriptor opened = open_locked(file, 0);
  const std::string text = text_of(file);
  const std::size_t whole = text.find_last_of('\n') + 1;  // 0 when there is none
  expect_same_probe(parse_journal(text, file.string(), kind, [](const JsonView&) {}), belongs_to,
                    file.string());
  cut(opened, file, whole);
  JournalFile journal(std::make_unique<Thread>(file, std::move(opened)));
  if (whole == 0) journal.add_head(kind, belongs_to);
  return journal;
}

void JournalFile::add_head(std::string_view kind, const Json& belongs_to) {
  Json head = {{"journal", kind}, {"started_utc", time_utc_now()}};
  head.update(belongs_to);
  add(head);
  flush();
}

void JournalFile::add(const Json& line) { thread_->add(line); }
void JournalFile::check() const { thread_->check(); }
void JournalFile::flush() { thread_->flush(); }

}  // namespace sextant::inline probes
