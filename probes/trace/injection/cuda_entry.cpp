// Called by the CUDA driver when it is initialised, because CUDA_INJECTION64_PATH names this library.
#include "probes/trace/injection/recorder.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (sextant::trace::Recorder* recorder = sextant::trace::Recorder::instance()) recorder->attach_device();
  return 1;
}
