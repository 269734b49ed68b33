// Which coefficients predict and plan take, under which names, and that they say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kShipped = std::string(SEXTANT_SOURCE_DIR) + "/data/coefficients/";

// The fixture's cluster: H100s and L40Ss under the names "h100" and "l40s".
Printed predict(const std::vector<std::string>& more, const std::string& cluster = data("cluster.json")) {
  std::vector<std::string> all{"predict", "--cluster",      cluster, "--workflow", data("workflow_ppo.json"),
                               "--plan",  data("plan.json")};
  all.insert(all.end(), more.begin(), more.end());
  return run_sextant(all);
}

Prediction predicted(const std::vector<std::string>& more, const std::string& cluster = data("cluster.json")) {
  std::vector<std::string> all{"--json"};
  all.insert(all.end(), more.begin(), more.end());
  return parse_document<Prediction>(predict(all, cluster).out).content;
}

// The published data from somewhere else while it lives.
class DataFrom {
 public:
  explicit DataFrom(const std::string& folder) { setenv("SEXTANT_DATA", folder.c_str(), 1); }
  ~DataFrom() { unsetenv("SEXTANT_DATA"); }
  DataFrom(const DataFrom&) = delete;
  DataFrom& operator=(const DataFrom&) = delete;
};

TEST(ShippedCoefficients, AreNamedInTextAndDocument) {
  const Printed text = predict({"--framework", "verl-fsdp"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.err, HasSubstr("used those fitted to public runs, " + kShipped + "verl.json\n"));
  EXPECT_THAT(text.err, Not(HasSubstr("no values of framework")));
  EXPECT_THAT(text.out, HasSubstr("\ncoefficients  " + kShipped + "verl.json, framework verl-fsdp\n"));
  const auto document = parse_document<Prediction>(predict({"--framework", "verl-fsdp", "--json"}).out);
  EXPECT_EQ(document.content.coefficients, kShipped + "verl.json");
  EXPECT_EQ(document.content.framework, "verl-fsdp");
  // The command of the provenance gives the same again.
  EXPECT_THAT(document.provenance.command, HasSubstr("--coefficients " + kShipped + "verl.json"));
}

TEST(ShippedCoefficients, OfAFamilyWithoutADocumentAreThoseOfAll) {
  const Printed printed = predict({"--framework", "areal"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, AllOf(HasSubstr(kShipped + "any.json"),
                                 HasSubstr("no values of framework \"areal\" in " + kShipped + "any.json"),
                                 HasSubstr("it knows deepspeed-chat, nemo-rl, openrlhf, ")));
  EXPECT_THAT(printed.out, HasSubstr("of framework areal was calibrated"));
}

TEST(ShippedCoefficients, OfAFamilyAreThoseOfItsDefault) {
  EXPECT_EQ(predicted({"--framework", "verl"}), predicted({"--framework", "verl-fsdp"}));
}

TEST(ShippedCoefficients, UnknownFrameworksAreRefusedWithTheList) {
  for (const char* other : {"vreal", "verlx", "nemo-aligner"}) {
    const Printed printed = predict({"--framework", other});
    EXPECT_EQ(printed.exit_code, 2) << other;
    EXPECT_THAT(printed.err, AllOf(HasSubstr("--framework: there is no framework \"" + std::string(other)),
                                   HasSubstr("verl-megatron"), HasSubstr("transformers")));
  }
}

// A file of one framework is that framework's: "transformers.json" alone once meant the values of all.
TEST(ShippedCoefficients, OfAFileWithOneFrameworkAreThatFrameworks) {
  const std::string file = kShipped + "transformers.json";
  const Printed printed = predict({"--coefficients", file});
  EXPECT_THAT(printed.err, HasSubstr("is for framework transformers only: used that for --framework"));
  EXPECT_EQ(predicted({"--coefficients", file}),
            predicted({"--coefficients", file, "--framework", "transformers"}));
}

TEST(ShippedCoefficients, FrameworksIgnoreCase) {
  EXPECT_EQ(predicted({"--framework", "VERL-FSDP"}), predicted({"--framework", "verl-fsdp"}));
  EXPECT_EQ(predicted({"--framework", "Sextant-Proxy", "--coefficients", data("coefficients.json")}),
            predicted({"--framework", "sextant-proxy", "--coefficients", data("coefficients.json")}));
}

TEST(ShippedCoefficients, MissingOnesAreRefusedWithWhereTheyWereLookedFor) {
  const DataFrom nowhere("/nowhere");
  const Printed printed = predict({"--framework", "verl-fsdp"});
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err,
              AllOf(HasSubstr("/nowhere/coefficients/verl.json and /nowhere/coefficients/any.json"),
                    HasSubstr("--coefficients none")));
  const Printed bare = predict({"--coefficients", "none"});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.err, "");
  EXPECT_THAT(bare.out, HasSubstr("\ncoefficients  none\n"));
}

TEST(ShippedCoefficients, AreNotForCpuCores) {
  const TinyFolder folder;
  const Printed printed = run_sextant(folder.with_plan("predict", {}));
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("no --coefficients: used none, the bare appendix"));
  EXPECT_THAT(printed.out, HasSubstr("\ncoefficients  none\n"));
  const Printed plan = run_sextant(folder.without_plan("plan", {"--evaluations", "2000"}));
  EXPECT_THAT(plan.err, HasSubstr("no --coefficients: used none, the bare appendix"));
  EXPECT_THAT(plan.out, HasSubstr("\ncoefficients  none\n"));
}

// data/gpus.json knows "h100" as H100-SXM-80GB, of which the shipped documents have values.
TEST(DeviceTypes, AreKnownByTheirOtherNames) {
  const TinyFolder folder;
  const auto cluster = load_document<Cluster>(data("cluster.json")).content;
  auto types = cluster.device_types();
  auto h100 = types.extract("h100");
  h100.key() = "H100-SXM-80GB";
  types.insert(std::move(h100));
  std::vector<Node> nodes = cluster.nodes();
  for (Node& node : nodes) {
    if (node.device_type == "h100") node.device_type = "H100-SXM-80GB";
  }
  const std::string renamed = folder.file("renamed.json");
  save_document(renamed, Cluster(cluster.name(), types, nodes, cluster.levels(), cluster.exceptions()));

  const Printed printed = predict({"--framework", "verl-fsdp"});
  EXPECT_THAT(printed.err,
              HasSubstr("device type \"h100\" of the cluster takes the coefficients of \"H100-SXM-80GB\"\n"));
  EXPECT_THAT(printed.out, Not(HasSubstr("on h100 was calibrated")));
  const Prediction by_alias = predicted({"--framework", "verl-fsdp"});
  const Prediction by_name = predicted({"--framework", "verl-fsdp"}, renamed);
  EXPECT_DOUBLE_EQ(by_alias.iteration_s, by_name.iteration_s);
  EXPECT_DOUBLE_EQ(by_alias.iteration_interval_s->high, by_name.iteration_interval_s->high);
  EXPECT_EQ(by_alias.tasks.at("actor_training").familiarity->nearest_run,
            by_name.tasks.at("actor_training").familiarity->nearest_run);
}

}  // namespace
}  // namespace sextant::test
