// Rejects everything that the proxy cannot execute, before anything runs.
#pragma once

#include <string>
#include <vector>

#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::proxy {

// The limits of an engine. The defaults are those of CPU cores (host_engine.cpp).
struct EngineLimits {
  std::string computes = "in fp32 on CPU cores";  // "the proxy computes ..."
  Precision precision = Precision::fp32;
  bool cuda_graphs = false;  // for decode steps
  bool value_heads = true;
  int channel_multiple = 1;       // hidden and a rank's part of intermediate and vocabulary are multiples of it
  std::vector<int> head_dims;     // empty: any even one
  int max_heads_per_kv_head = 0;  // 0: any
  int token_limit = 0;            // per sequence; 0: any
};

// Throws Error(bad_input) with one sentence unless the proxy can run the workflow with some plan.
void check_workflow(const Workflow& workflow, const EngineLimits& limits = {});

// Throws unless it can run the plan on `ranks` ranks. Workflow and plan have passed check_workflow and
// check_plan.
void check_runnable(const Workflow& workflow, const Plan& plan, int ranks, const EngineLimits& limits = {});

}  // namespace sextant::proxy
