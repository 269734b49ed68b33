"""vTrain's training iterations on A100: data/public/vtrain."""

import copy

from documents import Facts, Runs, quantity, read_csv, unstated, whole_model
from steps import Step, add_step

SOURCE = ("vTrain (MICRO 2024, arXiv 2312.12391), github.com/VIA-Research/vTrain "
          "@f8dda8473a48b373b1d25f51f52d685bff5150c5, data/ground_truth_single.csv and data/ground_truth_multi.csv")

# What a check of the rows of one node found; data/public/vtrain/README.md has the evidence.
CAVEAT = ("composed by the source's own procedure from about 28 layer times, not an independent end-to-end "
          "measurement: the rows are exactly linear in the number of micro-batches and data parallelism adds an exact "
          "constant")

VOCABULARY = 50257  # the default of the authors' simulator; the data do not say
NETWORK_BYTES_PER_S = 100e9  # 800 Gbit/s between nodes, all links of a node together (authors' configuration)


def gpt(row):
    layers, hidden, heads = int(row["layers"]), int(row["hidden"]), int(row["heads"])
    return whole_model({"name": f"GPT {layers} x {hidden} (vTrain)", "layers": layers, "hidden": hidden,
                        "intermediate": 4 * hidden, "heads": heads, "vocabulary": VOCABULARY,
                        "tied_embeddings": True,  # Megatron's default
                        "gated_mlp": False})


def with_network(gpu):
    gpu = copy.deepcopy(gpu)
    gpu.network_bytes_per_s = NETWORK_BYTES_PER_S
    gpu.between_nodes["bytes_per_s"] = quantity(NETWORK_BYTES_PER_S / gpu.per_node, "assumed",
                                                "a GPU's share of a node's 800 Gbit/s (authors' configuration)")
    return gpu


def step_of(row, gpu):
    step = Step(row["run_id"])
    step.framework = "megatron-deepspeed"
    step.model, step.gpu, step.gpus = gpt(row), with_network(gpu), int(row["gpu_count"])
    step.dp, step.pp, step.tp = int(row["dp"]), int(row["pp"]), int(row["tp"])
    step.sequences, step.sequence_tokens = int(row["global_batch_sequences"]), int(row["seq_tokens"])
    step.micro_batch = int(row["micro_batch_sequences"])
    step.precision = "fp16"
    step.execution["semantics"] = "megatron"
    step.step_s = float(row["iteration_time_s"])
    step.notes["source"] = SOURCE
    step.notes["left unsaid"] = (
        "GPU memory size (80 GB taken), precision (fp16 in the authors' profiler), vocabulary, ZeRO stage, "
        "optimizer, software versions, placement of parallel groups, iterations averaged, spread")
    if int(row["node_count"]) == 1:
        step.unstated.append(unstated("recompute", "vtrain-single", 0.5))  # either may be true
        step.notes["caveat"] = CAVEAT
        step.notes["left unsaid"] += ", recomputation"
    else:
        step.recompute = "full"
        step.notes["grade"] = "A"
    return step


def convert():
    runs, facts = Runs(), Facts()
    for file in ("vtrain/single_node_runs.csv", "vtrain/multi_node_runs.csv"):
        for row in read_csv(file):
            if facts.has_gpu(row["gpu_type"]):
                add_step(runs, step_of(row, facts.gpu(row["gpu_type"])))
            else:
                runs.leave_out(row["run_id"], facts.why_no_gpu(row["gpu_type"]))
    return runs
