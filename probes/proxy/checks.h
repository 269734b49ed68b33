// What the proxy cannot execute, refused before anything runs.
#pragma once

#include <string>
#include <vector>

#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::proxy {

// What an engine can execute. By default CPU cores (host_engine.cpp).
struct EngineLimits {
  std::string computes = "in fp32 on CPU cores";  // "the proxy computes ..."
  Precision precision = Precision::fp32;
  bool cuda_graphs = false;  // of decode steps
  bool value_heads = true;
  int channel_multiple = 1;       // hidden and a rank's part of intermediate and vocabulary are multiples of it
  std::vector<int> head_dims;     // empty: any even one
  int max_heads_per_kv_head = 0;  // 0: any
  int token_limit = 0;            // of one sequence; 0: any
};

// Error(bad_input) with one sentence unless the proxy can run the workflow in some plan.
void check_workflow(const Workflow& workflow, const EngineLimits& limits = {});

// The same unless it can run the plan on `ranks` ranks. Workflow and plan have passed check_workflow and
// check_plan.
void check_runnable(const Workflow& workflow, const Plan& plan, int ranks, const EngineLimits& limits = {});

}  // namespace sextant::proxy
