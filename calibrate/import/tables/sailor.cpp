#include "calibrate/import/tables/sailor.h"

#include <optional>

#include "calibrate/import/tables/sailor_layers.h"
#include "calibrate/import/tables/sailor_plans.h"
#include "calibrate/import/tables/sailor_tables.h"
#include "core/json_value.h"
#include "sextant/document.h"

namespace sextant {
namespace {

constexpr std::string_view kPlans = "sextant-data.sailor-plans/1";
constexpr std::string_view kModels = "sextant-data.sailor-models/1";

// The content of the files, before runs are made of it.
struct SailorFiles {
  explicit SailorFiles(const Facts& facts) : tables(facts) {}

  SailorTables tables;
  std::vector<SailorPlan> plans;
  std::optional<CsvTable> layer_times;
  std::optional<CsvTable> layer_sizes;
};

void add_document(SailorFiles& files, const JsonView& view) {
  const JsonView schema = view.required("schema");
  if (schema.one_of({kPlans, kModels}) == 1) return files.tables.add_models(view);
  for (SailorPlan& plan : parse_sailor_plans(view)) files.plans.push_back(std::move(plan));
}

void add_table(SailorFiles& files, const CsvTable& table) {
  if (table.has_column("forward_s")) {
    files.layer_times = table;
  } else if (table.has_column("params_count")) {
    files.layer_sizes = table;
  } else if (!files.tables.add(table)) {
    throw_bad_input(table.file() +
                    ": not one of Sailor's tables of curves, GPU types, layer times or layer sizes");
  }
}

void add_file(SailorFiles& files, const std::filesystem::path& file) {
  if (file.extension() == ".csv") return add_table(files, load_csv(file));
  const std::string text = read_text_file(file);
  try {
    const Json json = parse_json(text);
    add_document(files, JsonView(json));
  } catch (const Error& error) {
    throw Error(error.kind(), file.string() + ": " + error.what());
  }
}

}  // namespace

Imported read_sailor(const std::vector<std::filesystem::path>& paths, const Facts& facts) {
  SailorFiles files(facts);
  for (const std::filesystem::path& path : paths) add_file(files, path);
  files.tables.check();
  Imported imported;
  import_sailor_plans(imported, files.plans, files.tables);
  if (!files.layer_times) return imported;
  if (!files.layer_sizes)
    throw_bad_input("format sailor: no table of layer sizes (layer_sizes.csv) among the files");
  import_sailor_layers(imported, *files.layer_times, *files.layer_sizes, files.tables);
  return imported;
}

}  // namespace sextant
