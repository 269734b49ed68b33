// probe on one rank, with so little time for each point that the numbers are rough and the documents whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/json_value.h"
#include "probes/report/fleet_record.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

// The environment of mpirun of another MPI: each process is told of four and finds itself alone.
TEST(ProbeCommand, RefusesARankThatRanAlone) {
  const EnvironmentVariable four("PMI_SIZE", "4"), third("PMI_RANK", "3");
  // Open MPI started alone leaves what its unloaded parts had taken, of which no suppression knows the name.
  const EnvironmentVariable no_leaks("ASAN_OPTIONS", "detect_leaks=0");
  const Printed printed = run_sextant({"probe", "--devices", "cpu", "--budget", "0.01"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("every process is a job of one rank: PMI_SIZE=4"));
  EXPECT_EQ(lines_of(printed.err).size(), 1U);
  EXPECT_EQ(printed.out, "");
}

TEST(ProbeCommand, OneProcessInAnAllocationIsFine) {
  const EnvironmentVariable tasks("SLURM_NTASKS", "4"), first("SLURM_PROCID", "0");
  EXPECT_EQ(run_sextant({"probe", "--devices", "cpu", "--budget", "0.001", "--smoke-test"}).exit_code, 0);
}

TEST(ProbeCommand, KnowsItsDevices) {
  const Printed printed = run_sextant({"probe", "--devices", "tpu"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, HasSubstr("--devices"));
}

// A network of a paper, to plan with: it must not look as if somebody had been there.
TEST(ProbeCommand, WhatIsEmulatedIsMarkedAsNotMeasured) {
  for (const char* name : {"hetrl-1", "hetrl-2", "hetrl-3", "hetrl-4"}) {
    const Printed printed = run_sextant({"probe", "--emulate", name});
    EXPECT_EQ(printed.exit_code, 0) << name;
    EXPECT_THAT(printed.err, HasSubstr("nothing was measured"));
    EXPECT_THAT(printed.out, Not(HasSubstr("\"measured\"")));
    EXPECT_EQ(parse_document<Cluster>(printed.out).content.device_count(), 64);
  }
  EXPECT_EQ(run_sextant({"probe", "--emulate", "hetrl-5"}).exit_code, 2);
}

// No option is ignored without a message.
TEST(ProbeCommand, OptionsThatWouldBeIgnoredAreRefused) {
  const auto expect_refused = [](std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), "probe");
    const Printed printed = run_sextant(words);
    EXPECT_EQ(printed.exit_code, 2) << why;
    EXPECT_EQ(printed.err, "sextant: " + why + "\n");
    EXPECT_EQ(printed.out, "");
  };
  for (const char* option : {"--launcher", "--program", "--ports", "--streams", "--pair-budget",
                             "--loss-seconds", "--sockets", "--all-pairs-up-to"}) {
    expect_refused({option, "1"}, std::string(option) + " needs --hosts");
  }
  for (const char* option : {"--hosts", "--samples", "--name", "--places", "--budget"}) {
    expect_refused({"--emulate", "hetrl-1", option, "1"},
                   std::string(option) + " cannot be used with --emulate, which measures nothing");
  }
  expect_refused({"--emulate", "hetrl-1", "--dry-run"},
                 "--dry-run cannot be used with --emulate, which measures nothing");
  expect_refused({"--hosts", "h", "--places", "p"}, "--places cannot be used with --hosts");
  expect_refused({"--tokens", "8"}, "--tokens needs --model");
  expect_refused({"--devices", "cpu", "--resume"}, "--resume: give --journal, or the --out or --samples");
}

TEST(ProbeCommand, DryRunOfOneRankMeasuresNothing) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "cluster.json";
  const Printed printed = run_sextant({"probe", "--devices", "cpu", "--dry-run", "--out", out});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out,
              HasSubstr("1 rank on 1 host in 1 zone and 1 region\ndevices: all at once\nat most about "));
  EXPECT_FALSE(std::filesystem::exists(out));
}

class ProbeHosts : public ::testing::Test {
 protected:
  ProbeHosts() { write_text_file(hosts_, "a address=127.0.0.1\nb address=127.0.0.1\nc address=127.0.0.1\n"); }

  // On this machine: `env` starts a program as ssh does elsewhere.
  Printed probe(std::vector<std::string> more) const {
    std::vector<std::string> words = {"probe", "--hosts", hosts_, "--launcher", "env HOST={target}"};
    words.insert(words.end(), more.begin(), more.end());
    return run_sextant(words);
  }

  void expect_refused(std::vector<std::string> more, const std::string& why) const {
    const Printed printed = probe(std::move(more));
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_THAT(printed.err, HasSubstr(why));
  }

  TemporaryFolder folder_;
  const std::string hosts_ = folder_.path() / "hosts.txt", out_ = folder_.path() / "cluster.json";
  const std::vector<std::string> quick_ = {"--pair-budget", "0.1",   "--loss-seconds", "0",
                                           "--streams",     "1",     "--devices",      "cpu",
                                           "--budget",      "0.001", "--no-pin",       "--smoke-test"};
};

TEST_F(ProbeHosts, MakesOneClusterOfAll) {
  std::vector<std::string> words = quick_;
  words.insert(words.end(), {"--out", out_, "--name", "three"});
  const Printed printed = probe(words);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const Cluster cluster = load_document<Cluster>(out_).content;
  EXPECT_EQ(cluster.name(), "three");
  ASSERT_EQ(cluster.nodes().size(), 3U);
  EXPECT_EQ(cluster.nodes()[1].name, "b");
  EXPECT_EQ(cluster.levels().at(LinkLevel::within_zone).bytes_per_s.source, Source::measured);
  EXPECT_FALSE(std::filesystem::exists(out_ + ".journal"));
}

// Results of a host's probe other than rates are passed on.
TEST_F(ProbeHosts, HandsOverEachHostsResultsAndWarnings) {
  const std::string samples = folder_.path() / "fleet.json";
  std::vector<std::string> words = quick_;
  words.insert(words.end(), {"--samples", samples});
  const Printed printed = probe(words);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const FleetRecord fleet = load_document<FleetRecord>(samples).content;
  ASSERT_EQ(fleet.hosts.size(), 3U);
  for (const HostOutcome& host : fleet.hosts) {
    ASSERT_TRUE(host.devices.has_value()) << host.host.name;
    EXPECT_FALSE(host.devices->results.empty()) << host.host.name;
    for (const std::string& warning : host.devices->warnings)
      EXPECT_THAT(printed.err, HasSubstr(": " + warning));
  }
}

// Standard output is a document when one was asked for, also where no cluster can be made.
TEST_F(ProbeHosts, PrintsAFleetWhereThereIsNoCluster) {
  const Printed printed =
      probe({"--pair-budget", "0.1", "--loss-seconds", "0", "--streams", "1", "--devices", "none", "--json"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(parse_document<FleetRecord>(printed.out).content.pairs.size(), 3U);
}

TEST_F(ProbeHosts, DryRunMeasuresNothing) {
  const Printed printed = probe({"--dry-run", "--out", out_});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("3 hosts: 3 of 3 pairs in 3 rounds"));
  EXPECT_THAT(printed.out, HasSubstr("round 1: "));
  EXPECT_THAT(printed.out, HasSubstr("starting: about 3.00 s, 3 at once"));
  // Eight GPUs and three times more, 50 s each.
  EXPECT_THAT(printed.out, HasSubstr("with 8 GPUs a host at most about 550 s"));
  EXPECT_FALSE(std::filesystem::exists(out_));
  EXPECT_FALSE(std::filesystem::exists(out_ + ".journal"));
}

TEST_F(ProbeHosts, RefusesWhatCannotBe) {
  expect_refused({"--devices", "none", "--out", out_}, "--devices none makes no cluster document");
  expect_refused({"--ports", "70000"}, "--ports");
  expect_refused({"--ports", "4100-4000"}, "--ports");
  expect_refused({"--resume", "--out", out_}, "the journal of an unfinished probe");
  for (const auto& [launcher, why] : {std::pair("env", "expected a command that contains {target}"),
                                      std::pair("ssh '{target}", "a quote is not closed")}) {
    const Printed printed = run_sextant({"probe", "--hosts", hosts_, "--launcher", launcher});
    EXPECT_EQ(printed.exit_code, 2);
    EXPECT_THAT(printed.err, HasSubstr(why));
  }
  expect_refused({"--streams", "0"}, "--streams");
  expect_refused({"--streams", "8", "--sockets", "4"}, "--streams 8 and --sockets 4");
  EXPECT_EQ(run_sextant({"probe", "--devices", "none"}).exit_code, 2);
  write_text_file(hosts_, "a\na\n");
  expect_refused({}, hosts_ + ":2: another host is named a already");
  std::filesystem::remove(hosts_);
  expect_refused({}, hosts_);
}

// Another region is half the world away: a schedule of such pairs takes much longer.
TEST_F(ProbeHosts, DryRunTakesRegionsForFarApart) {
  const auto seconds = [this] {
    const Printed printed = probe({"--dry-run", "--devices", "none"});
    const std::string begin = "pairs: at most ";
    return std::stod(printed.out.substr(printed.out.find(begin) + begin.size()));
  };
  write_text_file(hosts_, "a\nb\n");
  const double near_s = seconds();
  write_text_file(hosts_, "a region=x\nb region=y\n");
  EXPECT_GT(seconds(), near_s + 4 * 0.25 * 40 / 2);
}

// The time limit of the device probe follows from its budget.
TEST_F(ProbeHosts, TheLimitOfDevicesFollowsTheBudget) {
  EXPECT_THAT(probe({"--dry-run", "--total-budget", "50"}).out, HasSubstr("time limit 1276 s"));
  EXPECT_THAT(probe({"--dry-run", "--total-budget", "200"}).out, HasSubstr("time limit 4126 s"));
}

// One coordinator a rank would start everything several times, on one journal.
TEST_F(ProbeHosts, OneOfSeveralRanksIsRefused) {
  const EnvironmentVariable size("SLURM_STEP_NUM_TASKS", "4"), rank("SLURM_PROCID", "1");
  expect_refused({"--out", out_}, "SLURM_STEP_NUM_TASKS=4 (srun)");
  EXPECT_FALSE(std::filesystem::exists(out_ + ".journal"));
}

TEST_F(ProbeHosts, WhatWasMeasuredIsNotForgottenWithoutResume) {
  const std::string head = R"({"journal":"sextant.fleet/1.1","started_utc":"x","options":{}})";
  const std::string devices = R"({"host":"a","devices":{"cluster":{},"results":[],"warnings":[]}})";
  write_text_file(out_ + ".journal", head + "\n" + devices + "\n");
  expect_refused({"--out", out_}, "--resume measures the rest");
  EXPECT_EQ(read_text_file(out_ + ".journal"), head + "\n" + devices + "\n");
}

TEST_F(ProbeHosts, AnEmptyJournalIsResumed) {
  write_text_file(out_ + ".journal", "");
  std::vector<std::string> words = quick_;
  words.insert(words.end(), {"--resume", "--out", out_});
  const Printed printed = probe(words);
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
}

TEST_F(ProbeHosts, AnotherProbesJournalIsNotResumed) {
  write_text_file(out_ + ".journal",
                  "{\"journal\":\"sextant.fleet/1.1\",\"started_utc\":\"x\",\"options\":{\"streams\":9}}\n");
  expect_refused({"--resume", "--out", out_}, "belongs to a probe with different options");
}

}  // namespace
}  // namespace sextant::test
