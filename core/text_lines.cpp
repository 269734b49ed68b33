#include "core/text_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sextant/error.h"

namespace sextant::inline core {
namespace {

constexpr std::size_t kMaxLine = std::size_t{16} << 20;

// A file that is open for reading.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& file)
      : name_(file.string()), number_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) fail();
    struct stat status {};
    if (::fstat(number_, &status) == 0 && (S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode)) &&
        ::isatty(number_) == 0)
      throw_bad_input("cannot read " + name_ + ": it is a device, which may have no end");
  }
  ~InputFile() { ::close(number_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Returns the number of bytes that were read; 0 at the end.
  std::size_t read(char* to, std::size_t bytes) const {
    while (true) {
      const ssize_t got = ::read(number_, to, bytes);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail();
    }
  }

 private:
  [[noreturn]] void fail() const { throw_bad_input("cannot read " + name_ + ": " + std::strerror(errno)); }

  std::string name_;
  int number_;
};

std::size_t end_of_line(std::string_view text) {
  const std::size_t feed = text.find('\n');
  return std::min(text.substr(0, feed).find('\r'), feed);
}

// Takes the whole lines at the beginning of the text, and returns what is left of it.
std::string_view take_whole_lines(std::string_view text, const std::function<void(std::string_view)>& take) {
  for (std::size_t end = end_of_line(text); end != std::string_view::npos; end = end_of_line(text)) {
    take(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

void for_each_line(std::string_view text, const std::function<void(std::string_view)>& take) {
  const std::string_view rest = take_whole_lines(text, take);
  if (!rest.empty()) take(rest);
}

void for_each_line(const std::filesystem::path& file, const std::function<void(std::string_view)>& take) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  const InputFile in(file);
  std::string buffer(kAtOnce, '\0');
  std::size_t held = 0;  // bytes of a line whose end has not come
  while (true) {
    if (buffer.size() - held < kAtOnce) buffer.resize(held + kAtOnce);
    const std::size_t got = in.read(buffer.data() + held, kAtOnce);
    if (got == 0) break;
    const std::string_view rest = take_whole_lines({buffer.data(), held + got}, take);
    held = rest.size();
    if (held >= kMaxLine) {
      take(rest);
      held = 0;
    }
    std::memmove(buffer.data(), rest.data(), held);
  }
  if (held > 0) take({buffer.data(), held});
}

std::string beginning_of_file(const std::filesystem::path& file, std::size_t bytes) {
  const InputFile in(file);
  std::string text(bytes, '\0');
  std::size_t held = 0;
  while (held < bytes) {
    const std::size_t got = in.read(text.data() + held, bytes - held);
    if (got == 0) break;
    held += got;
  }
  text.resize(held);
  return text;
}

}  // namespace sextant::inline core
