#include <array>

#include "core/error.h"
#include "costmodel/vocabulary/coefficients.h"

namespace sextant {
namespace {

using enum CoefficientId;
constexpr auto kLog = CoefficientScale::logarithmic;
constexpr auto kLinear = CoefficientScale::linear;

// id, name, unit, neutral, lower, upper, prior, prior deviation, scale, by device type, help
constexpr std::array<CoefficientSpec, kCoefficientCount> kTable{{
    {prefill_efficiency, "prefill_efficiency", "1", 1, 0.02, 2, 0.7, 0.5, kLog, true,
     "share of the measured GEMM rate that the prefill of generation reaches"},
    {inference_efficiency, "inference_efficiency", "1", 1, 0.02, 2, 0.7, 0.5, kLog, true,
     "share of the measured GEMM rate that forward passes over whole sequences reach"},
    {training_efficiency, "training_efficiency", "1", 1, 0.02, 2, 0.7, 0.5, kLog, true,
     "share of the measured GEMM rate that forward and backward passes reach"},
    {attention_weight, "attention_weight", "1", 1, 0.2, 30, 1.5, 0.7, kLog, true,
     "cost of a FLOP of attention relative to one of a projection (softmax, small matrices)"},
    {activation_traffic_weight, "activation_traffic_weight", "1", 0, 0, 20, 0.5, 1, kLinear, true,
     "share of element-wise passes over activations that is not hidden behind arithmetic"},
    {layer_overhead_s, "layer_overhead_s", "s", 0, 0, 1e-2, 1e-5, 1e-4, kLinear, true,
     "fixed time of one layer of one micro-batch in one pass (launches, small kernels)"},
    {recompute_flop_weight, "recompute_flop_weight", "1", 0, 0, 1.5, 1, 0.2, kLinear, false,
     "share of the forward pass that recomputation repeats (the appendix counts its communication only)"},
    {decode_bandwidth_efficiency, "decode_bandwidth_efficiency", "1", 1, 0.02, 8, 0.8, 0.7, kLog, true,
     "share of the measured memory bandwidth at which decoding reads weights; above 1 where caches hold them"},
    {decode_flop_weight, "decode_flop_weight", "1", 0, 0, 20, 0.5, 1, kLinear, true,
     "time of the arithmetic of decoding at the measured GEMM rate, beside reading the weights"},
    {decode_kv_read_weight, "decode_kv_read_weight", "1", 0, 0, 20, 0.5, 1, kLinear, true,
     "time of reading the KV cache at the measured memory bandwidth"},
    {decode_layer_overhead_s, "decode_layer_overhead_s", "s", 0, 0, 1e-2, 1e-5, 1e-4, kLinear, true,
     "fixed time of one layer in one decode step"},
    {decode_latency_weight, "decode_latency_weight", "1", 0, 0, 50, 1, 2, kLinear, false,
     "link latency paid by the collectives and transfers of every decode step"},
    {decode_serialization_weight, "decode_serialization_weight", "1", 0, 0, 2, 0.8, 0.5, kLinear, false,
     "share of the time that pipeline stages wait for each other when decoding fewer batches than stages"},
    {pipeline_fill_weight, "pipeline_fill_weight", "1", 0, 0, 2, 0.8, 0.5, kLinear, false,
     "share of pipeline fill and drain paid by inference and prefill (training always pays it)"},
    {bubble_slowest_weight, "bubble_slowest_weight", "1", 0, 0, 1, 1, 0.3, kLinear, false,
     "training's bubble: 0 the appendix (every stage but the first), 1 every stage but the slowest"},
    {tensor_parallel_efficiency, "tensor_parallel_efficiency", "1", 1, 0.01, 4, 0.7, 0.7, kLog, false,
     "share of the link bandwidth that all-reduces of activations reach"},
    {pipeline_parallel_efficiency, "pipeline_parallel_efficiency", "1", 1, 0.01, 4, 0.7, 0.7, kLog, false,
     "share of the link bandwidth that transfers between stages reach"},
    {data_parallel_efficiency, "data_parallel_efficiency", "1", 1, 0.01, 4, 0.7, 0.7, kLog, false,
     "share of the link bandwidth that all-reduces of gradients reach"},
    {optimizer_traffic_weight, "optimizer_traffic_weight", "1", 0, 0, 20, 1, 0.7, kLinear, true,
     "time of the optimizer's passes over its state at the measured memory bandwidth"},
    {weight_sync_efficiency, "weight_sync_efficiency", "1", 1, 0.005, 4, 0.5, 1, kLog, false,
     "share of the link bandwidth that resharding and weight synchronization reach"},
    {weight_copy_weight, "weight_copy_weight", "1", 0, 0, 20, 1, 1, kLinear, true,
     "time of copying the weights into the generation engine at the measured memory bandwidth"},
    {link_latency_scale, "link_latency_scale", "1", 1, 0.1, 100, 2, 1, kLog, false,
     "latency of a collective relative to the measured point-to-point latency"},
    {task_overhead_s, "task_overhead_s", "s", 0, 0, 60, 1e-4, 1e-3, kLinear, false,
     "fixed time of starting a task (a mini-batch, for training)"},
    {sequence_overhead_s, "sequence_overhead_s", "s", 0, 0, 1, 1e-6, 1e-4, kLinear, false,
     "fixed time of one sequence in one task"},
    {iteration_overhead_s, "iteration_overhead_s", "s", 0, 0, 600, 1e-3, 1e-2, kLinear, false,
     "fixed time of an iteration outside its tasks"},
    {task_overlap, "task_overlap", "1", 1, 0, 1, 1, 0.1, kLinear, false,
     "eta: how far tasks without dependencies on disjoint devices run in parallel (0 one by one, 1 fully)"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].id) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table follows the order of CoefficientId");

}  // namespace

std::span<const CoefficientSpec> coefficient_table() { return kTable; }

const CoefficientSpec& spec_of(CoefficientId id) { return kTable[static_cast<std::size_t>(id)]; }

}  // namespace sextant
