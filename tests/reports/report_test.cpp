// Whole reports: which sections are there, and what they say.
#include "reports/report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/sections/sections.h"
#include "tests/reports/fixture.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> section_ids(const ReportInput& input) {
  std::vector<std::string> ids;
  for (const Section& section : report_content(input).sections) ids.push_back(section.id);
  return ids;
}

const Section& section_of(const Content& content, const std::string& id) {
  for (const Section& section : content.sections) {
    if (section.id == id) return section;
  }
  throw std::runtime_error("no section " + id);
}

const Table& table_of(const Content& content, const std::string& id) {
  for (const Section& section : content.sections) {
    for (const Block& block : section.blocks) {
      const Table* table = std::get_if<Table>(&block);
      if (table != nullptr && table->id == id) return *table;
    }
  }
  throw std::runtime_error("no table " + id);
}

std::vector<std::string> chart_ids(const Section& section) {
  std::vector<std::string> ids;
  for (const Block& block : section.blocks) {
    if (const Chart* chart = std::get_if<Chart>(&block)) ids.push_back(chart->id);
  }
  return ids;
}

TEST(Report, HasEverySectionWhenEveryDocumentIsThere) {
  EXPECT_THAT(section_ids(fixture_report(sixteen_gpus())),
              ElementsAre("summary", "accuracy", "plan", "search", "timeline", "trust", "breakdown", "memory",
                          "coefficients", "devices", "links", "runs", "provenance"));
}

TaskPlan task_of_replicas(int count) {
  TaskPlan task;
  for (int r = 0; r < count; ++r) {
    Replica replica;
    replica.batch_share = 1.0 / count;
    replica.stages = {{12, {DeviceId{2 * r}, DeviceId{2 * r + 1}}}};
    task.replicas.push_back(replica);
  }
  return task;
}

TEST(Report, SaysWhichSequencesAReplicaGets) {
  ReportInput input = fixture_report(sixteen_gpus());
  const std::size_t columns = table_of(report_content(input), "plan_tasks").columns.size();
  TaskPlan task = task_of_replicas(2);
  task.replicas[0].length_rank = 1;
  input.plan->content.tasks = {{"actor_training", task}};
  const Table table = table_of(report_content(input), "plan_tasks");
  ASSERT_EQ(table.columns.size(), columns + 1);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].back().text, "50.0 % to 100.0 %");
  EXPECT_EQ(table.rows[1].back().text, "0.0 % to 50.0 %");
}

TEST(Report, EqualReplicasShareARow) {
  ReportInput input;
  input.plan = Document<Plan>{};
  input.plan->content.tasks = {{"actor_training", task_of_replicas(80)}};
  const Table table = table_of(report_content(input), "plan_tasks");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][1].text, "0-79 (80)");
  EXPECT_EQ(table.rows[0][1].value.size(), 80U);
  EXPECT_EQ(table.rows[0][6].text, "0-159");
}

TEST(Report, ReplicasThatDifferHaveTheirOwnRows) {
  ReportInput input;
  input.plan = Document<Plan>{};
  TaskPlan task = task_of_replicas(5);
  task.replicas[1].batch_share = 0.3;
  task.replicas[3].stages = {{6, {DeviceId{6}}}, {6, {DeviceId{7}}}};
  input.plan->content.tasks = {{"actor_training", task}};
  const Table table = table_of(report_content(input), "plan_tasks");
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][1].text, "0, 2, 4 (3)");
  EXPECT_EQ(table.rows[1][1].text, "1");
  EXPECT_EQ(table.rows[2][4].text, "6 + 6");
}

// The first 8 of 16 devices are H100, the others L40S.
TEST(Report, ReplicasOnDifferentDevicesHaveTheirOwnRows) {
  ReportInput input = fixture_report(sixteen_gpus());
  input.plan->content.tasks = {{"actor_training", task_of_replicas(8)}};
  const Table table = table_of(report_content(input), "plan_tasks");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][1].text, "0-3 (4)");
  EXPECT_EQ(table.rows[1][6].text, "8-15");
}

TEST(Report, TensorParallelismIsWithoutContextParallelism) {
  ReportInput input;
  input.plan = Document<Plan>{};
  TaskPlan task = task_of_replicas(1);
  task.execution.context_parallel = 2;
  input.plan->content.tasks = {{"actor_training", task}};
  EXPECT_EQ(table_of(report_content(input), "plan_tasks").rows[0][5].text, "1");
}

const std::vector<Cell>* row_named(const Table& table, const std::string& name) {
  const auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                [&](const auto& each) { return each.front().value == name; });
  return row == table.rows.end() ? nullptr : &*row;
}

TEST(Report, ShowsEveryOptionThatATaskChanges) {
  const Document<Plan> plan = load_document<Plan>(std::string(SEXTANT_TEST_DATA) + "/plan_execution.json");
  ReportInput input;
  input.plan = plan;
  const Table table = table_of(report_content(input), "plan_execution");
  ASSERT_EQ(table.columns.size(), plan.content.tasks.size() + 2);
  for (const auto& [name, task] : plan.content.tasks) {
    const Json options = task.execution.to_json();
    for (const auto& [option, value] : options.items()) {
      const std::vector<Cell>* row = row_named(table, option);
      ASSERT_NE(row, nullptr) << option;
      const bool is_shown =
          std::any_of(row->begin(), row->end(), [&](const Cell& cell) { return cell.value == value; });
      EXPECT_TRUE(is_shown) << name << " " << option;
    }
  }
}

TEST(Report, ShowsOptionsOncePerTaskWithTheirUnits) {
  ReportInput input;
  input.plan = Document<Plan>{};
  TaskPlan training = task_of_replicas(4);
  training.execution.zero_stage = 3;
  training.execution.micro_batch_tokens = 16384;
  training.recompute = Recompute::full;
  TaskPlan generation = task_of_replicas(4);
  generation.execution.kv_cache_bytes = 2.0 * (1 << 30);
  generation.execution.continuous_batching = true;
  input.plan->content.tasks = {{"actor_generation", generation}, {"actor_training", training}};
  const Table table = table_of(report_content(input), "plan_execution");
  const auto shown = [&](const char* option, std::size_t column) {
    return (*row_named(table, option))[column].text;
  };
  EXPECT_EQ(shown("zero_stage", 1), "–");
  EXPECT_EQ(shown("zero_stage", 2), "3");
  EXPECT_EQ(shown("micro_batch_tokens", 2), "16384");
  EXPECT_EQ(shown("micro_batch_sequences", 1), "1");
  EXPECT_EQ(shown("micro_batch_sequences", 2), "–");  // tokens decide
  EXPECT_EQ(shown("decode_batch_sequences", 1), "all");
  EXPECT_EQ(shown("recompute", 2), "full");
  EXPECT_EQ(shown("kv_cache_bytes", 0), "KV cache");
  EXPECT_EQ(shown("kv_cache_bytes", 1), "2.00 GiB");
  EXPECT_EQ(shown("continuous_batching", 1), "yes");
  EXPECT_EQ(row_named(table, "lora_rank"), nullptr);
}

TEST(Report, EmptyInputSaysSo) {
  const ReportInput nothing;
  EXPECT_THAT(section_ids(nothing), ElementsAre("summary"));
  EXPECT_THAT(render_html(nothing), HasSubstr("There is nothing to report"));
  EXPECT_THAT(render_markdown(nothing), HasSubstr("# Sextant report"));
  EXPECT_EQ(report_json(nothing)["sections"].size(), 1U);
}

TEST(Report, SectionsFollowTheirDocuments) {
  const ReportInput all = fixture_report(two_cores());
  ReportInput input;
  input.cluster = all.cluster;
  EXPECT_THAT(section_ids(input), ElementsAre("summary", "devices", "links", "provenance"));
  input.plan = all.plan;
  EXPECT_THAT(section_ids(input), ElementsAre("summary", "plan", "devices", "links", "provenance"));
  input = {};
  input.runs = all.runs;
  EXPECT_THAT(section_ids(input), ElementsAre("summary", "runs", "provenance"));
  input = {};
  input.prediction = all.prediction;
  EXPECT_THAT(section_ids(input),
              ElementsAre("summary", "timeline", "trust", "breakdown", "memory", "provenance"));
  input = {};
  input.coefficients = all.coefficients;
  EXPECT_THAT(section_ids(input), ElementsAre("summary", "coefficients", "provenance"));
  input = {};
  input.accuracy = all.accuracy;
  EXPECT_THAT(section_ids(input), ElementsAre("summary", "accuracy", "provenance"));
}

TEST(Report, DocumentsWithoutContentGiveNoEmptyCharts) {
  ReportInput input;
  input.accuracy = Document<Accuracy>{};
  input.prediction = Document<Prediction>{};
  input.coefficients = Document<Coefficients>{};
  input.plan = Document<Plan>{};
  input.runs = Document<Runs>{};
  input.search = Document<SearchRecord>{};
  input.explanation = Document<Explanation>{};
  for (const Section& section : report_content(input).sections) EXPECT_THAT(chart_ids(section), ElementsAre());
  EXPECT_NO_THROW((void)format_json(report_json(input)));
}

TEST(Report, SaysWhyThePlanIsTheAnswer) {
  Explanation explanation;
  explanation.planner = "sha-ea";
  explanation.plan = "best";
  explanation.bottleneck = "generation takes 80 % of the iteration";
  explanation.iteration_s = 10;
  explanation.parts = {{"generation", "decode", 8}, {"iteration", "weight_sync", 2}};
  Alternative other;
  other.name = "streamrl";
  other.outcome = PlanOutcome::found;
  other.iteration_s = 12;
  other.ratio = 1.2;
  explanation.alternatives = {other};
  explanation.flips = {{"flop_per_s", "h100", true, 6e14, 0.5, "", 3.0}};
  WhatIf none;
  none.changes = {"remove:h100=1"};
  none.message = "no plan fits";
  explanation.what_ifs = {none};
  ReportInput input;
  input.explanation = Document<Explanation>{{}, explanation};
  const Content content = report_content(input);
  EXPECT_THAT(section_ids(input), Contains("explanation"));
  EXPECT_EQ(table_of(content, "explained_parts").rows[0][3].value, 0.8);
  EXPECT_EQ(table_of(content, "alternatives").rows[0][2].value, 1.2);
  EXPECT_TRUE(table_of(content, "alternatives").rows[0][3].value.is_null());
  EXPECT_EQ(table_of(content, "flips").rows[0][4].text, "none: the plan no longer fits");
  EXPECT_EQ(table_of(content, "what_ifs").rows[0][3].text, "none: no plan fits");
  EXPECT_THAT(std::get<Text>(section_of(content, "explanation").blocks.at(1)).text,
              HasSubstr("no uncertainty"));
}

TEST(Report, ASingleDeviceHasASentenceInsteadOfLinkCharts) {
  const Content content = report_content(fixture_report(one_core()));
  const Section& links = section_of(content, "links");
  EXPECT_THAT(chart_ids(links), ElementsAre());
  EXPECT_THAT(std::get<Text>(links.blocks.at(0)).text, HasSubstr("single device"));
}

TEST(Report, LinksOfManyDevicesAreShownByNode) {
  const Content content = report_content(fixture_report(many_gpus(16)));
  const Section& links = section_of(content, "links");
  ASSERT_THAT(chart_ids(links), ElementsAre("link_latency", "link_bandwidth"));
  for (const Block& block : links.blocks) {
    const Chart* chart = std::get_if<Chart>(&block);
    if (chart == nullptr) continue;
    EXPECT_EQ(chart->spec["data"]["values"].size(), 16U * 15U);
  }
  EXPECT_THAT(chart_ids(section_of(report_content(fixture_report(many_gpus(65))), "links")), ElementsAre());
}

TEST(Report, TablesHoldTheNumbersOfTheDocuments) {
  const ReportInput input = fixture_report(two_cores());
  const Content content = report_content(input);
  const Table& errors = table_of(content, "errors");
  EXPECT_EQ(errors.rows[0][2].value, input.accuracy->content.held_out_tasks.mape);
  EXPECT_EQ(errors.rows[1][2].value, input.accuracy->content.held_out_iterations.mape);
  const Table& runs = table_of(content, "runs");
  ASSERT_EQ(runs.rows.size(), 36U);
  EXPECT_EQ(runs.rows[3][6].value, input.runs->content.runs[3].iteration.median_s());
  EXPECT_EQ(table_of(content, "compared_times").rows.size(), 36U * 8U);
  EXPECT_EQ(table_of(content, "coefficients").rows.size(), input.coefficients->content.values.size());
  EXPECT_EQ(table_of(content, "terms").rows[0][2].value,
            input.prediction->content.tasks.at("actor_generation").time_s);
  EXPECT_EQ(table_of(content, "provenance").rows.size(), 7U);
  EXPECT_EQ(table_of(content, "search_curve").rows[1][2].value, input.search->content.curve[1].iteration_s);
}

TEST(Report, OrderOfPlansAndMemoryAreShownWhereTheyAreKnown) {
  ReportInput input = fixture_report(two_cores());
  EXPECT_THAT(render_markdown(input), HasSubstr("so order and regret are unknown"));
  EXPECT_THAT(render_markdown(input), Not(HasSubstr("held out: memory")));
  input.accuracy->content.order = PlanOrder{3, 7, 0.875, 0.01, 0.04};
  input.accuracy->content.memories = {{"run-0", 2e9, 1e9, true}};
  input.accuracy->content.held_out_memories = {1, 0.5, 0.5, 0.5, 0.5};
  EXPECT_THAT(render_markdown(input), HasSubstr("(3 groups, 7 pairs): Kendall tau 0.875"));
  const Content content = report_content(input);
  const Table& errors = table_of(content, "errors");
  const auto of_memory = std::find_if(errors.rows.begin(), errors.rows.end(),
                                      [](const auto& row) { return row[0].text == "held out: memory"; });
  ASSERT_NE(of_memory, errors.rows.end());
  EXPECT_EQ((*of_memory)[2].value, 0.5);
  EXPECT_EQ(table_of(content, "compared_memories").rows.at(0)[4].value, -0.5);
}

TEST(Report, SummaryNamesTheMeasuredRunOfTheSamePlan) {
  const ReportInput input = fixture_report(two_cores());
  // Plans 0, 2, ... are alike on two cores, and run-12 is the first of workflow ppo-512.
  EXPECT_THAT(render_markdown(input), HasSubstr("Measured for the same plan: **"));
  ReportInput other = input;
  other.plan->content.tasks.begin()->second.micro_batch_sequences = 99;
  EXPECT_THAT(render_markdown(other), Not(HasSubstr("Measured for the same plan")));
}

TEST(Report, MarkdownRowsHaveAsManyCellsAsTheirHeader) {
  const std::string text = render_markdown(fixture_report(two_cores()));
  std::size_t start = 0;
  long header_cells = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    std::string line = text.substr(start, end - start);
    start = end + 1;
    if (line.empty() || line[0] != '|') {
      header_cells = 0;
      continue;
    }
    for (std::size_t escaped; (escaped = line.find("\\|")) != std::string::npos;) line.erase(escaped, 2);
    const long cells = std::count(line.begin(), line.end(), '|');
    if (header_cells == 0) header_cells = cells;
    EXPECT_EQ(cells, header_cells) << line;
  }
}

TEST(Report, NamesWhatIsExtrapolatedAndWhatThePredictionHangsOn) {
  const std::string text = render_markdown(fixture_report(sixteen_gpus()));
  EXPECT_THAT(text, HasSubstr("The prediction is extrapolating for actor training"));
  EXPECT_THAT(text, HasSubstr("4 times the tokens of a sequence"));
  // 1.1 ^ -0.7 - 1 of the rate, before 1.1 ^ -0.4 - 1 of the coefficient.
  const std::size_t table = text.find("What the prediction depends on");
  EXPECT_LT(text.find("-6.5 %", table), text.find("-3.7 %", table));
}

// The fixture's tasks overlap; without most of them, the iteration is longer than the rest.
TEST(Report, RowsOfTheTimeTableSumToTheIteration) {
  ReportInput input = fixture_report(sixteen_gpus());
  input.prediction->content.controller_s = 0.5;
  for (int round = 0; round < 2; ++round) {
    const Table table = table_of(report_content(input), "terms");
    double sum_s = 0;
    for (const auto& row : table.rows) {
      const bool is_total = row[0].value == "iteration";
      if (!is_total) sum_s += row[2].value.get<double>();
      EXPECT_EQ(is_total, &row == &table.rows.back());
    }
    EXPECT_NEAR(sum_s, input.prediction->content.iteration_s, 1e-9);
    EXPECT_EQ(table.rows.back()[2].value, input.prediction->content.iteration_s);
    for (const char* task : {"actor_generation", "reward_inference"})
      input.prediction->content.tasks.erase(task);
  }
}

TEST(Report, TermsOfTheTimeTableSumToTheirTask) {
  const Table table = table_of(report_content(fixture_report(two_cores())), "terms");
  constexpr std::size_t kFirstTerm = 4;
  for (std::size_t row = 0; row < 6; ++row) {
    double sum_s = 0;
    for (std::size_t i = kFirstTerm; i < table.columns.size(); ++i) {
      if (table.rows[row][i].value.is_number()) sum_s += table.rows[row][i].value.get<double>();
    }
    EXPECT_NEAR(sum_s, table.rows[row][2].value.get<double>(), 1e-9);
  }
}

TEST(Report, ShowsTheMemoryOfHosts) {
  ReportInput input = fixture_report(two_cores());
  EXPECT_THAT(render_markdown(input), Not(HasSubstr("Memory of each host")));
  constexpr double kGiB = 1 << 30;
  input.prediction->content.host_memory = {
      {"node-0", 512 * kGiB, 100 * kGiB, MemoryTrust{{90 * kGiB, 111 * kGiB}, 0.99}}, {"node-1", {}, kGiB}};
  const Table hosts = table_of(report_content(input), "host_memory");
  ASSERT_EQ(hosts.rows.size(), 2U);
  EXPECT_EQ(hosts.rows[0][1].text, "100 GiB");
  EXPECT_EQ(hosts.rows[0][2].text, "90.0 GiB to 111 GiB");
  EXPECT_EQ(hosts.rows[0][4].text, "fits");
  EXPECT_EQ(hosts.rows[1][3].text, "not stated");
  input.prediction->content.host_memory[0] = input.prediction->content.host_memory[1];
  input.prediction->content.host_memory[0].node = "node-0";
  const Table equal = table_of(report_content(input), "host_memory");
  ASSERT_EQ(equal.rows.size(), 1U);
  EXPECT_EQ(equal.rows[0][0].text, "node-0 to node-1 (2)");
}

TEST(Report, ManyDevicesThatNeedTheSameMemoryShareARow) {
  const Table table = table_of(report_content(fixture_report(many_gpus(16))), "memory");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][0].text, "devices 0-127");
  EXPECT_FALSE(table.folded);
}

TEST(Report, DistancesAreStepsAndNotWords) {
  const Table table = table_of(report_content(fixture_report(two_cores())), "familiarity");
  EXPECT_EQ(table.rows[0][2].text, "0.250 steps");
  EXPECT_EQ(table.rows[0][3].text, "no");
  EXPECT_EQ(table.rows[1][2].text, "2.50 steps");
  EXPECT_EQ(table.rows[1][3].text, "yes");
}

// A sentence begins with a capital or with a name such as actor_training, and ends with a full stop.
TEST(Report, TextsAreSentences) {
  ReportInput input = fixture_report(sixteen_gpus());
  input.notes = {"the profile was guessed", "actor_training: has the layout of actor_generation"};
  input.prediction->content.notes = {"assumed for actor_training: 8 micro-batches"};
  input.prediction->content.bottleneck = "generation, which takes 80 % of the iteration";
  input.prediction->content.memory[1].working_bytes = 1e15;
  input.prediction->content.host_memory = {{"node-0", 1e9, 2e9}};
  input.coefficients->content.fit->converged = false;
  input.coefficients->content.fit->message = "the limit of 200 steps was reached";
  for (const Section& section : report_content(input).sections) {
    for (const Block& block : section.blocks) {
      std::string text;
      if (const Text* plain = std::get_if<Text>(&block)) text = plain->text;
      if (const Warning* warning = std::get_if<Warning>(&block)) text = warning->text;
      if (const Chart* chart = std::get_if<Chart>(&block)) text = chart->caption;
      if (text.empty()) continue;
      EXPECT_EQ(text.back(), '.') << text;
      EXPECT_EQ(text.find(".."), std::string::npos) << text;
      const bool is_name = text.find('_') < text.find(' ');
      EXPECT_TRUE(is_name || std::isdigit(text[0]) || std::isupper(text[0])) << text;
    }
  }
}

// 6.2 s, of which no plan takes less than 5 s; another bound is of the planner's own space.
TEST(Report, SaysHowFarThePlanCanBeFromTheBest) {
  ReportInput input = fixture_report(two_cores());
  const std::string text = render_markdown(input);
  EXPECT_THAT(text, HasSubstr("Planner sha-ea searched for 10.0 s on 2 threads, seed 7: "));
  EXPECT_THAT(text, HasSubstr("Gap to the optimum, at most: **24.0 %**"));
  EXPECT_THAT(text, HasSubstr("Gap to the optimum, at most: **24.0 %**"));
  EXPECT_THAT(text, HasSubstr("The planner has no proof for its search space."));
  const Content content = report_content(input);
  for (const Block& block : section_of(content, "search").blocks) {
    const Chart* chart = std::get_if<Chart>(&block);
    if (chart == nullptr) continue;
    EXPECT_EQ(chart->spec["layer"][0]["data"]["values"].size(), 4U);  // three, and the end
    EXPECT_EQ(chart->spec["layer"][0]["data"]["values"][3]["seconds"], 10);
    EXPECT_EQ(chart->spec["layer"][1]["data"]["values"].size(), 1U);
  }
  SearchRecord& search = input.search->content;
  search.proof = Proof::gap;
  search.space_lower_bound_s = 6;
  search.space_gap_fraction = 0.2;
  EXPECT_THAT(render_markdown(input),
              HasSubstr("The plan is at most 20.0 % above the best plan in the planner's search space."));
  search.proof = Proof::optimal;
  EXPECT_THAT(render_markdown(input), HasSubstr("Proved: no plan in the planner's search space is faster"));
  search.max_iteration_s = 7;
  EXPECT_THAT(render_markdown(input), HasSubstr("planner's search space within the limits is faster."));
  search = {};
  search.planner = "exact";
  search.message = "no plan fits";
  EXPECT_THAT(chart_ids(section_of(report_content(input), "search")), ElementsAre());
  EXPECT_THAT(render_markdown(input),
              HasSubstr("Planner exact searched for 0 s on 1 thread, seed 1: no plan fits."));
  EXPECT_THAT(render_markdown(input), HasSubstr("Search: **found no plan**"));
}

// Dollars where the goal is cost, devices where they are few: of the curve, its table and its bounds.
TEST(Report, DrawsWhatTheGoalLowers) {
  ReportInput input = fixture_report(two_cores());
  SearchRecord& search = input.search->content;
  const auto drawn = [&] {
    const Content content = report_content(input);
    for (const Block& block : section_of(content, "search").blocks) {
      if (const Chart* chart = std::get_if<Chart>(&block)) return chart->spec;
    }
    return Json();
  };
  search.goal = "cost";
  search.usd_per_iteration = 0.25;
  search.lower_bound_usd = 0.2;
  search.space_lower_bound_usd = 0.25;
  search.proof = Proof::optimal;
  for (Improvement& best : search.curve) best.loss = best.iteration_s / 20;
  EXPECT_DOUBLE_EQ(drawn()["layer"][0]["data"]["values"][0]["lowered"].get<double>(), search.curve[0].loss);
  EXPECT_EQ(drawn()["layer"][1]["data"]["values"].size(), 2U);
  EXPECT_EQ(drawn()["layer"][1]["data"]["values"][1]["shown"], "0.250 dollars");
  EXPECT_THAT(render_markdown(input), HasSubstr("Gap to the cheapest plan, at most: **25.0 %**"));
  EXPECT_THAT(render_markdown(input), HasSubstr("Proved: no plan in the planner's search space is cheaper"));
  EXPECT_THAT(render_markdown(input),
              HasSubstr("| plans evaluated | after | iteration | dollars per iteration |"));
  EXPECT_THAT(render_markdown(input), HasSubstr("Goal of the plan: **cost**"));
  search.goal = "devices";
  search.space_lower_bound_devices = 3;
  for (Improvement& best : search.curve) best.loss = 3.5;
  EXPECT_EQ(drawn()["layer"][0]["data"]["values"][0]["best"], "3.00 devices");
  EXPECT_EQ(drawn()["layer"][1]["data"]["values"].size(), 1U);
}

TEST(Report, HostileNamesStayText) {
  ReportInput input = fixture_report(two_cores());
  input.title = "</title><script>alert(1)</script>";
  input.notes = {"<img src=x onerror=alert(1)>"};
  const std::string page = render_html(input);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x"));
  EXPECT_THAT(page, HasSubstr("run-07 &lt;b&gt;&quot;&amp;&lt;/script&gt;"));
}

TEST(Report, JsonHasTheChartSpecificationsAndNoNaN) {
  ReportInput input = fixture_report(two_cores());
  input.accuracy->content.times[0].measured_s = 0;  // a ratio to it is no number
  const Json json = report_json(input);
  EXPECT_NO_THROW((void)format_json(json));
  std::vector<std::string> charts;
  for (const Json& section : json["sections"]) {
    for (const Json& block : section["blocks"]) {
      if (block["kind"] != "chart") continue;
      charts.push_back(block["id"]);
      EXPECT_EQ(block["spec"]["$schema"], "https://vega.github.io/schema/vega-lite/v6.json");
    }
  }
  EXPECT_THAT(charts, Contains("tasks_scatter"));
  EXPECT_THAT(charts, Contains("timeline"));
  EXPECT_EQ(charts.size(), 14U);
}

}  // namespace
}  // namespace sextant
