#include "core/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/text.h"

namespace sextant::inline core {
namespace {

constexpr auto kBetweenUpdates = std::chrono::milliseconds(100);

std::size_t terminal_columns() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

// Back to the start of the line, erase it, write the text.
void rewrite_line(const std::string& line) {
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) {
    rewrite_line("");
  }
}

void Progress::step(const std::string& now) {
  ++done_;
  const auto time = std::chrono::steady_clock::now();
  if (!shown_ || (done_ > 1 && time - last_shown_ < kBetweenUpdates)) {
    return;
  }
  last_shown_ = time;
  std::string line = what_ + " " + std::to_string(done_);
  if (total_ > 0) {
    line += "/" + std::to_string(total_);
  }
  if (!now.empty()) {
    line += "  " + now;
  }
  constexpr std::size_t kEllipsis = 3;
  const std::size_t columns = terminal_columns();
  rewrite_line(shorten(line, columns > kEllipsis + 1 ? columns - kEllipsis - 1 : 1));
}

}  // namespace sextant::inline core
