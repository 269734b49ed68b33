// The first screen of a plan's report, and reports without names.
#include "reports/sections/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/report.h"
#include "reports/sections/sections.h"
#include "tests/reports/fixture.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <typename T>
const T& first_of(const Section& section) {
  for (const Block& block : section.blocks) {
    if (const T* found = std::get_if<T>(&block)) return *found;
  }
  throw std::runtime_error("no such block");
}

TEST(Answer, StandsFirstAndFoldsTheRest) {
  const ReportInput input = fixture_report(sixteen_gpus());
  const Content content = report_content(input);
  const Section& summary = content.sections.front();
  EXPECT_FALSE(summary.folded);
  EXPECT_TRUE(std::all_of(content.sections.begin() + 1, content.sections.end(),
                          [](const Section& section) { return section.folded; }));
  const Prediction& prediction = input.prediction->content;
  const std::string verdict = std::get<LeadText>(summary.blocks.front()).text;
  EXPECT_THAT(verdict, HasSubstr(" takes " + format_seconds(prediction.iteration_s)));
  EXPECT_THAT(verdict, HasSubstr("The longest task is "));
  const Bar& time = first_of<BarList>(summary).bars.front();
  double sum_s = 0;
  for (const BarPart& part : time.parts) sum_s += part.size;
  EXPECT_NEAR(sum_s, prediction.iteration_s, 0.006 * prediction.iteration_s);
  // Without a plan nothing is folded.
  ReportInput measured = input;
  measured.plan.reset();
  for (const Section& section : report_content(measured).sections) EXPECT_FALSE(section.folded);
}

// Without the cluster no machine is drawn, and no sentence explains a drawing.
TEST(Answer, WithoutTheClusterNamesTheLayoutsAlone) {
  ReportInput input = fixture_report(sixteen_gpus());
  const Content drawn = report_content(input);
  EXPECT_THAT(first_of<MachineMap>(drawn.sections.front()).caption, HasSubstr("share a box"));
  input.cluster.reset();
  const Content content = report_content(input);
  const MachineMap& map = first_of<MachineMap>(content.sections.front());
  EXPECT_TRUE(map.machines.empty());
  EXPECT_FALSE(map.tasks.empty());
  EXPECT_THAT(map.caption, Not(HasSubstr("share a box")));
}

// No name of a machine or place is left in any format, and no command line.
TEST(AnonymousReport, HasNoNames) {
  ReportInput input = fixture_report(sixteen_gpus());
  const Cluster& given = input.cluster->content;
  std::vector<Node> nodes(2, given.nodes().front());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    nodes[n].name = "secret-host-" + std::to_string(n);
    nodes[n].region = "secret-region";
    nodes[n].zone = "secret-zone-" + std::to_string(n);
  }
  input.cluster->content = Cluster("secret-cluster", given.device_types(), nodes, given.levels());
  input.cluster->provenance.host = "secret-login";
  input.cluster->provenance.command = "sextant probe --out secret-file";
  input.notes = {"secret-host-1 was slow, unlike secret-host-10 of another cluster"};
  EXPECT_THAT(render_html(input), HasSubstr("secret-host-0"));
  input.is_anonymous = true;
  for (const std::string& text : {render_html(input), render_markdown(input), report_json(input).dump()}) {
    EXPECT_THAT(text, Not(HasSubstr("secret-host-0")));
    EXPECT_THAT(text, Not(HasSubstr("secret-region")));
    EXPECT_THAT(text, Not(HasSubstr("secret-zone")));
    EXPECT_THAT(text, Not(HasSubstr("secret-cluster")));
    EXPECT_THAT(text, Not(HasSubstr("secret-login")));
    EXPECT_THAT(text, Not(HasSubstr("secret-file")));
    EXPECT_THAT(text, HasSubstr("secret-host-10"));  // a name that this cluster does not have
  }
}

// Machines that do the same share a box; one whose tasks differ has its own.
TEST(Answer, DrawsEqualMachinesOnce) {
  ReportInput input = fixture_report(sixteen_gpus());
  const Cluster& given = input.cluster->content;
  std::vector<Node> nodes(3, given.nodes().front());
  for (std::size_t n = 0; n < nodes.size(); ++n) nodes[n].name = "machine" + std::to_string(n);
  input.cluster->content = Cluster("alike", given.device_types(), nodes, given.levels());
  const int devices = input.cluster->content.device_count();
  TaskPlan everywhere;
  for (int d = 0; d < devices; ++d) everywhere.replicas.push_back({1, {{12, {DeviceId{d}}}}});
  input.plan->content.tasks = {{"actor_training", everywhere}};
  const auto map = [&] { return first_of<MachineMap>(report_content(input).sections.front()); };
  ASSERT_EQ(map().machines.size(), 1U);
  EXPECT_EQ(map().machines.front().label, "machine0 to machine2");
  everywhere.replicas.pop_back();
  input.plan->content.tasks = {{"actor_training", everywhere}};
  ASSERT_EQ(map().machines.size(), 2U);
  EXPECT_TRUE(map().machines.back().colours.back().empty());
  EXPECT_EQ(map().machines.back().colours.front().size(), 1U);
  everywhere.replicas.resize(1);
  input.plan->content.tasks = {{"actor_training", everywhere}};
  EXPECT_THAT(map().machines.back().detail, HasSubstr(", idle"));
}

}  // namespace
}  // namespace sextant
