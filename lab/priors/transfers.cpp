// Weight transfers from trainers to generation: share of the links' rate, and what handing over a tensor costs.
#include <tuple>

#include "costmodel/terms/weight_sync.h"
#include "lab/priors/evidence_of.h"
#include "lab/priors/shown_values.h"

namespace sextant::inline lab {

using enum CoefficientId;
using enum EvidenceRelation;

std::vector<PriorEvidence> evidence_of_transfers(const std::vector<TransferRow>& rows) {
  ShownValues shares, tensors;
  for (const TransferRow& row : rows) {
    const double bytes = row.copies * bytes_per_element(row.precision) * row.model->parameters();
    shares.add(row.device, bytes / (row.time_s * row.links_bytes_per_s));
  }
  // The same transfer with and without packing: what is saved was paid by the tensor.
  using Transfer = std::tuple<std::string, std::string, std::string>;
  const auto key = [](const TransferRow& row) { return Transfer{row.framework, row.device, row.model->name}; };
  std::map<Transfer, double> packed_s;
  for (const TransferRow& row : rows) {
    if (row.packed.value_or(false)) packed_s[key(row)] = row.time_s;
  }
  for (const TransferRow& row : rows) {
    const auto packed = packed_s.find(key(row));
    if (row.packed.value_or(true) || packed == packed_s.end() || packed->second >= row.time_s) continue;
    tensors.add(row.device, (row.time_s - packed->second) / terms::weight_tensors(*row.model), 2);
  }
  std::vector<PriorEvidence> out;
  shares.summarize(out, weight_sync_efficiency, at_least, "weight_transfers.csv",
                   "bytes over time and the links' rate; the time holds fixed times and those of tensors too");
  tensors.summarize(out, weight_sync_tensor_overhead_s, equals, "weight_transfers.csv",
                    "what packing tensors into large messages saves, per tensor");
  return out;
}

}  // namespace sextant::inline lab
