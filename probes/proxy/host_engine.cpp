#include "probes/proxy/engine.h"
#include "probes/proxy/generation.h"
#include "probes/proxy/inference.h"
#include "probes/proxy/model/blas.h"
#include "probes/proxy/training.h"
#include "probes/proxy/weight_sync.h"
#include "sextant/error.h"

namespace sextant::proxy {
namespace {

class HostEngine final : public TaskEngine {
 public:
  [[nodiscard]] EngineLimits limits() const override { return {}; }

  void prepare(const Workflow&, const Plan&, const Workload&) override { use_one_blas_thread(); }

  [[nodiscard]] std::unique_ptr<TaskWork> make_task(const TaskSetup& setup) override {
    switch (setup.task.kind) {
      case TaskKind::generation:
        return std::make_unique<Generation>(setup);
      case TaskKind::inference:
        return std::make_unique<Inference>(setup);
      case TaskKind::training:
        return std::make_unique<Training>(setup);
    }
    SEXTANT_CHECK(false && "every kind of task is handled");
    return nullptr;
  }

  [[nodiscard]] std::unique_ptr<WeightTransfer> make_weight_transfer(
      const WeightTransferSetup& setup) override {
    return std::make_unique<WeightSync>(setup);
  }

  [[nodiscard]] std::map<std::string, std::string> notes() const override {
    return {{"blas", blas_description()}};
  }
  [[nodiscard]] bool runs_on_cores() const override { return true; }
};

}  // namespace

std::unique_ptr<TaskEngine> make_host_engine() { return std::make_unique<HostEngine>(); }

}  // namespace sextant::proxy
