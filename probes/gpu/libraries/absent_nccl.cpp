#include "probes/gpu/libraries/nccl_collectives.h"

namespace sextant::inline probes {

CollectivesOrReason make_nccl_collectives(Communicator&, int) { return {nullptr, "built without CUDA"}; }

}  // namespace sextant::inline probes
