// Every room has a namespace, and the checker finds what is planted.
#include "tests/architecture/room_namespaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/architecture/planted_tree.h"

namespace sextant::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RoomNamespaces, HoldWhatTheHeadersOfThisProjectDeclare) {
  EXPECT_THAT(find_names_outside_rooms(SEXTANT_SOURCE_DIR), IsEmpty());
}

using PlantedRooms = PlantedTree;

TEST_F(PlantedRooms, ATypeInThePlainNamespaceIsFound) {
  write("planner/a.h", "namespace sextant {\n\nstruct Run {\n};\n\n}  // namespace sextant\n");
  EXPECT_THAT(find_names_outside_rooms(root()),
              ElementsAre("planner/a.h has \"struct Run {\" in no room's namespace"));
}

TEST_F(PlantedRooms, TypesOfOtherFoldersAndDeclarationsAreLeftAlone) {
  write("planner/a.h",
        "namespace sextant {\nstruct Run;\n}  // namespace sextant\n\n"
        "namespace sextant::inline planner {\nstruct Walk {\n};\n}  // namespace sextant::inline planner\n");
  write("include/sextant/run.h", "namespace sextant {\nstruct Run {\n};\n}  // namespace sextant\n");
  write("planner/a.cpp", "namespace sextant {\nint f() { return 1; }\n}  // namespace sextant\n");
  EXPECT_THAT(find_names_outside_rooms(root()), IsEmpty());
}

TEST_F(PlantedRooms, EmptyTreeIsNotAPass) {
  EXPECT_THROW((void)find_names_outside_rooms(root()), std::runtime_error);
}

}  // namespace
}  // namespace sextant::architecture
