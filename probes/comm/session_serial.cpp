// The process is alone: built without MPI.
#include "probes/comm/communicator.h"

namespace sextant::inline probes {

CommunicatorSession::CommunicatorSession(int*, char***) : world_(make_serial_communicator()) {}
CommunicatorSession::~CommunicatorSession() = default;

void abort_all_ranks(int) {}

bool has_multi_rank_transport() { return false; }

std::string transport_description() { return "one rank: built without MPI"; }

}  // namespace sextant::inline probes
