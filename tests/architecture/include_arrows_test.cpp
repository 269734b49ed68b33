// The project's own includes are as designed, and the checker finds what is planted.
#include "tests/architecture/include_arrows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/architecture/planted_tree.h"
#include "tests/architecture/source_tree.h"

namespace sextant::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IncludeArrows, OfThisProjectAreAsDesigned) { EXPECT_THAT(find_violations(SEXTANT_SOURCE_DIR), IsEmpty()); }

// A small tree without faults, into which each test plants one.
class PlantedArrows : public PlantedTree {
 protected:
  PlantedArrows() {
    for (const std::string& folder : checked_folders()) write(folder + "/README.md", "");
    write("include/sextant/error.h", "#pragma once\n#include <string>\n");
    write("include/sextant/json.h",
          "#pragma once\n#include <nlohmann/json_fwd.hpp>\n#include \"sextant/error.h\"\n");
    write("include/sextant/plan.h", "#pragma once\n#include \"sextant/json.h\"\n");
    write("include/sextant/predict.h", "#pragma once\n#include \"sextant/plan.h\"\n");
    write("probes/comm/mpi.cpp", "#include <mpi.h>\n#include \"sextant/plan.h\"\n");
    write("include/sextant/fit.h", "#pragma once\n#include \"sextant/predict.h\"\n");
    write("calibrate/fit.cpp", "#include \"sextant/fit.h\"\n#include <ceres/ceres.h>\n");
    write("planner/search.h", "#pragma once\n#include \"sextant/predict.h\"\n");
    write("reports/page.cpp", "#include \"sextant/fit.h\"\n#include \"planner/search.h\"\n");
    write("cli/main.cpp", "#include \"reports/page.h\"\n");
    write("cli/command_line/command.cpp", "#include <CLI/CLI.hpp>\n");
    write("reports/page.h", "#pragma once\n");
  }
  [[nodiscard]] std::vector<std::string> violations() const { return find_violations(root()); }
};

TEST_F(PlantedArrows, WithoutFaultPasses) { EXPECT_THAT(violations(), IsEmpty()); }

TEST_F(PlantedArrows, CoreThatKnowsTheCostModel) {
  write("core/units.h", "#pragma once\n#include \"sextant/predict.h\"\n");
  EXPECT_THAT(violations(), ElementsAre("core/units.h includes sextant/predict.h: core may include only core"));
}

TEST_F(PlantedArrows, PlannerThatKnowsTheFit) {
  write("planner/greedy.cpp", "#include \"sextant/fit.h\"\n");
  EXPECT_THAT(violations(),
              ElementsAre("planner/greedy.cpp includes sextant/fit.h: planner may include only core, "
                          "documents, costmodel, planner"));
}

TEST_F(PlantedArrows, ProbesThatKnowThePhysics) {
  write("probes/host/gemm.cpp", "  #  include \"sextant/predict.h\"\n");
  EXPECT_THAT(violations(),
              ElementsAre("probes/host/gemm.cpp includes sextant/predict.h: probes may include only core, "
                          "documents, probes"));
}

TEST_F(PlantedArrows, VocabularyThatKnowsThePhysics) {
  write("documents/run.cpp", "#include \"sextant/predict.h\"\n");
  EXPECT_THAT(violations(), ElementsAre("documents/run.cpp includes sextant/predict.h: "
                                        "documents may include only core, documents"));
}

TEST_F(PlantedArrows, ImportersThatKnowTheFit) {
  write("calibrate/import/verl/verl.cpp", "#include \"sextant/fit.h\"\n");
  EXPECT_THAT(violations(),
              ElementsAre("calibrate/import/verl/verl.cpp includes sextant/fit.h: calibrate/import "
                          "may include only core, documents, calibrate/import"));
}

TEST_F(PlantedArrows, ReportsThatKnowTheCommands) {
  write("cli/shared/command.h", "#pragma once\n");
  write("reports/text.cpp", "#include \"cli/shared/command.h\"\n");
  EXPECT_THAT(
      violations(),
      ElementsAre("reports/text.cpp includes cli/shared/command.h: reports may include only core, documents, "
                  "costmodel, probes, calibrate, planner, reports"));
}

struct Stray {
  std::string file;
  std::string line;
  std::string violation;
};

class StrayLibrary : public PlantedArrows, public ::testing::WithParamInterface<Stray> {};

TEST_P(StrayLibrary, IsFound) {
  write(GetParam().file, GetParam().line + "\n");
  EXPECT_THAT(violations(), ElementsAre(GetParam().violation));
}

INSTANTIATE_TEST_SUITE_P(
    All, StrayLibrary,
    ::testing::Values(
        Stray{"probes/host/a.cpp", "#include <mpi.h>",
              "probes/host/a.cpp includes mpi.h: that belongs to probes/comm only"},
        Stray{"probes/host/a.cpp", "#include \"mpi.h\"",
              "probes/host/a.cpp includes mpi.h: that belongs to probes/comm only"},
        Stray{"probes/comm/a.cpp", "#include <cuda_runtime.h>",
              "probes/comm/a.cpp includes cuda_runtime.h: that belongs to probes/cuda, probes/trace only"},
        Stray{"probes/host/a.cpp", "#include <cublas_v2.h>",
              "probes/host/a.cpp includes cublas_v2.h: that belongs to probes/cuda, probes/trace only"},
        Stray{"probes/comm/a.cpp", "#include <nccl.h>",
              "probes/comm/a.cpp includes nccl.h: that belongs to probes/cuda, probes/trace only"},
        Stray{"probes/comm/a.cpp", "#include <cupti.h>",
              "probes/comm/a.cpp includes cupti.h: that belongs to probes/cuda, probes/trace only"},
        Stray{"costmodel/a.cpp", "#include <ceres/jet.h>",
              "costmodel/a.cpp includes ceres/jet.h: that belongs to calibrate only"},
        Stray{"calibrate/a.cpp", "#include <cblas.h>",
              "calibrate/a.cpp includes cblas.h: that belongs to probes/host, probes/proxy only"},
        Stray{"cli/a.cpp", "#include <CLI/CLI.hpp>",
              "cli/a.cpp includes CLI/CLI.hpp: that belongs to cli/command_line only"},
        Stray{"reports/a.cpp", "#include <nlohmann/json.hpp>",
              "reports/a.cpp includes nlohmann/json.hpp: that belongs to core only"}),
    [](const auto& test) { return "Library" + std::to_string(test.index); });

TEST_F(PlantedArrows, PublicHeadersAreArrowsFromWhereTheirSourcesLie) {
  write("include/sextant/plan.h", "#pragma once\n#include \"sextant/error.h\"\n");
  write("include/sextant/error.h", "#pragma once\n");
  EXPECT_THAT(violations(), IsEmpty());
  write("core/text.cpp", "#include \"sextant/plan.h\"\n");
  EXPECT_THAT(violations(), ElementsAre("core/text.cpp includes sextant/plan.h: core may include only core"));
}

TEST_F(PlantedArrows, PublicHeaderThatIncludesAnInternalOne) {
  write("core/text.h", "#pragma once\n");
  write("include/sextant/plan.h", "#pragma once\n#include \"core/text.h\"\n");
  EXPECT_THAT(violations(),
              ElementsAre("include/sextant/plan.h includes core/text.h: a public header may include "
                          "only public headers"));
}

TEST_F(PlantedArrows, PublicHeaderThatIsNotListed) {
  write("include/sextant/evaluator.h", "#pragma once\n");
  EXPECT_THAT(violations(), ElementsAre("include/sextant/evaluator.h: not in the list of public headers"));
}

TEST_F(PlantedArrows, CommandsThatKnowTheLab) {
  write("lab/claims/claims.h", "#pragma once\n");
  write("cli/main.cpp", "#include \"lab/claims/claims.h\"\n");
  EXPECT_THAT(violations(),
              ElementsAre("cli/main.cpp includes lab/claims/claims.h: cli may include only core, documents, "
                          "costmodel, probes, calibrate, planner, reports, ask, cli, examples/coschedule"));
}

TEST_F(PlantedArrows, PathThatIsNotFromTheRoot) {
  write("core/error.cpp", "#include \"error.h\"\n");
  EXPECT_THAT(violations(),
              ElementsAre("core/error.cpp includes \"error.h\": not a path from the project's root"));
}

TEST_F(PlantedArrows, OwnHeaderInAngleBracketsHidesNoArrow) {
  write("core/error.cpp", "#include <sextant/predict.h>\n");
  EXPECT_THAT(violations(), ElementsAre("core/error.cpp includes <sextant/predict.h>: the project's own "
                                        "headers go in quotes"));
}

TEST_F(PlantedArrows, HeadersInACircle) {
  write("core/a.h", "#pragma once\n#include \"core/b.h\"\n");
  write("core/b.h", "#pragma once\n#include \"core/c.h\"\n");
  write("core/c.h", "#pragma once\n#include \"core/a.h\"\n");
  EXPECT_THAT(violations(), ElementsAre("core/a.h includes itself through core/b.h, core/c.h"));
}

TEST_F(PlantedArrows, FoldersInACircleThoughNoHeaderIs) {
  write("planner/exact/bound.h", "#pragma once\n#include \"planner/evaluate/cost.h\"\n");
  write("planner/evaluate/cost.h", "#pragma once\n");
  write("planner/evaluate/moves.cpp", "#include \"planner/exact/limits.h\"\n");
  write("planner/exact/limits.h", "#pragma once\n");
  EXPECT_THAT(violations(),
              ElementsAre("folders in a cycle: planner/evaluate -> planner/exact -> planner/evaluate "
                          "(planner/evaluate/moves.cpp includes planner/exact/limits.h; "
                          "planner/exact/bound.h includes planner/evaluate/cost.h)"));
}

TEST_F(PlantedArrows, FolderOfMoreThanFortyFiles) {
  for (int file = 0; file < 40; ++file) write("planner/flat/file" + std::to_string(file) + ".cpp", "");
  EXPECT_THAT(violations(), IsEmpty());
  write("planner/flat/one_more.cpp", "");
  EXPECT_THAT(violations(), ElementsAre("planner/flat holds 41 source files: at most 40"));
}

TEST_F(PlantedArrows, HeaderWithoutPragmaOnce) {
  write("core/a.h", "// no guard\n");
  EXPECT_THAT(violations(), ElementsAre("core/a.h: no #pragma once"));
}

TEST_F(PlantedArrows, FolderWithoutReadme) {
  std::filesystem::remove(root() / "planner/README.md");
  EXPECT_THAT(violations(), ElementsAre("planner: no README.md"));
}

TEST_F(PlantedArrows, EmptyTreeIsNotAPass) {
  std::filesystem::remove_all(root());
  EXPECT_THROW((void)find_violations(root()), std::runtime_error);
}

}  // namespace
}  // namespace sextant::architecture
