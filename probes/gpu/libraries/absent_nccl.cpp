#include "probes/gpu/libraries/nccl_collectives.h"

namespace sextant {

CollectivesOrReason make_nccl_collectives(Communicator&, int) { return {nullptr, "built without CUDA"}; }

}  // namespace sextant
