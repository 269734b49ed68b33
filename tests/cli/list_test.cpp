// sextant list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/json_value.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ListCommand, ShowsEveryKindOfName) {
  constexpr std::array<std::array<const char*, 2>, 5> kKnown{{{"gpus", "H100-SXM-80GB"},
                                                              {"instances", "p5.48xlarge"},
                                                              {"networks", "ib-ndr"},
                                                              {"models", "Qwen3-8B"},
                                                              {"frameworks", "verl-fsdp"}}};
  for (const auto& [kind, name] : kKnown) {
    const Printed printed = run_sextant({"list", kind});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr(name)) << kind;
  }
}

TEST(ListCommand, ShowsOnlyNamesWithThePartThatIsAskedFor) {
  EXPECT_THAT(run_sextant({"list", "gpus", "h100"}).out,
              AllOf(HasSubstr("H100-SXM-80GB"), Not(HasSubstr("A100"))));
  const Printed none = run_sextant({"list", "models", "no-such-model"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no name of models contains \"no-such-model\""));
}

TEST(ListCommand, PrintsJson) {
  const Json gpus = parse_json(run_sextant({"list", "gpus", "H100-SXM-80GB", "--json"}).out);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0]["gpu"], "H100-SXM-80GB");
  EXPECT_EQ(gpus[0]["bf16"], "989 TFLOP/s");
}

}  // namespace
}  // namespace sextant::test
