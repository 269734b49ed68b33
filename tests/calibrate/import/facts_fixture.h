// Facts for tests: the shipped ones, and those of one GPU and one model as whole files that a test may change.
#pragma once

#include <string>
#include <utility>

#include "calibrate/import/records/facts.h"
#include "sextant/document.h"
#include "tests/core/temporary_folder.h"

namespace sextant {

inline const Facts& published() {
  static const Facts facts =
      Facts::load(SEXTANT_SOURCE_DIR "/data/gpus.json", SEXTANT_SOURCE_DIR "/data/models.json");
  return facts;
}

inline const char* const kGpus = R"({
  "schema": "sextant.gpu_facts/1.1",
  "gpus": [{
    "name": "Tiny", "flop_per_s": {"bf16": [{"value": 1e12, "source": "assumed"}]},
    "memory_bytes": [{"value": 1e9, "source": "assumed"}],
    "memory_bytes_per_s": [{"value": 1e10, "source": "assumed"}],
    "within_node_bytes_per_s": [{"value": 8e9, "source": "assumed"}],
    "within_node_latency_s": [{"value": 1e-6, "source": "assumed"}],
    "between_nodes_bytes_per_s": [{"value": 1e9, "source": "assumed"}],
    "between_nodes_latency_s": [{"value": 1e-5, "source": "assumed"}],
    "network_bytes_per_s": [{"value": 4e9, "source": "assumed"}],
    "devices_per_node": [{"value": 4, "source": "assumed"}]
  }],
  "aliases": {"Small": "Tiny"},
  "left_out": {"Huge": "nobody measured it"}
})";

inline const char* const kModels = R"({
  "schema": "sextant.model_facts/1.1",
  "models": [{"name": "Dot-1B", "layers": 4, "hidden": 64, "intermediate": 256, "heads": 8, "vocabulary": 100}],
  "aliases": {"Dot 1B": "Dot-1B"},
  "notes": {},
  "left_out": {"Dot-9B": "nobody wrote it down"}
})";

// Loads both files, with `from` replaced by `to` in the one that contains it.
inline Facts load_with(const std::string& from = "", const std::string& to = "") {
  const TemporaryFolder folder;
  for (const auto& [name, text] : {std::pair("gpus.json", kGpus), std::pair("models.json", kModels)}) {
    std::string body = text;
    const std::size_t at = from.empty() ? std::string::npos : body.find(from);
    if (at != std::string::npos) {
      body.replace(at, from.size(), to);
    }
    write_text_file(folder.path() / name, body);
  }
  return Facts::load(folder.path() / "gpus.json", folder.path() / "models.json");
}

}  // namespace sextant
