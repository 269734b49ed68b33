#include "ask/words/published_hardware.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ask/words/nearest_name.h"
#include "core/in_file.h"
#include "core/json_value.h"
#include "core/text.h"
#include "core/units.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/json.h"

namespace sextant::inline ask {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::string> parse_aliases(const JsonView& view) {
  std::vector<std::string> names;
  if (const auto aliases = view.optional("aliases")) {
    for (const JsonView& alias : aliases->items()) names.push_back(alias.text());
  }
  return names;
}

// Finds by name or alias, ignoring case.
template <typename T>
const T* find_named(const std::vector<T>& all, const std::string& name) {
  const std::string wanted = lower_case(name);
  const auto is_it = [&](const std::string& other) { return lower_case(other) == wanted; };
  const auto found = std::find_if(all.begin(), all.end(), [&](const T& one) {
    return is_it(one.name) || std::any_of(one.aliases.begin(), one.aliases.end(), is_it);
  });
  return found == all.end() ? nullptr : &*found;
}

Instance parse_instance(const JsonView& view) {
  Instance instance;
  instance.name = view.required("name").text();
  instance.aliases = parse_aliases(view);
  instance.gpu = view.required("gpu").text();
  instance.gpus = view.required("gpus").count(1);
  instance.network_bytes_per_s = Quantity::parse(view.required("network_bytes_per_s"));
  if (const auto memory = view.optional("host_memory_bytes"))
    instance.host_memory_bytes = Quantity::parse(*memory);
  if (const auto price = view.optional("price_usd_per_hour"))
    instance.price_usd_per_hour = Quantity::parse(*price);
  return instance;
}

LinkPreset parse_preset(const JsonView& view) {
  LinkPreset preset;
  preset.name = view.required("name").text();
  preset.aliases = parse_aliases(view);
  preset.is_of_node = view.required("adapter_of").one_of({"gpu", "node"}) == 1;
  preset.bytes_per_s = Quantity::parse(view.required("bytes_per_s"));
  if (const auto latency = view.optional("latency_s")) preset.latency_s = Quantity::parse(*latency);
  return preset;
}

template <typename T, typename Parse>
std::vector<T> read(const std::filesystem::path& file, const char* list, Parse parse) {
  return in_file(file, [&] {
    const Json json = parse_json(read_text_file(file));
    std::vector<T> all;
    for (const JsonView& item : JsonView(json).required(list).items()) all.push_back(parse(item));
    return all;
  });
}

// The rate in Gbit/s of "400", "400 Gbit/s", "400Gbps", "400G" or, in bytes, "50GB/s"; nullopt for another text. "100GbE" is
// none, because it does not say whether GPUs share the adapter.
std::optional<double> gigabits_in(const std::string& text) {
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const std::size_t begin = text.find_first_not_of(' ', end);
  const std::string unit = begin == std::string::npos ? "" : text.substr(begin);
  if (unit == "GB/s" || unit == "GBps") return number * kBitsPerByte;
  const std::string lower = lower_case(unit);
  for (const char* gigabit : {"", "g", "gb/s", "gbps", "gbit", "gbit/s", "gbits"}) {
    if (lower == gigabit) return number;
  }
  return std::nullopt;
}

}  // namespace

PublishedHardware PublishedHardware::load(const std::filesystem::path& data) {
  return {read<Instance>(data / "instances.json", "instances", parse_instance),
          read<LinkPreset>(data / "link_presets.json", "presets", parse_preset)};
}

const Instance* PublishedHardware::find_instance(const std::string& name) const {
  return find_named(instances, name);
}

LinkPreset PublishedHardware::preset(const std::string& option, const std::string& name) const {
  std::string spelled = name;  // "IB NDR" and ib_ndr are ib-ndr
  std::replace_if(
      spelled.begin(), spelled.end(), [](char c) { return c == ' ' || c == '_'; }, '-');
  if (const LinkPreset* known = find_named(presets, spelled)) return *known;
  constexpr double kMaxGigabits = 1e5;
  const std::optional<double> gigabits = gigabits_in(name);
  if (gigabits && std::isfinite(*gigabits) && *gigabits > 0 && *gigabits <= kMaxGigabits) {
    LinkPreset preset;
    const bool has_unit = std::isalpha(static_cast<unsigned char>(name.back())) != 0;
    preset.name = has_unit ? name : name + " Gbit/s";
    preset.bytes_per_s = assumed(*gigabits * 1e9 / kBitsPerByte, "given with " + option);
    return preset;
  }
  std::string known;
  std::vector<std::string_view> names;
  for (const LinkPreset& preset : presets) {
    known += (known.empty() ? "" : ", ") + preset.name;
    names.push_back(preset.name);
  }
  throw_bad_input(option + ": expected a number of Gbit/s, above 0 and at most 100000, or one of " + known +
                  "; got " + in_quotes(name) + did_you_mean(name, names));
}

}  // namespace sextant::inline ask
