#include "ask/coefficient_source.h"

#include <algorithm>
#include <filesystem>

#include "ask/data_files.h"
#include "ask/document_source.h"
#include "calibrate/families.h"
#include "calibrate/import/records/facts.h"
#include "calibrate/spelling.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

namespace fs = std::filesystem;

bool has_cpus(const Cluster& cluster) {
  const auto& types = cluster.device_types();
  return std::any_of(types.begin(), types.end(),
                     [](const auto& named) { return named.second.kind == DeviceKind::cpu; });
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

fs::path shipped_file(std::string_view family) {
  return data_folder() / "coefficients" / (std::string(family) + ".json");
}

// The file of the framework's family, otherwise the file of all frameworks.
fs::path find_shipped(const std::string& framework) {
  fs::path of_family = shipped_file(family_of_framework(lower_case(framework)));
  if (fs::exists(of_family)) return of_family;
  fs::path of_all = shipped_file("any");
  if (fs::exists(of_all)) return of_all;
  throw_bad_input(
      "no coefficients were found that ship: looked for " + of_family.string() +
      (of_family == of_all ? "" : " and " + of_all.string()) +
      "; set SEXTANT_DATA to the data/ folder, give --coefficients FILE, or ask for the bare appendix with "
      "--coefficients none");
}

ChosenCoefficients neutral(const std::string& framework) { return {{}, kNoCoefficients, framework, {}}; }

ChosenCoefficients from_file(const std::string& file, const std::string& framework, const Cluster& cluster) {
  NamedCoefficients loaded = load_coefficients(file, device_types_of(cluster));
  const std::string name = source_name<Coefficients>(file);
  ChosenCoefficients chosen{std::move(loaded.coefficients), name, "", std::move(loaded.notes)};
  chosen.framework = find_framework(chosen.coefficients, name, framework, chosen.notes);
  return chosen;
}

}  // namespace

ChosenCoefficients choose_coefficients(const std::string& asked, const std::string& framework,
                                       const Cluster& cluster) {
  if (asked == kNoCoefficients) return neutral(framework);
  if (!asked.empty()) return from_file(asked, framework, cluster);
  if (has_cpus(cluster)) {
    ChosenCoefficients chosen = neutral(framework);
    chosen.notes.emplace_back(
        "no --coefficients: used none, the bare appendix; those that ship are of GPUs and the cluster has CPU "
        "cores");
    return chosen;
  }
  const fs::path file = find_shipped(framework);
  ChosenCoefficients chosen = from_file(file.string(), framework, cluster);
  chosen.notes.insert(chosen.notes.begin(),
                      "no --coefficients: used those fitted to public runs, " + file.string());
  chosen.is_shipped = true;
  return chosen;
}

NamedCoefficients load_coefficients(const std::string& file, const std::set<std::string>& device_types) {
  NamedCoefficients loaded{document_of<Coefficients>(file), {}};
  std::vector<RenamedType> renamed = rename_device_types(loaded.coefficients, device_types, lower_case);
  const fs::path facts_folder = find_data_folder().value_or("");
  if (fs::exists(facts_folder / "gpus.json") && fs::exists(facts_folder / "models.json")) {
    const Facts facts = Facts::load(facts_folder / "gpus.json", facts_folder / "models.json");
    const auto full_name = [&](const std::string& type) {
      return facts.has_gpu(type) ? facts.gpu(type).name : lower_case(type);
    };
    for (RenamedType& one : rename_device_types(loaded.coefficients, device_types, full_name)) {
      renamed.push_back(std::move(one));
    }
  }
  for (const RenamedType& one : renamed) {
    loaded.notes.push_back("device type " + in_quotes(one.to) + " of the cluster takes the coefficients of " +
                           in_quotes(one.from));
  }
  return loaded;
}

NamedCoefficients load_coefficients_for(const std::string& file, const Runs& runs) {
  std::set<std::string> types;
  for (const auto& [name, cluster] : runs.clusters) types.merge(device_types_of(cluster));
  return load_coefficients(file, types);
}

std::string find_framework(const Coefficients& coefficients, const std::string& file,
                           const std::string& framework, std::vector<std::string>& notes) {
  std::string name = framework_as_in(coefficients, framework);
  if (name == kAny || has_values_of(coefficients, name)) return name;
  const std::vector<std::string> known = frameworks_of(coefficients);
  // Fitted to no other framework: the values for all are its own.
  if (known == std::vector<std::string>{name}) return name;
  notes.push_back("no values of framework " + in_quotes(name) + " in " + file + ", took those for all; " +
                  (known.empty() ? "it names no framework" : "it knows " + joined(known)));
  return name;
}

}  // namespace sextant::inline ask
