#include "probes/gpu/gpu_of_rank.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "probes/report/rank_report.h"

namespace sextant::inline probes {
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
  const std::string absence = devices.absence();
  return share_out_gpus(ranks, absence, absence.empty() ? devices.list() : std::vector<GpuFacts>());
}

GpusOfRanks share_out_gpus(Communicator& ranks, const std::string& absence,
                           const std::vector<GpuFacts>& visible) {
  GpusOfRanks found;
  found.hosts = ranks.hosts();
  const auto mine = found.hosts.begin() + ranks.rank();
  const auto nth = static_cast<std::size_t>(std::count(found.hosts.begin(), mine, *mine));
  const auto of_host = std::count(found.hosts.begin(), found.hosts.end(), *mine);
  std::string shortage;
  if (absence.empty()) {
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
  found.bus_ids = exchange_texts(ranks, found.mine.bus_id);
  for (const std::string& count : exchange_texts(ranks, std::to_string(visible.size()))) {
    found.visible.push_back(std::stoi(count));
  }
  find_shared(found.bus_ids, found);
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

bool GpusOfRanks::is_rank_a_host() const {
  return std::set<std::string>(hosts.begin(), hosts.end()).size() == hosts.size() &&
         std::any_of(visible.begin(), visible.end(), [](int gpus) { return gpus > 1; });
}

std::vector<int> GpusOfRanks::ranks_of_host(int rank) const {
  std::vector<int> of_host;
  for (std::size_t other = 0; other < hosts.size(); ++other) {
    if (hosts[other] == hosts[static_cast<std::size_t>(rank)]) of_host.push_back(static_cast<int>(other));
  }
  return of_host;
}

std::vector<std::string> GpusOfRanks::bus_ids_of_host(int rank) const {
  std::vector<std::string> ids;
  for (const int of_host : ranks_of_host(rank)) ids.push_back(bus_ids[static_cast<std::size_t>(of_host)]);
  return ids;
}

std::vector<std::string> GpusOfRanks::warnings_of_idle_gpus() const {
  std::vector<std::string> warnings;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const std::vector<int> of_host = ranks_of_host(static_cast<int>(rank));
    const int idle = visible[rank] - static_cast<int>(of_host.size());
    if (of_host.front() != static_cast<int>(rank) || visible[rank] < 2 || idle <= 0) continue;
    const std::string gpus = std::to_string(visible[rank]);
    warnings.push_back(hosts[rank] + " has " + gpus + " GPUs and " + std::to_string(of_host.size()) +
                       (of_host.size() == 1 ? " rank: " : " ranks: ") + std::to_string(idle) +
                       " of its GPUs are not measured; start one rank per GPU (srun --ntasks-per-node=" + gpus +
                       ", mpirun --map-by ppr:" + gpus + ":node).");
  }
  return warnings;
}

}  // namespace sextant::inline probes
