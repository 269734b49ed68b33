// Files for sextant/document.h: whole texts, replaced atomically.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "sextant/document.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  // Some file systems report a full disk only here.
  [[nodiscard]] bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

[[noreturn]] void fail_to_write(const fs::path& file, int code) {
  throw_machine_failed("cannot write " + file.string() + ": " + std::strerror(code));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return true;
}

// A pipe or a terminal has nothing to replace.
void write_in_place(const fs::path& file, std::string_view text) {
  const Descriptor target(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!target.is_open() || !write_all(target.number(), text)) {
    fail_to_write(file, errno);
  }
}

// The names of temporary files begin so; the number of the process follows. Hosts may share a folder.
std::string temporary_prefix(const fs::path& file) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return file.string() + ".partial-" + host.data() + "-";
}

// Unique among the threads and processes of this host.
fs::path temporary_beside(const fs::path& file) {
  static std::atomic<unsigned> counter{0};
  return temporary_prefix(file) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

// Deletes the temporary files of processes of this host that were killed while they wrote this file.
void remove_left_behind(const fs::path& file, const fs::path& folder) {
  const std::string prefix = fs::path(temporary_prefix(file)).filename().string();
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    pid_t process = 0;
    const char* const number = name.data() + prefix.size();
    const auto [after, error] = std::from_chars(number, name.data() + name.size(), process);
    const bool is_one =
        error == std::errc() && after != name.data() + name.size() && *after == '-' && process > 0;
    if (is_one && ::kill(process, 0) != 0 && errno == ESRCH) ::unlink(entry->path().c_str());
  }
}

// True when all of text is on the disk under the new name; errno says why not.
bool write_and_rename(const fs::path& temporary, const fs::path& file, std::string_view text, mode_t mode) {
  Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!out.is_open()) {
    return false;
  }
  if (write_all(out.number(), text) && ::fsync(out.number()) == 0 && out.close() &&
      ::rename(temporary.c_str(), file.c_str()) == 0) {
    return true;
  }
  const int code = errno;
  ::unlink(temporary.c_str());
  errno = code;
  return false;
}

// So that the new name survives a power cut; a file system without this has nothing to offer instead.
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) {
    ::fsync(descriptor.number());
  }
}

}  // namespace

std::string read_text_file(const fs::path& file) {
  const auto fail = [&file] { throw_bad_input("cannot read " + file.string() + ": " + std::strerror(errno)); };
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.is_open()) {
    fail();
  }
  struct stat status {};
  if (::fstat(in.number(), &status) == 0 && (S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode)) &&
      ::isatty(in.number()) == 0)
    throw_bad_input("cannot read " + file.string() + ": it is a device, which may have no end");
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::read(in.number(), buffer.data(), buffer.size());
    if (got == 0) {
      return text;
    }
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      fail();
    }
  }
}

void write_text_file(const fs::path& file, std::string_view text) {
  std::error_code fault;
  const fs::file_status status = fs::status(file, fault);
  if (fs::is_directory(status)) {
    fail_to_write(file, EISDIR);
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return write_in_place(file, text);
  }
  // Through a symbolic link, so that the link itself stays.
  fs::path target = file;
  if (fs::exists(status)) {
    target = fs::canonical(file, fault);
    if (fault) {
      fail_to_write(file, fault.value());
    }
  }
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  fs::create_directories(folder, fault);
  if (fault) {
    fail_to_write(file, fault.value());
  }
  remove_left_behind(target, folder);
  constexpr mode_t kNewFile = 0666;  // less the umask
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  if (!write_and_rename(temporary_beside(target), target, text, replaces ? old.st_mode & 0777 : kNewFile)) {
    fail_to_write(file, errno);
  }
  sync_folder(folder);
}

}  // namespace sextant
