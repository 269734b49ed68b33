// The accuracy figures that the repository states are those of its code, and hold.
#include "lab/claims/claims.h"
#include "calibrate/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "core/json_value.h"
#include "lab/claims/public_fit.h"
#include "sextant/coefficients.h"
#include "sextant/error.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

const std::filesystem::path kSource = SEXTANT_SOURCE_DIR;

ClaimReport stated() { return load_document<ClaimReport>(kSource / "docs/accuracy.json").content; }

const Claim& find(const ClaimReport& report, const std::string& name) {
  const auto found = std::find_if(report.claims.begin(), report.claims.end(),
                                  [&](const Claim& claim) { return claim.name == name; });
  if (found == report.claims.end()) throw std::out_of_range(name);
  return *found;
}

class EveryFigure : public ::testing::TestWithParam<const char*> {};

// Past its threshold, or past what is held where the threshold is not reached yet, a figure fails here.
TEST_P(EveryFigure, IsStatedAndHolds) {
  const ClaimReport report = stated();
  const Claim& claim = find(report, GetParam());
  EXPECT_TRUE(claim.holds()) << claim.name << " is " << claim.value;
  EXPECT_GT(claim.records, 0);
  EXPECT_GT(claim.free_coefficients, 0);
}

INSTANTIATE_TEST_SUITE_P(
    PredictionQuery, EveryFigure,
    ::testing::Values("real.tasks.in_sample", "real.tasks.leave_one_plan_out",
                      "real.iterations.leave_one_plan_out", "rl.iterations.leave_one_model_out",
                      "rl.iterations.coverage_90", "rl.iterations.leave_one_release_out",
                      "rl.iterations.release_coverage_90", "verl.tasks.leave_one_run_out", "vtrain.five_fold",
                      "vtrain.from_40_runs", "vtrain.leave_hidden_out", "vtrain.leave_tp8_out",
                      "vtrain.single_to_multi_node", "training.leave_one_model_out", "sailor.time",
                      "sailor.memory", "generation.leave_one_gpu_out", "gpu.proxy.tasks.held_out",
                      "gpu.trace.iterations.held_out", "proxy.tasks.held_out", "proxy.kendall_tau",
                      "proxy.kendall_tau_told_apart", "proxy.regret"));

// On GPUs, with nothing fitted.
TEST(Claims, WhatWasMeasuredIsStatedAndHolds) {
  const ClaimReport report = stated();
  for (const char* name :
       {"probe.gpu.gemm", "probe.gpu.copy", "probe.gpu.time", "tracer.graphs", "tracer.eager.first_host",
        "tracer.eager.first_host.median", "tracer.eager.second_host", "tracer.launches"}) {
    const Claim& claim = find(report, name);
    EXPECT_TRUE(claim.holds()) << claim.name << " is " << claim.value;
    EXPECT_EQ(claim.free_coefficients, 0) << claim.name;
    EXPECT_GT(claim.records, 0) << claim.name;
  }
}

// The document of predictions beside the traced runs, by the model as it is.
TEST(Claims, PredictionsOfTracedIterationsAreThoseStated) {
  constexpr double kOtherMachine = 0.15;  // as where the figures are computed again
  const Json document = parse_json(read_text_file(kSource / "data/measured/h200/trace/held_out.json"));
  const Json& fitted_to_four = document.at("splits").at(1);
  ASSERT_EQ(fitted_to_four.at("fitted_to"), Json({"a", "c", "d", "f"}));
  const double mape = fitted_to_four.at("held_out_iterations").at("mape").get<double>();
  EXPECT_NEAR(mape, find(stated(), "gpu.trace.iterations.held_out").value, kOtherMachine * mape);
}

// The model document that the GPU's probe was given is the published shape.
TEST(Claims, TheProbedModelIsThePublishedOne) {
  const Model model = load_document<Model>(kSource / "data/measured/h200/probe/qwen2.5-7b.json").content;
  const Facts facts = Facts::load(kSource / "data/gpus.json", kSource / "data/models.json");
  EXPECT_EQ(model, facts.model(model.name));
}

TEST(Claims, DocumentRoundTrips) {
  const Json json = load_document<ClaimReport>(kSource / "tests/data/claims.json").content.to_json();
  EXPECT_EQ(ClaimReport::parse(JsonView(json)).to_json(), json);
}

// The members of docs/accuracy.json that programs read.
TEST(Claims, TheDocumentHoldsAListOfFigures) {
  const Json document = parse_json(read_text_file(kSource / "docs/accuracy.json"));
  ASSERT_TRUE(document.at("claims").is_array());
  std::set<std::string> names;
  for (const Json& claim : document.at("claims")) {
    EXPECT_TRUE(names.insert(claim.at("name").get<std::string>()).second) << claim.at("name");
    for (const char* member : {"value", "threshold", "records", "free_coefficients"}) {
      EXPECT_TRUE(claim.at(member).is_number()) << claim.at("name") << " " << member;
    }
  }
  EXPECT_FALSE(names.empty());
}

// A missed figure states its held value, and no other does.
TEST(Claims, OnlyMissedFiguresAreHeld) {
  for (const Claim& claim : stated().claims) EXPECT_EQ(claim.held.has_value(), !claim.met()) << claim.name;
}

TEST(Claims, HoldsIsMetOrAtLeastWhatIsHeld) {
  const ClaimReport report = load_document<ClaimReport>(kSource / "tests/data/claims.json").content;
  const Claim& missed = find(report, "training.leave_one_model_out");
  EXPECT_FALSE(missed.met());
  EXPECT_TRUE(missed.holds());
  EXPECT_TRUE(find(report, "rl.iterations.coverage_90").met());
  EXPECT_TRUE(find(report, "proxy.kendall_tau").met());
  EXPECT_FALSE(report.all_met());
  EXPECT_TRUE(report.all_hold());
  Claim worse = missed;
  worse.value = 0.11;
  EXPECT_FALSE(worse.holds());
}

// Before any is computed.
TEST(Claims, UnknownFiguresAreRefusedWithTheKnownOnes) {
  for (const char* unknown : {"nothing", "real.tasks.nothing", "real.tasks.in_sample.more"}) {
    const std::string refusal = refusal_of([&] { (void)compute_claims(ClaimContext{}, unknown); });
    EXPECT_TRUE(
        refusal.starts_with("no accuracy figure starts with \"" + std::string(unknown) + "\"; there are "));
    EXPECT_NE(refusal.find(", real.tasks.in_sample, "), std::string::npos) << refusal;
  }
}

// The table of names, by which a question is judged, against what was computed.
TEST(Claims, FiguresOfFamiliesAreThoseStated) {
  std::vector<std::string> stated_names, known;
  for (const Claim& claim : stated().claims) stated_names.push_back(claim.name);
  for (const ClaimFamily& family : claim_families()) {
    for (const std::string_view figure : family.figures) {
      EXPECT_TRUE(figure.starts_with(std::string(family.name) + ".")) << figure;
      known.emplace_back(figure);
    }
  }
  EXPECT_EQ(known, stated_names);
}

TEST(Families, AreFoundByWholePartsOfAName) {
  EXPECT_EQ(family_of_framework("verl"), "verl");
  EXPECT_EQ(family_of_framework("verl-fsdp-v0"), "verl");
  EXPECT_EQ(family_of_framework("nemo"), "megatron");
  EXPECT_EQ(family_of_framework("nemo-rl"), "nemo-rl");
  for (const char* other : {"vreal", "verlx", "realhf", "nemo-aligner", "", "*"}) {
    EXPECT_EQ(family_of_framework(other), "any") << other;
  }
}
bool any_run(const Runs& runs, const std::function<bool(const Run&)>& is_so) {
  return std::any_of(runs.runs.begin(), runs.runs.end(), is_so);
}

TEST(Claims, TheFirstRemarkThatFitsIsTheCause) {
  const TemporaryFolder folder;
  write_text_file(folder.path() / "remarks.json", R"([
    {"run": "a-1", "what": "weight_sync", "cause": "its sync"},
    {"run": "a-", "cause": "all of them"},
    {"run": "a-2", "cause": "too late"}
  ])");
  ClaimReport report;
  report.worst = {{"c", "a-1/dp2", "weight_sync", 1, 2, ""},
                  {"c", "a-1/dp2", "iteration", 1, 2, ""},
                  {"c", "a-2", "iteration", 1, 2, ""},
                  {"c", "b", "iteration", 1, 2, ""}};
  explain(report, folder.path() / "remarks.json");
  EXPECT_EQ(report.worst[0].cause, "its sync");
  EXPECT_EQ(report.worst[1].cause, "all of them");
  EXPECT_EQ(report.worst[2].cause, "all of them");
  EXPECT_EQ(report.worst[3].cause, "");
  write_text_file(folder.path() / "remarks.json", R"([{"run": "a", "why": "a slip of the pen"}])");
  EXPECT_THROW(explain(report, folder.path() / "remarks.json"), Error);
}

// A remark is about a run that the data has.
TEST(Claims, EveryRemarkIsAboutARun) {
  ClaimContext context;
  context.data = kSource / "data";
  context.facts = Facts::load(context.data / "gpus.json", context.data / "models.json");
  std::map<std::string, Runs> runs = public_runs(context);
  runs["composed"] = context.published("vtrain");
  runs["proxy"] = load_document<Runs>(context.data / "measured/cpu-2-cores/runs.json").content;
  const Json remarks = parse_json(read_text_file(context.data / "public/remarks.json"));
  for (const Json& remark : remarks) {
    const auto start = remark.at("run").get<std::string>();
    EXPECT_TRUE(std::any_of(runs.begin(), runs.end(), [&](const auto& kind) {
      return any_run(kind.second, [&](const sextant::Run& run) { return run.name.starts_with(start); });
    })) << start;
  }
}

// The runs that the coefficients are fitted to, according to data/README.md.
TEST(PublicFit, SeesAllThatIsPublicButComposedRows) {
  ClaimContext context;
  context.data = kSource / "data";
  context.facts = Facts::load(context.data / "gpus.json", context.data / "models.json");
  const std::map<std::string, Runs> runs = public_runs(context);
  ASSERT_EQ(runs.size(), 3U);
  const Runs& iterations = runs.at("RL iterations");
  for (const sextant::Run& log : verl_logs(context).runs) {
    EXPECT_TRUE(any_run(iterations, [&](const sextant::Run& run) { return run.name == log.name; })) << log.name;
  }
  EXPECT_TRUE(any_run(iterations, [](const sextant::Run& run) { return run.framework == "real"; }));
  const Runs& steps = runs.at("training steps");
  EXPECT_EQ(std::count_if(steps.runs.begin(), steps.runs.end(),
                          [](const sextant::Run& run) { return run.name.starts_with("tt0"); }),
            21);
  EXPECT_TRUE(any_run(steps, [](const sextant::Run& run) { return run.name.starts_with("vtm"); }));
  EXPECT_FALSE(
      any_run(steps, [](const sextant::Run& run) { return run.name.starts_with("vts"); }));  // composed
}

class Shipped : public ::testing::TestWithParam<const char*> {};

// The default coefficients of predict: readable, fitted, with intervals and the runs that they were fitted to.
TEST_P(Shipped, CoefficientsCarryTheirFit) {
  const auto coefficients =
      load_document<Coefficients>(kSource / "data/coefficients" / (std::string(GetParam()) + ".json")).content;
  ASSERT_TRUE(coefficients.fit.has_value());
  EXPECT_FALSE(coefficients.fit->directions.empty());
  EXPECT_FALSE(coefficients.fit->experience.empty());
  EXPECT_TRUE(coefficients.fit->held_out.has_value());
  for (const Coefficient& entry : coefficients.values) {
    const bool mine = entry.framework == kAny || family_of_framework(entry.framework) == GetParam();
    EXPECT_TRUE(mine) << spec_of(entry.id).name << " of " << entry.framework;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Shipped,
                         ::testing::Values("any", "verl", "nemo-rl", "openrlhf", "real", "megatron", "pytorch",
                                           "vllm", "sglang", "tensorrt-llm"));

}  // namespace
}  // namespace sextant
