#include "cli/shared/document_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "core/json_value.h"
#include "sextant/cluster.h"
#include "sextant/document.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"
#include "tests/core/built_files.h"

namespace sextant::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The stdout of `action`, in a separate process whose stderr is the file.
std::string stdout_of(const std::string& err, const std::function<void()>& action) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    if (std::freopen(err.c_str(), "a", stderr) == nullptr) std::_Exit(1);
    action();
    std::fflush(stdout);
    std::_Exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 256> buffer{};
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

TEST(DocumentOutput, IsAloneOnStdoutOnceItIsKept) {
  const TemporaryFolder folder;
  const std::string err = folder.path() / "err";
  std::ofstream(err) << "there before\n";
  const std::string out = stdout_of(err, [] {
    std::printf("a line, ");
    keep_stdout_for_documents();
    keep_stdout_for_documents();  // changes nothing
    std::puts("NCCL INFO");
    print_text("{}\n");
    std::puts("NCCL INFO Destroy");  // after the document too
  });
  EXPECT_EQ(out, "a line, {}\n");
  EXPECT_EQ(text_of(err), "there before\nNCCL INFO\nNCCL INFO Destroy\n");
}

TEST(DocumentOutput, IsOrdinaryStdoutUnlessItIsKept) {
  const TemporaryFolder folder;
  const std::string out = stdout_of(folder.path() / "err", [] {
    std::printf("before ");
    print_text("text ");
    std::printf("after");
  });
  EXPECT_EQ(out, "before text after");
}

TEST(DocumentOutput, WithoutStdoutNothingBreaks) {
  const TemporaryFolder folder;
  const std::string out = stdout_of(folder.path() / "err", [] {
    close(STDOUT_FILENO);
    keep_stdout_for_documents();
    print_text("for nobody");
  });
  EXPECT_EQ(out, "");
}

TEST(DocumentOutput, ALibraryThatPrintsDoesNotSpoilTheProbesDocument) {
  const std::string library = test::built_file("sextant_talkative");
  if (library.empty()) GTEST_SKIP() << "a sanitizer's libraries must be loaded first";
  const test::EnvironmentVariable talkative("LD_PRELOAD", library);
  const test::Printed printed =
      test::run_sextant({"probe", "--devices", "cpu", "--budget", "0.01", "--smoke-test", "--json"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(parse_document<Cluster>(printed.out).content.device_count(), 1);
  EXPECT_THAT(printed.out, Not(HasSubstr("NCCL INFO")));
  EXPECT_THAT(printed.err, HasSubstr("NCCL INFO Bootstrap"));
}

}  // namespace
}  // namespace sextant::cli
