#include "probes/comm/kept_communicators.h"

#include <mutex>
#include <utility>
#include <vector>

namespace sextant::inline probes {

void keep_for_good(std::unique_ptr<Communicator> ranks) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<Communicator>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(ranks));
}

}  // namespace sextant::inline probes
