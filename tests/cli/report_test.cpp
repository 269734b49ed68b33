#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Unlike a matcher it does not print a page of a megabyte when it fails.
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class ReportCommand : public ::testing::Test {
 protected:
  ReportCommand() { std::filesystem::create_directory(folder_.path() / "pages"); }
  void copy(const std::string& name) const { std::filesystem::copy_file(data(name), folder_.path() / name); }
  void copy_all() const {
    for (const char* kind : {"cluster", "runs", "coefficients", "accuracy", "plan", "prediction", "search"}) {
      copy(std::string(kind) + ".json");
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path();
  std::string html_ = folder_.path() / "pages" / "report.html";
  std::string markdown_ = folder_.path() / "pages" / "report.md";
};

TEST_F(ReportCommand, RendersAFolder) {
  copy_all();
  const Printed printed =
      run_sextant({"report", path_, "--title", "Ohio & <Virginia>", "--out", html_, "--markdown", markdown_});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err, "wrote " + html_ + "\nwrote " + markdown_ + "\n");
  const std::string html = read_text_file(html_), markdown = read_text_file(markdown_);
  EXPECT_EQ(html.substr(0, 15), "<!DOCTYPE html>");
  EXPECT_TRUE(has(html, "<title>Ohio &amp; &lt;Virginia&gt;</title>"));
  const Json json = parse_json(run_sextant({"report", path_, "--json"}).out);
  EXPECT_GE(json["sections"].size(), 9U);
  for (const Json& section : json["sections"]) {
    const auto title = section["title"].get<std::string>();
    EXPECT_TRUE(has(html, "<h2>" + title + "</h2>")) << title;
    EXPECT_TRUE(has(markdown, "\n## " + title + "\n")) << title;
  }
}

TEST_F(ReportCommand, JsonWritesNothing) {
  copy("plan.json");
  const Printed printed = run_sextant({"report", path_, "--json", "--title", "Only a plan", "--out", html_});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(parse_json(printed.out)["title"], "Only a plan");
  EXPECT_FALSE(std::filesystem::exists(html_));
}

// A document given by an option takes precedence over one in the folder.
TEST_F(ReportCommand, TakesSingleDocuments) {
  copy("plan.json");
  const Printed printed = run_sextant({"report", path_, "--plan", data("plan_grpo.json"), "--json"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("grpo-split"));
  EXPECT_THAT(printed.out, Not(HasSubstr("ppo-mixed")));
}

TEST_F(ReportCommand, KnowsTheKindOfADocument) {
  const Printed printed = run_sextant({"report", data("plan_grpo.json"), data("search.json"), "--json"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, AllOf(HasSubstr("grpo-split"), HasSubstr("Planner exact searched for 75.3 ms")));
}

TEST_F(ReportCommand, RefusesADocumentThatItDoesNotShow) {
  const Printed printed = run_sextant({"report", data("workflow_grpo.json"), "--out", html_});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err,
              AllOf(HasSubstr("workflow_grpo.json: a report shows documents of these kinds: cluster, runs"),
                    HasSubstr("got \"workflow\"")));
}

TEST_F(ReportCommand, ShowsTheSearchOfAPlan) {
  const Printed printed = run_sextant({"report", "--search", data("search.json"), "--json"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("Planner exact searched for 75.3 ms on 1 thread, seed 1: "));
}

TEST_F(ReportCommand, Exits2WhenThereIsNothingToReport) {
  const Printed empty = run_sextant({"report", path_, "--out", html_});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, StartsWith("sextant: nothing to report: give documents, or a folder with "));
  const Printed missing = run_sextant({"report", path_ + "/nowhere", "--out", html_});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err, "sextant: " + path_ + "/nowhere: no such file or folder\n");
  EXPECT_FALSE(std::filesystem::exists(html_));
}

TEST_F(ReportCommand, ABrokenDocumentInTheFolderIsNamed) {
  copy("plan.json");
  write_text_file(folder_.path() / "runs.json", "{");
  const Printed printed = run_sextant({"report", path_, "--out", html_});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_THAT(printed.err, StartsWith("sextant: " + path_ + "/runs.json: "));
  EXPECT_FALSE(std::filesystem::exists(html_));
}

}  // namespace
}  // namespace sextant::test
