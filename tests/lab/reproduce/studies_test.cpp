// The experiments are those of the papers: devices, networks, workflows, published figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "calibrate/import/published/hetrl_clusters.h"
#include "calibrate/import/records/facts.h"
#include "lab/reproduce/study.h"
#include "sextant/document.h"
#include "sextant/objective.h"
#include "sextant/planners.h"
#include "sextant/run.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kData = std::filesystem::path(SEXTANT_SOURCE_DIR) / "data";
constexpr double kGbit = 1e9 / 8;

const Facts& facts() {
  static const Facts all = Facts::load(kData / "gpus.json", kData / "models.json");
  return all;
}

Study real() { return real_study(load_document<Runs>(kData / "runs/rl.json").content); }

int devices_of(const Cluster& cluster, const std::string& type) {
  int count = 0;
  for (const Node& node : cluster.nodes()) count += node.device_type == type ? node.devices : 0;
  return count;
}

const StudyCell& cell_of(const Study& study, const std::string& name) {
  for (const StudyCell& cell : study.cells) {
    if (cell.name == name) return cell;
  }
  throw std::out_of_range(name);
}

// Links between devices of different regions.
struct Extremes {
  double bound_of_all_s = 1e9, longest_s = 0, slowest = 1e30, fastest = 0;
};
Extremes between_regions(const Cluster& cluster) {
  Extremes out;
  for (int i = 0; i < cluster.device_count(); i += 8) {
    for (int j = 0; j < cluster.device_count(); j += 8) {
      if (i == j || cluster.level_between(DeviceId{i}, DeviceId{j}) != LinkLevel::between_regions) continue;
      const LinkRate& link = cluster.link(DeviceId{i}, DeviceId{j});
      out.bound_of_all_s = std::min(out.bound_of_all_s, link.latency_s.value);
      out.longest_s = std::max(out.longest_s, link.latency_s.value);
      out.slowest = std::min(out.slowest, link.bytes_per_s.value);
      out.fastest = std::max(out.fastest, link.bytes_per_s.value);
    }
  }
  return out;
}

TEST(HetrlClusters, HaveTheGpusOfTable1) {
  for (const HetrlNetwork network : kHetrlNetworks) {
    const Cluster cluster = hetrl_cluster(facts(), network);
    EXPECT_EQ(cluster.device_count(), 64);
    EXPECT_EQ(devices_of(cluster, "A100-SXM-40GB"), 24);
    EXPECT_EQ(devices_of(cluster, "L40S"), 24);
    EXPECT_EQ(devices_of(cluster, "L4"), 16);
    const DeviceType& a100 = cluster.device_types().at("A100-SXM-40GB");
    EXPECT_EQ(a100.memory_bytes.value, 40e9);
    EXPECT_EQ(a100.memory_bytes_per_s.value, 2039e9);
    EXPECT_EQ(a100.flop_per_s.at(Precision::bf16).value, 312e12);
    EXPECT_EQ(cluster.device_types().at("L40S").flop_per_s.at(Precision::bf16).value, 366e12);
    EXPECT_EQ(cluster.device_types().at("L4").memory_bytes_per_s.value, 300e9);
    EXPECT_EQ(cluster.link(DeviceId{0}, DeviceId{1}).bytes_per_s.value, 300e9);
    EXPECT_EQ(cluster.link(DeviceId{63}, DeviceId{62}).bytes_per_s.value, 32e9);
  }
}

TEST(HetrlClusters, HaveTheNetworksOfSection51) {
  const auto expect = [](HetrlNetwork network, double bound_of_all_s, double longest_s, double slowest,
                         double fastest) {
    const Extremes found = between_regions(hetrl_cluster(facts(), network));
    constexpr double kRounding = 1e-9;
    EXPECT_NEAR(found.bound_of_all_s, bound_of_all_s, kRounding) << name_of(network);
    EXPECT_NEAR(found.longest_s, longest_s, kRounding) << name_of(network);
    EXPECT_NEAR(found.slowest / kGbit, slowest, kRounding) << name_of(network);
    EXPECT_NEAR(found.fastest / kGbit, fastest, kRounding) << name_of(network);
  };
  expect(HetrlNetwork::multi_country, 5e-3, 30e-3, 1.9, 5.0);
  expect(HetrlNetwork::multi_continent, 5e-3, 60e-3, 0.9, 5.0);
  expect(HetrlNetwork::multi_region_hybrid, 10e-3, 11e-3, 1.0, 5.0);
  EXPECT_EQ(between_regions(hetrl_cluster(facts(), HetrlNetwork::single_region)).longest_s, 0);
}

TEST(HetrlClusters, TheEdgeMeetsVirginiaAtAGigabit) {
  const Cluster cluster = hetrl_cluster(facts(), HetrlNetwork::multi_region_hybrid);
  int edge_links = 0;
  const DeviceId edge{cluster.device_count() - 1};
  ASSERT_EQ(cluster.nodes().back().zone, "virginia-edge");
  for (int other = 0; other < cluster.device_count() - 8; ++other) {
    EXPECT_EQ(cluster.link(edge, DeviceId{other}).bytes_per_s.value, kGbit);
    ++edge_links;
  }
  EXPECT_EQ(edge_links, 56);
}

TEST(HetrlClusters, SharedLinksHaveTheCapacityOfOnePair) {
  const Cluster pairs = hetrl_cluster(facts(), HetrlNetwork::multi_country);
  const Cluster shared = hetrl_cluster(facts(), HetrlNetwork::multi_country, HetrlLinks::per_region);
  EXPECT_FALSE(pairs.has_trunks());
  const DeviceId first{0}, far{8};
  ASSERT_TRUE(shared.trunk(first, far).has_value());
  EXPECT_EQ(shared.trunk(first, far)->bytes_per_s, pairs.link(first, far).bytes_per_s.value);
  EXPECT_FALSE(hetrl_cluster(facts(), HetrlNetwork::single_region, HetrlLinks::per_region).has_trunks());
}

TEST(HetrlClusters, EightRegionsHaveAMachineEach) {
  for (const HetrlNetwork network : {HetrlNetwork::multi_country, HetrlNetwork::multi_continent}) {
    std::set<std::string> regions;
    const Cluster cluster = hetrl_cluster(facts(), network);
    for (const Node& node : cluster.nodes()) regions.insert(node.region);
    EXPECT_EQ(regions.size(), 8U);
  }
}

TEST(HetrlStudy, HasEveryScenarioModelAlgorithmAndMode) {
  const Study study = hetrl_study(facts());
  EXPECT_EQ(study.cells.size(), 4U * 3 * 2 * 2 + 4);  // and 24 A100
  std::set<std::string> names;
  for (const StudyCell& cell : study.cells) names.insert(cell.name);
  EXPECT_EQ(names.size(), study.cells.size());
  const StudyCell& cell = cell_of(study, "multi-country/Qwen3-14B/ppo/async");
  EXPECT_EQ(cell.workflow.sequences(), 384 * 8);
  EXPECT_EQ(cell.workflow.prompt_tokens.max_tokens(), 1024);
  EXPECT_EQ(cell.workflow.tasks.size(), 6U);
  EXPECT_EQ(cell.workflow.mode, Mode::asynchronous);
  EXPECT_EQ(cell_of(study, "single-region/Qwen3-4B/grpo/sync").workflow.tasks.size(), 4U);
}

TEST(HetrlBalanceStudy, HasEverySynchronousCell) {
  const Study study = hetrl_balance_study(facts());
  EXPECT_EQ(study.cells.size(), 4U * 3 * 2);
  ASSERT_EQ(study.figures.size(), study.cells.size());
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const StudyCell& cell = study.cells[i];
    EXPECT_EQ(cell.workflow.mode, Mode::synchronous);
    ASSERT_EQ(cell.contestants.size(), 3U);
    EXPECT_TRUE(cell.contestants[0].balances_load);
    EXPECT_FALSE(cell.contestants[1].balances_load);
    EXPECT_TRUE(cell.contestants[2].balances_load);
    EXPECT_TRUE(cell.contestants[2].has_even_batches);
    EXPECT_EQ(study.figures[i].high, cell.name.starts_with("single-region/") ? 1.12 : 1.18);
  }
}

TEST(HetrlStudy, ModelsAreAsLargeAsTheirNamesSay) {
  const Study study = hetrl_study(facts());
  for (const auto& [name, billions] : {std::pair{"Qwen3-4B", 4.0}, {"Qwen3-8B", 8.2}, {"Qwen3-14B", 14.8}}) {
    const Model& actor =
        cell_of(study, std::string("single-region/") + name + "/ppo/sync").workflow.models.at("actor");
    EXPECT_NEAR(actor.parameters() / 1e9, billions, 0.05) << name;
    // Two FLOP a parameter and token, and attention: the 1,024 tokens that it attends to add less than a fifth.
    const double flop_per_token = actor.layers * actor.layer_flop(1024).total() / 1024;
    const double parameters = actor.layers * actor.layer_parameters();
    EXPECT_GT(flop_per_token, 2 * parameters);
    EXPECT_LT(flop_per_token, 2 * parameters * 1.2);
  }
}

TEST(Studies, FiguresAreOfContestantsThatTheirCellsHave) {
  for (const Study& study :
       {hetrl_study(facts()), hetrl_balance_study(facts()), areal_hex_study(facts()), real()}) {
    EXPECT_FALSE(study.figures.empty());
    for (const Figure& figure : study.figures) {
      for (const std::optional<Side>& side : {std::optional<Side>(figure.of), figure.over}) {
        if (!side) continue;
        const auto& contestants = cell_of(study, side->cell).contestants;
        EXPECT_TRUE(std::any_of(contestants.begin(), contestants.end(),
                                [&](const Contestant& one) { return one.name == side->contestant; }))
            << figure.group << ", " << side->cell << ", " << side->contestant;
      }
      EXPECT_LE(figure.low, figure.high) << figure.group;
      EXPECT_GT(figure.high, 0) << figure.group;
    }
  }
}

// A cause of a group that is spelled otherwise would never be printed.
TEST(Studies, CausesAreOfGroupsThatThereAre) {
  for (const Study& study :
       {hetrl_study(facts()), hetrl_balance_study(facts()), areal_hex_study(facts()), real()}) {
    std::set<std::string> groups;
    for (const Figure& figure : study.figures) groups.insert(figure.group);
    for (const Headline& headline : study.headlines) {
      for (const std::string& group : headline.groups) EXPECT_TRUE(groups.contains(group)) << group;
    }
    for (const Headline& headline : study.headlines) groups.insert(headline.name);
    EXPECT_FALSE(study.causes.empty()) << study.name;
    for (const Cause& cause : study.causes) EXPECT_TRUE(groups.contains(cause.group)) << cause.group;
  }
}

TEST(Studies, WorkflowsAreValidAndPlannersExist) {
  for (const Study& study :
       {hetrl_study(facts()), hetrl_study(facts(), HetrlReading::shared_links),
        hetrl_study(facts(), HetrlReading::broadcast), hetrl_balance_study(facts()), areal_hex_study(facts()),
        areal_hex_study(facts(), HexReading::tables_1_and_3), real()}) {
    for (const StudyCell& cell : study.cells) {
      EXPECT_NO_THROW(cell.workflow.check()) << cell.name;
      EXPECT_EQ(cell.executions.size(), cell.workflow.tasks.size()) << cell.name;
      for (const Contestant& one : cell.contestants) {
        EXPECT_EQ(one.planner.empty(), one.placement == ContestantPlacement::published);
        EXPECT_TRUE(one.planner.empty() || find_planner(one.planner)) << one.planner;
        EXPECT_TRUE(one.balances_load || find_planner(one.planner)->traits.balances_load) << one.planner;
      }
    }
  }
}

TEST(ArealHexStudy, BudgetsAreThoseOfThePaper) {
  const Study study = areal_hex_study(facts());
  const auto usd_per_hour = [&](const std::string& name) {
    const Cluster& cluster = cell_of(study, name).cluster;
    double usd = 0;
    for (const Node& node : cluster.nodes())
      usd += node.devices * cluster.device_types().at(node.device_type).price_usd_per_hour->value;
    return usd;
  };
  constexpr double kCent = 0.005;
  EXPECT_NEAR(usd_per_hour("24-h800/7B"), 126.72, kCent);       // Table 4
  EXPECT_NEAR(usd_per_hour("8-h800-24-h20/7B"), 86.64, kCent);  // Table 4
  EXPECT_NEAR(usd_per_hour("24-h800-24-h20/7B"), 171.12, kCent);
  EXPECT_NEAR(usd_per_hour("32-h800/7B"), 168.96, kCent);
  EXPECT_NEAR(usd_per_hour("88-h20/7B"), 162.80, kCent);
  const Cluster& mixed = cell_of(study, "24-h800-24-h20/7B").cluster;
  EXPECT_EQ(mixed.link(DeviceId{0}, DeviceId{8}).bytes_per_s.value, 5e9);
  EXPECT_EQ(mixed.link(DeviceId{0}, DeviceId{24}).bytes_per_s.value, 1.5e9);
  EXPECT_EQ(mixed.link(DeviceId{24}, DeviceId{25}).bytes_per_s.value, 450e9);
}

// 24 H800 and 24 H20 of section 3: what one thing changes.
TEST(ArealHexStudy, AReadingChangesOneThing) {
  const auto mixed = [](HexReading reading) {
    return cell_of(areal_hex_study(facts(), reading), "24-h800-24-h20/7B");
  };
  const StudyCell printed = mixed(HexReading::as_printed), pairs = mixed(HexReading::links_of_pairs),
                  weave = mixed(HexReading::weave_h800), table_1 = mixed(HexReading::table_1);
  EXPECT_TRUE(printed.cluster.has_trunks());
  EXPECT_TRUE(printed.has_pools_apart);
  EXPECT_TRUE(printed.factors.empty());
  EXPECT_FALSE(pairs.cluster.has_trunks());
  EXPECT_EQ(pairs.cluster.device_types(), printed.cluster.device_types());
  EXPECT_EQ(weave.cluster.device_types().at("H800").memory_bytes_per_s.value, 3.35e12);
  EXPECT_EQ(weave.cluster.device_types().at("H20-96GB"), printed.cluster.device_types().at("H20-96GB"));
  EXPECT_EQ(table_1.cluster, printed.cluster);
  ASSERT_EQ(table_1.factors.size(), 4U);
  for (const CoefficientFactor& factor : table_1.factors) EXPECT_EQ(factor.device_type, "H20-96GB");
}

// The contradiction that the page states: dollars for a token of Table 1, 7B; dollars an hour of section 3.
TEST(ArealHexStudy, Table1AllowsLessThanSection45Says) {
  constexpr double kH800Generation = 1.14e-2, kH800Training = 3.05e-3, kH20Generation = 4.15e-3,
                   kH20Training = 9.51e-3;
  const double h800 = 32 * 5.28 / (kH800Generation + kH800Training);
  const double h20 = 88 * 1.85 / (kH20Generation + kH20Training);
  // H20 generate g tokens; H800 train all of them and generate the rest.
  const double g = 24 * 1.85 / kH20Generation;
  const double mixed = (24 * 5.28 + g * kH800Generation) / (kH800Generation + kH800Training);
  constexpr double kPrinted = 0.005;
  EXPECT_NEAR(mixed / h800, 1.47, kPrinted);
  EXPECT_NEAR(mixed / h20, 1.44, kPrinted);  // section 4.5 says 2.76
  EXPECT_NEAR(h20 / h800, 1.02, kPrinted);
}

// The statement of the assumption about the batch.
TEST(ArealHexStudy, AnIterationHasAboutTheTokensThatTheTablesMake) {
  const Study study = areal_hex_study(facts());
  const Workflow& workflow = cell_of(study, "24-h800/7B").workflow;
  EXPECT_NEAR(tokens_per_iteration(workflow), 512 * 7942.0, 512 * 7942.0 * 1e-3);
  EXPECT_GT(tokens_per_iteration(workflow), 26.00 / 0.019 * 2.16e3);
  EXPECT_LT(tokens_per_iteration(workflow), 14.79 / 0.019 * 5.98e3);
}

TEST(RealStudy, HasTheFourSettingsOfTable6) {
  const Study study = real();
  ASSERT_EQ(study.cells.size(), 4U);
  EXPECT_EQ(cell_of(study, "7b7b/cudagraph").cluster.device_count(), 16);
  EXPECT_EQ(cell_of(study, "70b7b/nocudagraph").cluster.device_count(), 128);
  int tasks = 0;
  for (const Figure& figure : study.figures) tasks += figure.measure == Measure::task_s ? 1 : 0;
  EXPECT_EQ(tasks, 26);  // 24 of Tables 2 to 5; the two of Table 6 without CUDA graphs that differ from them
}

TEST(RealStudy, RunsThatAreNotThereAreNamed) {
  EXPECT_THAT(refusal_of([] { (void)real_study(Runs{}); }),
              HasSubstr("none named real-7b7b-searched-cudagraph"));
}

}  // namespace
}  // namespace sextant
