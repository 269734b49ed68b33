#include "planner/search/known_options.h"

#include <cstddef>

namespace sextant::inline planner {

class KnownOptions::End final : public OptionExchange {
 public:
  explicit End(KnownOptions& all) : all_(all) {}

  void offer(const std::string& packed) override {
    const std::lock_guard lock(all_.mutex_);
    // Unless another search offered something in between, this end has heard everything but its own offer.
    const bool has_heard_all = heard_ == all_.packed_.size();
    all_.packed_.push_back(packed);
    if (has_heard_all) heard_ = all_.packed_.size();
  }

  [[nodiscard]] std::vector<std::string> taken() override {
    const std::lock_guard lock(all_.mutex_);
    std::vector<std::string> others(all_.packed_.begin() + static_cast<std::ptrdiff_t>(heard_),
                                    all_.packed_.end());
    heard_ = all_.packed_.size();
    return others;
  }

 private:
  KnownOptions& all_;
  std::size_t heard_ = 0;
};

KnownOptions::KnownOptions(const PlanRequest& request) : inputs_(inputs_of(request)) {}

KnownOptions::Inputs KnownOptions::inputs_of(const PlanRequest& request) {
  return {&request.cluster,
          &request.workflow,
          &request.coefficients,
          request.framework,
          request.choices,
          request.limits.micro_batch_sequences,
          request.limits.try_recompute,
          request.weight_sync};
}

std::unique_ptr<OptionExchange> KnownOptions::join(const PlanRequest& request) {
  if (request.limits.balances_load || inputs_of(request) != inputs_) return nullptr;
  return std::make_unique<End>(*this);
}

}  // namespace sextant::inline planner
