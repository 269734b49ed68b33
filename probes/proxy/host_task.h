// A task on CPU cores, with its weights in host memory.
#pragma once

#include "probes/proxy/model/parameters.h"
#include "probes/proxy/task_work.h"

namespace sextant::proxy {

class HostTask : public TaskWork {
 public:
  [[nodiscard]] virtual StageParameters& parameters() = 0;
};

}  // namespace sextant::proxy
