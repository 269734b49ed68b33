// The project's headers include what they name of the standard library, and the checker finds what is planted.
#include "tests/architecture/standard_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/architecture/planted_tree.h"

namespace sextant::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StandardHeaders, OfThisProjectAreIncluded) {
  EXPECT_THAT(find_missing_standard_headers(SEXTANT_SOURCE_DIR), IsEmpty());
}

class PlantedHeaders : public PlantedTree {
 protected:
  PlantedHeaders() { write("include/sextant/error.h", "#include <string>\nstd::string text();\n"); }
  [[nodiscard]] std::vector<std::string> missing() const { return find_missing_standard_headers(root()); }
};

TEST_F(PlantedHeaders, WithoutFaultPass) { EXPECT_THAT(missing(), IsEmpty()); }

TEST_F(PlantedHeaders, ForgottenHeader) {
  write("planner/a.h", "#include <string>\nstd::vector<std::string> all();\n");
  EXPECT_THAT(missing(), ElementsAre("planner/a.h names std::vector without <vector>"));
}

TEST_F(PlantedHeaders, OwnHeadersBringTheirs) {
  write("planner/a.h", "#include \"sextant/error.h\"\nstd::string name();\n");
  write("planner/b.h", "#include \"planner/a.h\"\nstd::string other();\n");
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(PlantedHeaders, OneOfSeveralIsEnough) {
  write("planner/a.h", "#include <map>\nvoid f() { std::erase_if(m, g); }\n");
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(PlantedHeaders, NameThatNobodyKnows) {
  write("planner/a.h", "std::barrier<> all();\n");
  EXPECT_THAT(missing(),
              ElementsAre("planner/a.h names std::barrier, which is not in the table of standard_headers.cpp"));
}

TEST_F(PlantedHeaders, CommentsAndTextsNameNothing) {
  write("planner/a.h", "// a std::vector\nconst char* a = \"std::set\";  // and std::map\n");
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(PlantedHeaders, SourcesAreTheirOwnAffair) {
  write("planner/a.cpp", "std::vector<int> all;\n");
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(PlantedHeaders, EmptyTreeIsNotAPass) {
  std::filesystem::remove_all(root());
  EXPECT_THROW((void)missing(), std::runtime_error);
}

}  // namespace
}  // namespace sextant::architecture
