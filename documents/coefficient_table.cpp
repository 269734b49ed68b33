#include <array>

#include "sextant/coefficients.h"
#include "sextant/error.h"

namespace sextant {
namespace {

using enum CoefficientId;
constexpr auto kLog = CoefficientScale::logarithmic;
constexpr auto kLinear = CoefficientScale::linear;

// id, name, unit, neutral, lower, upper, prior, prior deviation, scale, deviation of device types and of
// frameworks, source of the prior, help
constexpr std::array<CoefficientSpec, kCoefficientCount> kTable{{
    {prefill_efficiency, "prefill_efficiency", "1", 1, 0.02, 2, 0.75, 0.15, kLog, 0.08, 0.1,
     "judgement, which GEMM tables bound (data/public/kernels); revised with fits to public serving points",
     "share of the measured GEMM rate that the prefill of generation reaches"},
    {inference_efficiency, "inference_efficiency", "1", 1, 0.02, 2, 0.7, 0.35, kLog, 0.15, 0.25,
     "judgement, which GEMM tables bound (data/public/kernels); wide, as FSDP and Megatron differ by 2",
     "share of the measured GEMM rate that forward passes over whole sequences reach"},
    {training_efficiency, "training_efficiency", "1", 1, 0.02, 2, 0.78, 0.15, kLog, 0.15, 0.1,
     "judgement, which GEMM tables bound (data/public/kernels); revised with fits to public training",
     "share of the measured GEMM rate that forward and backward passes reach"},
    {fp8_efficiency, "fp8_efficiency", "1", 1, 0.1, 1.5, 0.8, 0.15, kLog, 0, 0.1,
     "judgement; revised with fits to public serving points; FP8 GEMM tables show less (data/public/kernels)",
     "share that 8-bit arithmetic reaches of its rate, relative to 16-bit's share (casts, scales)"},
    {fp4_efficiency, "fp4_efficiency", "1", 1, 0.05, 1.5, 0.7, 0.25, kLog, 0, 0.1,
     "judgement: less than fp8_efficiency; revised with fits to public serving points",
     "share that 4-bit arithmetic reaches of its rate, relative to 16-bit's share"},
    {peak_rate_exponent, "peak_rate_exponent", "1", 0, -0.2, 0.6, 0.01, 0.05, kLinear, 0, 0,
     "GEMM tables (data/public/kernels)",
     "power with which the share of the arithmetic rate that generation reaches falls with the rate, from "
     "3e14"},
    {roofline_sharing, "roofline_sharing", "1", 0, 0, 0.95, 0.75, 0.1, kLinear, 0, 0,
     "judgement: most of the shorter is hidden; set with fits to public serving points",
     "overlap of arithmetic and memory traffic in a kernel of generation: 0 their sum, 1 the longer"},
    {attention_weight, "attention_weight", "1", 1, 0.2, 30, 1.3, 0.5, kLog, 0.2, 0.2,
     "judgement: softmax next to small products; attention tables bound it (data/public/kernels)",
     "cost of a FLOP of attention relative to one of a projection (softmax, small matrices)"},
    {portable_attention_weight, "portable_attention_weight", "1", 1, 1, 4, 1.7, 0.15, kLog, 0, 0,
     "FlashAttention-3 paper (Shah et al. 2024), 4.1: 1.5 to 2 times forward, 1.5 to 1.75 backward",
     "cost of attention by kernels written for older devices (FlashAttention 2 on Hopper and later) relative "
     "to native ones"},
    {prefill_attention_weight, "prefill_attention_weight", "1", 1, 0.2, 30, 1.2, 0.15, kLog, 0, 0.05,
     "judgement: softmax next to small products; set with fits to public serving points",
     "cost of a FLOP of attention in prefill relative to one of a projection"},
    {expert_flop_weight, "expert_flop_weight", "1", 1, 0.3, 10, 1.3, 0.4, kLog, 0.2, 0.2,
     "judgement: grouped products of few, uneven rows reach less",
     "cost of a FLOP of routed experts relative to one of a dense projection (small, uneven matrices)"},
    {gemm_traffic_weight, "gemm_traffic_weight", "1", 0, 0.001, 5, 0.7, 0.5, kLog, 0.2, 0.2,
     "judgement: most operands pass once, partly hidden; revised with fits to public runs",
     "time of moving the operands of matrix products at the measured memory bandwidth, in addition to their "
     "arithmetic"},
    {activation_traffic_weight, "activation_traffic_weight", "1", 0, 0.001, 20, 1, 0.5, kLog, 0.2, 0.3,
     "judgement: all passes that the term counts; revised with fits to public runs",
     "share of element-wise passes over activations that is not hidden behind arithmetic"},
    {score_traffic_weight, "score_traffic_weight", "1", 0, 0.001, 80, 8, 0.5, kLog, 0.2, 0.3,
     "judgement: passes of softmax, mask and dropout, both ways; revised with fits to public runs",
     "passes over the matrix of attention scores where attention is not fused"},
    {logit_traffic_weight, "logit_traffic_weight", "1", 0, 0.001, 80, 6, 0.5, kLog, 0.2, 0.3,
     "judgement: passes of softmax and loss in fp32; revised with fits to public runs",
     "passes over the logits of a vocabulary (loss, log-probabilities)"},
    {layer_overhead_s, "layer_overhead_s", "s", 0, 1e-9, 1e-1, 2e-4, 2, kLog, 0.1, 1,
     "judgement: some tens of launches of 5 to 10 us; revised with fits to public runs",
     "fixed time of one layer of one micro-batch in one pass (launches, small kernels)"},
    {lora_overhead_weight, "lora_overhead_weight", "1", 0, 0, 10, 1.5, 0.7, kLinear, 0, 0,
     "judgement: two more small products a projection",
     "host's work for the adapters of a layer relative to that for the layer (two small products a "
     "projection)"},
    {micro_batch_overhead_s, "micro_batch_overhead_s", "s", 0, 1e-9, 1, 3e-4, 1.5, kLog, 0.1, 1,
     "judgement: a loop of Python; revised with fits to public runs",
     "fixed time of the host for each micro-batch of a stage"},
    {collective_overhead_s, "collective_overhead_s", "s", 0, 1e-9, 1e-2, 5e-5, 1.2, kLog, 0.1, 0.3,
     "judgement: a few launches and waits on events; revised with fits to public runs",
     "fixed time of the host for launching one collective of a layer"},
    {host_sharing, "host_sharing", "1", 0, 0, 0.95, 0.8, 0.08, kLinear, 0, 0,
     "judgement: the host runs ahead of the device; revised with fits to public runs",
     "overlap of the host's preparation with the device: 0 one after the other, 1 the longer of the two"},
    {recompute_flop_weight, "recompute_flop_weight", "1", 0, 0, 1.5, 1, 0.2, kLinear, 0, 0,
     "definition: full recomputation repeats the forward pass once",
     "share of the forward pass that recomputation repeats (the appendix counts its communication only)"},
    {decode_bandwidth_efficiency, "decode_bandwidth_efficiency", "1", 1, 0.02, 8, 0.85, 0.3, kLog, 0.05, 0.1,
     "judgement; GEMM tables show less of large weights (data/public/kernels); revised with fits to public "
     "serving points",
     "share of the measured memory bandwidth at which decoding reads weights; above 1 where caches hold them"},
    {decode_flop_weight, "decode_flop_weight", "1", 0, 1e-3, 20, 1.3, 0.3, kLog, 0, 0.05,
     "judgement: reciprocal of prefill_efficiency; revised with fits to public serving points",
     "time of the arithmetic of decoding at the measured GEMM rate, in addition to reading the weights"},
    {decode_kv_read_weight, "decode_kv_read_weight", "1", 0, 1e-3, 20, 1.2, 0.3, kLog, 0.1, 0.6,
     "judgement, as attention tables show (data/public/kernels); revised with fits to public serving points",
     "time of reading the KV cache at the measured memory bandwidth"},
    {expert_read_weight, "expert_read_weight", "1", 1, 0.2, 10, 1.3, 0.2, kLog, 0, 0.1,
     "judgement: grouped products read at less of the bandwidth; set with fits to public serving points",
     "time of reading weights of routed experts in decoding relative to other weights"},
    {expert_narrow_columns, "expert_narrow_columns", "columns", 0, 1e-3, 1e3, 73, 0.25, kLog, 0, 0,
     "tables of routed experts (data/public/kernels)",
     "columns of an expert on one device below which decoding reads them at a lower bandwidth"},
    {decode_layer_overhead_s, "decode_layer_overhead_s", "s", 0, 1e-9, 1e-1, 4e-4, 1, kLog, 0.15, 0.6,
     "judgement: 11 kernels and their Python; revised with fits to public RL iterations",
     "fixed time of one layer in one decode step; of a dense one in 16 bits, others by their kernels"},
    {decode_graph_layer_overhead_s, "decode_graph_layer_overhead_s", "s", 0, 1e-9, 1e-2, 4.5e-5, 0.5, kLog, 0.1,
     0.5, "judgement: 11 replayed kernels of some 4 us; revised with fits to public serving points",
     "fixed time of one layer in one decode step that is replayed from a CUDA graph"},
    {decode_step_overhead_s, "decode_step_overhead_s", "s", 0, 1e-9, 1, 1e-3, 0.8, kLog, 0, 0.5,
     "judgement: a scheduler's step; revised with fits to public serving points",
     "fixed time of one decode step (scheduling, sampling)"},
    {decode_token_overhead_s, "decode_token_overhead_s", "s", 0, 1e-10, 1e-2, 8e-6, 0.8, kLog, 0, 0.6,
     "judgement: bookkeeping of one sequence; revised with fits to public serving points",
     "fixed time of one sequence in one decode step (sampling, bookkeeping)"},
    {decode_host_sharing, "decode_host_sharing", "1", 0, 0, 0.95, 0.6, 0.2, kLinear, 0, 0,
     "judgement: less than in training, as a step waits for its tokens; revised with fits to public generation",
     "overlap of kernel launches with the device in decoding: 0 one after the other, 1 the longer of the two"},
    {decode_latency_weight, "decode_latency_weight", "1", 0, 0, 50, 1, 0.5, kLinear, 0, 0,
     "definition: every step pays its links' latency once",
     "link latency paid by the collectives and transfers of every decode step"},
    {decode_serialization_weight, "decode_serialization_weight", "1", 0, 0, 2, 0.9, 0.2, kLinear, 0, 0,
     "judgement: nearly all of it; revised with fits to public RL iterations",
     "share of the time that pipeline stages wait for each other when decoding fewer batches than stages"},
    {pipeline_fill_weight, "pipeline_fill_weight", "1", 0, 0, 2, 0.9, 0.2, kLinear, 0, 0,
     "judgement: nearly all of it; revised with fits to public RL iterations",
     "share of pipeline fill and drain paid by inference and prefill (training always pays it)"},
    {bubble_slowest_weight, "bubble_slowest_weight", "1", 0, 0, 1, 1, 0.3, kLinear, 0, 0,
     "definition: a pipeline passes every stage but the slowest (costmodel/terms/bubble.h)",
     "training's bubble: 0 the appendix (every stage but the first), 1 every stage but the slowest"},
    {tensor_parallel_efficiency, "tensor_parallel_efficiency", "1", 1, 0.01, 4, 0.8, 0.2, kLog, 0, 0.15,
     "judgement, which all-reduce tables bound (data/public/kernels); revised with fits to public training",
     "share of the link bandwidth within a node that all-reduces of activations reach"},
    {tensor_parallel_overlap, "tensor_parallel_overlap", "1", 0, 0, 0.95, 0.05, 0.05, kLinear, 0, 0,
     "judgement: nothing to overlap with; revised with fits to public training",
     "share of tensor-parallel all-reduces that overlaps the computation"},
    {pipeline_parallel_efficiency, "pipeline_parallel_efficiency", "1", 1, 0.01, 4, 0.8, 0.5, kLog, 0, 0,
     "judgement: no less than all-reduces", "share of the link bandwidth that transfers between stages reach"},
    {pipeline_rendezvous_weight, "pipeline_rendezvous_weight", "1", 0, 0, 1.5, 0.7, 0.4, kLinear, 0, 0,
     "judgement: most edges block (1F1B)",
     "share of the transfer from the stage before that a stage waits for too"},
    {pipeline_transfer_overhead_s, "pipeline_transfer_overhead_s", "s", 0, 1e-9, 1, 2e-5, 2, kLog, 0, 0.5,
     "judgement: a launch and its wait; revised with fits to public runs",
     "fixed time of one transfer between stages"},
    {context_parallel_efficiency, "context_parallel_efficiency", "1", 1, 0.01, 4, 0.7, 0.7, kLog, 0, 0,
     "judgement: less than all-reduces",
     "share of the link bandwidth that the ring of context parallelism reaches"},
    {context_parallel_overlap, "context_parallel_overlap", "1", 0, 0, 0.95, 0.7, 0.3, kLinear, 0, 0,
     "judgement: the ring is made to overlap (Liu et al. 2023)",
     "share of context-parallel transfers that overlaps attention"},
    {expert_parallel_efficiency, "expert_parallel_efficiency", "1", 1, 0.01, 4, 0.5, 0.7, kLog, 0, 0.3,
     "judgement, which all-to-all tables bound (data/public/kernels): unequal shares reach less",
     "share of the link bandwidth that the all-to-all of experts reaches"},
    {expert_parallel_overlap, "expert_parallel_overlap", "1", 0, 0, 0.95, 0.3, 0.3, kLinear, 0, 0,
     "judgement: what a second micro-batch hides",
     "share of the all-to-all of experts that overlaps the computation"},
    // At most 5 ms: a loop over 256 experts that launches five kernels of 4 us each.
    {expert_layer_overhead_s, "expert_layer_overhead_s", "s", 0, 1e-9, 5e-3, 1.5e-4, 1, kLog, 0, 0.6,
     "judgement: some 12 small kernels and a wait of the host; set with fits to public training",
     "fixed time of routing the tokens of a layer with experts in one pass (counts, sorting, small kernels)"},
    {data_parallel_efficiency, "data_parallel_efficiency", "1", 1, 0.01, 4, 0.8, 0.3, kLog, 0, 0.15,
     "judgement, which all-reduce tables bound (data/public/kernels); revised with fits to public training",
     "share of the link bandwidth within a node that all-reduces of gradients reach"},
    {data_parallel_overlap, "data_parallel_overlap", "1", 0, 0, 0.95, 0.3, 0.3, kLinear, 0, 0,
     "judgement: gradients of the last micro-batch only",
     "share of gradient reductions that overlaps the backward pass"},
    {weight_gather_overlap, "weight_gather_overlap", "1", 0, 0, 0.95, 0.6, 0.3, kLinear, 0, 0,
     "judgement: prefetched by a layer", "share of gathering sharded weights that overlaps the computation"},
    {optimizer_traffic_weight, "optimizer_traffic_weight", "1", 0, 1e-3, 20, 1.2, 0.4, kLog, 0.15, 0.3,
     "judgement: Adam's passes at a little less than the bandwidth; revised with fits to public runs",
     "time of the optimizer's passes over its state at the measured memory bandwidth"},
    {host_link_efficiency, "host_link_efficiency", "1", 1, 0.02, 2, 0.6, 0.5, kLog, 0.25, 0.3,
     "judgement: copies of pinned and pageable memory",
     "share of the bandwidth to the host that offloading reaches"},
    {offload_overlap, "offload_overlap", "1", 0, 0, 0.95, 0.8, 0.15, kLinear, 0, 0,
     "judgement: frameworks copy during the computation",
     "share of transfers of offloaded activations that overlaps the computation"},
    // Weight transfers: NeMo RL 0.3 gathers DeepSeek-V3 in 12.2 s where full links take 3.3 s (0.27), and
    // broadcasts it later in 14.2 s over eight links of 50 GB/s (0.24), both with their time of 45 to 90
    // thousand tensors; its 33.5 s for handing over 90 thousand are 0.37 ms each, verl's 15.8 and 58.6 s for
    // 30B-A3B and 235B-A22B without packing 0.58 ms each beside 12.6 GB/s. What one framework reaches says
    // little of another: verl's first FSDP workers gather 7B at 2 % of NVLink.
    {reshard_efficiency, "reshard_efficiency", "1", 1, 0.005, 4, 0.25, 0.5, kLog, 0, 1.2,
     "NeMo RL 0.3: DeepSeek-V3 gathered in 12.2 s (0.27); revised with fits to public RL iterations",
     "share of the link bandwidth at which a replica gathers or distributes the weights for generation"},
    {weight_sync_efficiency, "weight_sync_efficiency", "1", 1, 0.005, 4, 0.25, 0.5, kLog, 0, 1.2,
     "NeMo RL: DeepSeek-V3 broadcast in 14.2 s (0.24); weight transfers (data/public/kernels)",
     "share of the link bandwidth at which weights reach separate generation devices"},
    {weight_sync_overhead_s, "weight_sync_overhead_s", "s", 0, 1e-9, 120, 0.3, 1.2, kLog, 0, 1.0,
     "judgement: a call to all workers; revised with fits to public RL iterations",
     "fixed time of one weight synchronization or resharding"},
    {weight_sync_tensor_overhead_s, "weight_sync_tensor_overhead_s", "s", 0, 1e-9, 1, 4e-4, 1.2, kLog, 0, 0.7,
     "NeMo RL 0.3 (0.37 ms) and verl (0.58 ms, data/public/kernels)",
     "fixed time of one tensor (of one layer, where only its adapters are sent) in a weight synchronization"},
    {weight_copy_weight, "weight_copy_weight", "1", 0, 1e-3, 20, 1, 0.7, kLog, 0.3, 0.5,
     "definition: read and written once at the memory bandwidth",
     "time of copying the weights into the generation engine at the measured memory bandwidth"},
    {link_latency_scale, "link_latency_scale", "1", 1, 0.1, 100, 1.5, 0.5, kLog, 0, 0,
     "judgement: launch and waiting in addition to the kernel; revised with fits to public RL iterations",
     "latency of a collective relative to the measured point-to-point latency"},
    {collective_step_weight, "collective_step_weight", "1", 0, 0, 2, 0.5, 0.5, kLinear, 0, 0,
     "judgement, as NCCL tables show (data/public/kernels)",
     "share of the latency that is paid for a collective's steps after the first"},
    {collective_ramp_weight, "collective_ramp_weight", "1", 0, 1e-3, 50, 4.5, 0.3, kLog, 0.3, 0.7,
     "NCCL tables (data/public/kernels)",
     "extra latency from which on a collective's messages get the whole rate, relative to its own; below they "
     "get half"},
    {rail_weight, "rail_weight", "1", 0, 0, 1, 0.9, 0.2, kLinear, 0, 0, "judgement: NCCL uses all adapters",
     "share of further adapters that a group with several members in a node uses between nodes"},
    {network_efficiency, "network_efficiency", "1", 1, 0.02, 2, 0.75, 0.3, kLog, 0, 0.2,
     "judgement, which all-reduces of two and four nodes bound (data/public/kernels); revised with fits to "
     "public runs",
     "share of the bandwidth between nodes that collectives and transfers reach, beyond their own efficiency"},
    {straggler_spread, "straggler_spread", "1", 0, 1e-4, 0.5, 0.002, 0.5, kLog, 0, 0,
     "judgement: almost nothing on GPUs; data/measured has a tenth of an iteration on two noisy cores",
     "spread of devices that do the same work: all wait for the slowest"},
    {uneven_lengths_weight, "uneven_lengths_weight", "1", 0, 0, 3, 1, 0.3, kLinear, 0, 0,
     "definition: work is proportional to tokens (costmodel/terms/uneven_lengths.h)",
     "share of the expected wait between replicas with unequal sequence lengths that is paid"},
    {task_overhead_s, "task_overhead_s", "s", 0, 1e-9, 60, 3e-3, 1, kLog, 0, 0.5,
     "judgement: a step of a training loop; revised with fits to public RL iterations",
     "fixed time of a mini-batch of training, or of one pass of another task"},
    {call_overhead_s, "call_overhead_s", "s", 0, 1e-9, 60, 0.4, 0.8, kLog, 0, 0.7,
     "judgement: a remote call and waking; set with fits to public RL iterations",
     "fixed time of one call of a task by the controller of an RL framework (dispatch, waking, collecting)"},
    {sequence_overhead_s, "sequence_overhead_s", "s", 0, 1e-10, 1, 3e-4, 1, kLog, 0, 1,
     "judgement: padding and copies of one sequence; revised with fits to public RL iterations",
     "time of handing one sequence to or from the controller of an RL framework (padding, copies)"},
    {iteration_overhead_s, "iteration_overhead_s", "s", 0, 1e-9, 600, 1, 1, kLog, 0, 1,
     "judgement: data loading, advantages, logging; revised with fits to public RL iterations",
     "fixed time of an iteration of an RL framework outside its tasks (data loading, advantages, logging)"},
    {task_overlap, "task_overlap", "1", 1, 0, 1, 1, 0.1, kLinear, 0, 0,
     "definition: HetRL's eta on disjoint devices, fully parallel",
     "eta: how far tasks without dependencies on disjoint devices run in parallel (0 one by one, 1 fully)"},
    {memory_state_weight, "memory_state_weight", "1", 1, 0.7, 1.5, 1.02, 0.03, kLog, 0, 0.03,
     "judgement: padding and alignment; revised with fits to public training",
     "size of weights, gradients and optimizer state relative to their count (padding, alignment)"},
    {memory_activation_weight, "memory_activation_weight", "1", 1, 0.4, 2.5, 1.1, 0.15, kLog, 0, 0.15,
     "judgement: the count of Korthikanti et al. 2022, section 4, and blocks that the allocator cannot use",
     "size of activations relative to their count"},
    // The count is 16 bytes a logit of a loss in 16 bits: the bounds are 4 and 20 bytes.
    {memory_logit_weight, "memory_logit_weight", "1", 1, 0.25, 1.25, 1.05, 0.08, kLog, 0, 0.1,
     "definition: the count of costmodel/terms/memory.h, and blocks that the allocator cannot use",
     "size of what a loss holds of its logits relative to its count"},
    {memory_context_bytes, "memory_context_bytes", "bytes", 0, 2e8, 4e9, 2.2e9, 0.25, kLog, 0.1, 0.3,
     "judgement: CUDA context (0.5 GB), NCCL buffers (0.5 to 1 GB), workspaces of libraries",
     "memory of a device that the run-time and its libraries hold"},
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

double prior_on_cpu(CoefficientId id) {
  switch (id) {
    case layer_overhead_s:
    case decode_layer_overhead_s:
    case decode_step_overhead_s:
    case micro_batch_overhead_s:
      return 1e-5;
    case collective_overhead_s:
    case expert_layer_overhead_s:
    case pipeline_transfer_overhead_s:
    case weight_sync_tensor_overhead_s:
    case sequence_overhead_s:
      return 1e-6;
    case decode_token_overhead_s:
      return 1e-7;
    case task_overhead_s:
    case call_overhead_s:
    case weight_sync_overhead_s:
      return 1e-4;
    case iteration_overhead_s:
      return 1e-3;
    case host_sharing:
    case decode_host_sharing:
      return 0.05;
    case activation_traffic_weight:
      return 0.5;
    case gemm_traffic_weight:
      return 0.1;
    case reshard_efficiency:
    case weight_sync_efficiency:
      return 0.5;
    case data_parallel_efficiency:
      return 0.4;  // the cores that move the gradients also add them
    case data_parallel_overlap:
      return 0;
    case score_traffic_weight:
      return 2;
    case collective_ramp_weight:
      return 0.1;  // memory shared by processes has no second protocol
    case peak_rate_exponent:
      return 0;
    case straggler_spread:
      return 0.05;
    case decode_flop_weight:
    case expert_read_weight:
    case expert_narrow_columns:
    case prefill_attention_weight:
    case logit_traffic_weight:
      return 1;
    default:
      return spec_of(id).prior;
  }
}

}  // namespace sextant
