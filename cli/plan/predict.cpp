// sextant predict: time, memory and breakdown of one plan.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "ask/predict_question.h"
#include "cli/ask/inputs.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "cli/shared/table.h"
#include "core/json_value.h"
#include "core/units.h"
#include "reports/export/chrome_trace.h"
#include "sextant/document.h"

namespace sextant::cli {
namespace {

struct Options {
  ModelInputs inputs;
  PlanToPredict question;
  std::string plan_out;
  std::string out;
  std::string trace;
  bool json = false;
};

int run(const Options& options) {
  require_plan(options.question);
  ModelInputs inputs = options.inputs;
  std::vector<std::string> notes;
  if (!options.question.plan.empty()) follow_plans({options.question.plan}, inputs, notes);
  const LoadedInputs loaded = load(inputs);
  PredictedPlan predicted = plan_in_question(options.question, loaded);
  if (!options.plan_out.empty()) save_document(options.plan_out, predicted.plan);
  say(notes);
  say(loaded.chosen.notes);
  predict_as_asked(options.question, loaded, predicted);
  const Prediction& prediction = predicted.prediction;
  if (!options.out.empty()) save_document(options.out, prediction);
  if (options.json) {
    print_document(prediction);
  } else {
    for (const std::string& note : predicted.broken) print_line(note);
    Prediction shown = prediction;
    shown.notes.erase(shown.notes.begin(),
                      shown.notes.begin() + static_cast<std::ptrdiff_t>(predicted.broken.size()));
    std::fputs(describe_prediction(shown).c_str(), stdout);
  }
  if (!options.out.empty()) say_wrote(options.out);
  if (!options.trace.empty()) {
    write_text_file(options.trace, chrome_trace(prediction, loaded.cluster).dump(1) + "\n");
    say_wrote(options.trace);
  }
  return prediction.fits() ? kDone : kAnswerIsNo;
}

bool alike(const HostMemory& a, const HostMemory& b) {
  return a.needed_bytes == b.needed_bytes && a.capacity_bytes == b.capacity_bytes;
}

std::string describe_interval(const std::optional<MemoryTrust>& trust) {
  if (!trust) return "";
  return format_bytes(trust->needed_bytes.low) + " to " + format_bytes(trust->needed_bytes.high);
}

// "0 to 7, 16 to 23"; a longer list is cut and ends with the number of devices.
std::string numbers_of(const std::vector<int>& devices) {
  constexpr std::size_t kMaxLength = 40;
  std::string text;
  for (std::size_t first = 0; first < devices.size();) {
    std::size_t end = first + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1) ++end;
    if (text.size() > kMaxLength) return text + ", ... (" + std::to_string(devices.size()) + " devices)";
    text += (text.empty() ? "" : ", ") + std::to_string(devices[first]);
    if (end > first + 1) text += (end > first + 2 ? " to " : ", ") + std::to_string(devices[end - 1]);
    first = end;
  }
  return text;
}

// Devices that need the same memory, to a hundredth of what they have.
struct SimilarDevices {
  const DeviceMemory* least;
  const DeviceMemory* fullest;
  std::vector<int> numbers;

  // Returns false if the device is none of them.
  bool add(const DeviceMemory& device) {
    constexpr double kAlike = 0.01;
    const double low = std::min(least->needed_bytes(), device.needed_bytes());
    const double high = std::max(fullest->needed_bytes(), device.needed_bytes());
    if (device.capacity_bytes != fullest->capacity_bytes || device.fits() != fullest->fits() ||
        high - low > kAlike * device.capacity_bytes)
      return false;
    if (device.needed_bytes() < least->needed_bytes()) least = &device;
    if (device.needed_bytes() > fullest->needed_bytes()) fullest = &device;
    numbers.push_back(device.device.value);
    return true;
  }

  [[nodiscard]] std::string needed() const {
    const std::string low = format_bytes(least->needed_bytes()), high = format_bytes(fullest->needed_bytes());
    return low == high ? high : low + " to " + high;
  }
};

// One row for all devices that need about the same, in the order of their first; interval and fit are those of the
// fullest.
void add_devices(const std::vector<DeviceMemory>& all, Table& memory) {
  std::vector<SimilarDevices> groups;
  for (const DeviceMemory& device : all) {
    if (std::none_of(groups.begin(), groups.end(), [&](SimilarDevices& group) { return group.add(device); }))
      groups.push_back({&device, &device, {device.device.value}});
  }
  for (const SimilarDevices& group : groups) {
    const DeviceMemory& fullest = *group.fullest;
    memory.add({"device " + numbers_of(group.numbers), group.needed(), describe_interval(fullest.trust),
                format_bytes(fullest.capacity_bytes), describe_fit(fullest.fits(), fullest.trust)});
  }
}

// One row for hosts in a row that need the same.
void add_hosts(const std::vector<HostMemory>& hosts, Table& memory) {
  for (std::size_t first = 0; first < hosts.size();) {
    const HostMemory& host = hosts[first];
    std::size_t end = first + 1;
    while (end < hosts.size() && alike(host, hosts[end])) ++end;
    const std::string last = end == first + 1 ? "" : " to " + hosts[end - 1].node;
    memory.add({"host " + host.node + last, format_bytes(host.needed_bytes), describe_interval(host.trust),
                host.capacity_bytes ? format_bytes(*host.capacity_bytes) : "not stated",
                host.capacity_bytes ? describe_fit(host.fits(), host.trust) : "not known"});
    first = end;
  }
}

// The effect of 10 % more of each number, the largest first.
std::string describe_sensitivities(const std::vector<Sensitivity>& sensitivities) {
  constexpr std::size_t kShown = 12;  // of coefficients and of hardware; the document has all
  Table coefficients({"coefficient", "of", "10 % more", "share of the variance"});
  Table hardware({"cluster value", "of", "10 % more"});
  std::size_t of_coefficients = 0, of_hardware = 0;
  for (const Sensitivity& sensitivity : sensitivities) {
    const std::string change = format_percent(std::pow(1.1, sensitivity.elasticity) - 1, 2);
    if (sensitivity.is_hardware && ++of_hardware <= kShown) {
      hardware.add({sensitivity.name, sensitivity.of, change});
    } else if (!sensitivity.is_hardware && ++of_coefficients <= kShown) {
      coefficients.add({sensitivity.name, sensitivity.of, change,
                        sensitivity.variance_share ? format_percent(*sensitivity.variance_share, 0) : ""});
    }
  }
  return coefficients.text() + hardware.text();
}

// Why not to trust it, where there is a reason.
std::string describe_familiarity(const Prediction& prediction) {
  std::string out;
  for (const auto& [name, task] : prediction.tasks) {
    if (!task.familiarity) continue;
    out += name + ": ";
    if (!task.familiarity->nearest_run.empty()) {
      out += "nearest calibrated run " + task.familiarity->nearest_run + " (" +
             format_number(task.familiarity->distance) + " steps)";
    }
    for (std::size_t i = 0; i < task.familiarity->reasons.size(); ++i) {
      out +=
          (i > 0 ? "; " : (task.familiarity->nearest_run.empty() ? "extrapolating: " : ", extrapolating: ")) +
          task.familiarity->reasons[i];
    }
    out += "\n";
  }
  return out;
}

// Why the rows do not sum to the iteration, where they do not.
std::string describe_overlap(const Prediction& prediction) {
  const double overlapped_s = prediction.overlapped_s();
  if (overlapped_s <= 0) return "";
  return "The rows sum to " + format_seconds(prediction.iteration_s + overlapped_s) + ", " +
         format_seconds(overlapped_s) + " more than the iteration, because tasks run at the same time.\n";
}

// The result is empty if all tokens are fresh.
std::string describe_staleness(const Prediction& prediction) {
  if (prediction.staleness_fractions.empty()) return "";
  constexpr double kMinShown = 0.005;  // less is 0 %
  std::string shares;
  for (std::size_t versions = 0; versions < prediction.staleness_fractions.size(); ++versions) {
    const double fraction = prediction.staleness_fractions[versions];
    if (fraction < kMinShown) continue;
    shares += (shares.empty() ? "" : ", ") + format_percent(fraction, 0) + " " + std::to_string(versions);
  }
  return "staleness  mean " + format_number(prediction.mean_staleness()) +
         " weight versions (tokens: " + shares + ")\n";
}

std::string interval_text(const Interval& interval) {
  return "90 %: " + format_seconds(interval.low) + " to " + format_seconds(interval.high);
}

// The source of the coefficients.
std::string describe_source(const Prediction& prediction) {
  if (prediction.coefficients.empty()) return "";
  const bool any = prediction.framework.empty() || prediction.framework == kAny;
  return "coefficients  " + prediction.coefficients + (any ? "" : ", framework " + prediction.framework) + "\n";
}

}  // namespace

std::string describe_prediction(const Prediction& prediction) {
  std::string out = "iteration  " + format_seconds(prediction.iteration_s);
  if (const auto& interval = prediction.iteration_interval_s) out += " (" + interval_text(*interval) + ")";
  out += ", " + format_number(prediction.sequences_per_s) + " sequences/s\n" + describe_source(prediction);
  Table tasks({"task", "time", "share", "adds", "largest part"});
  for (const auto& [name, task] : prediction.tasks) {
    const auto largest = std::max_element(task.terms_s.begin(), task.terms_s.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    tasks.add({name, format_seconds(task.time_s), format_percent(task.time_s / prediction.iteration_s, 0),
               format_seconds(task.exposed_s),
               largest == task.terms_s.end()
                   ? ""
                   : std::string(name_of(largest->first)) + " " + format_seconds(largest->second)});
  }
  const auto add = [&](const char* what, double time_s, double hidden_s = 0,
                       const std::optional<Interval>& interval = {}) {
    tasks.add({what, format_seconds(time_s), format_percent(time_s / prediction.iteration_s, 0),
               format_seconds(time_s - hidden_s), interval ? interval_text(*interval) : ""});
  };
  add("weight sync", prediction.weight_sync_s, prediction.weight_sync_hidden_s,
      prediction.weight_sync_interval_s);
  if (prediction.data_s > 0) add("data between tasks", prediction.data_s);
  if (prediction.controller_s > 0) add("controller", prediction.controller_s);
  if (prediction.rule_reward_s > 0) add("rule reward", prediction.rule_reward_s);
  out += tasks.text() + describe_overlap(prediction) + describe_staleness(prediction);
  Table memory({"memory", "needed", "90 %", "of", "fits"});
  add_devices(prediction.memory, memory);
  add_hosts(prediction.host_memory, memory);
  out += memory.text() + "bottleneck: " + prediction.bottleneck + "\n" + describe_familiarity(prediction);
  for (const std::string& note : prediction.notes) out += note + "\n";
  return prediction.sensitivities.empty() ? out : out + describe_sensitivities(prediction.sensitivities);
}

void add_predict(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command("predict", "Predict time, memory and breakdown of one plan");
  add_model_inputs(command, options->inputs);
  const Option plan = command.add_option("--plan", options->question.plan, "Plan document");
  constexpr const char* kInWords = "The plan in words, in place of --plan";
  const auto add_layout = [&](const char* name, std::string& words, const char* help) {
    command.add_option(name, words, help).in_group(kInWords).excludes(plan);
  };
  add_layout(
      "--train", options->question.layouts.train,
      "Training: fsdp=32, or tp=, pp=, dp=, cp=, ep=, zero=, shard=, gpus=FIRST-LAST, and options, see below");
  add_layout("--rollout", options->question.layouts.rollout,
             "Generation, in the same words: tp=2,sequences=256,cache=0.4");
  add_layout("--inference", options->question.layouts.inference,
             "Tasks that only score: fsdp=32,tokens=32768 (default: layout of training)");
  command.add_output("--plan-out", options->plan_out, "Write the plan document of these layouts here")
      .in_group(kInWords)
      .excludes(plan);
  command.add_output("--out", options->out, "Write the prediction document here");
  command.add_flag("--sensitivities", options->question.has_sensitivities,
                   "Show how the iteration time depends on each coefficient and each number of the cluster");
  command.add_output("--trace", options->trace, "Write the timeline here, for Perfetto or chrome://tracing");
  command.add_flag("--json", options->json, "Print the prediction document instead of a table");
  command.footer(
      "adds: how much shorter the iteration would be if the task took no time; less than its time if it "
      "overlaps\n"
      "longer tasks.\n"
      "controller: time that the controller of an RL framework takes between tasks.\n"
      "Exits 1 if the plan does not fit in memory.\n"
      "Example: sextant predict --cluster cluster.json --workflow workflow.json --plan plan.json\n"
      "         --coefficients coefficients.json --json\n"
      "Options in --train, --rollout and --inference (default: as the framework has them):\n"
      "  tokens=16384 or sequences=4  of a micro-batch; with --rollout sequences at once\n"
      "  cache=0.4 or cache=30GB      KV cache of a GPU, with --rollout: share of its memory, or its size\n"
      "  shard=8                      ZeRO shards over groups of 8 GPUs (verl: fsdp_size), not over all\n"
      "  recompute=full               activations in training: none, selective or full\n"
      "  lora=32                      train low-rank adapters of this rank, not all weights\n"
      "  offload=weights+optimizer    kept on the host: none, or weights (while other tasks run), optimizer, "
      "activations\n"
      "Example: sextant predict --gpus 4x8xH100 --model Qwen3-14B --framework verl --train fsdp=32 --rollout "
      "tp=2");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
