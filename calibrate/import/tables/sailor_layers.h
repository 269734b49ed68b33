// Sailor's profiles of single layers as training passes of small models.
//
// The profiler times the parts of a model of two decoder layers one by one: embedding, both layers, norm, head,
// and the optimizer's update of all of it. Each profile becomes two runs, so that every time is used once:
//   layer  the second decoder layer, as a model of one layer without vocabulary
//   ends   embedding, first decoder layer, norm and head, as a model of one layer with them
// each with its share of the update by parameters.
#pragma once

#include "calibrate/import/records/imported.h"
#include "calibrate/import/tables/sailor_tables.h"
#include "core/csv.h"

namespace sextant {

// times: layer_times.csv; sizes: layer_sizes.csv. A row that no run uses is left out, reported by its line.
void import_sailor_layers(Imported& imported, const CsvTable& times, const CsvTable& sizes,
                          const SailorTables& tables);

}  // namespace sextant
