#include "calibrate/spelling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Coefficient value_of(const std::string& device_type, const std::string& framework) {
  Coefficient entry;
  entry.device_type = device_type;
  entry.framework = framework;
  return entry;
}

// Values of two GPUs and one framework; runs of another framework too.
Coefficients document() {
  Coefficients coefficients;
  coefficients.values = {value_of("*", "*"), value_of("H100-SXM", "*"), value_of("A100", "*"),
                         value_of("*", "Verl")};
  coefficients.fit.emplace();
  TaskExperience task;
  task.framework = "real";
  task.device_types = {"A100", "H100-SXM"};
  coefficients.fit->experience = {task};
  return coefficients;
}

// Every name that begins with h100 is one GPU.
std::string full_name(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower.starts_with("h100") ? "h100" : lower;
}

TEST(Frameworks, AreThoseOfValuesAndRuns) {
  EXPECT_THAT(frameworks_of(document()), ElementsAre("Verl", "real"));
  EXPECT_THAT(frameworks_of({}), IsEmpty());
}

TEST(Frameworks, TakeTheSpellingOfTheDocument) {
  EXPECT_EQ(framework_as_in(document(), "VERL"), "Verl");
  EXPECT_EQ(framework_as_in(document(), "Real"), "real");
  EXPECT_EQ(framework_as_in(document(), "ver"), "ver");
  EXPECT_EQ(framework_as_in(document(), "*"), "*");
  EXPECT_TRUE(has_values_of(document(), "Verl"));
  EXPECT_FALSE(has_values_of(document(), "real"));  // runs alone
}

TEST(DeviceTypes, TakeTheNamesOfTheCluster) {
  Coefficients coefficients = document();
  const std::vector<RenamedType> renamed =
      rename_device_types(coefficients, {"zh100", "h100", "B200"}, full_name);
  ASSERT_EQ(renamed.size(), 1U);
  EXPECT_EQ(renamed[0].from, "H100-SXM");
  EXPECT_EQ(renamed[0].to, "h100");
  EXPECT_EQ(coefficients.values[1].device_type, "h100");
  EXPECT_EQ(coefficients.values[2].device_type, "A100");
  EXPECT_THAT(coefficients.fit->experience[0].device_types, ElementsAre("A100", "h100"));
}

TEST(DeviceTypes, ThatTheDocumentHasStay) {
  Coefficients coefficients = document();
  EXPECT_THAT(rename_device_types(coefficients, {"H100-SXM", "h100"}, full_name), IsEmpty());
  EXPECT_EQ(coefficients, document());
}

// Two names of one GPU: one of them gets its values.
TEST(DeviceTypes, GoToOneNameOnly) {
  Coefficients coefficients = document();
  EXPECT_EQ(rename_device_types(coefficients, {"h100", "h100-80"}, full_name).size(), 1U);
}

}  // namespace
}  // namespace sextant
