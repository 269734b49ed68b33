// The expected rate of a link, by class: data/links.json and the formulas.
//
// The expected rate is one direction, after encoding and before packet headers, which take another 5 to 17 %
// (26 bytes of header to 128 or 256 of data on PCIe). So a link that works well stays below it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/topology/gpu_place.h"
#include "sextant/document.h"

namespace sextant::inline probes {

struct LinkFacts {
  static constexpr std::string_view kKind = "link_facts";
  static constexpr SchemaVersion kVersion{1, 0};

  struct Pcie {
    std::string name;
    double transfers_per_s = 0;  // per lane
    double payload_fraction = 0;
    std::string source;
  };
  struct NvLink {
    std::string name;
    double bytes_per_s = 0;  // per link
    std::vector<int> compute_capabilities;
    std::string source;
  };
  std::vector<Pcie> pcie;
  std::vector<NvLink> nvlink;

  static LinkFacts parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

struct ExpectedRate {
  double bytes_per_s = 0;
  std::string formula;  // "PCIe 5.0 x16: 32.0 GT/s x 16 lanes x 0.985 / 8"
};

// usual_nvlinks: the maximum of active NVLinks over the GPUs of the host, to detect a GPU with some down.
// Between hosts, returns the rate of the slower of their fastest adapters, for InfiniBand and RoCE if both have
// them. nullopt if the kernel or the table does not have the data.
[[nodiscard]] std::optional<ExpectedRate> expected_rate(const LinkFacts& facts, const GpuPlace& a,
                                                        const GpuPlace& b, int usual_nvlinks);

}  // namespace sextant::inline probes
