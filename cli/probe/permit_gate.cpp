#include "cli/probe/permit_gate.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "cli/command_line/checks.h"
#include "examples/coschedule/phase_client.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

const char* permit_name(IterationPhase phase) {
  switch (phase) {
    case IterationPhase::rollout:
      return "rollout";
    case IterationPhase::training:
      return "training";
    case IterationPhase::sync:
      return "sync";
  }
  return "";
}

void move_to(const std::vector<int>& cores, const char* option) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw_bad_input(std::string(option) + ": this process may not use these cores: " + std::strerror(errno));
}

class PermitGate final : public PhaseGate {
 public:
  PermitGate(const PermitOptions& options, Communicator& ranks) : options_(options) {
    move_to(options.training_cores, "--training-cores");
    move_to(options.rollout_cores, "--rollout-cores");
    if (ranks.rank() == 0) served([&] { client_.emplace(options.server, options.job); });
  }

  void begin(IterationPhase phase) override {
    if (client_) served([&] { permit_.emplace(client_->acquire(permit_name(phase))); });
    // The weights are sent from the training nodes.
    phase == IterationPhase::rollout ? move_to(options_.rollout_cores, "--rollout-cores")
                                     : move_to(options_.training_cores, "--training-cores");
  }
  void end(IterationPhase) override { permit_.reset(); }

 private:
  template <typename Request>
  static void served(const Request& request) {
    try {
      request();
    } catch (const std::runtime_error& error) {
      throw_machine_failed(std::string("--permits: ") + error.what());
    }
  }

  const PermitOptions& options_;
  std::optional<PhaseClient> client_;  // of rank 0
  std::optional<PhaseClient::Permit> permit_;
};

}  // namespace

void add_permit_options(const Command& command, PermitOptions& options) {
  const std::string group = "A job on shared pools";
  command
      .add_option("--permits", options.server,
                  "Socket of sextant coschedule run: wait for a permit before each phase")
      .in_group(group);
  command.add_option("--permit-job", options.job, "Name of this job in its group").in_group(group);
  command.add_option("--rollout-cores", options.rollout_cores, "Cores of the rollout pool, such as 0,1")
      .parted_by_commas()
      .in_group(group);
  command.add_option("--training-cores", options.training_cores, "Cores of the training pool")
      .parted_by_commas()
      .in_group(group);
}

std::unique_ptr<PhaseGate> permit_gate(const PermitOptions& options, Communicator& ranks) {
  const bool has_more =
      !options.job.empty() || !options.rollout_cores.empty() || !options.training_cores.empty();
  if (options.server.empty()) {
    if (has_more) throw_bad_input("--permit-job, --rollout-cores and --training-cores need --permits");
    return nullptr;
  }
  if (options.job.empty()) throw_bad_input("--permits: --permit-job is required, a job of the group");
  for (const std::vector<int>* cores : {&options.rollout_cores, &options.training_cores}) {
    for (const int core : *cores) {
      if (core < 0 || core >= CPU_SETSIZE)
        throw_bad_input("cores are numbers from 0 to " + std::to_string(CPU_SETSIZE - 1) + ", got " +
                        std::to_string(core));
    }
  }
  return std::make_unique<PermitGate>(options, ranks);
}

}  // namespace sextant::cli
