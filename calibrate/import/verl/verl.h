// Imports logs of verl as runs: console output, the JSONL of its file logger, and collections of their numbers.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/log_times.h"
#include "calibrate/import/records/stated_gpus.h"
#include "calibrate/import/verl/driver_dialect.h"

namespace sextant::inline calibrate {

// The suffix of a file's name selects the format:
//   .json   numbers of logs with known facts about them; data/public/verl/README.md describes the members; or a
//           trainer_state.json of Transformers;
//   .jsonl  one line per step, as trainer.logger="file" or wandb writes it;
//   .csv    a table of wandb, a column for each metric; a folder of such tables is one log, as wandb exports a panel of a
//           single metric at a time;
//   events.out.tfevents.*  scalars of TensorBoard, whatever their suffix;
//   other   a console log, which also holds the configuration if verl printed it.
// A side file next to the log, FILE.setup.json, adds what the log does not hold:
//   {"gpu": "H100", "gpus": 16, "gpus_per_node": 8, "source": "...", "config": {"data.train_batch_size": 256,
//   ...}}
// The GPU is always required, by a name or in a text that names exactly one ("GH200 (stated)"), or `stated` has it;
// "gpus" is required if the configuration has no trainer.n_gpus_per_node and trainer.nnodes; names in "config" are
// verl's, and override the log's own.
//
// A log becomes one run with a sample per step; the first step of a process is dropped, because it warms up. If
// the mean response length of steps varies by more than a fifth, there is one run for each of equal bands (in
// the logarithm, none wider than a fifth). A band of fewer than three steps is left out if another has more.
// Times of validation and checkpoints are subtracted from a step that holds them, as verl's did up to 0.5.
[[nodiscard]] Imported read_verl(const std::vector<std::filesystem::path>& files, const Facts& facts,
                                 const StatedGpus& stated = {});

// The same for logs of another framework: console text, JSONL and tables (.csv) of wandb. Options of the side file have the
// framework's own names, or verl's.
[[nodiscard]] Imported read_driver_logs(const std::vector<std::filesystem::path>& files, const Facts& facts,
                                        const DriverDialect& dialect, const StatedGpus& stated = {});

// The times of the same files without a plan, one for each log. `dialect`: null for verl's own logs.
[[nodiscard]] std::vector<LogTimes> read_log_times(const std::vector<std::filesystem::path>& files,
                                                   const DriverDialect* dialect, const StatedGpus& stated);

}  // namespace sextant::inline calibrate
