// Sailor's measured plans: stages and replicas of different GPU types, with time and memory.
#pragma once

#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/tables/sailor_tables.h"
#include "sextant/json.h"

namespace sextant {

// One tensor-parallel group, on one node.
struct SailorGroup {
  std::string gpu_type;
  int tensor_parallel = 1;
};

struct SailorStage {
  int first_layer = 0;  // as the source counts: 0 is the embedding
  int last_layer = 0;
  std::vector<SailorGroup> replicas;
};

struct SailorPlan {
  std::string id;
  std::string cluster;
  std::string model;
  int nodes = 1;
  int sequences = 1;  // per global batch
  int micro_batch_sequences = 1;
  int micro_batches = 1;  // per replica
  int tokens = 1;
  int plan_layers = 1;
  int data_parallel = 1;
  std::vector<SailorStage> stages;
  double iteration_s = 0;
  double gradient_sync_s = 0;
  double peak_memory_bytes = 0;
  std::string remark;
};

// Parses a document sextant-data.sailor-plans/1.
[[nodiscard]] std::vector<SailorPlan> parse_sailor_plans(const JsonView& document);

// Adds runs with time and memory. Plans with exactly the same times and memory are copies; one is kept.
void import_sailor_plans(Imported& imported, const std::vector<SailorPlan>& plans, const SailorTables& tables);

}  // namespace sextant
