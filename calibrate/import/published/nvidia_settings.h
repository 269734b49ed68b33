// Settings of NVIDIA's tuned training recipes that the tables of their times do not state. A record copies them
// from the recipe itself, whose location it states (config_source).
//
// * cuda_graphs: "iteration", or the modules that are replayed (attn, mlp, moe_router, moe_preprocess);
// * recompute_modules: computed again in the backward pass; a record with these states all the others too;
// * moe_dispatcher: deepep or hybridep; absent: an all-to-all, tokens sorted before and after;
// * moe_a2a_overlap: that all-to-all overlaps with the computation of another micro-batch;
// * fused_grouped_mlp: activation and casts inside the products of experts;
// * fp8_attention: attention in 8 bits, as the products;
// * activation_offload_layers: of a stage, to the host;
// * megatron_fsdp: weights sharded over the replicas.
#pragma once

#include "calibrate/import/records/measured_step.h"
#include "sextant/json.h"

namespace sextant {

// Applies the settings of the record's configuration; returns false, and changes nothing, if it has none.
bool set_nvidia_settings(MeasuredStep& step, const JsonView& config);

}  // namespace sextant
