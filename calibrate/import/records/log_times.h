// Times and lengths of a log without its plan, which a configuration may state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/stated_gpus.h"
#include "sextant/lengths.h"

namespace sextant::inline calibrate {

// Means over steps.
struct LogLengths {
  double response = 0;
  std::optional<double> longest;  // response of a step
  std::optional<double> prompt;
};

// Steps whose responses have similar lengths.
struct LogBand {
  std::string name;  // of its run
  LogLengths lengths;
  std::vector<double> iteration_s;                    // a sample of each step
  std::map<std::string, std::vector<double>> timers;  // as Run::tasks
  bool times_generation = false;                      // also where it overlaps: its timer is no wait
  double reward_s = 0;                                // of a step, by rules
  std::map<std::string, std::string> notes;
};

struct LogTimes {
  std::string name;
  std::vector<LogBand> bands;
  std::vector<LeftOut> left_out;
  bool is_asynchronous = false;  // the timer of generation is a wait
  StatedGpus gpus;               // of the log, its side file or the user
};

// Without a mean the prompts are assumed, which a note says. `maximum`: 0 if there is none.
[[nodiscard]] Lengths prompt_lengths(const LogLengths& lengths, double maximum,
                                     std::map<std::string, std::string>& notes);
[[nodiscard]] Lengths response_lengths(const LogLengths& lengths, double sequences, double maximum);

}  // namespace sextant::inline calibrate
