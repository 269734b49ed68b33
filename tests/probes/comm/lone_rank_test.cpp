#include "probes/comm/lone_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/error.h"

namespace sextant {
namespace {

using testing::HasSubstr;

Environment with(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(LoneRank, LaunchersProveOthers) {
  EXPECT_EQ(proof_of_other_ranks(with({{"OMPI_COMM_WORLD_SIZE", "4"}})),
            "OMPI_COMM_WORLD_SIZE=4 (mpirun of Open MPI)");
  EXPECT_THAT(proof_of_other_ranks(with({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}})), HasSubstr("PMI_SIZE=2"));
  EXPECT_THAT(proof_of_other_ranks(with({{"MV2_COMM_WORLD_SIZE", "2"}})), HasSubstr("MVAPICH2"));
  EXPECT_THAT(proof_of_other_ranks(with({{"WORLD_SIZE", "8"}, {"RANK", "3"}, {"LOCAL_RANK", "3"}})),
              HasSubstr("torchrun"));
  EXPECT_THAT(proof_of_other_ranks(with({{"SLURM_STEP_NUM_TASKS", "16"}, {"SLURM_PROCID", "0"}})),
              HasSubstr("srun"));
}

TEST(LoneRank, OneProcessIsFineWhereNoneWasStartedAsARank) {
  EXPECT_EQ(proof_of_other_ranks(with({})), "");
  // salloc's shell; a batch script; salloc's shell in a step of its own.
  EXPECT_EQ(proof_of_other_ranks(with({{"SLURM_NTASKS", "16"}, {"SLURM_JOB_ID", "7"}})), "");
  EXPECT_EQ(proof_of_other_ranks(with({{"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "0"}})), "");
  EXPECT_EQ(proof_of_other_ranks(
                with({{"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}})),
            "");
  // A container of a training job, in which someone opened a shell.
  EXPECT_EQ(proof_of_other_ranks(with({{"WORLD_SIZE", "4"}, {"RANK", "0"}, {"MASTER_ADDR", "x"}})), "");
}

TEST(LoneRank, TheInnermostLauncherDecides) {
  // mpirun -n 1 whose daemons srun started.
  EXPECT_EQ(proof_of_other_ranks(
                with({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}})),
            "");
}

TEST(LoneRank, IsRefusedInOneLineThatSaysWhatToDo) {
  const Environment four = with({{"OMPI_COMM_WORLD_SIZE", "4"}});
  try {
    refuse_lone_rank(1, four, "one rank: built without MPI");
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("every rank ran alone: OMPI_COMM_WORLD_SIZE=4"));
    EXPECT_THAT(error.what(), HasSubstr("built without MPI"));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
  EXPECT_NO_THROW(refuse_lone_rank(4, four, ""));
  EXPECT_NO_THROW(refuse_lone_rank(1, with({}), ""));
}

}  // namespace
}  // namespace sextant
