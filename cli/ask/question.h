// The options of a question in one line: a cluster and a workflow without documents.
#pragma once

#include "ask/question.h"
#include "cli/command_line/command.h"

namespace sextant::cli {

// The options, to make those excluded by them or required without them.
struct QuestionHandles {
  Option gpus, model;
};

[[nodiscard]] QuestionHandles add_question(const Command& command, ClusterOptions& cluster,
                                           WorkflowOptions& workflow);

}  // namespace sextant::cli
