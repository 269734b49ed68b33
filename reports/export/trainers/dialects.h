// All dialects, and a plan in one of them as text.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/export/trainers/dialect.h"

namespace sextant::inline reports {

[[nodiscard]] std::span<const Dialect> dialect_table();
[[nodiscard]] const Dialect* find_dialect(std::string_view profile);  // null: no exporter

// Returns the first of these profiles whose trainer has the degrees of the plan's training tasks; the first one
// if none has. profiles: of one family, the default first.
[[nodiscard]] const FrameworkProfile& profile_for(const Plan& plan, const Workflow& workflow,
                                                  const std::vector<const FrameworkProfile*>& profiles);

struct ExportedPlan {
  std::string text;                 // a Bash script; empty if refused
  std::string refusal;              // why the dialect cannot say the layout
  std::vector<std::string> unsaid;  // what the dialect cannot say, with its cost where that is known
  std::vector<std::string> notes;
  Plan plan;  // the plan that the script runs
  bool leaves_precision =
      false;                   // the script computes in bf16, because it does not say the workflow's precision
  bool chooses_types = false;  // the framework chooses which GPUs a pool gets, and they are of several types
};

// Seconds of an iteration of a plan; absent: not known.
using PlanTime = std::function<std::optional<double>(const Plan&)>;

// The plan must be valid (check_plan) and state all its options. `time`: null if costs are not wanted.
[[nodiscard]] ExportedPlan export_plan(const Plan& plan, const TrainerProblem& problem, const Dialect& dialect,
                                       const PlanTime& time = nullptr);

// The sentences about what cannot be said, each with the seconds that it adds to an iteration.
[[nodiscard]] std::vector<std::string> with_costs(const Plan& plan, const std::vector<Unsaid>& unsaid,
                                                  const PlanTime& time);

// Lines of Bash that give the variables their fallbacks, or stop without them.
[[nodiscard]] std::string variables_text(const std::vector<ShellVariable>& variables);

// Reads a script of export_plan. GPUs are those that its comments name; without such comments the first ones.
// Throws Error(bad_input) with the key.
[[nodiscard]] Plan read_exported(std::string_view script, const TrainerProblem& problem,
                                 const Dialect& dialect);

// The plan of these settings, in these pools or, if there are none, on the first GPUs of the cluster. Values that
// the settings leave open are the profile's. Throws Error(bad_input) with the key, or with a pool that has another
// size than the settings say.
[[nodiscard]] Plan plan_of_settings(const TrainerSettings& settings, const std::string& name,
                                    const TrainerProblem& problem, const Dialect& dialect,
                                    const std::vector<GpuPool>& pools = {});

// The settings that a script holds.
[[nodiscard]] TrainerSettings read_settings(std::string_view script, const Dialect& dialect);

// Rows of the table.
[[nodiscard]] Dialect verl_fsdp_dialect();
[[nodiscard]] Dialect verl_megatron_dialect();
[[nodiscard]] Dialect nemo_rl_dtensor_dialect();
[[nodiscard]] Dialect nemo_rl_megatron_dialect();
[[nodiscard]] Dialect openrlhf_dialect();
[[nodiscard]] Dialect areal_dialect();
[[nodiscard]] Dialect areal_megatron_dialect();
[[nodiscard]] Dialect slime_dialect();
[[nodiscard]] Dialect miles_dialect();
[[nodiscard]] Dialect roll_dialect();
[[nodiscard]] Dialect trl_dialect();
[[nodiscard]] Dialect skyrl_dialect();
[[nodiscard]] Dialect skyrl_megatron_dialect();

// GPUs that settings of SkyRL state.
struct SkyrlGpus {
  bool is_colocated = true;  // colocate_all: engines and models have the same
  int policy_nodes = 1;
  int policy_gpus_per_node = 1;
  int critic_nodes = 1;
  int critic_gpus_per_node = 1;
  int engine_gpus = 1;  // of all engines
};
[[nodiscard]] SkyrlGpus skyrl_gpus(const TrainerSettings& settings);

// The degrees of a backend of AReaL: "fsdp:d4t2", "megatron:(attn:d4p4t2|ffn:d2p4e4)". Those that it leaves out are 1;
// expert_tensor: 1 with Megatron (areal/api/alloc_mode.py), 0 otherwise.
struct ArealDegrees {
  int data = 1, tensor = 1, context = 1, stages = 1;
  int experts = 1, expert_tensor = 0;

  [[nodiscard]] double gpus() const { return 1.0 * data * tensor * context * stages; }
};
// `place`: for the message if it is something else.
[[nodiscard]] ArealDegrees areal_degrees(const std::string& backend, const std::string& place);

// The GPUs of a device_mapping of ROLL, ascending: "list(range(0,8)) + [12, 13]". `place`: for the message if it is
// something else.
[[nodiscard]] std::vector<int> listed_devices(std::string_view text, const std::string& place);

}  // namespace sextant::inline reports
