#include "probes/comm/mpi_variables.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(MpiVariables, HaveTheNamesOfPlugIns) {
  if (!is_open_mpi()) GTEST_SKIP() << "the names asked for are Open MPI's";
  EXPECT_TRUE(has_mpi_variable("btl_tcp_"));
  EXPECT_TRUE(has_mpi_variable("pmix"));
  EXPECT_FALSE(has_mpi_variable("btl_of_no_one_"));
  EXPECT_TRUE(has_mpi_variable("btl_tcp_"));  // asking ends nothing
}

}  // namespace
}  // namespace sextant
