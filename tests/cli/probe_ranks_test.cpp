// probe under the MPI launcher: four ranks of this machine that believe to be four hosts in two regions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "core/json_value.h"
#include "probes/harness/probe_result.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProbeFourHosts : public ::testing::Test {
 protected:
  ProbeFourHosts() {
    write_text_file(
        places_,
        "a region=east zone=e1\nb region=east zone=e1\nc region=west zone=w1\nd region=west zone=w1\n");
  }

  [[nodiscard]] std::vector<std::string> words(const std::string& budget,
                                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"probe",    "--devices", "cpu",      "--no-pin", "--smoke-test",
                                    "--places", places_,     "--budget", budget,     "--out",
                                    out_,       "--samples", samples_};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // When this machine is busy, the time of a message may say nothing.
  [[nodiscard]] Printed run_until_fit(const std::vector<std::string>& all) const {
    Printed printed;
    for (int attempt = 0; attempt < 4; ++attempt) {
      printed = run_on_hosts(hosts_, all);
      if (printed.err.find("could be measured: ") == std::string::npos) break;
    }
    return printed;
  }
  [[nodiscard]] std::vector<ProbeResult> results() const {
    const Json json = parse_json(read_text_file(samples_));
    return parse_results(JsonView(json).required("results"));
  }
  [[nodiscard]] std::vector<ProbeResult> points_of(int rank, int peer) const {
    std::vector<ProbeResult> points;
    for (const ProbeResult& result : results()) {
      if (result.rank == rank && result.peer == peer && result.unit == "s") points.push_back(result);
    }
    return points;
  }

  const std::vector<std::string> hosts_ = {"a", "b", "c", "d"};
  TemporaryFolder folder_;
  const std::string places_ = folder_.path() / "places.txt", out_ = folder_.path() / "cluster.json",
                    samples_ = folder_.path() / "samples.json", journal_ = out_ + ".journal";
};

TEST_F(ProbeFourHosts, HasLevelsOfThePlacesAndCollectivesOfGrowingGroups) {
  const Printed printed = run_until_fit(words("0.02"));
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const Cluster cluster = load_document<Cluster>(out_).content;
  ASSERT_EQ(cluster.nodes().size(), 4U);
  EXPECT_EQ(cluster.nodes()[2].name, "c");
  EXPECT_EQ(cluster.nodes()[2].region, "west");
  EXPECT_EQ(cluster.nodes()[2].zone, "w1");
  EXPECT_EQ(cluster.levels().at(LinkLevel::within_zone).bytes_per_s.source, Source::measured);
  EXPECT_EQ(cluster.levels().at(LinkLevel::between_regions).bytes_per_s.source, Source::measured);
  EXPECT_EQ(cluster.levels().count(LinkLevel::within_region), 0U);  // no two zones in a region
  std::set<std::string> groups;
  for (const ProbeResult& result : results()) {
    if (!result.group.empty()) groups.insert(result.group);
  }
  EXPECT_EQ(groups, (std::set<std::string>{"zone e1", "zone w1", "all"}));
  EXPECT_THAT(printed.out, AllOf(HasSubstr("mpi/zone/all_reduce/8"), HasSubstr("mpi/all_to_all/65536"),
                                 HasSubstr("bus bandwidth"), HasSubstr("zone w1")));
  EXPECT_FALSE(std::filesystem::exists(journal_));
}

TEST_F(ProbeFourHosts, DryRunShowsRoundsAndGroupsAndMeasuresNothing) {
  const Printed printed = run_on_hosts(hosts_, words("0.4", {"--dry-run"}));
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, AllOf(HasSubstr("4 ranks on 4 hosts in 2 zones and 2 regions\n"),
                                 HasSubstr("round 1: "), HasSubstr("round 3: "), Not(HasSubstr("round 4: "))));
  EXPECT_THAT(printed.out, AllOf(HasSubstr("collectives: zone e1 (2 ranks), zone w1 (2 ranks)"),
                                 HasSubstr("collectives: all (4 ranks)"), HasSubstr("at most about ")));
  EXPECT_FALSE(std::filesystem::exists(out_));
  EXPECT_FALSE(std::filesystem::exists(samples_));
  EXPECT_FALSE(std::filesystem::exists(journal_));
}

// The launcher ends the ranks so long after it has passed the signal on, a second unless told otherwise.
TEST_F(ProbeFourHosts, CtrlCLeavesADocumentAndResumeMeasuresTheRest) {
  const EnvironmentVariable patience("OMPI_MCA_odls_base_sigkill_timeout", "10");
  static_cast<void>(run_on_hosts(hosts_, words("0.1"), [&](pid_t launcher) {
    if (wait_for_text(journal_, "{\"link\"")) kill(launcher, SIGINT);
  }));
  const Cluster partial = load_document<Cluster>(out_).content;
  EXPECT_EQ(partial.nodes().size(), 4U);
  std::vector<ProbeResult> first;
  for (const int peer : {1, 2, 3}) {
    if (first.empty()) first = points_of(0, peer);
  }
  ASSERT_FALSE(first.empty());
  const Printed printed = run_until_fit(words("0.1", {"--resume"}));
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(points_of(0, first.front().peer), first) << "it was measured again";
  for (const int peer : {1, 2, 3}) EXPECT_FALSE(points_of(0, peer).empty());
  EXPECT_FALSE(std::filesystem::exists(journal_));
}

TEST_F(ProbeFourHosts, AStoppedRankIsNamedByItsHostAndTheRestGoesOn) {
  const Printed printed = run_on_hosts(hosts_, words("0.5", {"--answer-limit", "4"}), [&](pid_t launcher) {
    if (wait_for_text(journal_, "{\"link\"")) kill(process_of_host(launcher, "d"), SIGSTOP);
  });
  EXPECT_NE(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("warning: rank 3 on d did not respond after a round of pairs"));
  EXPECT_THAT(printed.err, HasSubstr("and --resume measures the rest"));
  const Cluster cluster = load_document<Cluster>(out_).content;
  EXPECT_EQ(cluster.nodes().size(), 4U);
  EXPECT_FALSE(points_of(0, 1).empty());
  EXPECT_FALSE(points_of(1, 2).empty());
  EXPECT_TRUE(std::filesystem::exists(journal_));
}

// Collectives cannot go on without a member: it is named, and a document has what was measured before.
TEST_F(ProbeFourHosts, ARankThatHangsInACollectiveIsNamedAndWhatThereIsIsWritten) {
  const Printed printed = run_on_hosts(hosts_, words("0.2", {"--answer-limit", "6"}), [&](pid_t launcher) {
    if (wait_for_text(journal_, "{\"collectives\"")) kill(process_of_host(launcher, "d"), SIGSTOP);
  });
  EXPECT_NE(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("rank 3 on d sent no heartbeat for "));
  EXPECT_THAT(printed.err, HasSubstr("and --resume measures the rest"));
  EXPECT_EQ(load_document<Cluster>(out_).content.nodes().size(), 4U);
  const std::vector<ProbeResult> all = results();
  EXPECT_TRUE(
      std::any_of(all.begin(), all.end(), [](const auto& result) { return result.group == "zone e1"; }));
  EXPECT_FALSE(points_of(2, 3).empty());
  EXPECT_TRUE(std::filesystem::exists(journal_));
}

TEST_F(ProbeFourHosts, WhatCannotBeIsRefusedOnce) {
  const auto expect_refused = [&](const std::vector<std::string>& more, const std::string& why) {
    const Printed printed = run_on_hosts({"a", "e"}, words("0.005", more));
    EXPECT_EQ(printed.exit_code, 2) << printed.err;
    EXPECT_THAT(printed.err, HasSubstr(why));
  };
  expect_refused({}, places_ + ": the places file has no line for host e");
  expect_refused({"--streams", "4"}, "sextant [rank 0]: --streams needs --hosts");
  std::filesystem::remove(places_);
  expect_refused({}, places_);
}

TEST_F(ProbeFourHosts, AnotherJobsJournalIsNotResumed) {
  const auto expect_refused = [&](const std::string& why) {
    const Printed printed = run_on_hosts(hosts_, words("0.005", {"--resume"}));
    EXPECT_EQ(printed.exit_code, 2) << printed.err;
    EXPECT_THAT(printed.err, HasSubstr("sextant [rank 0]: "));
    EXPECT_THAT(printed.err, AllOf(HasSubstr(why), Not(HasSubstr("sextant [rank 1]: "))));
  };
  expect_refused("the journal of an unfinished probe");
  write_text_file(journal_,
                  "{\"journal\":\"sextant.ranks/1.1\",\"started_utc\":\"x\",\"hosts\":[\"a\"],"
                  "\"options\":{}}\n");
  expect_refused("belongs to a probe with different hosts ([\"a\"])");
  write_text_file(journal_,
                  "{\"journal\":\"sextant.ranks/1.1\",\"started_utc\":\"x\","
                  "\"hosts\":[\"a\",\"b\",\"c\",\"d\"],\"options\":{}}\n");
  expect_refused("belongs to a probe with different options");
}

// Measurements are not lost if --resume is forgotten, nor to a second probe on the same journal.
TEST_F(ProbeFourHosts, AJournalIsNotBegunAnewWhileItHasMeasurements) {
  const std::string journal =
      "{\"journal\":\"sextant.ranks/"
      "1.1\",\"started_utc\":\"x\",\"hosts\":[\"a\"],\"options\":{}}\n{\"link\":[]}\n";
  write_text_file(journal_, journal);
  const Printed printed = run_on_hosts(hosts_, words("0.005"));
  EXPECT_EQ(printed.exit_code, 2) << printed.err;
  EXPECT_THAT(printed.err, AllOf(HasSubstr("has 1 measurement of an unfinished probe: --resume"),
                                 Not(HasSubstr("sextant [rank 1]: "))));
  EXPECT_EQ(read_text_file(journal_), journal);
}

}  // namespace
}  // namespace sextant::test
