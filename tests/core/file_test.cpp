#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "sextant/document.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class FileTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_.path())) out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }
  TemporaryFolder folder_;
};

TEST_F(FileTest, WritesAndReplacesLeavingNothingElse) {
  write_text_file(at("a"), "one");
  EXPECT_EQ(read_text_file(at("a")), "one");
  const std::string large(1000000, 'x');
  write_text_file(at("a"), large);
  EXPECT_EQ(read_text_file(at("a")), large);
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(FileTest, CreatesMissingFolders) {
  write_text_file(at("b") / "c" / "d", "x");
  EXPECT_EQ(read_text_file(at("b") / "c" / "d"), "x");
}

TEST_F(FileTest, KeepsThePermissionsOfWhatItReplaces) {
  write_text_file(at("a"), "one");
  fs::permissions(at("a"), fs::perms::owner_read | fs::perms::owner_write);
  write_text_file(at("a"), "two");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, WritesThroughSymbolicLinks) {
  write_text_file(at("a"), "one");
  fs::create_symlink("a", at("link"));
  write_text_file(at("link"), "two");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_text_file(at("a")), "two");
}

TEST_F(FileTest, WritesIntoAPipeWithoutReplacingIt) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_text_file(at("pipe")); });
  write_text_file(at("pipe"), "text");
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(FileTest, RefusesToReadWhatIsNoFile) {
  EXPECT_EQ(refusal_of([&] { (void)read_text_file(at("none")); }),
            "cannot read " + at("none").string() + ": No such file or directory");
  EXPECT_EQ(refusal_of([&] { (void)read_text_file(folder_.path()); }),
            "cannot read " + folder_.path().string() + ": Is a directory");
}

TEST_F(FileTest, RefusesDevicesWithoutAnEnd) {
  EXPECT_NE(refusal_of([] { (void)read_text_file("/dev/zero"); }).find("it is a device"), std::string::npos);
}

// A killed writer leaves its temporary file; the next writer of the same file deletes it, but none of a process
// that runs, of another host or of another file.
TEST_F(FileTest, RemovesWhatKilledWritersLeft) {
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(ended, nullptr, 0), ended);
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const auto left = [&](const std::string& file, const std::string& of_host, pid_t process) {
    const std::string name = file + ".partial-" + of_host + "-" + std::to_string(process) + "-0";
    write_text_file(at(name), "half");
    return name;
  };
  (void)left("a", host.data(), ended);
  const std::string running = left("a", host.data(), ::getppid()), far = left("a", "far-host", ended),
                    other = left("b", host.data(), ended);
  write_text_file(at("a"), "whole");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("a", running, far, other));
}

TEST_F(FileTest, ReportsWhatTheDiskRefuses) {
  write_text_file(at("a"), "one");
  const auto write = [](const fs::path& file) {
    return message_of(ErrorKind::machine, [&file] { write_text_file(file, "x"); });
  };
  EXPECT_EQ(write(folder_.path()), "cannot write " + folder_.path().string() + ": Is a directory");
  EXPECT_EQ(write(at("a") / "b"), "cannot write " + (at("a") / "b").string() + ": Not a directory");
}

// In a child with a file size limit, which the kernel enforces as it would a full disk.
TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNoOther) {
  write_text_file(at("a"), "old");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit{100, 100};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_text_file(at("a"), std::string(1000, 'x'));
      _exit(1);
    } catch (const Error& error) {
      const bool expected = error.what() == "cannot write " + at("a").string() + ": File too large";
      _exit(expected && error.kind() == ErrorKind::machine ? 0 : 2);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_text_file(at("a")), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(FileTest, ConcurrentWritersLeaveOneWholeText) {
  const std::string one(100000, '1');
  const std::string two(200000, '2');
  const auto write_often = [this](const std::string& text) {
    for (int i = 0; i < 20; ++i) write_text_file(at("a"), text);
  };
  std::thread first(write_often, one);
  std::thread second(write_often, two);
  first.join();
  second.join();
  const std::string got = read_text_file(at("a"));
  EXPECT_TRUE(got == one || got == two);
  EXPECT_THAT(names(), ElementsAre("a"));
}

}  // namespace
}  // namespace sextant
