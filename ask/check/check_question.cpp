#include "ask/check/check_question.h"

#include <filesystem>

#include "ask/coefficient_source.h"
#include "ask/data_files.h"
#include "ask/document_source.h"
#include "calibrate/import/import.h"
#include "sextant/error.h"

namespace sextant {

RunsToCheck runs_to_check(const CheckQuestion& question) {
  if (question.format.empty()) {
    if (question.sources.size() != 1)
      throw_bad_input("one runs document at a time; --import NAME reads logs, which may be several files");
    return {document_of<Runs>(question.sources.front()), {}};
  }
  const std::filesystem::path data = data_folder();
  Imported imported = import_runs(question.format, {question.sources.begin(), question.sources.end()},
                                  Facts::load(data / "gpus.json", data / "models.json"));
  RunsToCheck runs{std::move(imported.runs), {}};
  for (const LeftOut& record : imported.left_out)
    runs.left_out.push_back("left out " + record.record + ": " + record.reason);
  return runs;
}

void check_runs(const CheckQuestion& question, const Runs& runs,
                const std::function<void(const CheckedRun&)>& take) {
  bool is_found = false;
  for (const Run& run : runs.runs) {
    if (!question.run.empty() && run.name != question.run) continue;
    is_found = true;
    const ChosenCoefficients chosen =
        choose_coefficients(question.coefficients, run.framework, runs.cluster_of(run));
    take(
        {run,
         verdict_on(run, {runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run)}, chosen.coefficients),
         chosen.notes});
  }
  if (!is_found)
    throw_bad_input(question.run.empty() ? "there is no run to check"
                                         : "there is no run \"" + question.run + "\"");
}

}  // namespace sextant
