// data/gpus.json: every figure is a quantity that says where it is from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/document.h"
#include "costmodel/vocabulary/precision.h"
#include "costmodel/vocabulary/quantity.h"

namespace sextant {
namespace {

class GpuFacts : public ::testing::Test {
 protected:
  GpuFacts() : json_(parse_json(read_text_file(SEXTANT_SOURCE_DIR "/data/gpus.json"))) {}

  [[nodiscard]] std::vector<JsonView> gpus() const { return JsonView(json_).required("gpus").items(); }
  [[nodiscard]] JsonView gpu(const std::string& name) const {
    for (const JsonView& entry : gpus()) {
      if (entry.required("name").text() == name) return entry;
    }
    throw std::out_of_range("no GPU " + name);
  }

  Json json_;
};

// Applies `check` to every quantity below the view.
template <typename Check>
void for_each_figure(const JsonView& view, const Check& check) {
  if (view.json().is_array()) {
    for (const JsonView& item : view.items()) check(item);
  } else if (view.json().is_object()) {
    for (const auto& [key, member] : view.members()) for_each_figure(member, check);
  }
}

std::vector<double> values(const JsonView& figures) {
  std::vector<double> result;
  for (const JsonView& figure : figures.items()) result.push_back(Quantity::parse(figure).value);
  return result;
}

TEST_F(GpuFacts, SayTheirSchema) {
  EXPECT_EQ(JsonView(json_).required("schema").text(), "sextant.gpu_facts/1.0");
  EXPECT_GE(gpus().size(), 20U);
}

TEST_F(GpuFacts, HaveUniqueNames) {
  std::set<std::string> names;
  for (const JsonView& entry : gpus()) EXPECT_TRUE(names.insert(entry.required("name").text()).second);
}

TEST_F(GpuFacts, AreQuantitiesWithASource) {
  int figures = 0;
  for (const JsonView& entry : gpus()) {
    for_each_figure(entry, [&](const JsonView& figure) {
      const Quantity quantity = Quantity::parse(figure);
      EXPECT_TRUE(quantity.note.has_value() && quantity.note->size() > 10) << figure.path();
      ++figures;
    });
  }
  EXPECT_GT(figures, 100);
}

TEST_F(GpuFacts, NameKnownPrecisions) {
  for (const JsonView& entry : gpus()) {
    for (const auto& [name, figures] : entry.required("flop_per_s").members()) {
      const Json text = name;
      EXPECT_EQ(name_of(parse_precision(JsonView(text, figures.path()))), name);
    }
  }
}

// A slip of a power of 1000, or of 1024 against 1000 twice, lands outside.
TEST_F(GpuFacts, AreInSiUnits) {
  using ::testing::AllOf;
  using ::testing::Each;
  using ::testing::Ge;
  using ::testing::Le;
  for (const JsonView& entry : gpus()) {
    SCOPED_TRACE(entry.required("name").text());
    for (const auto& [name, figures] : entry.required("flop_per_s").members()) {
      EXPECT_THAT(values(figures), Each(AllOf(Ge(5e13), Le(2e16)))) << name;
    }
    EXPECT_THAT(values(entry.required("memory_bytes")), Each(AllOf(Ge(1e10), Le(4e11))));
    EXPECT_THAT(values(entry.required("memory_bytes_per_s")), Each(AllOf(Ge(2e11), Le(2e13))));
  }
}

TEST_F(GpuFacts, KeepBothSourcesWhereTheyDisagree) {
  const JsonView l40s = gpu("L40S");
  EXPECT_THAT(values(l40s.required("flop_per_s").required("bf16")),
              ::testing::ElementsAre(362.05e12, 366e12));  // aiconfigurator's file, HetRL's Table 1
  EXPECT_EQ(values(gpu("H800").required("memory_bytes_per_s")).size(), 2U);
}

TEST_F(GpuFacts, TellMeasuredFromPrinted) {
  const std::vector<JsonView> rates = gpu("H100-SXM-80GB").required("flop_per_s").required("bf16").items();
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(Quantity::parse(rates[0]).source, Source::datasheet);
  EXPECT_EQ(Quantity::parse(rates[1]).source, Source::measured);
  EXPECT_LT(Quantity::parse(rates[1]).value, Quantity::parse(rates[0]).value);
}

}  // namespace
}  // namespace sextant
