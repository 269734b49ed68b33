#include "probes/cuda/gpu_of_rank.h"

#include <algorithm>
#include <map>
#include <utility>

#include "probes/rank_report.h"

namespace sextant {
namespace {

std::string joined(const std::vector<std::size_t>& ranks) {
  std::string text = std::to_string(ranks.front());
  for (std::size_t at = 1; at < ranks.size(); ++at) {
    text += (at + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[at]);
  }
  return text;
}

// Two ranks that have the same GPU would measure it as two.
void find_shared(const std::vector<std::string>& bus_ids, GpusOfRanks& found) {
  std::map<std::pair<std::string, std::string>, std::size_t> owners;
  for (std::size_t rank = 0; rank < bus_ids.size(); ++rank) {
    if (bus_ids[rank].empty()) continue;
    const auto [owner, is_first] = owners.insert({{found.hosts[rank], bus_ids[rank]}, rank});
    if (is_first) continue;
    found.shortages[rank] =
        "its GPU " + bus_ids[rank] + " is that of rank " + std::to_string(owner->second) + " too";
  }
}

}  // namespace

GpusOfRanks share_out_gpus(Communicator& ranks, const GpuDevices& devices) {
  GpusOfRanks found;
  found.hosts = ranks.hosts();
  const auto mine = found.hosts.begin() + ranks.rank();
  const auto nth = static_cast<std::size_t>(std::count(found.hosts.begin(), mine, *mine));
  const auto of_host = std::count(found.hosts.begin(), found.hosts.end(), *mine);
  const std::string absence = devices.absence();
  std::string shortage;
  if (absence.empty()) {
    const std::vector<GpuFacts> visible = devices.list();
    if (visible.size() == 1) {  // of several ranks each may be shown its own
      found.mine = visible.front();
    } else if (nth < visible.size()) {
      found.mine = visible[nth];
    } else {
      shortage =
          *mine + " has " + std::to_string(of_host) + " ranks and " + std::to_string(visible.size()) + " GPUs";
    }
  }
  found.absences = exchange_texts(ranks, absence);
  found.shortages = exchange_texts(ranks, shortage);
  find_shared(exchange_texts(ranks, found.mine.bus_id), found);
  return found;
}

std::string GpusOfRanks::why_not_whole() const {
  std::vector<std::size_t> without;
  bool any_sees_one = false;
  for (std::size_t rank = 0; rank < absences.size(); ++rank) {
    if (!absences[rank].empty() || !shortages[rank].empty()) without.push_back(rank);
    any_sees_one = any_sees_one || absences[rank].empty();
  }
  if (without.empty()) return "";
  const std::size_t first = without.front();
  const std::string& why = absences[first].empty() ? shortages[first] : absences[first];
  if (!any_sees_one) return why;
  const bool is_one = without.size() == 1;
  return (is_one ? "rank " : "ranks ") + joined(without) + " of " + std::to_string(absences.size()) +
         (is_one ? " has no GPU of its own" : " have no GPU of their own") + " (rank " + std::to_string(first) +
         ", on " + hosts[first] + ": " + why + ")";
}

}  // namespace sextant
