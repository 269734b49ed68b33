// No two things of the project have one name, and the checker finds what is planted.
#include "tests/architecture/type_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/architecture/planted_tree.h"

namespace sextant::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TypeNames, OfThisProjectMeanOneThingEach) { EXPECT_THAT(find_odr_clashes(SEXTANT_SOURCE_DIR), IsEmpty()); }

class PlantedNames : public PlantedTree {
 protected:
  void write_in(const std::string& space, const std::string& path, const std::string& text) {
    write(path, "namespace " + space + " {\n" + text + "}  // namespace " + space + "\n");
  }
  [[nodiscard]] std::vector<std::string> found() const { return find_odr_clashes(root()); }
};

TEST_F(PlantedNames, OfTwoHeaders) {
  write_in("sextant", "costmodel/a.h", "struct Run {\n};\nenum class Kind { one };\n");
  write_in("sextant", "planner/b.h", "class Run final : public Base {\n};\nusing Kind = int;\n");
  EXPECT_THAT(found(), ElementsAre("sextant::Kind is defined in costmodel/a.h and in planner/b.h",
                                   "sextant::Run is defined in costmodel/a.h and in planner/b.h"));
}

TEST_F(PlantedNames, OfAConstant) {
  write_in("sextant", "core/a.h", "inline constexpr double kHere = 1;\n");
  write_in("sextant", "core/b.h", "inline constexpr const char* kHere = \"x\";\n");
  EXPECT_THAT(found(), ElementsAre("sextant::kHere is defined in core/a.h and in core/b.h"));
}

TEST_F(PlantedNames, OfASourceOutsideAnonymousNamespaces) {
  write_in("sextant", "core/a.h", "struct Text {\n};\n");
  write_in("sextant", "core/b.cpp", "struct Text : Base {\n};\n");
  EXPECT_THAT(found(), ElementsAre("sextant::Text is defined in core/a.h and in core/b.cpp"));
}

TEST_F(PlantedNames, OfTwoNamespacesAreTwo) {
  write_in("sextant", "core/a.h", "struct Run {\n};\n");
  write_in("sextant::gpu", "core/b.h", "struct Run {\n};\n");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(PlantedNames, OfAnonymousNamespacesAreTheFilesOwn) {
  write_in("sextant", "core/a.cpp", "namespace {\nstruct Run {\n};\n}  // namespace\n");
  write_in("sextant", "core/b.cpp", "namespace {\nstruct Run {\n};\n}  // namespace\n");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(PlantedNames, DeclarationsAndMembersAreNoDefinitions) {
  write_in("sextant", "core/a.h", "struct Run {\n  struct Part {\n  };\n};\nclass Other;\n");
  write_in("sextant", "core/b.h", "struct Run;\nstruct Part {\n};\nclass Other {\n};\n");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(PlantedNames, EmptyTreeIsNotAPass) { EXPECT_THROW((void)found(), std::runtime_error); }

}  // namespace
}  // namespace sextant::architecture
