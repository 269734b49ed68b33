// main of tests that run on several ranks: the program fails on all ranks when it fails on one.
#include <gtest/gtest.h>

#include <array>
#include <exception>
#include <iostream>

#include "tests/probes/comm/ranks.h"

namespace sextant::test {
namespace {
Communicator* the_world = nullptr;
}
Communicator& world() { return *the_world; }
}  // namespace sextant::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // A rank that throws would go on to the next test while the others wait for it in this one.
  GTEST_FLAG_SET(catch_exceptions, false);
  sextant::CommunicatorSession session(&argc, &argv);
  sextant::test::the_world = &session.world();
  try {
    std::array<double, 1> failed{static_cast<double>(RUN_ALL_TESTS())};
    session.world().all_reduce_max(std::span<double>(failed));
    return failed[0] == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "rank " << session.world().rank() << ": " << error.what() << '\n';
    sextant::abort_all_ranks(1);
    return 1;
  }
}
