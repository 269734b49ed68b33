#include "ask/model_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "ask/hub_cache.h"
#include "sextant/document.h"
#include "tests/core/expect_error.h"

namespace sextant::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Facts of this version, and a cache with one model that no facts know: the config of Llama-3.2-3B.
class ModelSource : public ::testing::Test {
 protected:
  // The name of the test makes the folder its own: tests run at the same time.
  ModelSource()
      : folder_(
            fs::path(::testing::TempDir()) /
            ("model_source_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    put("cache/models--me--my--tune/snapshots/aaa/config.json", config("Llama-3.2-3B"));
    put("cache/models--me--my--tune/snapshots/bbb/config.json", config("Qwen3-0.6B"));
  }
  ~ModelSource() override { fs::remove_all(folder_); }

  static std::string config(const std::string& name) {
    return read_text_file(std::string(SEXTANT_SOURCE_DIR) + "/data/configs/" + name + ".json");
  }

  fs::path put(const std::string& path, const std::string& text) const {
    write_text_file(folder_ / path, text);
    return folder_ / path;
  }

  [[nodiscard]] FoundModel find(const std::string& text) const {
    return find_model(text, facts_, folder_ / "cache");
  }

  [[nodiscard]] std::string refused(const std::string& text) const {
    return refusal_of([&] { (void)find(text); });
  }
  fs::path folder_;
  Facts facts_ = Facts::load(SEXTANT_SOURCE_DIR "/data/gpus.json", SEXTANT_SOURCE_DIR "/data/models.json");
};

TEST_F(ModelSource, NamesAndAliasesOfTheFacts) {
  EXPECT_EQ(find("qwen3-8b").model.name, "Qwen3-8B");
  EXPECT_EQ(find("Qwen/Qwen3-8B").where, "data/models.json");
  EXPECT_EQ(find("Qwen2.5-7B-Instruct").model.name, "Qwen2.5-7B");
}

// Models that models.json lacks, by their ids and without the publisher, also tuned ones.
TEST_F(ModelSource, ShippedConfigs) {
  const FoundModel lite = find("deepseek-ai/DeepSeek-V2-Lite");
  EXPECT_EQ(lite.model.layers, 27);
  EXPECT_EQ(lite.model.name, "deepseek-ai/DeepSeek-V2-Lite");
  EXPECT_THAT(lite.where, HasSubstr("data/configs/DeepSeek-V2-Lite.json"));
  EXPECT_EQ(find("google/gemma-3-27b-it").model.hidden, find("gemma-3-27b").model.hidden);
  EXPECT_EQ(find("PHI-4").model.layers, 40);
  EXPECT_EQ(find("DeepSeek-V2-Lite-Chat").model.layers, 27);
  EXPECT_EQ(find("Qwen/Qwen3-Next-80B-A3B-Thinking").model.layers, 48);
  EXPECT_EQ(find("unsloth/gpt-oss-20b-BF16").model.layers, 24);
  EXPECT_THAT(refused("gemma-3-27c"), HasSubstr("did you mean \"gemma-3-27b"));
}

TEST_F(ModelSource, CopiesInAnotherPrecisionAndFineTunedOnes) {
  const FoundModel copy = find("Qwen/Qwen3-30B-A3B-Instruct-2507-FP8");
  EXPECT_EQ(copy.model.experts, find("Qwen3-30B-A3B").model.experts);
  EXPECT_THAT(copy.notes, Contains(HasSubstr("is taken to have the shape of Qwen3-30B-A3B, and nothing else")));
  EXPECT_EQ(find("me/qwen3-8b-sft").model.layers, 36);
  EXPECT_EQ(find("me/Qwen3-0.6B-Reverse-Text-SFT").model.layers, 28);
  EXPECT_THAT(refused("me/my-model-FP8"), HasSubstr("is not known"));
}

TEST_F(ModelSource, FilesAndFolders) {
  const fs::path file = put("my-sft-run/config.json", config("Qwen3-VL-8B"));
  for (const fs::path& given : {file, file.parent_path()}) {
    const FoundModel found = find(given);
    EXPECT_EQ(found.model.name, "my-sft-run");
    EXPECT_EQ(found.model.layers, 36);
    EXPECT_EQ(found.where, file);
    EXPECT_THAT(found.notes, ElementsAre(HasSubstr("encoder of images")));
  }
  EXPECT_EQ(find(put("shapes/small.json", config("Llama-3.2-3B"))).model.name, "small");
}

TEST_F(ModelSource, PathsMayEndWithASlash) { EXPECT_EQ(find("/root/models/Qwen3-8B/").model.layers, 36); }

TEST_F(ModelSource, ModelDocuments) {
  EXPECT_EQ(find(std::string(SEXTANT_TEST_DATA) + "/model.json").model.source.has_value(), true);
}

TEST_F(ModelSource, ModelsInTheCache) {
  EXPECT_EQ(find("me/my--tune").model.name, "me/my--tune");
  EXPECT_EQ(find("me/my--tune").model.hidden, 1024);  // the last snapshot
  put("cache/models--me--my--tune/refs/main", "aaa");
  EXPECT_EQ(find("me/my--tune").model.hidden, 3072);  // that of the main revision
  EXPECT_EQ(find(folder_ / "cache/models--me--my--tune/snapshots/bbb").model.name, "me/my--tune");
  EXPECT_THAT(cached_models(folder_ / "cache"), ElementsAre("me/my--tune"));
}

// A log names the cache of the machine that wrote it.
TEST_F(ModelSource, PathsIntoTheCacheOfAnotherMachine) {
  EXPECT_EQ(find("/home/user/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0123abcd").model.name,
            "Qwen3-8B");
  EXPECT_EQ(find("/nowhere/models--me--my--tune/snapshots/0123abcd").model.name, "me/my--tune");
}

TEST_F(ModelSource, UnknownNamesAreRefusedWithWhatWouldHelp) {
  EXPECT_THAT(refused("Qwen3-8"),
              HasSubstr("the shape of model \"Qwen3-8\" is not known; did you mean \"Qwen3-8B\"?"));
  EXPECT_THAT(refused("Qwen/Qwen3-8B-Unheard"), HasSubstr("did you mean \"Qwen3-8B\"?"));
  EXPECT_THAT(refused("me/my-tune"), HasSubstr("did you mean \"me/my--tune\"?"));
  EXPECT_THAT(refused("/data/ckpt/my-sft-run"),
              AllOf(HasSubstr("give the path to its config.json"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(refused("zai-org/GLM-5"), AllOf(HasSubstr("sparse attention"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(refused("org/unheard"), HasSubstr("does not have it either"));
  EXPECT_THAT(refused(folder_ / "cache"), HasSubstr("the folder has no config.json"));
  EXPECT_THAT(refused("/data/ckpt/config.json"), HasSubstr("there is no file \"/data/ckpt/config.json\""));
  EXPECT_THAT(refused("/data/Qwen3-4B-Unheard/"), HasSubstr("did you mean \"Qwen3-4B\"?"));
  EXPECT_THAT(refused(""), HasSubstr("got no text"));
}

TEST_F(ModelSource, FaultsInAConfigNameTheFile) {
  const fs::path file = put("broken/config.json", R"({"model_type": "llama", "num_hidden_layers": "two"})");
  EXPECT_THAT(refused(file), HasSubstr("broken/config.json: /num_hidden_layers: expected an integer"));
  EXPECT_THAT(refused(put("broken/text.json", "{")), HasSubstr("broken/text.json: "));
}

TEST(HubCache, FollowsTheVariablesOfTheHub) {
  const char* home = std::getenv("HF_HOME");
  const std::string before = home == nullptr ? "" : home;
  setenv("HF_HOME", "/somewhere", 1);
  if (std::getenv("HF_HUB_CACHE") == nullptr) {
    EXPECT_EQ(hub_cache(), "/somewhere/hub");
  }
  home == nullptr ? unsetenv("HF_HOME") : setenv("HF_HOME", before.c_str(), 1);
}

TEST(HubCache, IdsHaveAPublisherAndAName) {
  for (const char* id : {"Qwen/Qwen3-8B", "a/b"}) EXPECT_TRUE(is_hub_id(id)) << id;
  for (const char* text : {"Qwen3-8B", "/Qwen", "Qwen/", "./model", "~/model", "a/b/c", ""})
    EXPECT_FALSE(is_hub_id(text)) << text;
}

}  // namespace
}  // namespace sextant::test
