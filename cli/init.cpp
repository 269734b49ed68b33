// sextant init: a document to start from, with a comment for each member.
//
// The values are those of a question in words, the comments those of the tables that also write docs/schemas.
#include <array>
#include <map>
#include <memory>
#include <set>

#include "ask/fitting_change.h"
#include "ask/inputs.h"
#include "cli/ask/inputs.h"
#include "cli/coschedule/example_documents.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "core/json_value.h"
#include "core/text.h"
#include "documents/field_tables.h"
#include "planner/coschedule/document_fields.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/predict.h"

namespace sextant::cli {
namespace {

struct InitOptions {
  std::string kind;
  ModelInputs inputs;
  LayoutOptions layouts;
  std::string out;
};

constexpr std::array kInitKinds{"cluster", "workflow", "plan", "job", "job_trace", "placement"};
constexpr const char* kExampleGpus = "1x8xH100";
constexpr const char* kUsualModel = "Qwen/Qwen3-8B";

// The meaning of a member, by its place: "/nodes/*/region".
using Meanings = std::map<std::string, std::string>;

template <typename T>
void add_meanings(const std::string& place, const Fields<T>& fields, Meanings& meanings) {
  for (const Field<T>& field : fields) {
    if (field.schema.is_object() && field.schema.contains("description"))
      meanings.emplace(place + "/" + std::string(field.name),
                       field.schema["description"].template get<std::string>());
  }
}

void add_job_meanings(const std::string& place, Meanings& meanings) {
  add_meanings(place, coschedule::job_fields(), meanings);
  add_meanings(place + "/responses", coschedule::responses_fields(), meanings);
}

// The documents of jobs on shared pools.
void add_coschedule_meanings(const std::string& kind, Meanings& meanings) {
  if (kind == "job") return add_job_meanings("", meanings);
  add_meanings("/pools", coschedule::pools_fields(), meanings);
  add_meanings("/pools/*", coschedule::pool_fields(), meanings);
  if (kind == "job_trace") {
    add_meanings("", coschedule::job_trace_fields(), meanings);
    add_job_meanings("/jobs/*", meanings);
    return;
  }
  add_meanings("", coschedule::placement_fields(), meanings);
  add_meanings("/groups/*", coschedule::group_fields(), meanings);
  add_meanings("/groups/*/members/*", coschedule::member_fields(), meanings);
  add_job_meanings("/groups/*/members/*/job", meanings);
}

Meanings meanings_of(const std::string& kind) {
  Meanings out{{"/schema", "The kind of the document and the version of its form"}};
  if (kind == "cluster") {
    out["/device_types"] =
        "Rates and memory of each type, with where a number is from: measured, datasheet or assumed";
    out["/nodes"] = "In the order in which devices are numbered from 0";
    out["/links"] = "Latency and bandwidth in one direction, by how far the devices are from each other";
    add_meanings("/device_types/*", device_type_fields(), out);
    add_meanings("/nodes/*", node_fields(), out);
    add_meanings("/links/*", link_fields(), out);
  } else if (kind == "workflow") {
    out["/models"] = "By the name that tasks use";
    out["/tasks"] = "Left out: the tasks of the algorithm";
    add_meanings("", workflow_fields(), out);
    add_meanings("/models/*", model_fields(), out);
    add_meanings("/tasks/*", task_fields(), out);
  } else if (kind == "plan") {
    out["/tasks"] = "The layout of each task of the workflow";
    out["/tasks/*/data_parallel"] = "Replicas, each with an equal part of the batch";
    out["/tasks/*/pipeline_parallel"] = "Stages of a replica";
    out["/tasks/*/tensor_parallel"] = "Devices that split the matrices of a stage";
    out["/tasks/*/layers"] = "Of the model: they are split evenly over the stages";
    out["/tasks/*/devices"] = "Numbers of the cluster's devices, in the order of its nodes";
    out["/tasks/*/execution"] = "Options that are not off; \"sextant plan\" knows those of a framework";
    out["/tasks/*/recompute"] =
        "Training: activations recomputed in the backward pass: none, selective or full";
    out["/tasks/*/micro_batch_sequences"] = "Sequences of a micro-batch";
    out["/tasks/*/decode_batch_sequences"] = "Generation: sequences decoded together; 0: all of a replica";
    add_meanings("/tasks/*/execution", execution_fields(), out);
    add_meanings("/weight_sync", weight_sync_fields(), out);
  } else {
    add_coschedule_meanings(kind, out);
  }
  return out;
}

// Writes JSON with the meanings above its members, each only once.
class Commented {
 public:
  explicit Commented(const Meanings& meanings) : meanings_(meanings) {}

  void write(const Json& value, const std::string& place, std::size_t indent, std::string& out) {
    const bool is_short =
        !value.is_structured() || value.empty() || (is_plain(value) && value.dump().size() < kShort);
    if (is_short) {
      out += value.dump();
      return;
    }
    const std::string inner(indent + 2, ' ');
    out += value.is_object() ? "{" : "[";
    bool is_first = true;
    for (const auto& [name, member] : value.items()) {
      out += is_first ? "\n" : ",\n";
      is_first = false;
      const std::string at = place + "/" + (value.is_object() ? name : "*");
      if (value.is_object()) comment(at, place, inner, out);
      out += inner + (value.is_object() ? Json(name).dump() + ": " : std::string());
      write(member, at, indent + 2, out);
    }
    out += "\n" + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
  }

 private:
  static constexpr std::size_t kShort = 60;
  static constexpr std::size_t kColumn = 100;

  // No member of it has a meaning of its own.
  static bool is_plain(const Json& value) {
    if (value.is_object()) return false;
    for (const Json& member : value) {
      if (member.is_structured()) return false;
    }
    return true;
  }

  // "/nodes/0/region" has the meaning of "/nodes/*/region".
  void comment(const std::string& at, const std::string& place, const std::string& inner, std::string& out) {
    const std::size_t parent = place.rfind('/');
    const std::string name = at.substr(place.size());
    for (const std::string& key :
         {at, parent == std::string::npos ? std::string() : place.substr(0, parent) + "/*" + name,
          any_name(place) + name}) {
      const auto found = meanings_.find(key);
      if (found == meanings_.end()) continue;
      if (!said_.insert(found->first).second) return;
      std::string rest = found->second;
      while (!rest.empty()) {
        const std::size_t room = kColumn - inner.size();
        std::size_t end = rest.size();
        if (end > room) {
          end = rest.rfind(' ', room);
          if (end == std::string::npos) end = rest.size();
        }
        out += inner + "// " + rest.substr(0, end) + "\n";
        rest.erase(0, std::min(rest.size(), end + 1));
      }
      return;
    }
  }

  // "/tasks/actor_training/execution" as "/tasks/*/execution".
  static std::string any_name(const std::string& place) {
    const std::size_t second = place.find('/', 1);
    if (second == std::string::npos) return place;
    const std::size_t third = std::min(place.find('/', second + 1), place.size());
    return place.substr(0, second) + "/*" + place.substr(third);
  }

  const Meanings& meanings_;
  std::set<std::string> said_;
};

template <typename T>
std::string commented_text(const std::string& kind, const T& content) {
  Json json{{"schema", "sextant." + std::string(T::kKind) + "/" + std::to_string(T::kVersion.major) + "." +
                           std::to_string(T::kVersion.minor)}};
  const Json members = content.to_json();
  for (const auto& [name, member] : members.items()) json[name] = member;
  const Meanings meanings = meanings_of(kind);
  std::string out = "// Written by sextant init " + kind +
                    ": an example to edit. Comments are allowed.\n// All members: docs/schemas/" + kind +
                    ".schema.json\n";
  Commented(meanings).write(json, "", 0, out);
  return out + "\n";
}

// With the options that make the plan fit in memory, if it does not fit as it is and such options are known.
Plan plan_that_fits(Plan plan, const LoadedInputs& loaded) {
  const PredictionQuery query{loaded.cluster, loaded.workflow, plan, loaded.chosen.coefficients,
                              loaded.chosen.framework};
  if (predict(loaded.cluster, loaded.workflow, plan, query.coefficients, query.framework).fits()) return plan;
  auto change = change_that_fits(query, loaded.profile ? &*loaded.profile : nullptr);
  return change ? std::move(change->plan) : plan;
}

std::string example_of(InitOptions& options) {
  if (options.kind == "job") return commented_text(options.kind, example_job());
  if (options.kind == "job_trace") return commented_text(options.kind, example_trace());
  if (options.kind == "placement") return commented_text(options.kind, example_placement());
  ModelInputs& inputs = options.inputs;
  if (inputs.cluster.empty() && inputs.cluster_in_words.gpus.empty())
    inputs.cluster_in_words.gpus = kExampleGpus;
  if (inputs.workflow.empty() && inputs.workflow_in_words.model.empty())
    inputs.workflow_in_words.model = kUsualModel;
  const LoadedInputs loaded = load(inputs);
  if (options.kind == "cluster") return commented_text(options.kind, loaded.cluster);
  if (options.kind == "workflow") return commented_text(options.kind, loaded.workflow);
  LayoutOptions& layouts = options.layouts;
  const bool is_example = !layouts.is_given();
  if (layouts.train.empty()) layouts.train = "fsdp=" + std::to_string(loaded.cluster.device_count());
  if (layouts.rollout.empty()) layouts.rollout = "tp=1";
  std::vector<std::string> assumed;
  Plan plan = plan_of(layouts, loaded, assumed);
  if (is_example) plan = plan_that_fits(std::move(plan), loaded);
  return commented_text(options.kind, plan);
}

int run_init(InitOptions& options) {
  const std::string text = example_of(options);
  if (options.out.empty()) {
    print_text(text);
    return kDone;
  }
  write_text_file(options.out, text);
  say_wrote(options.out);
  return kDone;
}

}  // namespace

void add_init(CommandLine& line) {
  const auto options = std::make_shared<InitOptions>();
  const Command command = line.add_command("init", "Write a document to start from, with comments");
  command
      .add_option("kind", options->kind, "cluster, workflow or plan; job, placement or job_trace of coschedule")
      .required()
      .check(one_of({kInitKinds.begin(), kInitKinds.end()}));
  add_model_inputs(command, options->inputs);
  command.add_option("--train", options->layouts.train, "Plan: layout of training, as for predict");
  command.add_option("--rollout", options->layouts.rollout, "Plan: layout of generation, as for predict");
  command.add_option("--inference", options->layouts.inference, "Plan: layout of tasks that only score");
  command.add_output("--out", options->out, "File to write (default: standard output)");
  command.footer(
      "Without --gpus and --model the example is of 8 H100 and Qwen3-8B; those of coschedule are of WEAVE's "
      "pools.\n"
      "Example: sextant init cluster --gpus 4x8xH100+4x8xL40S --out cluster.json\n"
      "         sextant init plan --cluster cluster.json --workflow workflow.json --train fsdp=32 --rollout "
      "tp=2");
  command.runs([options] { return run_init(*options); });
}

}  // namespace sextant::cli
