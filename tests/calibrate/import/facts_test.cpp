#include "calibrate/import/records/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "calibrate/import/import.h"
#include "sextant/document.h"
#include "tests/calibrate/import/facts_fixture.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// ---- what is published ----

// Descriptions of hardware in logs.
TEST(FactsTest, FindTheOneGpuThatATextNames) {
  const std::vector<std::pair<const char*, const char*>> texts = {
      {"GH200 (stated)", "GH200-96GB"},
      {"A100 80 GB", "A100-SXM-80GB"},
      {"A100 40 GB, SXM", "A100-SXM-40GB"},  // the longest name
      {"8x V100 16", "V100-SXM-16GB"},
      {"NVIDIA A40 48 GB", "A40"},
      {"an MI300X, H-less", "MI300X"},
      {"H100, that is H100-SXM", "H100-SXM-80GB"},  // one GPU by two names
      {"not stated; consistent with A100 (312e12) from mfu/actor", "A100-SXM-80GB"},
  };
  for (const auto& [text, gpu] : texts) {
    EXPECT_EQ(published().gpu_in(text).name, gpu) << text;
    EXPECT_EQ(published().gpu_in(text).failure_reason, "") << text;
  }
}

TEST(FactsTest, SayWhyATextNamesNoGpu) {
  const auto failure_reason = [](const char* text) {
    EXPECT_EQ(published().gpu_in(text).name, "") << text;
    return published().gpu_in(text).failure_reason;
  };
  EXPECT_EQ(failure_reason("H100, H800 or H200"),
            "\"H100, H800 or H200\" names several GPUs: H100-SXM-80GB, H200-SXM-141GB, H800");
  EXPECT_EQ(failure_reason("unknown, at least 94 GB"), "no facts about GPU \"unknown, at least 94 GB\"");
  EXPECT_EQ(failure_reason("XH100Y"), "no facts about GPU \"XH100Y\"");  // no word of its own
  EXPECT_THAT(
      failure_reason("MetaX C550 64 GB, 280e12 FLOP/s dense (stated)"),
      HasSubstr("\": its source states 280e12 FLOP/s and 64 GB, but neither memory bandwidth nor links"));
}

// The names that nvidia-smi and PyTorch give the cards.
TEST(FactsTest, FindTheGpuThatADriverNames) {
  const std::vector<std::pair<const char*, const char*>> texts = {
      {"NVIDIA A100-PCIE-40GB", "A100-PCIe-40GB"},
      {"NVIDIA A100 80GB PCIe", "A100-PCIe-80GB"},
      {"NVIDIA A100-SXM4-80GB", "A100-SXM-80GB"},
      {"NVIDIA A100-SXM4-40GB", "A100-SXM-40GB"},
      {"NVIDIA H100 80GB HBM3", "H100-SXM-80GB"},
      {"NVIDIA H100 80GB HBM2e", "H100-PCIe-80GB"},
      {"NVIDIA H100 PCIe", "H100-PCIe-80GB"},
      {"NVIDIA H100 NVL", "H100-NVL"},
      {"NVIDIA H200 NVL", "H200-NVL"},
      {"NVIDIA H200", "H200-SXM-141GB"},
      {"NVIDIA H20", "H20-96GB"},
      {"NVIDIA H20-3e", "H20-141GB"},
      {"NVIDIA GH200 480GB", "GH200-96GB"},
      {"NVIDIA GB200", "GB200"},
      {"NVIDIA L40S", "L40S"},
      {"NVIDIA L40", "L40"},
      {"NVIDIA A10G", "A10G"},
      {"NVIDIA A10", "A10"},
      {"Tesla T4", "T4"},
      {"Tesla V100-SXM2-32GB", "V100-SXM-32GB"},
      {"Tesla V100-SXM2-16GB", "V100-SXM-16GB"},
      {"Tesla V100-PCIE-32GB", "V100-PCIe-32GB"},
      {"NVIDIA GeForce RTX 4090", "RTX-4090"},
      {"NVIDIA GeForce RTX 5090", "RTX-5090"},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000-Server"},
      {"AMD Instinct MI300X", "MI300X"},
      {"AMD Instinct MI325X", "MI325X"},
      {"AMD Instinct MI300X OAM 192 GB", "MI300X"},
      {"H100 SXM 80 GB", "H100-SXM-80GB"},
  };
  for (const auto& [text, gpu] : texts) {
    EXPECT_EQ(published().gpu_in(text).name, gpu) << text << ": " << published().gpu_in(text).failure_reason;
  }
}

// Never another card than the one that is named.
TEST(FactsTest, RefuseACardThatOnlyBeginsLikeAKnownOne) {
  for (const char* text :
       {"NVIDIA A100-PCIE-48GB", "A100 PCIe", "PCIe A100", "40GB A100", "NVIDIA A100-SXM-64GB",
        "NVIDIA H800 PCIe", "NVIDIA GH200 144G HBM3e", "GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 3090 Ti", "A800 40GB", "H100 SXM5 64 GB", "L40S SXM",
        "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "NVIDIA RTX 6000 Ada Generation"}) {
    EXPECT_EQ(published().gpu_in(text).name, "") << text;
    EXPECT_THAT(published().gpu_in(text).failure_reason, HasSubstr("\"; the nearest are ")) << text;
  }
  EXPECT_EQ(published().gpu_in("NVIDIA A100-PCIE-48GB").failure_reason,
            "no facts about GPU \"NVIDIA A100-PCIE-48GB\"; the nearest are A100-PCIe-40GB, A100-PCIe-80GB, "
            "A100-SXM-40GB, A100-SXM-80GB");
  EXPECT_EQ(refusal_of([] { (void)published().gpu("H100-64GB"); }),
            "no facts about GPU \"H100-64GB\"; the nearest are H100-NVL, H100-PCIe-80GB, H100-SXM-80GB, "
            "H100-SXM-96GB");
  EXPECT_THAT(published().gpu_in("Ascend 910B").failure_reason, HasSubstr("give the device's own figures"));
}

// Every name of a GPU in the data sets that Sextant is judged by.
TEST(FactsTest, KnowTheGpusOfTheDataSets) {
  const std::vector<std::pair<const char*, const char*>> names = {
      {"A100", "A100-SXM-80GB"},
      {"A100-80GB", "A100-SXM-80GB"},
      {"A100 80G", "A100-SXM-80GB"},
      {"a100_80gb", "A100-SXM-80GB"},
      {"A100-80", "A100-SXM-80GB"},
      {"A100 40G", "A100-SXM-40GB"},
      {"a100_40gb", "A100-SXM-40GB"},
      {"A100-40", "A100-SXM-40GB"},
      {"A800", "A800-SXM-80GB"},
      {"A800-SXM-80GB", "A800-SXM-80GB"},
      {"A40", "A40"},
      {"A6000 48G", "RTX-A6000"},
      {"RTX A6000", "RTX-A6000"},
      {"H100", "H100-SXM-80GB"},
      {"H100 80GB HBM3", "H100-SXM-80GB"},
      {"h100_80gb", "H100-SXM-80GB"},
      {"h100_sxm", "H100-SXM-80GB"},
      {"H200", "H200-SXM-141GB"},
      {"96 GB HBM2e, 2.4 TB/s, 500 W limit", "H100-SXM-96GB"},
      {"h200_sxm", "H200-SXM-141GB"},
      {"H800", "H800"},
      {"H20", "H20-96GB"},
      {"H20-96GB", "H20-96GB"},
      {"GH-96", "GH200-96GB"},
      {"L40S", "L40S"},
      {"B200", "B200-SXM"},
      {"b200_sxm", "B200-SXM"},
      {"B300", "B300-SXM"},
      {"b300_sxm", "B300-SXM"},
      {"gb200", "GB200"},
      {"GB300", "GB300"},
      {"MI300", "MI300X"},
      {"V100 32G", "V100-SXM-32GB"},
      {"V100-16", "V100-SXM-16GB"},
      {"RTX-2080", "RTX-2080-Ti"},
      {"RTX-3090", "RTX-3090"},
      {"Titan-RTX", "Titan-RTX"},
  };
  for (const auto& [name, gpu] : names) {
    ASSERT_TRUE(published().has_gpu(name)) << name;
    EXPECT_EQ(published().gpu(name).name, gpu) << name;
  }
}

TEST(FactsTest, SayWhyAGpuIsNotKnown) {
  for (const char* name : {"Ascend 910C", "H800+H20", "H800 to H20", "RTX-2080+RTX-3090+Titan-RTX"}) {
    EXPECT_FALSE(published().has_gpu(name)) << name;
    EXPECT_THAT(published().why_no_gpu(name), HasSubstr("\": ")) << name;  // the reason of the file
  }
  EXPECT_EQ(published().why_no_gpu("H900"), "no facts about GPU \"H900\"");
  EXPECT_EQ(refusal_of([] { (void)published().gpu("H900"); }), "no facts about GPU \"H900\"");
}

// Every name of a model in the data sets, but those whose record has the shape itself ("GPT-18.4B").
TEST(FactsTest, KnowTheModelsOfTheDataSets) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> names = {
      {"CodeLlama-34B",
       {"CodeLlama/Llama-2-34B", "CodeLlama/Llama-2-34B (reward-model init)", "CodeLlama/Llama-2-34B size",
        "Llama-2-34B", "codellama/CodeLlama-34b-Instruct-hf"}},
      {"DeepSeek-V3",
       {"DeepSeek V3 671B", "DeepSeekV3", "DeepSeekV3 (dropless)", "DeepSeekV3 (w/ MTP)",
        "DeepSeekV3 (w/o MTP)", "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-R1",
        "nvidia/DeepSeek-V3.1-NVFP4"}},
      {"DeepSeek-R1-Distill-Qwen-1.5B", {"DeepSeek-R1-Distill-Qwen-1.5B"}},
      {"Falcon-180B", {"Falcon-180B"}},
      {"GLM-4.5-Air", {"PrimeIntellect/INTELLECT-3"}},
      {"GPT-J-6B", {"GPT-J-6B"}},
      {"GPT-OSS-120B", {"GPT OSS 120B", "GPT-OSS 120B", "openai/gpt-oss-120b"}},
      {"GPT-OSS-20B", {"GPT-OSS 20B"}},
      {"GPT3-20B", {"GPT3-20B"}},
      {"GPT3-5B", {"GPT3-5B"}},
      {"Kimi-K2", {"Kimi K2", "moonshotai/Kimi-K2.5"}},
      {"LLaMA-70B (ReaL Table 1)", {"LLaMA-70B (ReaL Table 1)"}},
      {"LLaMA-7B (ReaL Table 1)", {"LLaMA-7B (ReaL Table 1)"}},
      {"Llama-2-13B", {"LLAMA2-13B", "Llama-2-13B (reward-model init)", "Llama-2-13B size", "llama2-13b"}},
      {"Llama-2-70B",
       {"LLAMA2-70B", "Llama-2-70B (reward-model init)", "Llama-2-70B size", "llama2-70b",
        "meta-llama/Llama-2-70b-hf"}},
      {"Llama-2-7B",
       {"LLAMA2-7B", "Llama-2-7B (reward-model init)", "Llama-2-7B size", "Llama-7B", "llama2-7b",
        "meta-llama/Llama-2-7b-hf"}},
      {"Llama-3.1-405B", {"LLAMA3.1_405B", "Llama-3.1-405B"}},
      {"Llama-3.1-70B",
       {"LLAMA3-70B", "LLAMA3_70B", "Llama-3-70B", "Llama-3.1-70B Base", "Llama-3.3-70B", "Llama3 70B",
        "meta-llama/Llama-3.1-70B", "meta-llama/Llama-3.1-70B-Instruct"}},
      {"Llama-3.1-8B",
       {"LLAMA3-8B", "LLAMA3_8B", "Llama-3.1-8B-Instruct", "Llama3 8B", "meta-llama/Llama-3.1-8B-Instruct"}},
      {"Llama-4-Scout-17B-16E", {"RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic"}},
      {"MPT-125m", {"MPT-125m"}},
      {"MPT-70b", {"MPT-70b"}},
      {"MiniMax-M2.5", {"MiniMaxAI/MiniMax-M2.5"}},
      {"Mistral-7B", {"Mistral-7B"}},
      {"Mistral-Nemo-12B", {"mistralai/Mistral-Nemo-Instruct-2407"}},
      {"Mixtral-8x7B", {"Mixtral-8x7B", "mistralai/Mixtral-8x7B-v0.1"}},
      {"Nemotron-340B", {"Nemotron-340B"}},
      {"Nemotron-8B", {"Nemotron-8B"}},
      {"OPT-1.3B", {"OPT-1.3B"}},
      {"OPT-13B", {"OPT-13.2B"}},
      {"OPT-175B", {"OPT-175B"}},
      {"OPT-30B", {"OPT-30B"}},
      {"OPT-350M", {"OPT-350M"}},
      {"OPT-6.7B", {"OPT-6.7B"}},
      {"OPT-66B", {"OPT-66B"}},
      {"Qwen2-7B", {"Qwen2-7B-Instruct"}},
      {"Qwen2.5-0.5B", {"Qwen2.5-0.5B-Instruct"}},
      {"Qwen2.5-1.5B", {"Qwen2.5-1.5B-Instruct"}},
      {"Qwen2.5-14B", {"Qwen2.5-14B-Instruct", "DeepSeek-R1-Distill-Qwen-14B"}},
      {"Qwen2.5-32B", {"Qwen2.5-32B-Instruct", "Qwen2.5 32B"}},
      {"Qwen2.5-3B", {"Qwen2.5-3B-Instruct"}},
      {"Qwen2.5-72B", {"Qwen2.5-72B-Instruct"}},
      {"Qwen2.5-7B",
       {"Qwen2.5-7B-Instruct", "Qwen2.5-Math-7B", "DeepSeek-R1-Distill-Qwen-7B", "Qwen/Qwen2.5-7B-Instruct"}},
      {"Qwen3-0.6B", {"Qwen3-0.6B", "Qwen/Qwen3-0.6B"}},
      {"Qwen3-1.7B", {"Qwen3-1.7B"}},
      {"Qwen3-14B", {"Qwen3-14B"}},
      {"Qwen3-235B-A22B",
       {"Qwen3_235B_a22B", "Qwen3_235B_a22B (tokendrop)", "Qwen/Qwen3-235B-A22B-FP8",
        "Qwen/Qwen3-235B-A22B-Instruct-2507"}},
      {"Qwen3-30B-A3B",
       {"Qwen3 MoE 30B", "Qwen3_30B_a3B", "Qwen3_30B_a3B (tokendrop)", "Qwen3-30B-A3B-Base",
        "Qwen/Qwen3-30B-A3B-Instruct-2507"}},
      {"Qwen3-32B", {"Qwen3-32B", "Qwen/Qwen3-32B"}},
      {"Qwen3-4B", {"Qwen3-4B", "Qwen/Qwen3-4B-Instruct-2507"}},
      {"Qwen3-8B", {"Qwen3-8B"}},
      {"deepseek-llm-7b", {"deepseek-llm-7b-chat"}},
      {"gemma-2-2b", {"gemma-2-2b-it"}},
      {"gpt3-175B", {"GPT3-175B"}},
      {"megatron-1T", {"megatron-1T"}},
      {"megatron-22B", {"megatron-22B"}},
      {"turing-530B", {"turing-530B"}},
  };
  for (const auto& [model, others] : names) {
    for (const char* name : others) {
      ASSERT_TRUE(published().has_model(name)) << name;
      EXPECT_EQ(published().model(name).name, model) << name;
    }
  }
}

TEST(FactsTest, SayWhyAModelIsNotKnown) {
  for (const char* name :
       {"DeepSeekV4 Flash", "Hybrid Mamba 2B", "Hybrid Nano-v3 3B", "Nemotron V3 Super 120B (26.02)",
        "Nemotron-3-Nano-30B-A3B", "Nemotron-3-Ultra-550B-A55B", "Nemotron_3_5_Lightning", "Nemotron_3_Nano",
        "Nemotron_3_Super", "Nemotron_3_Ultra", "Qwen3.5-9B", "Qwen3.5-9B (multimodal)", "Qwen3.8-27B",
        "zhipuai/GLM-5", "model of 247.2 GB (as printed)",
        "Minitron-Mistral 583M (24 layers, hidden 1152, 16 heads)"}) {
    EXPECT_FALSE(published().has_model(name)) << name;
    EXPECT_THAT(published().why_no_model(name), HasSubstr(" is not known: "))
        << name;  // the reason of the file
  }
  EXPECT_EQ(refusal_of([] { (void)published().model("Qwen9"); }), "the shape of model \"Qwen9\" is not known");
}

TEST(FactsTest, TakeTheFirstFigure) {
  const Gpu& h800 = published().gpu("H800");
  EXPECT_EQ(h800.type.memory_bytes_per_s.value, 3350e9);  // not the PCIe card's 2000e9 beside it
  EXPECT_EQ(h800.type.flop_per_s.at(Precision::bf16).value, 989.5e12);
  EXPECT_EQ(h800.type.flop_per_s.at(Precision::bf16).source, Source::datasheet);
  EXPECT_EQ(h800.within_node.bytes_per_s.value, 200e9);
  EXPECT_EQ(h800.per_node, 8);
  EXPECT_EQ(h800.network_bytes_per_s, 400e9);
  EXPECT_EQ(h800.per_rack, 0);
  EXPECT_FALSE(h800.between_racks.has_value());
}

TEST(FactsTest, KnowRacks) {
  const Gpu& gb200 = published().gpu("GB200");
  EXPECT_EQ(gb200.per_node, 4);
  EXPECT_EQ(gb200.per_rack, 72);
  EXPECT_EQ(gb200.compute_capability, 10);
  EXPECT_EQ(published().gpu("H800").compute_capability, 9);
  EXPECT_FALSE(published().gpu("MI300X").compute_capability.has_value());
  ASSERT_TRUE(gb200.between_racks.has_value());
  EXPECT_LT(gb200.between_racks->bytes_per_s.value, gb200.between_nodes.bytes_per_s.value);
  EXPECT_EQ(gb200.type.flop_per_s.at(Precision::fp4).value, 1e16);
}

// ---- what a file may be ----

std::string refusal_with(const std::string& from, const std::string& to) {
  const std::string message = refusal_of([&] { (void)load_with(from, to); });
  return message.substr(message.find_last_of('/', message.find(".json")) + 1);
}

TEST(FactsFileTest, IsReadIgnoringCaseAndPublisher) {
  const Facts facts = load_with();
  EXPECT_EQ(facts.gpu("SMALL").name, "Tiny");
  EXPECT_EQ(facts.model("dot 1b").name, "Dot-1B");
  EXPECT_EQ(facts.model("someone/DOT-1B").name, "Dot-1B");
  EXPECT_FALSE(facts.has_gpu("someone/Tiny"));
  EXPECT_EQ(facts.why_no_gpu("huge"), "no facts about GPU \"huge\": nobody measured it");
  EXPECT_EQ(facts.why_no_model("someone/dot-9b"),
            "the shape of model \"someone/dot-9b\" is not known: nobody wrote it down");
}

TEST(FactsFileTest, IsRefusedWithFileAndPath) {
  EXPECT_EQ(refusal_with("\"value\": 1e9,", "\"value\": -1,"),
            "gpus.json: /gpus/0/memory_bytes/0/value: expected a number > 0, got -1");
  EXPECT_EQ(refusal_with("[{\"value\": 1e-6, \"source\": \"assumed\"}]", "[]"),
            "gpus.json: /gpus/0/within_node_latency_s: expected at least one figure");
  EXPECT_EQ(refusal_with("\"value\": 4,", "\"value\": 4.5,"),
            "gpus.json: /gpus/0/devices_per_node: expected an integer, got 4.5");
  EXPECT_THAT(refusal_with("\"memory_bytes\"", "\"memory\""), StartsWith("gpus.json: /gpus/0"));
  EXPECT_THAT(refusal_with("bf16", "bf17"), StartsWith("gpus.json: /gpus/0/flop_per_s/bf17"));
  EXPECT_THAT(refusal_with("\"heads\": 8", "\"heads\": 0"), StartsWith("models.json: /models/0/heads"));
}

TEST(FactsFileTest, IsRefusedWhereNamesClash) {
  EXPECT_EQ(refusal_with("\"Small\": \"Tiny\"", "\"Small\": \"Large\""),
            "gpus.json: /aliases/Small: unknown name \"Large\"");
  EXPECT_EQ(refusal_with("\"Dot 1B\": ", "\"DOT-1b\": "),
            "models.json: /aliases/DOT-1b: another entry is named \"DOT-1b\" too, case ignored");
}

TEST(FactsFileTest, IsRefusedOfAnotherKind) {
  EXPECT_EQ(refusal_with("gpu_facts/1.1", "gpu_facts/2.0"),
            "gpus.json: /schema: expected sextant.gpu_facts/1.x, got \"sextant.gpu_facts/2.0\"");
  EXPECT_THAT(refusal_of([] { (void)Facts::load("/nowhere/gpus.json", "/nowhere/models.json"); }),
              HasSubstr("cannot read /nowhere/gpus.json"));
}

}  // namespace
}  // namespace sextant
