// data/models.json: every shape reads as a Model, has a source, and counts as many parameters as published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/model.h"

namespace sextant {
namespace {

std::map<std::string, Model> load_models(const Json& json) {
  std::map<std::string, Model> models;
  for (const JsonView& entry : JsonView(json).required("models").items()) {
    const Model model = Model::parse(entry);
    EXPECT_TRUE(models.emplace(model.name, model).second) << "twice: " << model.name;
  }
  return models;
}

class ModelFacts : public ::testing::Test {
 protected:
  ModelFacts()
      : json_(parse_json(read_text_file(SEXTANT_SOURCE_DIR "/data/models.json"))),
        models_(load_models(json_)) {}

  Json json_;
  std::map<std::string, Model> models_;
};

TEST_F(ModelFacts, SayTheirSchema) {
  EXPECT_EQ(JsonView(json_).required("schema").text(), "sextant.model_facts/1.1");
  EXPECT_GE(models_.size(), 91U);
}

TEST_F(ModelFacts, HaveASource) {
  for (const auto& [name, model] : models_) {
    EXPECT_TRUE(model.source.has_value() && model.source->size() > 10) << name;
  }
}

TEST_F(ModelFacts, RoundTrip) {
  for (const auto& [name, model] : models_) {
    const Json written = model.to_json();
    EXPECT_EQ(Model::parse(JsonView(written)), model) << name;
  }
}

// Names that people train, of their whole families.
TEST_F(ModelFacts, KnowBaseInstructedAndDistilledModels) {
  const std::map<std::string, std::string> shapes{{"Qwen3-14B-Base", "Qwen3-14B"},
                                                  {"Qwen3-4B-Base", "Qwen3-4B"},
                                                  {"Qwen2.5-Math-1.5B-Instruct", "Qwen2.5-1.5B"},
                                                  {"Qwen2.5-Math-7B", "Qwen2.5-7B"},
                                                  {"Qwen2.5-Coder-7B-Instruct", "Qwen2.5-7B"},
                                                  {"QwQ-32B", "Qwen2.5-32B"},
                                                  {"Llama-3.1-8B-Instruct", "Llama-3.1-8B"},
                                                  {"Meta-Llama-3-8B-Instruct", "Llama-3.1-8B"},
                                                  {"Llama-3.2-1B-Instruct", "Llama-3.2-1B"},
                                                  {"Llama-3.2-3B-Instruct", "Llama-3.2-3B"},
                                                  {"Llama-3.3-70B-Instruct", "Llama-3.1-70B"},
                                                  {"DeepSeek-R1-Distill-Qwen-32B", "Qwen2.5-32B"},
                                                  {"DeepSeek-R1-Distill-Llama-8B", "Llama-3.1-8B"},
                                                  {"DeepSeek-V3-Base", "DeepSeek-V3"},
                                                  {"DeepScaleR-1.5B-Preview", "DeepSeek-R1-Distill-Qwen-1.5B"}};
  for (const auto& [alias, model] : shapes) {
    const auto found = JsonView(json_).required("aliases").optional(alias);
    ASSERT_TRUE(found) << alias;
    EXPECT_EQ(found->text(), model) << alias;
  }
}

TEST_F(ModelFacts, AliasesAndNotesMeanModelsThatAreThere) {
  for (const auto& [alias, model] : JsonView(json_).required("aliases").members()) {
    EXPECT_TRUE(models_.contains(model.text())) << alias;
    EXPECT_FALSE(models_.contains(alias)) << alias << " is both an alias and a model";
  }
  for (const auto& [name, reason] : JsonView(json_).required("left_out").members()) {
    EXPECT_FALSE(models_.contains(name) || JsonView(json_).required("aliases").optional(name)) << name;
  }
  for (const auto& [model, note] : JsonView(json_).required("notes").members()) {
    EXPECT_TRUE(models_.contains(model)) << model;
  }
}

struct PublishedTotal {
  const char* model;
  double parameters;
  const char* where;
};

// Published totals are rounded to three digits and count what the model leaves out: normalisation weights and
// biases (below 0.1 %) and the router of experts (below 0.2 %).
constexpr double kTotalTolerance = 0.02;

TEST_F(ModelFacts, CountThePublishedParameters) {
  const PublishedTotal totals[] = {
      {"Llama-3.1-8B", 8.03e9, "Hugging Face meta-llama/Llama-3.1-8B, 8.03B parameters in safetensors"},
      {"Llama-3.1-70B", 70.6e9, "Hugging Face meta-llama/Llama-3.1-70B, 70.6B parameters in safetensors"},
      {"Llama-3.1-405B", 405e9, "The Llama 3 Herd of Models, arXiv 2407.21783, abstract"},
      {"Qwen2.5-0.5B", 0.49e9, "model card of Qwen/Qwen2.5-0.5B, number of parameters"},
      {"Qwen2.5-1.5B", 1.54e9, "model card of Qwen/Qwen2.5-1.5B, number of parameters"},
      {"Qwen2.5-3B", 3.09e9, "model card of Qwen/Qwen2.5-3B, number of parameters"},
      {"Qwen2.5-7B", 7.61e9, "model card of Qwen/Qwen2.5-7B, number of parameters"},
      {"Qwen2.5-14B", 14.7e9, "model card of Qwen/Qwen2.5-14B, number of parameters"},
      {"Qwen2.5-32B", 32.5e9, "model card of Qwen/Qwen2.5-32B, number of parameters"},
      {"Qwen2.5-72B", 72.7e9, "model card of Qwen/Qwen2.5-72B, number of parameters"},
      {"Qwen3-8B", 8.2e9, "model card of Qwen/Qwen3-8B, number of parameters"},
      {"Llama-3.2-1B", 1.24e9, "model card of meta-llama/Llama-3.2-1B, 1.23B of text in and out"},
      {"Qwen3-30B-A3B", 30.5e9, "model card of Qwen/Qwen3-30B-A3B, number of parameters in total"},
      {"Qwen3-235B-A22B", 235e9, "model card of Qwen/Qwen3-235B-A22B, number of parameters in total"},
      {"Mixtral-8x7B", 46.7e9, "mistral.ai/news/mixtral-of-experts, total parameters"},
      {"Mixtral-8x22B", 141e9, "mistral.ai/news/mixtral-8x22b, total parameters"},
      {"DeepSeek-V3", 671e9, "DeepSeek-V3 Technical Report, arXiv 2412.19437, abstract"},
      {"Kimi-K2", 1.04e12, "Kimi K2, arXiv 2507.20534, abstract"},
      {"GPT-OSS-120B", 116.83e9, "gpt-oss model card, arXiv 2508.10925, Table 1"},
      {"GPT-OSS-20B", 20.91e9, "gpt-oss model card, arXiv 2508.10925, Table 1"},
      {"GLM-4.5-Air", 106e9, "GLM-4.5, arXiv 2508.06471, abstract"},
      {"Llama-4-Scout-17B-16E", 109e9,
       "model card of meta-llama/Llama-4-Scout-17B-16E, with its encoder of images"},
      {"Mistral-7B", 7.24e9, "Hugging Face mistralai/Mistral-7B-v0.1, 7.24B parameters in safetensors"},
      {"CodeLlama-34B", 33.7e9, "Hugging Face codellama/CodeLlama-34b-hf, 33.7B parameters in safetensors"},
      {"GPT-J-6B", 6.05e9, "model card of EleutherAI/gpt-j-6b, n_parameters 6053381344"},
      {"Falcon-180B", 180e9, "The Falcon Series, arXiv 2311.16867, abstract"},
      {"Nemotron-340B", 340e9, "Nemotron-4 340B, arXiv 2406.11704, its name"},
      {"OPT-66B", 66e9, "OPT, arXiv 2205.01068, Table 1"},
      {"gpt3-175B", 175e9, "GPT-3, arXiv 2005.14165, Table 2.1"},
      {"turing-530B", 530e9, "Megatron-Turing NLG, arXiv 2201.11990, abstract"},
      {"GPT-18B (Megatron SC21)", 18.4e9, "Narayanan et al., arXiv 2104.04473, Table 1"},
      {"GPT-1T (Megatron SC21)", 1008e9, "Narayanan et al., arXiv 2104.04473, Table 1"},
      {"GPT-462B (Megatron H100 table)", 462e9, "Megatron-LM images/model_table.png"},
      {"MPT-7b", 6.65e9, "Hugging Face mosaicml/mpt-7b, 6.65B parameters"},
      {"LLaMA-7B (ReaL Table 1)", 8030261248, "ReaL, arXiv 2406.14088, Table 1"},
      {"LLaMA-13B (ReaL Table 1)", 14001525760, "ReaL, arXiv 2406.14088, Table 1"},
      {"LLaMA-34B (ReaL Table 1)", 35321028608, "ReaL, arXiv 2406.14088, Table 1"},
      {"LLaMA-70B (ReaL Table 1)", 70553706496, "ReaL, arXiv 2406.14088, Table 1"},
  };
  for (const PublishedTotal& total : totals) {
    ASSERT_TRUE(models_.contains(total.model)) << total.model;
    EXPECT_NEAR(models_.at(total.model).parameters() / total.parameters, 1, kTotalTolerance)
        << total.model << ": " << total.where;
  }
}

// ReaL prints the totals to the last digit, and the total without the output matrix: what is missing here are
// the 2 * layers + 1 normalisation vectors.
TEST_F(ModelFacts, CountRealTable1ToTheLastDigit) {
  const std::map<std::string, std::pair<double, double>> table = {
      {"LLaMA-7B (ReaL Table 1)", {8030261248, 7504924672}},
      {"LLaMA-13B (ReaL Table 1)", {14001525760, 13344855040}},
      {"LLaMA-34B (ReaL Table 1)", {35321028608, 34270355456}},
      {"LLaMA-70B (ReaL Table 1)", {70553706496, 69503033344}},
  };
  for (const auto& [name, totals] : table) {
    const Model& model = models_.at(name);
    const double norms = (2.0 * model.layers + 1) * model.hidden;
    EXPECT_EQ(model.parameters() + norms, totals.first) << name;
    EXPECT_EQ(model.parameters() + norms - model.head_parameters(), totals.second) << name;
  }
}

// Active parameters: 12.9e9 of Mixtral 8x7B (mistral.ai/news/mixtral-of-experts), 3.3e9 of Qwen3-30B-A3B (its
// card), 37e9 of DeepSeek-V3 (arXiv 2412.19437, abstract).
TEST_F(ModelFacts, CountActiveParametersOfExperts) {
  const auto active = [&](const std::string& name) {
    const Model& model = models_.at(name);
    return model.layers * model.layer_active_parameters() + model.embedding_parameters() +
           model.head_parameters();
  };
  EXPECT_NEAR(active("Mixtral-8x7B") / 12.9e9, 1, kTotalTolerance);
  EXPECT_NEAR(active("Qwen3-30B-A3B") / 3.3e9, 1, 0.03);  // printed with two digits only
  EXPECT_NEAR(active("DeepSeek-V3") / 37e9, 1, 0.03);     // likewise
}

}  // namespace
}  // namespace sextant
