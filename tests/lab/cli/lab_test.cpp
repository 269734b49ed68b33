// Commands that `sextant` hands to `sextant-lab`, and what it says where there is no lab.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/documents.h"
#include "tests/cli/program.h"
#include "tests/core/built_files.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LabCommand, WithAnUnknownFigureIsRefusedAtOnceWithTheKnownOnes) {
  const Printed printed = run_sextant({"accuracy", "real.tasks.nothing"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err,
              StartsWith("sextant: no accuracy figure starts with \"real.tasks.nothing\"; there are "));
  EXPECT_THAT(printed.err, HasSubstr("real.tasks.in_sample"));
}

TEST(LabCommand, WithoutTheLabBesideTheProgramSaysHowToBuildIt) {
  const TemporaryFolder folder;
  const std::string program = folder.path().string() + "/sextant", said = folder.path().string() + "/said";
  std::filesystem::copy_file(built_file("sextant"), program);
  for (const char* words : {" accuracy", " reproduce real", " coefficients --evidence"}) {
    const int status = std::system((program + words + " > /dev/null 2> " + said).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << words;
    EXPECT_THAT(read_text_file(said), StartsWith("sextant: this command needs the program sextant-lab, which "
                                                 "is not installed with releases: there is no \"" +
                                                 folder.path().string() + "/sextant-lab\""))
        << words;
  }
}

}  // namespace
}  // namespace sextant::test
