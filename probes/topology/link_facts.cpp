#include "probes/topology/link_facts.h"

#include <algorithm>
#include <cmath>

#include "core/json_value.h"
#include "core/units.h"

namespace sextant::inline probes {
namespace {

const LinkFacts::Pcie* find_generation(const LinkFacts& facts, double transfers_per_s) {
  for (const LinkFacts::Pcie& pcie : facts.pcie) {
    if (std::abs(pcie.transfers_per_s / transfers_per_s - 1) < 0.01) return &pcie;
  }
  return nullptr;
}

std::optional<ExpectedRate> rate_of(const LinkFacts& facts, const PciLink& link) {
  const LinkFacts::Pcie* generation = find_generation(facts, link.transfers_per_s);
  if (generation == nullptr || link.width <= 0) return std::nullopt;
  const double bytes_per_s = link.transfers_per_s * link.width * generation->payload_fraction / kBitsPerByte;
  return ExpectedRate{bytes_per_s, generation->name + " x" + std::to_string(link.width) + ": " +
                                       format_number(link.transfers_per_s / 1e9) + " GT/s x " +
                                       std::to_string(link.width) + " lanes x " +
                                       format_number(generation->payload_fraction) + " / 8"};
}

// The slowest link of both ways below where they meet.
std::optional<ExpectedRate> pcie_rate(const LinkFacts& facts, const PciDevice& a, const PciDevice& b) {
  const std::size_t shared = shared_bridges(a, b);
  std::optional<ExpectedRate> slowest;
  for (const PciDevice* device : {&a, &b}) {
    const std::vector<PciLink> links = device->links_below(shared);
    if (links.empty()) return std::nullopt;
    for (const PciLink& link : links) {
      const auto rate = rate_of(facts, link);
      if (!rate) return std::nullopt;
      if (!slowest || rate->bytes_per_s < slowest->bytes_per_s) slowest = rate;
    }
  }
  return slowest;
}

std::optional<ExpectedRate> nvlink_rate(const LinkFacts& facts, int compute_capability, int links) {
  for (const LinkFacts::NvLink& nvlink : facts.nvlink) {
    const auto& known = nvlink.compute_capabilities;
    if (std::find(known.begin(), known.end(), compute_capability) == known.end()) continue;
    return ExpectedRate{links * nvlink.bytes_per_s, nvlink.name + ": " + std::to_string(links) + " links x " +
                                                        format_bytes_per_s(nvlink.bytes_per_s)};
  }
  return std::nullopt;
}

// One adapter: NCCL sends a message between two GPUs through the one that is nearest, some plug-ins through
// several.
std::optional<ExpectedRate> network_rate(const std::vector<NetworkAdapter>& a,
                                         const std::vector<NetworkAdapter>& b) {
  for (const bool is_rdma : {true, false}) {
    const NetworkAdapter* from = fastest(a, is_rdma);
    const NetworkAdapter* to = fastest(b, is_rdma);
    if (from == nullptr || to == nullptr) continue;
    const NetworkAdapter& slower = from->bytes_per_s <= to->bytes_per_s ? *from : *to;
    return ExpectedRate{
        slower.bytes_per_s,
        slower.name + ": " + format_number(slower.bytes_per_s * kBitsPerByte / 1e9) + " Gb/s / 8"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ExpectedRate> expected_rate(const LinkFacts& facts, const GpuPlace& a, const GpuPlace& b,
                                          int usual_nvlinks) {
  const LinkClass link = link_class(a, b);
  if (link.kind == LinkKind::nvlink) {
    const int links = link.is_switched ? std::max(link.nvlinks, usual_nvlinks) : link.nvlinks;
    return nvlink_rate(facts, std::min(a.compute_capability, b.compute_capability), links);
  }
  if (link.kind == LinkKind::other_host) return network_rate(a.adapters, b.adapters);
  if (!a.pci || !b.pci) return std::nullopt;
  return pcie_rate(facts, *a.pci, *b.pci);
}

LinkFacts LinkFacts::parse(const JsonView& view) {
  view.allow_only({"links"});
  LinkFacts facts;
  for (const JsonView& item : view.required("links").items()) {
    const std::string name = item.required("name").text();
    const std::string source = item.required("source").text();
    if (item.optional("transfers_per_s")) {
      item.allow_only({"name", "transfers_per_s", "payload_fraction", "source"});
      facts.pcie.push_back({name, item.required("transfers_per_s").positive(),
                            item.required("payload_fraction").fraction(), source});
      continue;
    }
    item.allow_only({"name", "bytes_per_s", "compute_capabilities", "source"});
    NvLink nvlink{name, item.required("bytes_per_s").positive(), {}, source};
    for (const JsonView& capability : item.required("compute_capabilities").items()) {
      nvlink.compute_capabilities.push_back(capability.count(10));
    }
    facts.nvlink.push_back(std::move(nvlink));
  }
  return facts;
}

Json LinkFacts::to_json() const {
  Json links = Json::array();
  for (const Pcie& entry : pcie) {
    links.push_back({{"name", entry.name},
                     {"transfers_per_s", entry.transfers_per_s},
                     {"payload_fraction", entry.payload_fraction},
                     {"source", entry.source}});
  }
  for (const NvLink& entry : nvlink) {
    links.push_back({{"name", entry.name},
                     {"bytes_per_s", entry.bytes_per_s},
                     {"compute_capabilities", entry.compute_capabilities},
                     {"source", entry.source}});
  }
  return {{"links", std::move(links)}};
}

}  // namespace sextant::inline probes
