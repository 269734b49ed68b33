#include "calibrate/import/records/facts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "calibrate/import/records/names_in_text.h"
#include "core/in_file.h"
#include "core/json_value.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// "Qwen/Qwen3-8B" as "Qwen3-8B".
std::string without_publisher(const std::string& name) { return name.substr(name.find('/') + 1); }

// The first of the figures for one quantity.
Quantity first_figure(const JsonView& figures) {
  const std::vector<JsonView> items = figures.items();
  if (items.empty()) {
    figures.fail("expected at least one figure");
  }
  return Quantity::parse(items.front());
}

std::optional<Quantity> optional_figure(const JsonView& gpu, std::string_view member) {
  const std::optional<JsonView> figures = gpu.optional(member);
  return figures ? std::optional(first_figure(*figures)) : std::nullopt;
}

// The first figure, which must be an integer.
int first_count(const JsonView& figures) {
  const Quantity figure = first_figure(figures);
  const int count = static_cast<int>(figure.value);
  if (count != figure.value) {
    figures.fail("expected an integer, got " + Json(figure.value).dump());
  }
  return count;
}

std::map<Precision, Quantity> parse_rates(const JsonView& view) {
  std::map<Precision, Quantity> out;
  for (const auto& [name, figures] : view.members()) {
    const Json key = name;
    out.emplace(parse_precision(JsonView(key, figures.path())), first_figure(figures));
  }
  return out;
}

// Rates that are measured and not the first, which is the datasheet's.
std::map<Precision, double> parse_measured_rates(const JsonView& view) {
  std::map<Precision, double> out;
  for (const auto& [name, figures] : view.members()) {
    const Json key = name;
    const Precision precision = parse_precision(JsonView(key, figures.path()));
    for (const JsonView& item : figures.items()) {
      const Quantity figure = Quantity::parse(item);
      if (figure.source == Source::measured && first_figure(figures).source == Source::datasheet)
        out[precision] = std::max(out[precision], figure.value);
    }
  }
  return out;
}

LinkRate parse_link(const JsonView& gpu, const std::string& place) {
  return {first_figure(gpu.required(place + "_latency_s")), first_figure(gpu.required(place + "_bytes_per_s"))};
}

Gpu parse_gpu(const JsonView& view) {
  view.allow_only({"name", "compute_capability", "flop_per_s", "memory_bytes", "memory_bytes_per_s",
                   "within_node_bytes_per_s", "within_node_latency_s", "between_nodes_bytes_per_s",
                   "between_nodes_latency_s", "network_bytes_per_s", "between_racks_bytes_per_s",
                   "between_racks_latency_s", "devices_per_rack", "host_bytes_per_s", "power_w",
                   "devices_per_node", "price_usd_per_hour"});
  Gpu out;
  out.name = view.required("name").text();
  out.type.flop_per_s = parse_rates(view.required("flop_per_s"));
  out.best_measured_flop_per_s = parse_measured_rates(view.required("flop_per_s"));
  out.type.memory_bytes = first_figure(view.required("memory_bytes"));
  out.type.memory_bytes_per_s = first_figure(view.required("memory_bytes_per_s"));
  out.type.host_bytes_per_s = optional_figure(view, "host_bytes_per_s");
  out.type.price_usd_per_hour = optional_figure(view, "price_usd_per_hour");
  if (const auto capability = optional_figure(view, "compute_capability")) {
    out.compute_capability = capability->value;
  }
  out.per_node = first_count(view.required("devices_per_node"));
  out.within_node = parse_link(view, "within_node");
  out.between_nodes = parse_link(view, "between_nodes");
  out.network_bytes_per_s = first_figure(view.required("network_bytes_per_s")).value;
  if (const auto per_rack = view.optional("devices_per_rack")) {
    out.per_rack = first_count(*per_rack);
    out.between_racks = parse_link(view, "between_racks");
  }
  return out;
}

// Names and aliases of one file, ignoring case.
template <typename Fact>
class Names {
 public:
  void add(const JsonView& view, const std::string& name, const Fact& fact) {
    if (!by_name_.emplace(lower(name), fact).second) {
      view.fail("another entry is named " + in_quotes(name) + " too, case ignored");
    }
  }

  void add_alias(const JsonView& view, const std::string& alias) {
    const auto found = by_name_.find(lower(view.text()));
    if (found == by_name_.end()) {
      view.fail("unknown name " + in_quotes(view.text()));
    }
    add(view, alias, found->second);
  }

  [[nodiscard]] std::map<std::string, Fact> take() { return std::move(by_name_); }

 private:
  std::map<std::string, Fact> by_name_;
};

void expect_schema(const JsonView& view, const std::string& kind) {
  const JsonView schema = view.required("schema");
  const std::string wanted = "sextant." + kind + "/1.";
  if (!schema.text().starts_with(wanted)) {
    schema.fail("expected " + wanted + "x, got " + in_quotes(schema.text()));
  }
}

// Both files: entries under `list`, then "aliases", "notes" and "left_out".
template <typename Fact, typename Parse>
std::map<std::string, Fact> parse_facts(const JsonView& view, const std::string& list, Parse parse,
                                        std::map<std::string, std::string>& left_out) {
  view.allow_only({"schema", list, "aliases", "notes", "left_out"});
  Names<Fact> names;
  for (const JsonView& entry : view.required(list).items()) {
    const Fact fact = parse(entry);
    names.add(entry, fact.name, fact);
  }
  for (const auto& [alias, name] : view.required("aliases").members()) {
    names.add_alias(name, alias);
  }
  for (const auto& [name, reason] : view.required("left_out").members()) {
    left_out.emplace(lower(name), reason.text());
  }
  return names.take();
}

template <typename Read>
auto read_facts(const fs::path& file, Read read) {
  const std::string text = read_text_file(file);
  return in_file(file, [&] {
    const Json json = parse_json(text);
    return read(JsonView(json));
  });
}

// A card in a PCIe slot can send no more into its node than PCIe 5 carries.
bool is_pcie_card(const Gpu& gpu) {
  constexpr double kPcie5BytesPerS = 64e9;
  return gpu.within_node.bytes_per_s.value <= kPcie5BytesPerS;
}

// The names that begin like a word of the text: all A100 for "A100-PCIE-48GB".
std::set<std::string> same_family(const std::map<std::string, Gpu>& gpus, const std::string& text) {
  std::set<std::string> family, longer;
  for (const std::string& word : words_of(text)) {
    for (const auto& [key, gpu] : gpus) {
      const std::string first = words_of(gpu.name).front();
      if (word == first) family.insert(gpu.name);
      if (word.starts_with(first)) longer.insert(gpu.name);
    }
  }
  return family.empty() ? longer : family;
}

std::string joined(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

const std::string* reason_for(const std::map<std::string, std::string>& left_out, const std::string& name) {
  const auto found = left_out.find(lower(name));
  return found == left_out.end() ? nullptr : &found->second;
}

}  // namespace

Facts Facts::load(const fs::path& gpus, const fs::path& models) {
  Facts facts;
  facts.gpus_ = read_facts(gpus, [&facts](const JsonView& view) {
    expect_schema(view, "gpu_facts");
    return parse_facts<Gpu>(view, "gpus", parse_gpu, facts.gpus_left_out_);
  });
  facts.models_ = read_facts(models, [&facts](const JsonView& view) {
    expect_schema(view, "model_facts");
    return parse_facts<Model>(view, "models", Model::parse, facts.models_left_out_);
  });
  // Versions of one shape may take longer sequences or only shorter ones.
  for (auto& [name, model] : facts.models_) {
    if (name != lower(model.name)) model.context_tokens = 0;
  }
  return facts;
}

namespace {

template <typename T>
std::vector<std::string> keys_of(const std::map<std::string, T>& all) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : all) keys.push_back(key);
  return keys;
}

}  // namespace

std::vector<std::string> Facts::gpu_names() const { return keys_of(gpus_); }

bool Facts::has_gpu(const std::string& name) const { return gpus_.contains(lower(name)); }

bool Facts::has_model(const std::string& name) const {
  return models_.contains(lower(name)) || models_.contains(lower(without_publisher(name)));
}

const Gpu& Facts::gpu(const std::string& name) const {
  if (!has_gpu(name)) {
    throw_bad_input(why_no_gpu(name));
  }
  return gpus_.at(lower(name));
}

const Model& Facts::model(const std::string& name) const {
  if (!has_model(name)) {
    throw_bad_input(why_no_model(name));
  }
  const auto found = models_.find(lower(name));
  return found != models_.end() ? found->second : models_.at(lower(without_publisher(name)));
}

std::vector<std::string_view> Facts::model_names() const {
  std::vector<std::string_view> names;
  for (const auto& [key, model] : models_) {
    if (key == lower(model.name)) names.push_back(model.name);
  }
  return names;
}

GpuInText Facts::gpu_in(const std::string& text) const {
  if (has_gpu(text)) return {gpu(text).name, ""};
  std::map<std::string, std::string> names, reasons;
  for (const auto& [name, gpu] : gpus_) names[without_separators(name)] = gpu.name;
  for (const auto& [name, reason] : gpus_left_out_) reasons[without_separators(name)] = reason;
  const std::vector<NameInText> left_out = names_in(reasons, text);
  std::set<std::string> found;
  for (const NameInText& name : names_in(names, text)) {
    const Gpu& named = gpu(name.value);
    if (names_another_card(name, {is_pcie_card(named), named.type.memory_bytes.value}))
      return {"", why_no_gpu(text)};
    found.insert(name.value);
  }
  if (found.size() > 1) return {"", in_quotes(text) + " names several GPUs: " + joined(found)};
  if (!left_out.empty()) return {"", "no facts about GPU " + in_quotes(text) + ": " + left_out.front().value};
  if (found.empty()) return {"", why_no_gpu(text)};
  return {*found.begin(), ""};
}

std::string Facts::why_no_gpu(const std::string& name) const {
  const std::string unknown = "no facts about GPU " + in_quotes(name);
  if (const std::string* reason = reason_for(gpus_left_out_, name)) return unknown + ": " + *reason;
  const std::string nearest = joined(same_family(gpus_, name));
  return nearest.empty() ? unknown : unknown + "; the nearest are " + nearest;
}

std::string Facts::why_no_model(const std::string& name) const {
  const std::string* reason = reason_for(models_left_out_, name);
  if (reason == nullptr) {
    reason = reason_for(models_left_out_, without_publisher(name));
  }
  return "the shape of model " + in_quotes(name) + " is not known" + (reason != nullptr ? ": " + *reason : "");
}

}  // namespace sextant::inline calibrate
