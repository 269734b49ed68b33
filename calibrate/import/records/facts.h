// Published facts about GPUs and models (data/gpus.json, data/models.json) as device types and models.
//
// If a file lists several figures for one quantity, the first is taken: the datasheet's (if there is one) for
// arithmetic rates, and that of the machines of the published runs for links.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/model.h"

namespace sextant::inline calibrate {

struct Gpu {
  std::string name;  // as in data/gpus.json
  DeviceType type;   // datasheet rates if there are any, by precision
  // The best matrix products that were published, by precision; only where the datasheet's rate is known too.
  std::map<Precision, double> best_measured_flop_per_s;
  std::optional<double> compute_capability;  // for NVIDIA GPUs: 9 for Hopper, 10 and above for Blackwell
  int per_node = 8;
  LinkRate within_node;                   // between two GPUs of a node, one direction
  LinkRate between_nodes;                 // one GPU's share of the network adapters
  double network_bytes_per_s = 0;         // per node, one direction
  int per_rack = 0;                       // devices per rack (72 for an NVL72), joined by their network; 0: all
  std::optional<LinkRate> between_racks;  // one GPU's share of the adapters; only if there are racks
};

// The GPU that a text names, or the reason why it names none: exactly one of them is empty.
struct GpuInText {
  std::string name;            // as in data/gpus.json
  std::string failure_reason;  // a sentence for a LeftOut
};

class Facts {
 public:
  // Throws Error(bad_input) with the JSON path of what is wrong.
  static Facts load(const std::filesystem::path& gpus, const std::filesystem::path& models);

  // Finds by name or alias, ignoring case; throws Error(bad_input) with the unknown name.
  [[nodiscard]] const Gpu& gpu(const std::string& name) const;
  [[nodiscard]] const Model& model(const std::string& name) const;
  [[nodiscard]] bool has_gpu(const std::string& name) const;
  [[nodiscard]] bool has_model(const std::string& name) const;
  // Returns all names and aliases of GPUs, in lower case and in order.
  [[nodiscard]] std::vector<std::string> gpu_names() const;
  // Returns the names of all models, without aliases; valid as long as the facts.
  [[nodiscard]] std::vector<std::string_view> model_names() const;
  // Finds the one GPU whose name or alias is among the words of a text: "AMD MI300X", "GH200 (stated)", "V100
  // 16 GB". If several names begin at one word the longest counts; separators are ignored ("A100 40 GB" is
  // A100-40GB). A text that names several GPUs, "A100 or A800", names none, and neither does one whose words
  // beside the name say that another card is meant: "A100-PCIE-48GB", "RTX 4090 Laptop".
  [[nodiscard]] GpuInText gpu_in(const std::string& text) const;
  // Returns a sentence for a LeftOut, with the file's own reason if it has one: "the shape of model "X" is not
  // known: it has linear attention, which a model document does not". For a GPU without a reason it lists the
  // GPUs whose names begin alike. gpu() and model() throw the same.
  [[nodiscard]] std::string why_no_gpu(const std::string& name) const;
  [[nodiscard]] std::string why_no_model(const std::string& name) const;

 private:
  // Keyed by lower-case name or alias; a model also without its publisher ("Qwen/Qwen3-8B" as "Qwen3-8B").
  std::map<std::string, Gpu> gpus_;
  std::map<std::string, Model> models_;
  std::map<std::string, std::string> gpus_left_out_;  // by name, the reason
  std::map<std::string, std::string> models_left_out_;
};

}  // namespace sextant::inline calibrate
