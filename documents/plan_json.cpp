// Reading and writing of sextant/plan.h.
#include <cmath>
#include <limits>

#include "documents/field_tables.h"
#include "documents/plan_json.h"
#include "sextant/plan.h"

namespace sextant {
namespace {

// The tolerance for the sum of a task's shares: thirds written with six digits still pass.
constexpr double kShareTolerance = 1e-5;

const Fields<Stage>& stage_fields() {
  static const Fields<Stage> fields{
      required("layers", &Stage::layers, count()),
      required("devices", &Stage::devices, list_of(device())).then([](const JsonView& view, Stage& stage) {
        if (stage.devices.empty()) view.required("devices").fail("expected at least one device");
      }),
  };
  return fields;
}

const Kind<std::vector<Stage>>& stages_of_replica() {
  static const Kind<std::vector<Stage>> kind = list_of(object(stage_fields()));
  return kind;
}

Replica parse_replica(const JsonView& view) {
  view.allow_only({"batch_share", "length_rank", "stages"});
  Replica out;
  const JsonView share = view.required("batch_share");
  out.batch_share = share.positive();
  if (out.batch_share > 1) {
    share.fail("expected a share of at most 1");
  }
  if (const auto rank = view.optional("length_rank")) out.length_rank = rank->count(0);
  const JsonView stages = view.required("stages");
  out.stages = stages_of_replica().read(stages);
  if (out.stages.empty()) {
    stages.fail("expected at least one stage");
  }
  return out;
}

std::vector<Replica> parse_replicas(const JsonView& view) {
  std::vector<Replica> out;
  double sum = 0;
  for (const JsonView& replica : view.items()) {
    out.push_back(parse_replica(replica));
    sum += out.back().batch_share;
  }
  if (out.empty()) {
    view.fail("expected at least one replica");
  }
  if (std::fabs(sum - 1) > kShareTolerance) {
    view.fail("the batch shares sum to " + Json(sum).dump() + ", not to 1");
  }
  return out;
}

int parse_first(const JsonView& view) {
  const auto first = view.optional("first");
  return first ? first->count(0) : 0;
}

constexpr std::array<std::string_view, 2> kOutermost{"replicas", "stages"};

// The order of the devices makes a difference.
bool has_order(const UniformLayout& layout) { return layout.data_parallel > 1 && layout.pipeline_parallel > 1; }

UniformLayout parse_compact(const JsonView& view, int context_parallel) {
  UniformLayout layout;
  layout.data_parallel = view.required("data_parallel").count(1);
  layout.pipeline_parallel = view.required("pipeline_parallel").count(1);
  const int tensor_parallel = view.required("tensor_parallel").count(1);
  const JsonView devices = view.required("devices");
  devices.allow_only({"first", "count"});
  layout.first.value = parse_first(devices);
  const JsonView count = devices.required("count");
  const auto given = count.integer(1, Cluster::kMaxDevices);
  const double needed =
      static_cast<double>(layout.data_parallel) * layout.pipeline_parallel * tensor_parallel * context_parallel;
  if (needed != static_cast<double>(given)) {
    const bool contexts = context_parallel > 1;
    count.fail("expected data_parallel * pipeline_parallel * tensor_parallel" +
               std::string(contexts ? " * context_parallel" : "") + " = " +
               std::to_string(layout.data_parallel) + " * " + std::to_string(layout.pipeline_parallel) + " * " +
               std::to_string(tensor_parallel) +
               (contexts ? " * " + std::to_string(context_parallel) : std::string()) + " devices, got " +
               std::to_string(given));
  }
  layout.tensor_parallel = tensor_parallel * context_parallel;
  if (layout.first.value > std::numeric_limits<int>::max() - given) {
    devices.required("first").fail("a device number beyond what can be counted");
  }
  const JsonView layers = view.required("layers");
  if (layers.count(1) < layout.pipeline_parallel) {
    layers.fail("expected at least one layer for each of the " + std::to_string(layout.pipeline_parallel) +
                " stages, got " + layers.json().dump());
  }
  if (const auto outermost = view.optional("outermost"))
    layout.has_stages_outermost = outermost->one_of({kOutermost.begin(), kOutermost.end()}) == 1;
  return layout;
}

TaskPlan parse_task(const JsonView& view) {
  TaskPlan out;
  if (const auto execution = view.optional("execution")) {
    out.execution = Execution::parse(*execution);
  }
  if (view.optional("replicas")) {
    view.allow_only({"replicas", "micro_batch_sequences", "decode_batch_sequences", "recompute", "execution"});
    out.replicas = parse_replicas(view.required("replicas"));
  } else {
    view.allow_only({"replicas", "data_parallel", "pipeline_parallel", "tensor_parallel", "devices", "layers",
                     "outermost", "micro_batch_sequences", "decode_batch_sequences", "recompute", "execution"});
    if (!view.optional("data_parallel")) {
      view.fail("missing member \"replicas\" (or \"data_parallel\", ... of a compact task)");
    }
    const UniformLayout layout = parse_compact(view, out.execution.context_parallel);
    out.replicas = expand_layout(layout, view.required("layers").count(1));
    out.unstated.outermost = has_order(layout) && !view.optional("outermost");
  }
  out.unstated.execution = !view.optional("execution");
  out.unstated.decode_batch = !view.optional("decode_batch_sequences");
  out.unstated.recompute = !view.optional("recompute");
  const auto micro_batch = view.optional("micro_batch_sequences");
  out.unstated.micro_batch = !micro_batch;
  if (micro_batch) out.micro_batch_sequences = micro_batch->count(1);
  if (const auto decode_batch = view.optional("decode_batch_sequences")) {
    out.decode_batch_sequences = decode_batch->count(0);
  }
  if (const auto recompute = view.optional("recompute")) {
    out.recompute = parse_recompute(*recompute);
  }
  return out;
}

Json to_json(const Replica& replica) {
  Json out = {{"batch_share", replica.batch_share}};
  out["stages"] = stages_of_replica().write(replica.stages);
  if (replica.length_rank != 0) out["length_rank"] = replica.length_rank;
  return out;
}

Json layout_to_json(const TaskPlan& task) {
  const auto layout = uniform_layout(task.replicas);
  const int contexts = task.execution.context_parallel;
  if (layout && layout->tensor_parallel % contexts == 0) {
    int layers = 0;
    for (const Stage& stage : task.replicas.front().stages) layers += stage.layers;
    const int count = layout->data_parallel * layout->pipeline_parallel * layout->tensor_parallel;
    Json out = {{"data_parallel", layout->data_parallel},
                {"pipeline_parallel", layout->pipeline_parallel},
                {"tensor_parallel", layout->tensor_parallel / contexts},
                {"devices", {{"first", layout->first.value}, {"count", count}}},
                {"layers", layers}};
    if (has_order(*layout) && !task.unstated.outermost)
      out["outermost"] = kOutermost[layout->has_stages_outermost ? 1 : 0];
    return out;
  }
  Json replicas = Json::array();
  for (const Replica& replica : task.replicas) {
    replicas.push_back(to_json(replica));
  }
  return {{"replicas", replicas}};
}

Json to_json(const TaskPlan& task) {
  Json out = layout_to_json(task);
  // A value that was set after reading is stated.
  const TaskPlan untouched;
  const auto is_stated = [](bool unstated, const auto& value, const auto& unset) {
    return !unstated || !(value == unset);
  };
  if (is_stated(task.unstated.micro_batch, task.micro_batch_sequences, untouched.micro_batch_sequences))
    out["micro_batch_sequences"] = task.micro_batch_sequences;
  if (is_stated(task.unstated.decode_batch, task.decode_batch_sequences, untouched.decode_batch_sequences))
    out["decode_batch_sequences"] = task.decode_batch_sequences;
  if (is_stated(task.unstated.recompute, task.recompute, untouched.recompute))
    out["recompute"] = name_of(task.recompute);
  if (is_stated(task.unstated.execution, task.execution, untouched.execution)) {
    const Json execution = task.execution.to_json();
    out["execution"] = execution.empty() ? Json::object() : execution;
  }
  return out;
}

constexpr std::array<std::string_view, 6> kMethods{"shortest",  "flat",    "topology_aware",
                                                   "broadcast", "sharded", "per_replica"};

}  // namespace

const Fields<WeightSyncPlan>& documents::weight_sync_fields() {
  static const Fields<WeightSyncPlan> fields{
      defaulted("method", &WeightSyncPlan::method, one_of<WeightSyncMethod>(kMethods),
                "shortest: the least of the next four; flat: every generation device fetches all weights; "
                "topology_aware: one copy crosses on all links at once, then a broadcast; broadcast: gathered, "
                "then every tensor to all devices of both pools in one collective; sharded: every generation "
                "device fetches its own part, on all links at once; per_replica: gathered, a whole copy to "
                "each replica of generation, then a broadcast inside it (HetRL B.2). Where all generation "
                "devices also train, weights are resharded in place, whatever the method."),
      defaulted("fraction_sent", &WeightSyncPlan::fraction_sent, share("expected a fraction of at most 1"),
                "Share of the weights that is sent; less than 1 if only changes travel."),
      optional("bucket_bytes", &WeightSyncPlan::bucket_bytes, non_negative(),
               "Size of the buffers in which tensors are packed and sent together; absent or 0: one by one."),
  };
  return fields;
}

WeightSyncPlan documents::parse_weight_sync(const JsonView& view) {
  return parse_fields(view, weight_sync_fields());
}

Plan Plan::parse(const JsonView& view) {
  view.allow_only({"name", "framework", "tasks", "weight_sync"});
  Plan out;
  out.name = view.required("name").text();
  if (const auto framework = view.optional("framework")) out.framework = framework->text();
  for (const auto& [task, member] : view.required("tasks").members()) {
    out.tasks.emplace(task, parse_task(member));
  }
  if (const auto sync = view.optional("weight_sync")) {
    out.weight_sync = parse_weight_sync(*sync);
  }
  return out;
}

Json Plan::to_json() const {
  Json out = {{"name", name}};
  if (!framework.empty()) out["framework"] = framework;
  out["tasks"] = Json::object();
  for (const auto& [task, layout] : tasks) {
    out["tasks"][task] = sextant::to_json(layout);
  }
  if (weight_sync != WeightSyncPlan{}) out["weight_sync"] = fields_to_json(weight_sync, weight_sync_fields());
  return out;
}

}  // namespace sextant
