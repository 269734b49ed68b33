// data/instances.json and data/link_presets.json: nodes of clouds and networks by name, each figure with its
// source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/quantity.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::StartsWith;

class NamedPlaces : public ::testing::Test {
 protected:
  NamedPlaces()
      : gpus_(file("gpus.json")), instances_(file("instances.json")), presets_(file("link_presets.json")) {}

  static Json file(const std::string& name) {
    return parse_json(read_text_file(SEXTANT_SOURCE_DIR "/data/" + name));
  }
  [[nodiscard]] std::vector<JsonView> gpus() const { return JsonView(gpus_).required("gpus").items(); }
  [[nodiscard]] std::vector<JsonView> instances() const {
    return JsonView(instances_).required("instances").items();
  }
  [[nodiscard]] std::vector<JsonView> presets() const { return JsonView(presets_).required("presets").items(); }
  [[nodiscard]] JsonView gpu(const std::string& name) const {
    for (const JsonView& entry : gpus()) {
      if (entry.required("name").text() == name) return entry;
    }
    throw std::out_of_range("no GPU " + name);
  }

  Json gpus_, instances_, presets_;
};

// "ND-H100-v5" and "NDH100v5" are one name.
std::string without_separators(const std::string& name) {
  std::string letters;
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) letters += static_cast<char>(std::tolower(c));
  }
  return letters;
}

std::vector<std::string> names_of(const JsonView& entry) {
  std::vector<std::string> names = {entry.required("name").text()};
  for (const JsonView& alias : entry.required("aliases").items()) names.push_back(alias.text());
  return names;
}

// Names are unique within an entry if case is ignored, and between entries if separators are ignored too.
void expect_unique_names(const std::vector<JsonView>& entries) {
  std::set<std::string> of_others;
  for (const JsonView& entry : entries) {
    std::set<std::string> own, bare;
    for (const std::string& name : names_of(entry)) {
      std::string lower = name;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      EXPECT_TRUE(own.insert(lower).second) << name << " stands twice in one entry";
      EXPECT_FALSE(of_others.contains(without_separators(name))) << name << " means two entries";
      bare.insert(without_separators(name));
    }
    of_others.merge(bare);
  }
}

// A figure that is printed somewhere says where; one that is not says that it is assumed.
Quantity sourced(const JsonView& figure) {
  const Quantity quantity = Quantity::parse(figure);
  EXPECT_GT(quantity.value, 0) << figure.path();
  EXPECT_TRUE(quantity.note.has_value()) << figure.path();
  if (quantity.source != Source::assumed) {
    EXPECT_THAT(quantity.note.value_or(""), AnyOf(HasSubstr(".com/"), HasSubstr(".com,"))) << figure.path();
  }
  return quantity;
}

TEST_F(NamedPlaces, SayTheirSchema) {
  EXPECT_EQ(JsonView(instances_).required("schema").text(), "sextant.instance_facts/1.0");
  EXPECT_EQ(JsonView(presets_).required("schema").text(), "sextant.link_presets/1.0");
}

TEST_F(NamedPlaces, HaveUniqueNames) {
  expect_unique_names(instances());
  expect_unique_names(presets());
}

TEST_F(NamedPlaces, AreThoseThatPeopleRent) {
  std::set<std::string> names;
  for (const JsonView& entry : instances()) {
    for (const std::string& name : names_of(entry)) names.insert(name);
  }
  for (const char* name :
       {"p4d.24xlarge",     "p4de.24xlarge", "p5.48xlarge",   "p5e.48xlarge",    "p5en.48xlarge",
        "p6-b200.48xlarge", "g5.48xlarge",   "g6.48xlarge",   "g6e.48xlarge",    "a2-highgpu-8g",
        "a2-ultragpu-8g",   "a3-highgpu-8g", "a3-megagpu-8g", "a3-ultragpu-8g",  "a4-highgpu-8g",
        "g2-standard-96",   "ND-A100-v4",    "NDm-A100-v4",   "ND-H100-v5",      "Standard_ND96isr_H100_v5",
        "ND-H200-v5",       "ND-GB200-v6",   "ND-MI300X-v5",  "BM.GPU.H100.8",   "BM.GPU.A100-v2.8",
        "BM.GPU.MI300X.8",  "Lambda 8xH100", "Nebius 8xH100", "CoreWeave 8xH100"}) {
    EXPECT_THAT(names, Contains(name));
  }
}

TEST_F(NamedPlaces, NameAGpuThatHasFacts) {
  for (const JsonView& entry : instances()) {
    const std::string name = entry.required("gpu").text();
    EXPECT_TRUE(
        std::ranges::any_of(gpus(), [&](const JsonView& gpu) { return gpu.required("name").text() == name; }))
        << entry.required("name").text() << ": " << name;
    EXPECT_THAT(entry.required("gpus").integer(), AllOf(Ge(1), Le(16)));
  }
}

// A slip of a power of 1000, of bits against bytes or of a GPU against a node lands outside.
TEST_F(NamedPlaces, AreInSiUnits) {
  for (const JsonView& entry : instances()) {
    SCOPED_TRACE(entry.required("name").text());
    const double gpus = static_cast<double>(entry.required("gpus").integer());
    EXPECT_THAT(sourced(entry.required("network_bytes_per_s")).value / gpus, AllOf(Ge(1e9), Le(1e11)));
    EXPECT_THAT(sourced(entry.required("host_memory_bytes")).value / gpus, AllOf(Ge(2e10), Le(6e11)));
    if (const auto price = entry.optional("price_usd_per_hour")) {
      EXPECT_THAT(sourced(*price).value / gpus, AllOf(Ge(0.5), Le(30)));
    }
  }
}

// Instances without a price say why; a price says its region and its date first.
TEST_F(NamedPlaces, SayWhereAndWhenTheirPriceHeld) {
  int priced = 0;
  for (const JsonView& entry : instances()) {
    SCOPED_TRACE(entry.required("name").text());
    const auto price = entry.optional("price_usd_per_hour");
    if (!price) {
      EXPECT_THAT(entry.required("notes").text(), HasSubstr("price"));
      continue;
    }
    ++priced;
    const std::string note = sourced(*price).note.value_or("");
    EXPECT_THAT(note, StartsWith("on demand, "));
    EXPECT_THAT(note, HasSubstr(", 202")) << "no date";
  }
  EXPECT_GT(priced, 40);
}

// No adapter is faster than the host link of its GPU.
TEST_F(NamedPlaces, HaveAdaptersThatTheirGpusCanFeed) {
  for (const JsonView& entry : instances()) {
    const JsonView facts = gpu(entry.required("gpu").text());
    const double host = Quantity::parse(facts.required("host_bytes_per_s").items().front()).value;
    const double gpus = static_cast<double>(entry.required("gpus").integer());
    EXPECT_LE(sourced(entry.required("network_bytes_per_s")).value / gpus, host)
        << entry.required("name").text();
  }
}

TEST_F(NamedPlaces, HavePresetsForTheUsualNetworks) {
  std::set<std::string> names;
  for (const JsonView& preset : presets()) {
    const std::string name = preset.required("name").text();
    SCOPED_TRACE(name);
    names.insert(name);
    EXPECT_THAT(sourced(preset.required("bytes_per_s")).value, AllOf(Ge(1e9), Le(1e12)));
    EXPECT_THAT(sourced(preset.required("latency_s")).value, AllOf(Ge(1e-6), Le(1e-4)));
    EXPECT_EQ(preset.required("adapter_of").text(), name.starts_with("tcp") ? "node" : "gpu");
    EXPECT_EQ(preset.optional("devices_per_rack").has_value(), name == "nvl72");
  }
  for (const char* name : {"ib-hdr", "ib-ndr", "ib-xdr", "roce-100", "roce-200", "roce-400", "efa", "tcp-10",
                           "tcp-25", "tcp-100", "nvl72"}) {
    EXPECT_THAT(names, Contains(name));
  }
}

// 400 Gbit/s are 50e9 bytes/s.
TEST_F(NamedPlaces, CountTheBitsInThePresetsName) {
  for (const JsonView& preset : presets()) {
    const std::string name = preset.required("name").text();
    if (!name.starts_with("tcp-") && !name.starts_with("roce-")) continue;
    const double gbit_per_s = std::stod(name.substr(name.find('-') + 1));
    EXPECT_EQ(sourced(preset.required("bytes_per_s")).value, gbit_per_s * 1e9 / 8) << name;
  }
}

}  // namespace
}  // namespace sextant
