// The parsers and docs/schemas say the same: every document of tests/data that the vocabulary reads comes back
// as it was, and the changes of tests/schemas/cases.json are accepted or refused here as the schemas do there.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

#include "core/json_value.h"
#include "core/text.h"
#include "documents/explanation.h"
#include "sextant/coefficients.h"
#include "sextant/prediction.h"
#include "sextant/search.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

// Reads a body and writes it again.
template <typename T>
Json rewritten(const Json& body) {
  return T::parse(JsonView(body)).to_json();
}

const std::map<std::string, std::function<Json(const Json&)>>& readers() {
  static const std::map<std::string, std::function<Json(const Json&)>> all{
      {"cluster", rewritten<Cluster>},
      {"model", rewritten<Model>},
      {"workflow", rewritten<Workflow>},
      {"plan", rewritten<Plan>},
      {"runs", rewritten<Runs>},
      {"coefficients", rewritten<Coefficients>},
      {"prediction", rewritten<Prediction>},
      {"search", rewritten<SearchRecord>},
      {"explanation", rewritten<Explanation>},
  };
  return all;
}

// "sextant.plan/1.0" is a plan.
std::string kind_of(const Json& document) {
  const std::string schema = document["schema"].get<std::string>();
  return schema.substr(schema.find('.') + 1, schema.find('/') - schema.find('.') - 1);
}

Json body_of(Json document) {
  document.erase("schema");
  document.erase("provenance");
  return document;
}

Json changed(Json document, const Json& change) {
  if (change.contains("set")) {
    for (const auto& [pointer, value] : change["set"].items()) document[Json::json_pointer(pointer)] = value;
  }
  if (change.contains("remove")) {
    for (const Json& pointer : change["remove"]) {
      const Json::json_pointer at(pointer.get<std::string>());
      document.at(at.parent_pointer()).erase(at.back());
    }
  }
  return document;
}

Json cases() { return parse_json(read_text_file(SEXTANT_SOURCE_DIR "/tests/schemas/cases.json")); }

TEST(SchemaCases, EveryFixtureComesBackAsItWas) {
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_file(""))) {
    if (entry.path().extension() != ".json") continue;
    const Json document = parse_json(read_text_file(entry.path()));
    const auto reader = readers().find(kind_of(document));
    if (reader == readers().end()) continue;
    const Json once = reader->second(body_of(document));
    EXPECT_EQ(reader->second(once), once) << entry.path();
    ++read;
  }
  EXPECT_GE(read, 15);
}

TEST(SchemaCases, Accepted) {
  const Json all = cases();
  for (const Json& change : all["accepted"]) {
    const Json document = parse_json(read_text_file(data_file(change["document"].get<std::string>())));
    EXPECT_NO_THROW((void)readers().at(kind_of(document))(body_of(changed(document, change)))) << change.dump();
  }
}

TEST(SchemaCases, Refused) {
  const Json all = cases();
  for (const Json& change : all["refused"]) {
    const Json document = parse_json(read_text_file(data_file(change["document"].get<std::string>())));
    const Json body = body_of(changed(document, change));
    const auto read = [&] { (void)readers().at(kind_of(document))(body); };
    EXPECT_EQ(refusal_of(read), change["message"].get<std::string>()) << change.dump();
  }
}

// The plan with every option fits the cluster and workflow it is written for; its runs document says so too.
TEST(SchemaCases, ThePlanWithEveryOptionCanBeRun) {
  auto plan = load_fixture<Plan>("plan_execution.json");
  EXPECT_NO_THROW(check_plan(plan, load_fixture<Workflow>("workflow_turns.json"),
                             load_fixture<Cluster>("cluster_network.json")));
  take_as_stated(plan);
  EXPECT_EQ(load_fixture<Runs>("runs_unstated.json").plans.at("every-option"), plan);
}

// The schema's list of coefficients that are never zero is that of the table.
TEST(SchemaCases, CoefficientsThatAreNeverZero) {
  const Json schema = parse_json(read_text_file(SEXTANT_SOURCE_DIR "/docs/schemas/coefficients.schema.json"));
  std::vector<std::string> names;
  for (const CoefficientSpec& spec : coefficient_table()) {
    if (spec.scale == CoefficientScale::logarithmic && spec.neutral > 0) names.emplace_back(spec.name);
  }
  EXPECT_EQ(schema["$defs"]["never_zero"]["enum"].get<std::vector<std::string>>(), names);
}

}  // namespace
}  // namespace sextant
