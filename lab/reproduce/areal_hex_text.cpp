#include "lab/reproduce/areal_hex_text.h"

namespace sextant::inline lab {

// NOLINTBEGIN(bugprone-suspicious-missing-comma): sentences of several lines.
std::vector<std::string> areal_hex_assumptions() {
  return {
      "Models: shapes of Qwen2.5 7B and 14B for the DeepSeek distillations of them.",
      "Batch: 32 prompts with 16 responses each. The paper does not say; its weight updates (Table 2), their "
      "1.9 % "
      "of the iteration (section 4.6) and its tokens/s (Table 3) make 3.0 to 4.7 million tokens an iteration.",
      "Lengths: prompts of 120 tokens, responses log-normal with a mean of 7,822 and at most 27,648 tokens, as "
      "AReaL's own log and configuration of its 7B run have (data/public/rl, areal-7b-h800-128-log).",
      "Rollouts are at most one iteration old; a reference model is evaluated; rewards are rule-based; one "
      "optimizer step an iteration.",
      "Training and generation have pools of their own that share no GPU (section 4.1).",
      "Memory of GPUs: 80 GiB and 95.6 GiB (data/gpus.json). Machines: eight GPUs each; 10 us between "
      "machines. "
      "5 GB/s between machines are those of a machine, and 1.5 GB/s between H800 and H20 are shared by all of "
      "them; the experiment areal-hex-pair-links gives both rates to every pair of GPUs.",
      "Execution: serving with continuous batching, prefix cache and CUDA graphs; training with fused "
      "attention, "
      "packed sequences and sharded optimizer states.",
      "Table 1: generation and training alone on a machine of each type; only ratios are compared, as the "
      "printed "
      "dollars cannot be of one token.",
      "Table 2: by broadcast (Figure 1), on 32 H800, 88 H20, and both with 24. Table 3: uniform is generation "
      "on the "
      "first half of the GPUs, the rest on the others; both of its systems on 24 H800, as Table 4 repeats the "
      "numbers. Table 4: 32 GPUs for 86.64 $/h are 8 H800 and 24 H20.",
      "Table 5: 8 + 16, 8 + 24, 16 + 24 and 24 + 32 H800 and H20; our time is that after which the plan "
      "was found, on this machine, of a search that runs until its budget is spent. Its ablations are the "
      "benchmarks two_phase_*gpu_gap (every partition) and two_phase_*gpu_every_layout: at 24 and 56 GPUs "
      "they take 0.9 and 2.1 times (w/o Repartition) and 2.2 and 3.0 times (w/o Search) as long as the "
      "planner, 0.29 and 1.27 s, where the paper prints 20 to 44 times: machines that are alike are tried "
      "once, and costs that layouts have in common are computed once.",
      "Section 4.5 gives smallest, largest and mean of three models; the 1.5B one is held beside smallest and "
      "largest. Figures 2 to 5 are pictures; what the text says of Figures 4 and 5 is compared.",
      "Planner: two-phase, AReaL-Hex's own algorithm."};
}

std::vector<std::string> areal_hex_contradictions() {
  return {
      "Table 1 excludes section 4.5. At its dollars a token, 162.80 $/h of 88 H20 produce 0.97 to 1.02 times "
      "as many "
      "tokens as 168.96 $/h of 32 H800, and 24 H800 with 24 H20 (training on H800, the rest of them "
      "generating) 1.46 "
      "to 1.47 times as many as 32 H800 and 1.44 to 1.51 times as many as 88 H20. Section 4.5 prints 1.31 to "
      "1.50x "
      "over H800, which fits, and 2.29 to 2.76x over H20, which does not.",
      "Section 4.5 says 2.62x over H20 on average, 2.76x at most (7B) and 2.29x at least (14B): the third "
      "model would "
      "need 2.81x, more than the most.",
      "Section 3 says at most 2.67x and at least 1.49x over both baselines, section 4.5 at most 2.76x and at "
      "least "
      "1.31x.",
      "Section 4.7 says 1.42, 1.31 and 1.50 times lower costs an hour, Table 4 has 126.72 and 86.64 $/h: 1.46 "
      "times "
      "for all three models. 1.31 and 1.50 are section 4.5's gains over 32 H800.",
      "Table 1 makes an H20 generate 0.95 times as many tokens as an H800, with twice its memory bandwidth "
      "(section "
      "4.4: 4 and 2 TB/s). 756 TFLOPS and 2 TB/s are those of a PCIe card, which has no NVLink of 200 GB/s; "
      "WEAVE's "
      "Table 1 has 989.5 TFLOPS and 3.35 TB/s for an H800 at the same price.",
      "Table 2: a weight update on H20 takes half of that on H800, with the same 5 GB/s between machines.",
      "Table 1's dollars a token (1e-3 to 3e-2) are 1,000 times those of Table 4 (126.72 $/h at 5,980 tokens/s "
      "are "
      "5.9e-6 $).",
      "Equation 1 has the weight update inside the maximum of training and generation, section 4.4 adds it "
      "outside.",
      "Equal budgets (section 3) are 171.12, 168.96 and 162.80 $/h."};
}

std::vector<Cause> areal_hex_causes() {
  std::vector<Cause> all;
  add_cause(all, {"24 H800 + 24 H20 over 88 H20"},
            "two things. H20 train three times too cheaply beside Table 1: with H20 as slow as that table "
            "says (areal-hex-table-1) 0.84 to 0.91x become 1.04 to 1.40x. And Table 1 itself allows 1.44 to "
            "1.51x only (see the contradictions): the rest of 2.29 to 2.76x is in no table of the paper, "
            "whose text calls it scalability issues of training on many H20.");
  add_cause(all, {"24 H800 + 24 H20 over 32 H800"},
            "our iterations are 3 to 5 times shorter than the paper's, so that the same weight update weighs "
            "more (36 % at 7B, 13.54 % in section 4.6): nearly free (areal-hex-pair-links) it makes 1.29 to "
            "1.58x, of which two of three agree.");
  add_cause(all, {"weight update"},
            "with 5 GB/s for every pair of GPUs none of nine agree (1.3 to 11.6 s, areal-hex-pair-links); "
            "with 5 GB/s a machine 7B and 14B on H800 and the 1.5B mix do. The paper's H20 take half of "
            "its H800's time over links of the same rate, which no reading of one rate has; the 7B and "
            "14B mixes are 1.3 times too short.");
  add_cause(all, {"throughput"},
            "by Table 3 an H800 generates 4 to 9 times and trains 3 times as slowly as the model says. "
            "With rates fitted to Tables 1 and 3 (areal-hex-tables-1-and-3) three of six agree and the "
            "others are within 1.3 times; what makes the paper's GPUs that slow is unsaid.");
  add_cause(all, {"24 H800: best allocation over halves"},
            "by Table 3 five GPUs generate for each that trains, in the model two to four; with the rates "
            "of Tables 1 and 3 (areal-hex-tables-1-and-3, fitted to this table) the gain is 1.48 to "
            "1.85x.");
  add_cause(all, {"8 H800 + 24 H20 over 24 H800", "8 H800 + 24 H20 over 24 H800: tokens a dollar"},
            "2 TB/s for an H800: with WEAVE's 3.35 TB/s (areal-hex-weave-h800) the throughput is 0.97 to "
            "1.05x, as printed, and the tokens a dollar 1.42 to 1.53x. A nearly free weight update "
            "(areal-hex-pair-links) changes little: 1.19 to 1.34x.");
  add_cause(all, {"generation, tokens a dollar: H20 over H800"},
            "the same 2 TB/s: with 3.35 TB/s (areal-hex-weave-h800) the ratios are 2.36 to 2.81x, and two of "
            "three agree.");
  add_cause(all, {"generation on 24 H800 over 56 mixed GPUs: seconds"},
            "the same 2 TB/s: with 3.35 TB/s (areal-hex-weave-h800) it is 1.55x, within the range; neither a "
            "nearly free weight update (areal-hex-pair-links, 1.95x) nor slower training on H20 "
            "(areal-hex-table-1, 1.90x) changes it.");
  add_cause(all, {"training, tokens a dollar: H800 over H20"},
            "1.12 to 1.34x as printed, 1.61 to 1.87x with WEAVE's 989.5 TFLOPS (areal-hex-weave-h800), 3.14 "
            "to 3.19x, as printed, with H20 at 0.34 to 0.41 of their fitted training_efficiency "
            "(areal-hex-table-1). By its prices Table 1 says that an H800 trains 8.9 times as many tokens as "
            "an H20, whose peak is 5.1 times lower: the H20 would reach 0.57 of the H800's share of its "
            "peak. The model has 50 % for H20 and 36 % for H800; H20's efficiency is a prior that no run "
            "identifies.");
  add_cause(all, {"56 over 24 mixed GPUs: tokens a dollar, which stay the same"},
            "not the weight update alone: nearly free (areal-hex-pair-links) it is 0.62x. Our batch of "
            "512 sequences stays the same while the GPUs become 2.3 times as many; a larger batch was not "
            "tried.");
  return all;
}
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace sextant::inline lab
