// Logs of verl as runs: the console's lines, the JSONL of its file logger, and collections of their numbers.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant {

// By the ending of a file's name:
//   .json   numbers of one log with what is known about it: data/public/verl/README.md has the members;
//   .jsonl  a line a step, as trainer.logger="file" writes it;
//   else    a console log, which holds the configuration too where verl printed it.
// What a log does not hold stands in a side file beside it, FILE.setup.json:
//   {"gpu": "H100", "gpus": 16, "gpus_per_node": 8, "source": "...", "config": {"data.train_batch_size": 256,
//   ...}}
// The GPU is always needed, by a name or in a text that names one and no other ("GH200 (stated)"); "gpus" where
// the configuration has no trainer.n_gpus_per_node and trainer.nnodes; names in "config" are verl's, and take
// the place of the log's own.
//
// One run a log, every step a sample; the first step of a process is left off, because it warms up. Where the
// mean response length of steps varies by more than a fifth, one run for each of equal bands (in the logarithm,
// none wider than a fifth). A band of fewer than three steps is left out where another has more. Times of
// validation and checkpoints are taken off a step that holds them, as verl's did up to 0.5.
[[nodiscard]] Imported read_verl(const std::vector<std::filesystem::path>& files, const Facts& facts);

}  // namespace sextant
