// sextant list: the names that --gpus, --network, --model and --framework know.
#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "ask/data_files.h"
#include "ask/framework.h"
#include "ask/model_source.h"
#include "ask/words/published_hardware.h"
#include "calibrate/import/records/facts.h"
#include "calibrate/spelling.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/text.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct ListOptions {
  std::string kind;
  std::string part;
  bool json = false;
};

constexpr std::array kListKinds{"gpus", "instances", "networks", "models", "frameworks"};

// A table that is also printed as JSON: an object a row, with the header's words as keys.
class Listing {
 public:
  Listing(const ListOptions& options, std::vector<std::string> header)
      : options_(options), header_(std::move(header)) {}

  // Leaves out a row whose name and other names lack the part that was asked for.
  void add(std::vector<std::string> row, const std::string& other_names = "") {
    const std::string names = lower_case(row.front() + " " + other_names);
    if (names.find(lower_case(options_.part)) != std::string::npos) rows_.push_back(std::move(row));
  }

  [[nodiscard]] std::string text() const {
    if (rows_.empty())
      throw_bad_input("no name of " + options_.kind + " contains " + in_quotes(options_.part) +
                      "; sextant list " + options_.kind + " prints all");
    if (options_.json) return format_json(json());
    Table table(header_);
    for (const auto& row : rows_) table.add(row);
    return table.text();
  }

 private:
  [[nodiscard]] Json json() const {
    Json all = Json::array();
    for (const auto& row : rows_) {
      Json one = Json::object();
      for (std::size_t i = 0; i < header_.size(); ++i) one[header_[i]] = row[i];
      all.push_back(std::move(one));
    }
    return all;
  }

  const ListOptions& options_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

std::string in_gigabits(double bytes_per_s) { return format_number(8e-9 * bytes_per_s) + " Gbit/s"; }

std::string joined_names(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string list_gpus(const ListOptions& options, const Facts& facts) {
  Listing listing(options, {"gpu", "memory", "bf16", "memory rate", "link in a node", "usual node"});
  std::map<std::string, std::string> names;  // with the other names of each
  for (const std::string& name : facts.gpu_names()) names[facts.gpu(name).name] += name + " ";
  for (const auto& [name, others] : names) {
    const Gpu& gpu = facts.gpu(name);
    const auto bf16 = gpu.type.flop_per_s.find(Precision::bf16);
    listing.add(
        {name, format_bytes(gpu.type.memory_bytes.value),
         bf16 == gpu.type.flop_per_s.end() ? "-" : format_number(1e-12 * bf16->second.value) + " TFLOP/s",
         format_number(1e-9 * gpu.type.memory_bytes_per_s.value) + " GB/s",
         format_number(1e-9 * gpu.within_node.bytes_per_s.value) + " GB/s",
         std::to_string(gpu.per_node) + " GPUs"},
        others);
  }
  return listing.text();
}

std::string list_instances(const ListOptions& options, const PublishedHardware& hardware) {
  Listing listing(options, {"instance", "gpus", "network", "dollars an hour", "other names"});
  for (const Instance& one : hardware.instances) {
    listing.add(
        {one.name, std::to_string(one.gpus) + " x " + one.gpu, in_gigabits(one.network_bytes_per_s.value),
         one.price_usd_per_hour ? format_number(one.price_usd_per_hour->value) : "-",
         joined_names(one.aliases)},
        joined_names(one.aliases) + " " + one.gpu);
  }
  return listing.text();
}

std::string list_networks(const ListOptions& options, const PublishedHardware& hardware) {
  Listing listing(options, {"network", "rate", "adapter of", "other names"});
  for (const LinkPreset& one : hardware.presets) {
    listing.add({one.name, in_gigabits(one.bytes_per_s.value), one.is_of_node ? "a node" : "each GPU",
                 joined_names(one.aliases)},
                joined_names(one.aliases));
  }
  return listing.text();
}

std::string list_models(const ListOptions& options, const Facts& facts) {
  Listing listing(options, {"model", "parameters", "layers", "context"});
  for (const auto& [name, model] : known_models(facts)) {
    listing.add({name, format_number(1e-9 * model.parameters()) + " billion", std::to_string(model.layers),
                 model.context_tokens > 0 ? std::to_string(model.context_tokens) : "-"});
  }
  return listing.text();
}

std::string list_frameworks(const ListOptions& options) {
  Listing listing(options, {"framework", "version", "also named"});
  for (const FrameworkProfile& one : shipped_profiles()) {
    listing.add({one.name, one.version.empty() ? "-" : one.version, one.is_family_default ? one.family : "-"});
  }
  return listing.text();
}

std::string listed(const ListOptions& options) {
  if (options.kind == "frameworks") return list_frameworks(options);
  const std::filesystem::path data = data_folder();
  if (options.kind == "instances") return list_instances(options, PublishedHardware::load(data));
  if (options.kind == "networks") return list_networks(options, PublishedHardware::load(data));
  const Facts facts = Facts::load(data / "gpus.json", data / "models.json");
  return options.kind == "gpus" ? list_gpus(options, facts) : list_models(options, facts);
}

}  // namespace

void add_list(CommandLine& line) {
  const auto options = std::make_shared<ListOptions>();
  const Command command =
      line.add_command("list", "List known GPUs, cloud instances, networks, models or frameworks");
  command.add_option("kind", options->kind, "gpus, instances, networks, models or frameworks")
      .required()
      .check(one_of({kListKinds.begin(), kListKinds.end()}));
  command.add_option("part", options->part, "Show only names that contain this text, ignoring case");
  command.add_flag("--json", options->json, "Print JSON instead of a table");
  command.footer(
      "A model that is not listed is read from its config.json: --model FOLDER or FILE. The sources of all "
      "figures are\n"
      "in the files of the data folder.\n"
      "Example: sextant list models qwen3\n"
      "         sextant list instances h100");
  command.runs([options] {
    print_text(listed(*options));
    return kDone;
  });
}

}  // namespace sextant::cli
