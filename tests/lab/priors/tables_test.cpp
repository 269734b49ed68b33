// Wrong tables are refused with file, line and column.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/lab/priors/evidence_fixture.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kShipped = fs::path(SEXTANT_SOURCE_DIR) / "data/public/kernels";

// A copy of the shipped tables, of which a test spoils one.
class SpoiledTable : public ::testing::Test {
 protected:
  SpoiledTable() {
    for (const auto& entry : fs::directory_iterator(kShipped)) fs::copy(entry.path(), folder_.path());
  }
  void write(const std::string& name, const std::string& text) {
    write_text_file((folder_.path() / name).string(), text);
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)evidence_of_priors(folder_.path(), published());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

TEST_F(SpoiledTable, IsFineAsShipped) { EXPECT_EQ(refusal(), "accepted"); }

TEST_F(SpoiledTable, Missing) {
  fs::remove(folder_.path() / "experts.csv");
  EXPECT_THAT(refusal(), HasSubstr("experts.csv"));
}

struct Spoiled {
  std::string file;
  std::string text;
  std::string place;
  std::string reason;
};

class SpoiledTables : public SpoiledTable, public ::testing::WithParamInterface<Spoiled> {};

TEST_P(SpoiledTables, AreRefused) {
  const Spoiled& spoiled = GetParam();
  write(spoiled.file, spoiled.text);
  EXPECT_THAT(refusal(), HasSubstr(spoiled.file + spoiled.place));
  EXPECT_THAT(refusal(), HasSubstr(spoiled.reason));
}

const std::string kProducts = "device,format,m,n,k,time_s\n";
const std::string kCollectives =
    "source,device,operation,nodes,devices,network_bytes_per_s,message_bytes,time_s\n";

INSTANTIATE_TEST_SUITE_P(
    All, SpoiledTables,
    ::testing::Values(
        Spoiled{"products.csv", "device,format,m,n,k\nL40S,bf16,1,1,1\n", "", "time_s"},
        Spoiled{"products.csv", kProducts + "L40S,bf16,1,2,3,1e-3\nL40S,bf16,1,2,4,0\n", ":3", "time_s"},
        Spoiled{"products.csv", kProducts + "L40S,bf16,0,2,3,1e-3\n", ":2", "\"m\""},
        Spoiled{"products.csv", kProducts + "Abacus,bf16,1,2,3,1e-3\n", ":2", "Abacus"},
        Spoiled{"products.csv", kProducts + "L40S,int4,1,2,3,1e-3\n", ":2", "format"},
        Spoiled{"products.csv", kProducts + "A100-SXM-80GB,fp8,1,2,3,1e-3\n", ":2", "no rate of fp8"},
        Spoiled{"attention_decode.csv", "device,sequences,tokens,heads,kv_heads,head_dim,time_s\n", "",
                "context_tokens"},
        Spoiled{"experts.csv",
                "device,tokens,hidden,intermediate,top_k,experts,tp,distribution,time_s\n"
                "L40S,1,64,64,9,8,1,balanced,1e-3\n",
                ":2", "top_k"},
        Spoiled{"attention_decode.csv",
                "device,sequences,context_tokens,heads,kv_heads,head_dim,time_s\n"
                "V100-SXM-32GB,1,1,1,1,1,1\n",
                ":2", "no rate of bf16"},
        Spoiled{"collectives.csv", kCollectives + "here,L40S,all_reduce,2,16,,8,1e-3\n", ":2",
                "network_bytes_per_s"},
        Spoiled{"collectives.csv", kCollectives + "here,L40S,all_reduce,2,15,1e9,8,1e-3\n", ":2", "devices"},
        Spoiled{"collectives.csv", kCollectives + "here,L40S,broadcast,1,2,,8,1e-3\n", ":2", "operation"},
        Spoiled{"weight_transfers.csv",
                "record,framework,device,model,format,copies,links,link_bytes_per_s,packed,time_s\n"
                "here,verl,,Nobody-7B,bf16,1,1,1e9,,1\n",
                ":2", "Nobody-7B"}),
    [](const auto& test) { return "Table" + std::to_string(test.index); });

}  // namespace
}  // namespace sextant
