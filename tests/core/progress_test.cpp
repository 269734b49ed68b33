#include "core/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace sextant {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Points stderr at a descriptor for as long as it lives.
class RedirectedStderr {
 public:
  explicit RedirectedStderr(int target) : saved_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(target, STDERR_FILENO);
  }
  ~RedirectedStderr() {
    std::fflush(stderr);
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  RedirectedStderr(const RedirectedStderr&) = delete;
  RedirectedStderr& operator=(const RedirectedStderr&) = delete;

 private:
  int saved_;
};

std::string read_available(int descriptor) {
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  std::string out;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(descriptor, buffer.data(), buffer.size())) > 0;) {
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return out;
}

void work(std::size_t steps) {
  Progress progress("Measuring", steps);
  for (std::size_t i = 0; i < steps; ++i) progress.step("gemm " + std::to_string(i));
}

TEST(ProgressTest, IsSilentInAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  {
    const RedirectedStderr redirected(ends[1]);
    work(3);
  }
  EXPECT_EQ(read_available(ends[0]), "");
  close(ends[0]);
  close(ends[1]);
}

TEST(ProgressTest, RewritesOneLineOfATerminalAndErasesIt) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
    GTEST_SKIP() << "this machine offers no pseudo-terminal";
  }
  const int inside = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(inside, 0);
  constexpr std::size_t kSteps = 5000;
  {
    const RedirectedStderr redirected(inside);
    work(kSteps);
  }
  const std::string shown = read_available(terminal);
  EXPECT_THAT(shown, StartsWith("\r\033[KMeasuring 1/5000  gemm 0"));
  EXPECT_THAT(shown, EndsWith("\r\033[K"));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("\n")));
  EXPECT_LT(shown.size(), 50 * kSteps / 10);  // far fewer lines than steps
  close(inside);
  close(terminal);
}

}  // namespace
}  // namespace sextant
