"""torchtitan's published throughput: data/public/torchtitan."""

from documents import Facts, Runs, flag, read_csv, rounded, unstated
from steps import Step, add_step

SOURCE = ("torchtitan benchmarks, github.com/pytorch/torchtitan benchmarks/ "
          "@b5bcd76c66d0acb1a08b176d9639425bc55e0b2a: ")

FIRST_COMPILED_LOSS = "2025"  # from this year on torchtitan compiles its loss with the model


def zero_stage(step):
    """Fully sharded; with a pipeline the weights are gathered once a step and gradients reduced once, after the last
    micro-batch (the stages of torch.distributed.pipelining switch resharding off): the traffic of ZeRO stage 1."""
    if step.dp * step.cp == 1:
        return 0
    return 1 if step.pp > 1 else 3


def set_torchtitan(step, recompute, fp8_linears, local_batch):
    """What torchtitan's settings mean; the degrees must be set."""
    step.framework = "torchtitan"
    # A pipeline cuts the local batch into micro-batches of one sequence.
    step.micro_batch = 1 if step.pp > 1 else local_batch
    if recompute == "full":
        step.recompute = "full"
    elif recompute != "none":
        # Selective recomputation of torchtitan keeps the results of attention and of every other matrix product, or
        # skips whole layers: neither is what the plan's "selective" repeats, so the share is left to the fit.
        step.unstated.append(unstated("recompute", "torchtitan-selective", 0.3))
    step.execution.update(zero_stage=zero_stage(step), sequence_parallel=step.tp > 1, fused_attention=True,
                          gradient_precision="fp32")  # mixed_precision_reduce, its default
    if step.pp > 1:
        # Without a reduction after every micro-batch FSDP accumulates whole gradients in the reduction's format.
        step.execution["main_gradient_precision"] = "fp32"
    if fp8_linears:
        step.execution.update(precision="fp8", weight_precision="bf16")


def gpu_name(row, facts):
    """H100-96GB where the facts have that variant: torchtitan's H100 are not those of a DGX."""
    variant = f"{row['gpu_type']}-{rounded(float(row['gpu_memory_bytes']) / 1e9)}GB"
    return variant if facts.has_gpu(variant) else row["gpu_type"]


def yes_or_no(cell):
    return "yes" if flag(cell) else "no"


def add_notes(step, row):
    is_stated = row["seq_tokens_source"] == "stated"
    step.notes.update({
        "source": SOURCE + row["source"], "precision": row["precision"],
        "torch.compile": yes_or_no(row["torch_compile"]),
        "asynchronous tensor parallelism": yes_or_no(row["async_tp"]), "grade": "A" if is_stated else "B",
        "left unsaid": "prefetch and overlap settings, spread"
                       + ("" if is_stated else ", sequence length (8192 by the configuration files)")})


def step_of(row, facts):
    step = Step(row["run_id"])
    step.gpu, step.model = facts.gpu(gpu_name(row, facts)), facts.model(row["model"])
    step.gpus, step.gpus_per_node = int(row["gpu_count"]), int(row["gpus_per_node"])
    step.dp, step.pp, step.tp, step.cp = (int(row[name]) for name in ("fsdp", "pp", "tp", "cp"))
    step.sequences, step.sequence_tokens = int(row["global_batch_sequences"]), int(row["seq_tokens"])
    step.step_s = step.sequences * step.sequence_tokens / (float(row["tokens_per_s_per_gpu"]) * step.gpus)
    if row["peak_memory_bytes"]:
        step.peak_memory_bytes = float(row["peak_memory_bytes"])
    set_torchtitan(step, row["activation_recompute"], row["precision"].startswith("float8"),
                   int(row["local_batch_sequences"]))
    step.execution["fused_loss"] = flag(row["torch_compile"]) and row["measured"] >= FIRST_COMPILED_LOSS
    add_notes(step, row)
    return step


def convert():
    runs, facts = Runs(), Facts()
    for row in read_csv("torchtitan/runs.csv"):
        unknown = facts.why_unknown(gpu_name(row, facts), row["model"])
        if unknown:
            runs.leave_out(row["run_id"], unknown)
        else:
            add_step(runs, step_of(row, facts))
    return runs
