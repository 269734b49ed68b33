#include "core/in_file.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"

namespace sextant {
namespace {

TEST(InFile, PutsTheFileBeforeTheMessage) {
  const auto message =
      message_of(ErrorKind::bad_input, [] { in_file("run.sh", [] { throw_bad_input("no"); }); });
  EXPECT_EQ(message, "run.sh: no");
  EXPECT_EQ(in_file("run.sh", [] { return 3; }), 3);
}

TEST(InFile, PutsAllFilesWhoseContradictionItMayBe) {
  EXPECT_EQ(with_files({"run.sh", "cluster.json"}, "no"), "run.sh, cluster.json: no");
  EXPECT_EQ(with_files({"", "cluster.json", " {\"schema\": 1}"}, "no"), "cluster.json: no");
  EXPECT_EQ(with_files({}, "no"), "no");
}

TEST(InFile, LeavesMessagesThatNameAFileOrAnOption) {
  EXPECT_EQ(with_files({"a.yaml", "run.sh"}, "run.sh:2: no"), "run.sh:2: no");
  EXPECT_EQ(with_files({"run.sh"}, "the script run.sh has none"), "the script run.sh has none");
  EXPECT_EQ(with_files({"run.sh"}, "--gpus 8xH1: no"), "--gpus 8xH1: no");
  EXPECT_EQ(with_files({"run"}, "the runs are none"), "run: the runs are none");
  EXPECT_EQ(with_files({"run.sh"}, "rerun.sh: no"), "run.sh: rerun.sh: no");
}

// The disk failed, not what the file holds.
TEST(InFile, LeavesFaultsOfTheMachine) {
  const auto message =
      message_of(ErrorKind::machine, [] { in_file("run.sh", [] { throw_machine_failed("no"); }); });
  EXPECT_EQ(message, "no");
}

}  // namespace
}  // namespace sextant
