// Helpers shared by the tests of the readers of training steps.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "calibrate/import/import.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/core/temporary_folder.h"

namespace sextant {

inline const Facts& carried_facts() {
  static const Facts facts =
      Facts::load(SEXTANT_SOURCE_DIR "/data/gpus.json", SEXTANT_SOURCE_DIR "/data/models.json");
  return facts;
}

// Returns the path of a file under data/public.
inline std::filesystem::path carried_file(const std::string& name) {
  return std::filesystem::path(SEXTANT_SOURCE_DIR) / "data" / "public" / name;
}

// Files with a test's own text, read as one format.
class OwnFiles {
 public:
  std::filesystem::path write(const std::string& name, std::string_view text) {
    std::filesystem::path file = folder_.path() / name;
    write_text_file(file, text);
    return file;
  }

 private:
  TemporaryFolder folder_;
};

inline const Run& run_named(const Imported& imported, const std::string& name) {
  for (const Run& run : imported.runs.runs) {
    if (run.name == name) return run;
  }
  throw std::out_of_range("no run is named " + name);
}

inline const TaskPlan& task_of(const Imported& imported, const std::string& name) {
  return imported.runs.plan_of(run_named(imported, name)).tasks.at(task_names::kActorTraining);
}

inline const Model& model_of(const Imported& imported, const std::string& name) {
  return imported.runs.workflow_of(run_named(imported, name)).models.at("actor");
}

inline const Cluster& cluster_of(const Imported& imported, const std::string& name) {
  return imported.runs.cluster_of(run_named(imported, name));
}

inline std::string reason_for(const Imported& imported, const std::string& record) {
  for (const LeftOut& left_out : imported.left_out) {
    if (left_out.record == record) return left_out.reason;
  }
  return "";
}

// Counts its runs by framework.
inline std::map<std::string, int> count_by_framework(const Imported& imported) {
  std::map<std::string, int> out;
  for (const Run& run : imported.runs.runs) ++out[run.framework];
  return out;
}

// Expects that every plan can run, and that the document is unchanged after writing and reading it.
inline void expect_sound(const Imported& imported) {
  const Json json = imported.runs.to_json();
  EXPECT_TRUE(Runs::parse(JsonView(json)) == imported.runs);
  for (const Run& run : imported.runs.runs) {
    EXPECT_EQ(run.source, RunSource::published) << run.name;
    for (const char* note : {"source", "model", "gpu"}) {
      EXPECT_TRUE(run.notes.contains(note)) << run.name << " has no note " << note;
    }
  }
}

}  // namespace sextant
