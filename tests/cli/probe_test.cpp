// probe on one rank, with so little time for each point that the numbers are rough and the documents whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(ProbeCommand, WritesAClusterOfOneDevice) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "cluster.json", samples = folder.path() / "samples.json";
  const Printed printed = run_sextant(
      {"probe", "--budget", "0.01", "--name", "here", "--out", out, "--samples", samples, "--json"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("wrote " + out + "\nwrote " + samples + "\n"));
  const auto written = load_document<Cluster>(out);
  EXPECT_EQ(parse_document<Cluster>(printed.out).content, written.content);
  EXPECT_EQ(written.content.name(), "here");
  EXPECT_EQ(written.content.device_count(), 1);
  const DeviceType& type = written.content.type_of(DeviceId{0});
  EXPECT_EQ(type.memory_bytes_per_s.source, Source::measured);
  EXPECT_EQ(type.flop_per_s.at(Precision::fp32).source, Source::measured);
  EXPECT_FALSE(parse_json(read_text_file(samples)).empty());
}

TEST(ProbeCommand, SaysWhyItCannotMeasureGpus) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "cluster.json";
  const Printed printed =
      run_sextant({"probe", "--devices", "gpu", "--smoke-test", "--budget", "0.001", "--out", out});
  if (printed.exit_code == 0) {  // there is one
    EXPECT_EQ(load_document<Cluster>(out).content.type_of(DeviceId{0}).kind, DeviceKind::gpu);
    return;
  }
  EXPECT_EQ(printed.exit_code, 3);
  EXPECT_THAT(printed.err, AnyOf(HasSubstr("no GPU can be used"), HasSubstr("built without CUDA")));
}

// As mpirun of another MPI leaves it: each process is told of four and finds itself alone.
TEST(ProbeCommand, RefusesARankThatRanAlone) {
  const EnvironmentVariable four("PMI_SIZE", "4"), third("PMI_RANK", "3");
  // Open MPI started alone leaves what its unloaded parts had taken, of which no suppression knows the name.
  const EnvironmentVariable no_leaks("ASAN_OPTIONS", "detect_leaks=0");
  const Printed printed = run_sextant({"probe", "--devices", "cpu", "--budget", "0.01"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("every rank ran alone: PMI_SIZE=4"));
  EXPECT_EQ(lines_of(printed.err).size(), 1U);
  EXPECT_EQ(printed.out, "");
}

TEST(ProbeCommand, OneProcessInAnAllocationIsFine) {
  const EnvironmentVariable tasks("SLURM_NTASKS", "4"), first("SLURM_PROCID", "0");
  EXPECT_EQ(run_sextant({"probe", "--devices", "cpu", "--budget", "0.001"}).exit_code, 0);
}

TEST(ProbeCommand, KnowsItsDevices) {
  const Printed printed = run_sextant({"probe", "--devices", "tpu"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("--devices"));
}

}  // namespace
}  // namespace sextant::test
