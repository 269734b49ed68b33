#include <array>

#include "sextant/coefficients.h"
#include "sextant/error.h"

namespace sextant {
namespace {

using enum CoefficientId;
constexpr auto kLinear = CoefficientScale::linear;

// The id of a row and its name are one word.
#define NAMED(word) .id = word, .name = #word

constexpr std::array<CoefficientSpec, kCoefficientCount> kTable{{
    {NAMED(prefill_efficiency), .neutral = 1, .lower = 0.02, .upper = 2, .prior = 0.75, .prior_deviation = 0.15,
     .type_deviation = 0.08, .framework_deviation = 0.1,
     .source = "judgement, which GEMM tables bound (data/public/kernels); revised with fits to public serving "
               "points",
     .help = "share of the measured GEMM rate that the prefill of generation reaches"},
    {NAMED(inference_efficiency), .neutral = 1, .lower = 0.02, .upper = 2, .prior = 0.7,
     .prior_deviation = 0.35, .type_deviation = 0.15, .framework_deviation = 0.25,
     .source = "judgement, which GEMM tables bound (data/public/kernels); wide, as FSDP and Megatron differ by "
               "2",
     .help = "share of the measured GEMM rate that forward passes over whole sequences reach"},
    {NAMED(training_efficiency), .neutral = 1, .lower = 0.02, .upper = 2, .prior = 0.78,
     .prior_deviation = 0.15, .type_deviation = 0.15, .framework_deviation = 0.1,
     .source = "judgement, which GEMM tables bound (data/public/kernels); revised with fits to public training",
     .help = "share of the measured GEMM rate that forward and backward passes reach"},
    {NAMED(fp8_efficiency), .neutral = 1, .lower = 0.1, .upper = 1.5, .prior = 0.8, .prior_deviation = 0.15,
     .framework_deviation = 0.1,
     .source = "judgement; revised with fits to public serving points; FP8 GEMM tables show less "
               "(data/public/kernels)",
     .help = "share that 8-bit arithmetic reaches of its rate, relative to 16-bit's share (casts, scales)"},
    {NAMED(fp4_efficiency), .neutral = 1, .lower = 0.05, .upper = 1.5, .prior = 0.7, .prior_deviation = 0.25,
     .framework_deviation = 0.1,
     .source = "judgement: less than fp8_efficiency; revised with fits to public serving points",
     .help = "share that 4-bit arithmetic reaches of its rate, relative to 16-bit's share"},
    {NAMED(peak_rate_exponent), .lower = -0.2, .upper = 0.6, .prior = 0.01, .prior_deviation = 0.05,
     .cpu_prior = 0, .scale = kLinear, .source = "GEMM tables (data/public/kernels)",
     .help = "power with which the share of the arithmetic rate that generation reaches falls with the rate, "
             "from 3e14"},
    {NAMED(roofline_sharing), .lower = 0, .upper = 0.95, .prior = 0.75, .prior_deviation = 0.1,
     .scale = kLinear,
     .source = "judgement: most of the shorter is hidden; set with fits to public serving points",
     .help = "overlap of arithmetic and memory traffic in a kernel of generation: 0 their sum, 1 the longer"},
    {NAMED(attention_weight), .neutral = 1, .lower = 0.2, .upper = 30, .prior = 1.3, .prior_deviation = 0.5,
     .type_deviation = 0.2, .framework_deviation = 0.2,
     .source = "judgement: softmax next to small products; attention tables bound it (data/public/kernels)",
     .help = "cost of a FLOP of attention relative to one of a projection (softmax, small matrices)"},
    {NAMED(portable_attention_weight), .neutral = 1, .lower = 1, .upper = 4, .prior = 1.7,
     .prior_deviation = 0.15,
     .source = "FlashAttention-3 paper (Shah et al. 2024), 4.1: 1.5 to 2 times forward, 1.5 to 1.75 backward",
     .help = "cost of attention by kernels written for older devices (FlashAttention 2 on Hopper and later) "
             "relative to native ones"},
    {NAMED(prefill_attention_weight), .neutral = 1, .lower = 0.2, .upper = 30, .prior = 1.2,
     .prior_deviation = 0.15, .cpu_prior = 1, .framework_deviation = 0.05,
     .source = "judgement: softmax next to small products; set with fits to public serving points",
     .help = "cost of a FLOP of attention in prefill relative to one of a projection"},
    {NAMED(expert_flop_weight), .neutral = 1, .lower = 0.3, .upper = 10, .prior = 1.3, .prior_deviation = 0.4,
     .type_deviation = 0.2, .framework_deviation = 0.2,
     .source = "judgement: grouped products of few, uneven rows reach less",
     .help = "cost of a FLOP of routed experts relative to one of a dense projection (small, uneven matrices)"},
    {NAMED(gemm_traffic_weight), .lower = 0.001, .upper = 5, .prior = 0.7, .prior_deviation = 0.5,
     .cpu_prior = 0.1, .type_deviation = 0.2, .framework_deviation = 0.2,
     .source = "judgement: most operands pass once, partly hidden; revised with fits to public runs",
     .help = "time of moving the operands of matrix products at the measured memory bandwidth, in addition to "
             "their arithmetic"},
    {NAMED(activation_traffic_weight), .lower = 0.001, .upper = 20, .prior = 1, .prior_deviation = 0.5,
     .cpu_prior = 0.5, .type_deviation = 0.2, .framework_deviation = 0.3,
     .source = "judgement: all passes that the term counts; revised with fits to public runs",
     .help = "share of element-wise passes over activations that is not hidden behind arithmetic"},
    {NAMED(score_traffic_weight), .lower = 0.001, .upper = 80, .prior = 8, .prior_deviation = 0.5,
     .cpu_prior = 2, .type_deviation = 0.2, .framework_deviation = 0.3,
     .source = "judgement: passes of softmax, mask and dropout, both ways; revised with fits to public runs",
     .help = "passes over the matrix of attention scores where attention is not fused"},
    {NAMED(logit_traffic_weight), .lower = 0.001, .upper = 80, .prior = 6, .prior_deviation = 0.5,
     .cpu_prior = 1, .type_deviation = 0.2, .framework_deviation = 0.3,
     .source = "judgement: passes of softmax and loss in fp32; revised with fits to public runs",
     .help = "passes over the logits of a vocabulary (loss, log-probabilities)"},
    {NAMED(layer_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1e-1, .prior = 2e-4, .prior_deviation = 2,
     .cpu_prior = 1e-5, .type_deviation = 0.1, .framework_deviation = 1,
     .source = "judgement: some tens of launches of 5 to 10 us; revised with fits to public runs",
     .help = "fixed time of one layer of one micro-batch in one pass (launches, small kernels)"},
    {NAMED(lora_overhead_weight), .lower = 0, .upper = 10, .prior = 1.5, .prior_deviation = 0.7,
     .scale = kLinear, .source = "judgement: two more small products a projection",
     .help = "host's work for the adapters of a layer relative to that for the layer (two small products a "
             "projection)"},
    {NAMED(micro_batch_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1, .prior = 3e-4,
     .prior_deviation = 1.5, .cpu_prior = 1e-5, .type_deviation = 0.1, .framework_deviation = 1,
     .source = "judgement: a loop of Python; revised with fits to public runs",
     .help = "fixed time of the host for each micro-batch of a stage"},
    {NAMED(collective_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1e-2, .prior = 5e-5,
     .prior_deviation = 1.2, .cpu_prior = 1e-6, .type_deviation = 0.1, .framework_deviation = 0.3,
     .source = "judgement: a few launches and waits on events; revised with fits to public runs",
     .help = "fixed time of the host for launching one collective of a layer"},
    {NAMED(host_sharing), .lower = 0, .upper = 0.95, .prior = 0.8, .prior_deviation = 0.08, .cpu_prior = 0.05,
     .scale = kLinear,
     .source = "judgement: the host runs ahead of the device; revised with fits to public runs",
     .help = "overlap of the host's preparation with the device: 0 one after the other, 1 the longer of the "
             "two"},
    {NAMED(recompute_flop_weight), .lower = 0, .upper = 1.5, .prior = 1, .prior_deviation = 0.2,
     .scale = kLinear, .source = "definition: full recomputation repeats the forward pass once",
     .help = "share of the forward pass that recomputation repeats (the appendix counts its communication "
             "only)"},
    {NAMED(decode_bandwidth_efficiency), .neutral = 1, .lower = 0.02, .upper = 8, .prior = 0.85,
     .prior_deviation = 0.3, .type_deviation = 0.05, .framework_deviation = 0.1,
     .source = "judgement; GEMM tables show less of large weights (data/public/kernels); revised with fits to "
               "public serving points",
     .help = "share of the measured memory bandwidth at which decoding reads weights; above 1 where caches "
             "hold them"},
    {NAMED(decode_flop_weight), .lower = 1e-3, .upper = 20, .prior = 1.3, .prior_deviation = 0.3,
     .cpu_prior = 1, .framework_deviation = 0.05,
     .source = "judgement: reciprocal of prefill_efficiency; revised with fits to public serving points",
     .help = "time of the arithmetic of decoding at the measured GEMM rate, in addition to reading the "
             "weights"},
    {NAMED(decode_kv_read_weight), .lower = 1e-3, .upper = 20, .prior = 1.2, .prior_deviation = 0.3,
     .type_deviation = 0.1, .framework_deviation = 0.6,
     .source = "judgement, as attention tables show (data/public/kernels); revised with fits to public serving "
               "points",
     .help = "time of reading the KV cache at the measured memory bandwidth"},
    {NAMED(expert_read_weight), .neutral = 1, .lower = 0.2, .upper = 10, .prior = 1.3, .prior_deviation = 0.2,
     .cpu_prior = 1, .framework_deviation = 0.1,
     .source = "judgement: grouped products read at less of the bandwidth; set with fits to public serving "
               "points",
     .help = "time of reading weights of routed experts in decoding relative to other weights"},
    {NAMED(expert_narrow_columns), .unit = "columns", .lower = 1e-3, .upper = 1e3, .prior = 73,
     .prior_deviation = 0.25, .cpu_prior = 1, .source = "tables of routed experts (data/public/kernels)",
     .help = "columns of an expert on one device below which decoding reads them at a lower bandwidth"},
    {NAMED(decode_layer_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1e-1, .prior = 4e-4,
     .prior_deviation = 1, .cpu_prior = 1e-5, .type_deviation = 0.15, .framework_deviation = 0.6,
     .source = "judgement: 11 kernels and their Python; revised with fits to public RL iterations",
     .help = "fixed time of one layer in one decode step; of a dense one in 16 bits, others by their kernels"},
    {NAMED(decode_graph_layer_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1e-2, .prior = 4.5e-5,
     .prior_deviation = 0.5, .type_deviation = 0.1, .framework_deviation = 0.5,
     .source = "judgement: 11 replayed kernels of some 4 us; revised with fits to public serving points",
     .help = "fixed time of one layer in one decode step that is replayed from a CUDA graph"},
    {NAMED(decode_step_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1, .prior = 1e-3,
     .prior_deviation = 0.8, .cpu_prior = 1e-5, .framework_deviation = 0.5,
     .source = "judgement: a scheduler's step; revised with fits to public serving points",
     .help = "fixed time of one decode step (scheduling, sampling)"},
    {NAMED(decode_token_overhead_s), .unit = "s", .lower = 1e-10, .upper = 1e-2, .prior = 8e-6,
     .prior_deviation = 0.8, .cpu_prior = 1e-7, .framework_deviation = 0.6,
     .source = "judgement: bookkeeping of one sequence; revised with fits to public serving points",
     .help = "fixed time of one sequence in one decode step (sampling, bookkeeping)"},
    {NAMED(decode_host_sharing), .lower = 0, .upper = 0.95, .prior = 0.6, .prior_deviation = 0.2,
     .cpu_prior = 0.05, .scale = kLinear,
     .source = "judgement: less than in training, as a step waits for its tokens; revised with fits to public "
               "generation",
     .help = "overlap of kernel launches with the device in decoding: 0 one after the other, 1 the longer of "
             "the two"},
    {NAMED(decode_latency_weight), .lower = 0, .upper = 50, .prior = 1, .prior_deviation = 0.5,
     .scale = kLinear, .source = "definition: every step pays its links' latency once",
     .help = "link latency paid by the collectives and transfers of every decode step"},
    {NAMED(decode_serialization_weight), .lower = 0, .upper = 2, .prior = 0.9, .prior_deviation = 0.2,
     .scale = kLinear, .source = "judgement: nearly all of it; revised with fits to public RL iterations",
     .help = "share of the time that pipeline stages wait for each other when decoding fewer batches than "
             "stages"},
    {NAMED(pipeline_fill_weight), .lower = 0, .upper = 2, .prior = 0.9, .prior_deviation = 0.2,
     .scale = kLinear, .source = "judgement: nearly all of it; revised with fits to public RL iterations",
     .help = "share of pipeline fill and drain paid by inference and prefill (training always pays it)"},
    {NAMED(bubble_slowest_weight), .lower = 0, .upper = 1, .prior = 1, .prior_deviation = 0.3, .scale = kLinear,
     .source = "definition: a pipeline passes every stage but the slowest (costmodel/terms/bubble.h)",
     .help = "training's bubble: 0 the appendix (every stage but the first), 1 every stage but the slowest"},
    {NAMED(tensor_parallel_efficiency), .neutral = 1, .lower = 0.01, .upper = 4, .prior = 0.8,
     .prior_deviation = 0.2, .framework_deviation = 0.15,
     .source = "judgement, which all-reduce tables bound (data/public/kernels); revised with fits to public "
               "training",
     .help = "share of the link bandwidth within a node that all-reduces of activations reach"},
    {NAMED(tensor_parallel_overlap), .lower = 0, .upper = 0.95, .prior = 0.05, .prior_deviation = 0.05,
     .scale = kLinear, .source = "judgement: nothing to overlap with; revised with fits to public training",
     .help = "share of tensor-parallel all-reduces that overlaps the computation"},
    {NAMED(pipeline_parallel_efficiency), .neutral = 1, .lower = 0.01, .upper = 4, .prior = 0.8,
     .prior_deviation = 0.5, .source = "judgement: no less than all-reduces",
     .help = "share of the link bandwidth that transfers between stages reach"},
    {NAMED(pipeline_rendezvous_weight), .lower = 0, .upper = 1.5, .prior = 0.7, .prior_deviation = 0.4,
     .scale = kLinear, .source = "judgement: most edges block (1F1B)",
     .help = "share of the transfer from the stage before that a stage waits for too"},
    {NAMED(pipeline_transfer_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1, .prior = 2e-5,
     .prior_deviation = 2, .cpu_prior = 1e-6, .framework_deviation = 0.5,
     .source = "judgement: a launch and its wait; revised with fits to public runs",
     .help = "fixed time of one transfer between stages"},
    {NAMED(context_parallel_efficiency), .neutral = 1, .lower = 0.01, .upper = 4, .prior = 0.7,
     .prior_deviation = 0.7, .source = "judgement: less than all-reduces",
     .help = "share of the link bandwidth that the ring of context parallelism reaches"},
    {NAMED(context_parallel_overlap), .lower = 0, .upper = 0.95, .prior = 0.7, .prior_deviation = 0.3,
     .scale = kLinear, .source = "judgement: the ring is made to overlap (Liu et al. 2023)",
     .help = "share of context-parallel transfers that overlaps attention"},
    {NAMED(expert_parallel_efficiency), .neutral = 1, .lower = 0.01, .upper = 4, .prior = 0.5,
     .prior_deviation = 0.7, .framework_deviation = 0.3,
     .source = "judgement, which all-to-all tables bound (data/public/kernels): unequal shares reach less",
     .help = "share of the link bandwidth that the all-to-all of experts reaches"},
    {NAMED(expert_parallel_overlap), .lower = 0, .upper = 0.95, .prior = 0.3, .prior_deviation = 0.3,
     .scale = kLinear, .source = "judgement: what a second micro-batch hides",
     .help = "share of the all-to-all of experts that overlaps the computation"},
    // At most 5 ms: a loop over 256 experts that launches five kernels of 4 us each.
    {NAMED(expert_layer_overhead_s), .unit = "s", .lower = 1e-9, .upper = 5e-3, .prior = 1.5e-4,
     .prior_deviation = 1, .cpu_prior = 1e-6, .framework_deviation = 0.6,
     .source = "judgement: some 12 small kernels and a wait of the host; set with fits to public training",
     .help = "fixed time of routing the tokens of a layer with experts in one pass (counts, sorting, small "
             "kernels)"},
    // On CPU cores: the cores that move the gradients also add them.
    {NAMED(data_parallel_efficiency), .neutral = 1, .lower = 0.01, .upper = 4, .prior = 0.8,
     .prior_deviation = 0.3, .cpu_prior = 0.4, .framework_deviation = 0.15,
     .source = "judgement, which all-reduce tables bound (data/public/kernels); revised with fits to public "
               "training",
     .help = "share of the link bandwidth within a node that all-reduces of gradients reach"},
    {NAMED(data_parallel_overlap), .lower = 0, .upper = 0.95, .prior = 0.3, .prior_deviation = 0.3,
     .cpu_prior = 0, .scale = kLinear, .source = "judgement: gradients of the last micro-batch only",
     .help = "share of gradient reductions that overlaps the backward pass"},
    {NAMED(weight_gather_overlap), .lower = 0, .upper = 0.95, .prior = 0.6, .prior_deviation = 0.3,
     .scale = kLinear, .source = "judgement: prefetched by a layer",
     .help = "share of gathering sharded weights that overlaps the computation"},
    {NAMED(optimizer_traffic_weight), .lower = 1e-3, .upper = 20, .prior = 1.2, .prior_deviation = 0.4,
     .type_deviation = 0.15, .framework_deviation = 0.3,
     .source = "judgement: Adam's passes at a little less than the bandwidth; revised with fits to public runs",
     .help = "time of the optimizer's passes over its state at the measured memory bandwidth"},
    {NAMED(host_link_efficiency), .neutral = 1, .lower = 0.02, .upper = 2, .prior = 0.6, .prior_deviation = 0.5,
     .type_deviation = 0.25, .framework_deviation = 0.3,
     .source = "judgement: copies of pinned and pageable memory",
     .help = "share of the bandwidth to the host that offloading reaches"},
    {NAMED(offload_overlap), .lower = 0, .upper = 0.95, .prior = 0.8, .prior_deviation = 0.15, .scale = kLinear,
     .source = "judgement: frameworks copy during the computation",
     .help = "share of transfers of offloaded activations that overlaps the computation"},
    // Weight transfers: NeMo RL 0.3 gathers DeepSeek-V3 in 12.2 s where full links take 3.3 s (0.27), and
    // broadcasts it later in 14.2 s over eight links of 50 GB/s (0.24), both with their time of 45 to 90
    // thousand tensors; its 33.5 s for handing over 90 thousand are 0.37 ms each, verl's 15.8 and 58.6 s for
    // 30B-A3B and 235B-A22B without packing 0.58 ms each beside 12.6 GB/s. What one framework reaches says
    // little of another: verl's first FSDP workers gather 7B at 2 % of NVLink.
    {NAMED(reshard_efficiency), .neutral = 1, .lower = 0.005, .upper = 4, .prior = 0.25, .prior_deviation = 0.5,
     .cpu_prior = 0.5, .framework_deviation = 1.2,
     .source = "NeMo RL 0.3: DeepSeek-V3 gathered in 12.2 s (0.27); revised with fits to public RL iterations",
     .help = "share of the link bandwidth at which a replica gathers or distributes the weights for "
             "generation"},
    // Between pools, packed: NeMo RL 0.24 of its links; what one framework reaches says more of another than of resharding.
    {NAMED(weight_sync_efficiency), .neutral = 1, .lower = 0.005, .upper = 4, .prior = 0.25,
     .prior_deviation = 0.3, .cpu_prior = 0.5, .framework_deviation = 0.4,
     .source = "NeMo RL: DeepSeek-V3 broadcast in 14.2 s (0.24); weight transfers (data/public/kernels)",
     .help = "share of the link bandwidth at which weights reach separate generation devices"},
    // Between pools verl hands 7B over in 0.12 s, 0.02 s packed, and NeMo RL 4B in 0.21 s, all with their tensors.
    {NAMED(weight_sync_overhead_s), .unit = "s", .lower = 1e-9, .upper = 120, .prior = 0.06,
     .prior_deviation = 1.0, .cpu_prior = 1e-4, .framework_deviation = 1.0,
     .source = "verl: 0.02 s in all with packed tensors, NeMo RL: at most 0.21 s (data/public/kernels)",
     .help = "fixed time of one weight synchronization or resharding"},
    {NAMED(weight_sync_tensor_overhead_s), .unit = "s", .lower = 1e-9, .upper = 1, .prior = 4e-4,
     .prior_deviation = 0.6, .cpu_prior = 1e-6, .framework_deviation = 0.4,
     .source = "NeMo RL 0.3 (0.37 ms) and verl (0.58 ms, data/public/kernels)",
     .help = "fixed time of one tensor (of one layer, where only its adapters are sent) in a weight "
             "synchronization"},
    // verl sends 30B-A3B in 15.8 s one by one and in 4.4 s packed, 235B-A22B in 58.6 and 23.7 s: 0.58 and 0.09 ms
    // for each of 19 and 37 thousand tensors beside 12.6 and 23 GB/s.
    {NAMED(weight_sync_packed_weight), .lower = 1e-3, .upper = 1, .prior = 0.16, .prior_deviation = 0.5,
     .framework_deviation = 0.3,
     .source = "verl: 0.58 ms for a tensor on its own, 0.09 ms for one in a bucket (data/public/kernels)",
     .help = "fixed time of a tensor that is packed with others relative to one that is sent on its own"},
    {NAMED(engine_wake_overhead_s), .unit = "s", .lower = 1e-9, .upper = 120, .prior = 0.5,
     .prior_deviation = 1.2, .cpu_prior = 1e-4, .framework_deviation = 1.0,
     .source = "judgement: weights and cache are mapped again, caches of the allocator emptied",
     .help = "fixed time of a weight synchronization that wakes engines on the trainers' devices"},
    {NAMED(weight_copy_weight), .lower = 1e-3, .upper = 20, .prior = 1, .prior_deviation = 0.7,
     .type_deviation = 0.3, .framework_deviation = 0.5,
     .source = "definition: read and written once at the memory bandwidth",
     .help = "time of copying the weights into the generation engine at the measured memory bandwidth"},
    {NAMED(link_latency_scale), .neutral = 1, .lower = 0.1, .upper = 100, .prior = 1.5, .prior_deviation = 0.5,
     .source = "judgement: launch and waiting in addition to the kernel; revised with fits to public RL "
               "iterations",
     .help = "latency of a collective relative to the measured point-to-point latency"},
    {NAMED(collective_step_weight), .lower = 0, .upper = 2, .prior = 0.5, .prior_deviation = 0.5,
     .scale = kLinear, .source = "judgement, as NCCL tables show (data/public/kernels)",
     .help = "share of the latency that is paid for a collective's steps after the first"},
    // On CPU cores: memory shared by processes has no second protocol.
    {NAMED(collective_ramp_weight), .lower = 1e-3, .upper = 50, .prior = 4.5, .prior_deviation = 0.3,
     .cpu_prior = 0.1, .type_deviation = 0.3, .framework_deviation = 0.7,
     .source = "NCCL tables (data/public/kernels)",
     .help = "extra latency from which on a collective's messages get the whole rate, relative to its own; "
             "below they get half"},
    {NAMED(rail_weight), .lower = 0, .upper = 1, .prior = 0.9, .prior_deviation = 0.2, .scale = kLinear,
     .source = "judgement: NCCL uses all adapters",
     .help = "share of further adapters that a group with several members in a node uses between nodes"},
    {NAMED(network_efficiency), .neutral = 1, .lower = 0.02, .upper = 2, .prior = 0.75, .prior_deviation = 0.3,
     .framework_deviation = 0.2,
     .source = "judgement, which all-reduces of two and four nodes bound (data/public/kernels); revised with "
               "fits to public runs",
     .help = "share of the bandwidth between nodes that collectives and transfers reach, beyond their own "
             "efficiency"},
    {NAMED(straggler_spread), .lower = 1e-4, .upper = 0.5, .prior = 0.002, .prior_deviation = 0.5,
     .cpu_prior = 0.05,
     .source = "judgement: almost nothing on GPUs; data/measured has a tenth of an iteration on two noisy "
               "cores",
     .help = "spread of devices that do the same work: all wait for the slowest"},
    {NAMED(uneven_lengths_weight), .lower = 0, .upper = 3, .prior = 1, .prior_deviation = 0.3, .scale = kLinear,
     .source = "definition: work is proportional to tokens (costmodel/terms/uneven_lengths.h)",
     .help = "share of the expected wait between replicas with unequal sequence lengths that is paid"},
    {NAMED(task_overhead_s), .unit = "s", .lower = 1e-9, .upper = 60, .prior = 3e-3, .prior_deviation = 1,
     .cpu_prior = 1e-4, .framework_deviation = 0.5,
     .source = "judgement: a step of a training loop; revised with fits to public RL iterations",
     .help = "fixed time of a mini-batch of training, or of one pass of another task"},
    {NAMED(call_overhead_s), .unit = "s", .lower = 1e-9, .upper = 60, .prior = 0.4, .prior_deviation = 0.8,
     .cpu_prior = 1e-4, .framework_deviation = 0.7,
     .source = "judgement: a remote call and waking; set with fits to public RL iterations",
     .help = "fixed time of one call of a task by the controller of an RL framework (dispatch, waking, "
             "collecting)"},
    {NAMED(sequence_overhead_s), .unit = "s", .lower = 1e-10, .upper = 1, .prior = 3e-4, .prior_deviation = 1,
     .cpu_prior = 1e-6, .framework_deviation = 0.5,
     .source =
         "judgement: padding and copies of one sequence; ten logs of verl have 0.05 to 0.25 ms outside their "
         "tasks and rewards",
     .help = "time of handing one sequence to or from the controller of an RL framework (padding, copies)"},
    {NAMED(iteration_overhead_s), .unit = "s", .lower = 1e-9, .upper = 600, .prior = 1, .prior_deviation = 1,
     .cpu_prior = 1e-3, .framework_deviation = 1,
     .source = "judgement: data loading, advantages, logging; revised with fits to public RL iterations",
     .help = "fixed time of an iteration of an RL framework outside its tasks (data loading, advantages, "
             "logging)"},
    {NAMED(task_overlap), .neutral = 1, .lower = 0, .upper = 1, .prior = 1, .prior_deviation = 0.1,
     .scale = kLinear, .source = "definition: HetRL's eta on disjoint devices, fully parallel",
     .help = "eta: how far tasks without dependencies on disjoint devices run in parallel (0 one by one, 1 "
             "fully)"},
    {NAMED(memory_state_weight), .neutral = 1, .lower = 0.7, .upper = 1.5, .prior = 1.02,
     .prior_deviation = 0.03, .framework_deviation = 0.03,
     .source = "judgement: padding and alignment; revised with fits to public training",
     .help = "size of weights, gradients and optimizer state relative to their count (padding, alignment)"},
    {NAMED(memory_activation_weight), .neutral = 1, .lower = 0.4, .upper = 2.5, .prior = 1.1,
     .prior_deviation = 0.15, .framework_deviation = 0.15,
     .source = "judgement: the count of Korthikanti et al. 2022, section 4, and blocks that the allocator "
               "cannot use",
     .help = "size of activations relative to their count"},
    // The count is 16 bytes a logit of a loss in 16 bits: the bounds are 4 and 20 bytes.
    {NAMED(memory_logit_weight), .neutral = 1, .lower = 0.25, .upper = 1.25, .prior = 1.05,
     .prior_deviation = 0.08, .framework_deviation = 0.1,
     .source = "definition: the count of costmodel/terms/memory.h, and blocks that the allocator cannot use",
     .help = "size of what a loss holds of its logits relative to its count"},
    {NAMED(memory_context_bytes), .unit = "bytes", .lower = 2e8, .upper = 4e9, .prior = 2.2e9,
     .prior_deviation = 0.25, .type_deviation = 0.1, .framework_deviation = 0.3,
     .source = "judgement: CUDA context (0.5 GB), NCCL buffers (0.5 to 1 GB), workspaces of libraries",
     .help = "memory of a device that the run-time and its libraries hold"},
}};

#undef NAMED

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

double prior_on_cpu(CoefficientId id) { return spec_of(id).cpu_prior.value_or(spec_of(id).prior); }

}  // namespace sextant
