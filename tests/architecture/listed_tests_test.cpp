// Every test is built, and the checker finds one that is not.
#include "tests/architecture/listed_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/architecture/planted_tree.h"

namespace sextant::architecture {
namespace {

TEST(ListedTests, AreAllOfThisProject) {
  EXPECT_THAT(find_unlisted_tests(SEXTANT_SOURCE_DIR), ::testing::IsEmpty());
}

class PlantedTests : public PlantedTree {};

TEST_F(PlantedTests, AreFoundUnlessAListAboveNamesThem) {
  write("tests/CMakeLists.txt", "sextant_add_test(all SOURCES core/near_test.cpp)\n");
  write("tests/core/CMakeLists.txt", "sextant_add_test(core SOURCES a_test.cpp\n  on_${n}_test.cpp)\n");
  for (const char* name : {"a", "on_2", "c", "near"})
    write("tests/core/" + std::string(name) + "_test.cpp", "// A test.\n");
  write("tests/core/helper.cpp", "// No test.\n");
  EXPECT_THAT(find_unlisted_tests(root()), ::testing::ElementsAre("tests/core/c_test.cpp"));
}

}  // namespace
}  // namespace sextant::architecture
