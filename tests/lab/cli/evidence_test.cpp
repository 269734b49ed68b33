// sextant coefficients --evidence, which starts sextant-lab.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "core/json_value.h"
#include "documents/experiments.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(EvidenceCommand, HoldsPriorsAgainstMeasuredTables) {
  const Printed printed = run_sextant({"coefficients", "--evidence"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.out, HasSubstr("\ntraining_efficiency "));
  EXPECT_THAT(printed.out, HasSubstr("products.csv"));
  EXPECT_THAT(printed.out,
              HasSubstr("\n    A100-SXM-80GB, B200-SXM, GB200, H100-SXM-80GB, H200-SXM-141GB, L40S\n"));
  EXPECT_THAT(printed.out, Not(HasSubstr("DISAGREES")));
  const Json json = parse_json(run_sextant({"coefficients", "network", "--evidence", "--json"}).out);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["name"], "network_efficiency");
  EXPECT_EQ(json[0]["relation"], "at most");
  EXPECT_EQ(json[0]["table"], "collectives.csv");
  EXPECT_EQ(json[0]["prior"], 0.75);
  EXPECT_EQ(json[0]["agrees"], true);
  EXPECT_EQ(json[0]["rows"], 14);
  EXPECT_EQ(json[0]["device_types"].size(), 3U);
  EXPECT_GT(json[0]["median"], 0);
  EXPECT_THAT(run_sextant({"coefficients", "sequence", "--evidence"}).out,
              HasSubstr("bear on no coefficient whose name starts with \"sequence\""));
  EXPECT_TRUE(parse_json(run_sextant({"coefficients", "sequence", "--evidence", "--json"}).out).empty());
}

TEST(EvidenceCommand, FarFromThePriorIsSaid) {
  const TemporaryFolder folder;
  const std::filesystem::path data = std::filesystem::path(SEXTANT_SOURCE_DIR) / "data",
                              tables = std::filesystem::path(folder.path()) / "public/kernels";
  std::filesystem::create_directories(tables);
  for (const char* name : {"gpus.json", "models.json"}) std::filesystem::copy(data / name, folder.path());
  std::filesystem::copy(data / "public/kernels", tables);
  const std::string table = tables / "collectives.csv",
                    header = read_text_file(table).substr(0, read_text_file(table).find('\n'));
  // A gigabyte between two nodes in ten minutes.
  write_text_file(table, header + "\naws-slow,H100-SXM-80GB,all_reduce,2,16,4e+11,1073741824,600\n");
  EXPECT_THAT(run_sextant({"coefficients", "network", "--evidence", "--data", folder.path()}).out,
              HasSubstr("DISAGREES"));
}

TEST(EvidenceCommand, WithoutItsDataIsRefused) {
  const TemporaryFolder folder;
  const std::string missing = folder.path() / "nowhere";
  const Printed nowhere = run_sextant({"coefficients", "--evidence", "--data", missing});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr(missing));
  const std::filesystem::path data = std::filesystem::path(SEXTANT_SOURCE_DIR) / "data";
  for (const char* name : {"gpus.json", "models.json"}) std::filesystem::copy(data / name, folder.path());
  const Printed bare = run_sextant({"coefficients", "--evidence", "--data", folder.path()});
  EXPECT_EQ(bare.exit_code, 2);
  EXPECT_THAT(bare.err, HasSubstr("public/kernels/products.csv"));
  EXPECT_EQ(run_sextant({"coefficients", "--data", missing}).exit_code, 2);
  EXPECT_EQ(run_sextant({"coefficients", "--evidence", "--markdown"}).exit_code, 2);
}

// `sextant coefficients --markdown > docs/coefficients.md` after every change of the table.
TEST(EvidenceCommand, ThePageIsCurrent) {
  EXPECT_EQ(run_sextant({"coefficients", "--markdown"}).out,
            read_text_file(std::string(SEXTANT_SOURCE_DIR) + "/docs/coefficients.md"));
}

}  // namespace
}  // namespace sextant::test
