#include "probes/comm/lone_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "sextant/error.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::Not;

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

std::string refusal(const Environment& environment) {
  try {
    refuse_lone_rank(1, environment, "one rank: built without MPI");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

TEST(LoneRank, IsRefusedInOneLineThatSaysWhatToDo) {
  const Environment four = with({{"OMPI_COMM_WORLD_SIZE", "4"}});
  const std::string said = refusal(four);
  EXPECT_THAT(said, HasSubstr("every process is a job of one rank: OMPI_COMM_WORLD_SIZE=4"));
  EXPECT_THAT(said, HasSubstr("built without MPI"));
  EXPECT_EQ(said.find('\n'), std::string::npos);
  EXPECT_THAT(said, Not(HasSubstr("srun")));
  EXPECT_NO_THROW(refuse_lone_rank(4, four, ""));
  EXPECT_NO_THROW(refuse_lone_rank(1, with({}), ""));
}

// The environment of srun without a plug-in for MPI, and with one for a protocol that this MPI does not
// support.
TEST(LoneRank, UnderSrunTheRefusalNamesThePlugIn) {
  const std::map<std::string, std::string> step = {{"SLURM_STEP_NUM_TASKS", "3"}, {"SLURM_PROCID", "1"}};
  EXPECT_THAT(refusal(with(step)), HasSubstr("start them with srun --mpi=pmix (srun --mpi=list shows"));
  std::map<std::string, std::string> pmi2 = step;
  pmi2.insert({{"PMI_SIZE", "3"}, {"PMI_RANK", "1"}});
  EXPECT_THAT(refusal(with(pmi2)), HasSubstr("PMI_SIZE=3"));
  EXPECT_THAT(refusal(with(pmi2)), HasSubstr("start them with srun --mpi=pmix"));
}

}  // namespace
}  // namespace sextant
