#include "calibrate/import/tables/sailor_layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calibrate/import/records/run_parts.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant {
namespace {

constexpr const char* kSource =
    "Sailor (SOSP 2025) layer profiles, github.com/eth-easl/sailor sailor/Planner "
    "@cf2c8e3cc53ce178fe58a4003f46b4b6b848fc33 "
    "(MIT)";

// ---- rows ----

// The values of the column "layer_kind".
enum class LayerKind { embedding, transformer, final_norm, head };
constexpr std::array<std::string_view, 4> kKinds{"embedding", "transformer", "final_norm", "head"};

struct LayerRow {
  int line = 0;
  LayerKind kind = LayerKind::transformer;
  int first = 0;
  int last = 0;
  double forward_s = 0;
  double backward_s = 0;
  double update_s = 0;  // of the whole profiled model; 0: not stated
  int digits = 0;       // of both times as printed

  [[nodiscard]] double passes_s() const { return forward_s + backward_s; }
};

// The subject of a profile.
struct Subject {
  std::string model;
  std::string gpu;
  int tensor_parallel = 1;
  int micro_batch_sequences = 1;

  friend bool operator<(const Subject& a, const Subject& b) { return a.key() < b.key(); }

  [[nodiscard]] std::string name() const {
    return model + " " + gpu + " tp" + std::to_string(tensor_parallel) + " b" +
           std::to_string(micro_batch_sequences);
  }

 private:
  using Key = std::tuple<const std::string&, const std::string&, int, int>;

  [[nodiscard]] Key key() const { return {model, gpu, tensor_parallel, micro_batch_sequences}; }
};

// Rows of one subject by the source's copy of the profile ("both": the two are equal).
using Copies = std::map<std::string, std::vector<LayerRow>>;

// Significant digits of a number as printed.
int significant_digits(const std::string& text) {
  int digits = 0;
  for (const char c : text) {
    if (c == 'e' || c == 'E') break;
    if (c >= '0' && c <= '9' && (digits > 0 || c != '0')) ++digits;
  }
  return digits;
}

LayerRow layer_row(const CsvRow& row) {
  LayerRow out;
  out.line = row.line();
  out.kind = static_cast<LayerKind>(row.one_of("layer_kind", {kKinds.begin(), kKinds.end()}));
  out.first = row.count("layer_first");
  out.last = row.count("layer_last", out.first);
  out.forward_s = row.non_negative("forward_s");
  out.backward_s = row.non_negative("backward_s");
  out.update_s = row.non_negative("optimizer_update_s");
  out.digits = significant_digits(row.text("forward_s")) + significant_digits(row.text("backward_s"));
  return out;
}

std::map<Subject, Copies> group_rows(const CsvTable& table) {
  table.require_columns({"model", "gpu_type", "tp", "micro_batch_sequences", "layer_first", "layer_last",
                         "layer_kind", "forward_s", "backward_s", "optimizer_update_s", "profile_set"});
  std::map<Subject, Copies> out;
  for (const CsvRow& row : table.rows()) {
    const Subject subject{row.text("model"), row.text("gpu_type"), row.count("tp", 1),
                          row.count("micro_batch_sequences", 1)};
    out[subject][row.text("profile_set")].push_back(layer_row(row));
  }
  return out;
}

// The copy that states the update, and of those the one printed with more digits: the other was rounded or set
// by hand.
const std::string& better_copy(const Copies& copies) {
  const auto quality = [](const std::vector<LayerRow>& rows) {
    int digits = 0;
    bool has_update = false;
    for (const LayerRow& row : rows) {
      digits += row.digits;
      has_update = has_update || row.update_s > 0;
    }
    return std::pair(has_update, digits / static_cast<int>(rows.size()));
  };
  const auto best = std::max_element(copies.begin(), copies.end(), [&quality](const auto& a, const auto& b) {
    return quality(a.second) < quality(b.second);
  });
  return best->first;
}

// ---- sizes ----

// Parameters that one device of a tensor-parallel group holds.
struct Sizes {
  double embedding = 0;
  double layer = 0;
  double norm = 0;
  double head = 0;

  [[nodiscard]] double profiled() const { return embedding + 2 * layer + norm + head; }
  [[nodiscard]] double share_of_layer() const { return layer / profiled(); }
};

using SizesByDegree = std::map<std::pair<std::string, int>, Sizes>;

SizesByDegree sizes_of(const CsvTable& table) {
  table.require_columns({"model", "tp", "layer_kind", "params_count"});
  SizesByDegree out;
  for (const CsvRow& row : table.rows()) {
    Sizes& sizes = out[{row.text("model"), row.count("tp", 1)}];
    const std::array<double*, 4> of_kind{&sizes.embedding, &sizes.layer, &sizes.norm, &sizes.head};
    *of_kind.at(row.one_of("layer_kind", {kKinds.begin(), kKinds.end()})) = row.positive("params_count");
  }
  return out;
}

// The sizes at the largest degree up to the subject's: shares hardly depend on it.
const Sizes* find_sizes(const SizesByDegree& sizes, const Subject& subject) {
  for (int degree = subject.tensor_parallel; degree > 0; --degree) {
    const auto found = sizes.find({subject.model, degree});
    if (found != sizes.end()) return &found->second;
  }
  return nullptr;
}

// ---- the two runs of a profile ----

// Its parts; null where the profile has none.
struct Profile {
  const LayerRow* embedding = nullptr;
  const LayerRow* first_layer = nullptr;
  const LayerRow* second_layer = nullptr;
  const LayerRow* norm = nullptr;
  const LayerRow* head = nullptr;
};

Profile profile_of(const std::vector<LayerRow>& rows) {
  Profile out;
  for (const LayerRow& row : rows) {
    const auto holds = [&row](int layer) { return row.first <= layer && layer <= row.last; };
    if (row.kind == LayerKind::embedding) out.embedding = &row;
    if (row.kind == LayerKind::final_norm) out.norm = &row;
    if (row.kind == LayerKind::head) out.head = &row;
    if (row.kind != LayerKind::transformer) continue;
    if (holds(1)) out.first_layer = &row;
    if (holds(2)) out.second_layer = &row;
  }
  return out;
}

struct Pass {
  std::string part;  // "layer"
  Model model;
  double time_s = 0;
  std::vector<const LayerRow*> rows;
};

Model one_layer(Model model, const std::string& part) {
  model.name += ", " + part;
  model.layers = 1;
  return model;
}

Pass layer_pass(const Model& model, const Profile& profile, double update_s) {
  Pass pass{"layer",
            one_layer(model, "one layer"),
            profile.second_layer->passes_s() + update_s,
            {profile.second_layer}};
  pass.model.vocabulary = 0;
  pass.model.tied_embeddings = false;
  return pass;
}

Pass ends_pass(const Model& model, const Profile& profile, double update_s, bool tied) {
  Pass pass{"ends", one_layer(model, "one layer with embedding and head"), update_s, {}};
  pass.model.tied_embeddings = tied;
  for (const LayerRow* row : {profile.embedding, profile.first_layer, profile.norm, profile.head}) {
    if (row == nullptr) continue;
    pass.rows.push_back(row);
    pass.time_s += row->passes_s();
  }
  return pass;
}

std::string lines_of(const std::vector<const LayerRow*>& rows) {
  std::string out;
  for (const LayerRow* row : rows) out += (out.empty() ? "" : ", ") + std::to_string(row->line);
  return out;
}

class LayerImport {
 public:
  LayerImport(Imported& imported, const CsvTable& times, const CsvTable& sizes, const SailorTables& tables)
      : imported_(imported), tables_(tables), subjects_(group_rows(times)), sizes_(sizes_of(sizes)) {
    for (const auto& [subject, copies] : subjects_) note_evidence(subject, copies);
  }

  void run() {
    for (const auto& [subject, copies] : subjects_) {
      const std::string& best = better_copy(copies);
      for (const auto& [name, rows] : copies) {
        if (name == best) {
          import_profile(subject, rows);
        } else {
          leave_out(rows, "another copy of the profile of " + subject.name() + " is taken: " + best);
        }
      }
    }
  }

 private:
  using Hardware = std::pair<std::string, std::string>;  // model and GPU

  // Updates by model, GPU and degree: they do not depend on the micro-batch. And whether TF32 was on.
  void note_evidence(const Subject& subject, const Copies& copies) {
    const SailorGpu* gpu = tables_.gpu(subject.gpu);
    const SailorModel* model = tables_.model(subject.model);
    if (gpu == nullptr || model == nullptr) return;
    const double forward_flop = subject.micro_batch_sequences * model->model.layer_flop(model->tokens).total() /
                                subject.tensor_parallel;
    const double vectors_flop_per_s = gpu->type.flop_per_s.at(Precision::fp32).value;
    for (const auto& [name, rows] : copies) {
      for (const LayerRow& row : rows) {
        if (row.update_s > 0)
          updates_[{subject.model, subject.gpu, subject.tensor_parallel}].push_back(row.update_s);
        if (row.kind == LayerKind::transformer && row.forward_s * vectors_flop_per_s < forward_flop) {
          above_vectors_.insert({subject.model, subject.gpu});
        }
      }
    }
  }

  // A rate above that of the vector units proves TF32; where no row of a model on a GPU reaches it, fp32 was
  // used.
  [[nodiscard]] Precision precision_of(const Subject& subject) const {
    return above_vectors_.contains({subject.model, subject.gpu}) ? Precision::tf32 : Precision::fp32;
  }

  // Empty where the profile can be told as runs.
  [[nodiscard]] std::string missing(const Subject& subject, const Profile& profile) const {
    if (tables_.model(subject.model) == nullptr)
      return "no shape of the model " + subject.model + " among the files";
    if (tables_.gpu(subject.gpu) == nullptr)
      return "no GPU type " + subject.gpu + " among the files that the facts know";
    if (find_sizes(sizes_, subject) == nullptr)
      return "no sizes of the layers of " + subject.model + " among the files";
    if (!updates_.contains({subject.model, subject.gpu, subject.tensor_parallel})) {
      return "the optimizer's update is not stated for " + subject.model + " on " + subject.gpu + " with tp " +
             std::to_string(subject.tensor_parallel) + ", and a training pass has one";
    }
    if (subject.tensor_parallel > 1 && !tables_.within_node(subject.gpu, subject.tensor_parallel)) {
      return "no curve of the links within a node of " + subject.gpu;
    }
    const bool has_all = profile.embedding && profile.first_layer && profile.second_layer && profile.head;
    return has_all ? "" : "the profile of " + subject.name() + " lacks an embedding, a decoder layer or a head";
  }

  void import_profile(const Subject& subject, const std::vector<LayerRow>& rows) {
    const Profile profile = profile_of(rows);
    const std::string reason = missing(subject, profile);
    if (!reason.empty()) return leave_out(rows, reason);
    const Sizes& sizes = *find_sizes(sizes_, subject);
    const double update_s = median(updates_.at({subject.model, subject.gpu, subject.tensor_parallel}));
    const Model& model = tables_.model(subject.model)->model;
    const double of_layer_s = update_s * sizes.share_of_layer();
    const bool is_tied = sizes.head < sizes.embedding / 2;  // then the head has a norm's weights only
    add(subject, layer_pass(model, profile, of_layer_s));
    add(subject, ends_pass(model, profile, update_s - of_layer_s, is_tied));
  }

  void add(const Subject& subject, const Pass& pass) {
    const int tokens = tables_.model(subject.model)->tokens;
    const Precision precision = precision_of(subject);
    const Workflow workflow =
        training_step(pass.model.name + ", " + std::to_string(subject.micro_batch_sequences) + " sequences, " +
                          std::string(name_of(precision)),
                      pass.model, subject.micro_batch_sequences, tokens, precision);
    TaskPlan task = uniform_task({.tensor_parallel = subject.tensor_parallel}, pass.model.layers);
    task.micro_batch_sequences = subject.micro_batch_sequences;
    task.execution.semantics = "megatron";
    Plan plan;
    plan.tasks.emplace(workflow.tasks.front().name, std::move(task));
    Run run = run_of(subject, pass);
    run.tasks[workflow.tasks.front().name].samples_s = {pass.time_s};
    add_run(imported_.runs, std::move(run), cluster_of(subject), workflow, plan);
  }

  [[nodiscard]] static Run run_of(const Subject& subject, const Pass& pass) {
    Run run;
    run.name = subject.name() + " " + pass.part;
    run.source = RunSource::published;
    run.framework = "megatron-deepspeed-profile";
    run.notes = {
        {"source", kSource},
        {"grade", "B"},
        {"model", subject.model},
        {"gpu", subject.gpu},
        {"layer_times.csv lines", lines_of(pass.rows)},
        {"composed", "parts timed one by one, with a share by parameters of the optimizer's update"},
        {"left unsaid", "precision (TF32 where a layer runs above the rate of fp32 vectors), repetitions"}};
    return run;
  }

  // One node with as many devices as the group.
  [[nodiscard]] Cluster cluster_of(const Subject& subject) const {
    const SailorGpu& gpu = *tables_.gpu(subject.gpu);
    Node node{.name = "node0",
              .region = "region",
              .zone = "zone",
              .device_type = gpu.name,
              .devices = subject.tensor_parallel,
              .host_memory_bytes = {},
              .link = {},
              .network_bytes_per_s = {}};
    if (node.devices > 1) node.link = tables_.within_node(subject.gpu, node.devices);
    return {"a node of " + std::to_string(node.devices) + " x " + gpu.name, {{gpu.name, gpu.type}}, {node}, {}};
  }

  void leave_out(const std::vector<LayerRow>& rows, const std::string& reason) {
    for (const LayerRow& row : rows) {
      imported_.left_out.push_back({"layer_times.csv line " + std::to_string(row.line), reason});
    }
  }

  Imported& imported_;
  const SailorTables& tables_;
  std::map<Subject, Copies> subjects_;
  SizesByDegree sizes_;
  std::map<std::tuple<std::string, std::string, int>, std::vector<double>> updates_;
  std::set<Hardware> above_vectors_;
};

}  // namespace

void import_sailor_layers(Imported& imported, const CsvTable& times, const CsvTable& sizes,
                          const SailorTables& tables) {
  LayerImport(imported, times, sizes, tables).run();
}

}  // namespace sextant
