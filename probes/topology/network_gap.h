// Causes of a slow link between two hosts, for the table of link_gap.cpp: a sentence, or an empty text.
#pragma once

#include <string>

#include "probes/topology/link_gap.h"

namespace sextant::inline probes {

[[nodiscard]] std::string rdma_disabled(const LinkEvidence& evidence);
[[nodiscard]] std::string sockets_chosen(const LinkEvidence& evidence);
[[nodiscard]] std::string other_adapter_chosen(const LinkEvidence& evidence);
[[nodiscard]] std::string other_interface_chosen(const LinkEvidence& evidence);
[[nodiscard]] std::string no_direct_rdma(const LinkEvidence& evidence);
[[nodiscard]] std::string no_rdma_adapter(const LinkEvidence& evidence);

}  // namespace sextant::inline probes
