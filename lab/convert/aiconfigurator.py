"""Serving points that aiconfigurator keeps, a row a closed loop: data/public/aiconfigurator."""

from documents import Facts, Runs, flag, read_csv
from serving import USUAL_MEMORY_FRACTION, USUAL_PREFILL_TOKENS, Generation, add_generation

SOURCE = ("aiconfigurator, github.com/ai-dynamo/aiconfigurator @095f58a51c4ca8e61b66ec108d86f223f8d559ce, "
          "aic-core/src/aiconfigurator_core/systems/silicon_sample.csv")
FRAMEWORKS = {"vllm": "vllm", "sglang": "sglang", "trtllm": "tensorrt-llm"}
MAX_GPUS_OF_WORKER = 8  # a node; more are several workers or a whole deployment
HELD_BACK = ("Qwen/Qwen3.5-397B-A17B",)  # in no fit: linear_attention.py


def size_in(row, column):
    """Blank and 0 mean 1."""
    return max(1, int(row[column] or 1))


def sizes_of(row, has_experts):
    """tp, attention dp, and tp and ep of experts: those with which the benchmark's script started the server where it
    is known, else those of the record."""
    if row["launched_tp"]:
        sizes = tuple(int(row["launched_" + name]) for name in ("tp", "attention_dp", "moe_tp", "moe_ep"))
    else:
        sizes = tuple(size_in(row, name) for name in ("tp", "attention_dp", "moe_tp", "moe_ep"))
    return sizes if has_experts else (*sizes[:2], 1, 1)


# benchmarks/single_node of SemiAnalysisAI/InferenceX @563248391c2959883e8131b265ae3d995d74d4fa: both say that they reuse
# B200's settings "as-is until B300-specific tuning is available", send as many requests as are in flight (those of other
# GPUs ten times as many), and the first refuses four GPUs at the lengths at which it was run on four.
COLD_SERVERS = ("dsr1_fp8_b300", "dsr1_fp4_b300")


def what_lacks(row):
    """Empty where the row states what no assumption can replace, and does not contradict itself."""
    if {"aggregated": False, "disaggregated": True}[row["serving_mode"]]:
        return "disaggregated: prefill and decode on GPUs of their own"
    if row["work_in_progress"] and flag(row["work_in_progress"]):
        return "the source marks it unfinished"
    for column, name in (("precision", "precision"), ("concurrency", "concurrency")):
        if not row[column]:
            return f"the {name} is not stated"
    if row["speculative_decoding"]:
        return f"speculative decoding ({row['speculative_decoding']}): a step gives more than one token"
    if row["launch_script"] in COLD_SERVERS:
        return ("its script has the settings of another GPU and sends every request once, so a cold server is measured: "
                "by the source's own numbers prefill takes two to seven times as long as on H200")
    # The batch of a worker, or of one of its attention replicas.
    if abs(int(row["batch_size"]) * size_in(row, "attention_dp") - int(row["concurrency"])) > 1:
        return "batch size x attention data parallelism is not the concurrency"
    if float(row["ttft_s"]) > (int(row["output_tokens"]) - 1) * float(row["tpot_s"]):
        return "overloaded: requests wait longer than they decode, and how many the server ran at once is not stated"
    return ""


def contradiction(row, sizes, has_experts):
    tp, dp, moe_tp, moe_ep = sizes
    if int(row["pp"]) > 1:
        return "pipeline parallelism, whose placement is not stated"
    if tp * dp > MAX_GPUS_OF_WORKER:
        return "parallel sizes of more GPUs than one worker has: a whole deployment"
    if has_experts and moe_tp * moe_ep != tp * dp:
        return "parallel sizes of attention and of experts make up different numbers of GPUs"
    return ""


def reason_against(row, facts, measurements):
    reason = what_lacks(row) or facts.why_unknown(row["gpu_type"], row["model"])
    if reason:
        return reason
    has_experts = "experts" in facts.model(row["model"])
    reason = contradiction(row, sizes_of(row, has_experts), has_experts)
    if not reason and row["measurement_id"] in measurements:
        return "a measurement that is listed before"
    if not reason:
        measurements.add(row["measurement_id"])
    return reason


def group_of(row):
    """Who made the settings. InferenceX has a script for each model, format, GPU and engine; the other dumps are
    files of one engine, GPU and model each."""
    if row["launch_script"]:
        return f"InferenceX, {row['launch_script']}"
    if row["model"] in HELD_BACK:  # its dumps are of all engines and GPUs
        return f"aiconfigurator, {row['model']}, {row['gpu_type']}, {row['backend']}, {row['precision']}"
    assert row["source_dump"].startswith("gap-analysis/"), row["record_id"]
    return f"aiconfigurator, {row['source_dump']}"


def set_engine(generation, row):
    generation.set_number_format(row["precision"])
    if row["cache_precision"]:
        generation.execution["cache_precision"] = row["cache_precision"].lower()
    generation.set_serving(int(row["prefill_tokens"] or USUAL_PREFILL_TOKENS))
    # How many sequences decode together is stated: the batch is the concurrency. No row has the share of memory.
    generation.leave_unstated("memory_share", group_of(row))
    if not row["prefill_tokens"]:
        generation.leave_unstated("prefill_chunk_tokens", group_of(row))


def left_unsaid(row):
    out = ("which average the times are, GPU clocks, spread, share of the memory for weights and KV cache "
           f"({USUAL_MEMORY_FRACTION} to begin with)")
    if not row["prefill_tokens"]:
        out += f", prefill chunks ({USUAL_PREFILL_TOKENS} tokens to begin with)"
    if not row["launch_script"]:
        out += ", speculative decoding, prefix caching, precision of the KV cache (16 bits taken)"
    elif not row["cache_precision"]:
        out += ", precision of the KV cache (the engine's choice; 16 bits taken)"
    return out


def mean_tokens(row, column):
    return float(row[column + "_mean"] or row[column])


def generation_of(row, facts):
    generation = Generation(row["record_id"])
    generation.framework = FRAMEWORKS[row["backend"]]
    if generation.framework == "vllm":
        generation.execution["semantics"] = "vllm"
    generation.gpu, generation.model = facts.gpu(row["gpu_type"]), facts.model(row["model"])
    generation.tp, generation.dp, moe_tp, moe_ep = sizes_of(row, "experts" in generation.model)
    generation.execution.update(expert_parallel=moe_ep, expert_tensor_parallel=moe_tp if moe_ep > 1 else 0)
    set_engine(generation, row)
    generation.sequences = int(row["concurrency"])
    generation.prompt_tokens = mean_tokens(row, "input_tokens")
    generation.response_tokens = mean_tokens(row, "output_tokens")
    generation.batch_s = float(row["ttft_s"]) + (generation.response_tokens - 1) * float(row["tpot_s"])
    generation.notes.update({"source": SOURCE, "model of the record": row["model"],
                             "engine": f"{row['backend']} {row['backend_version']}",
                             "measured": row["measured_date"], "left unsaid": left_unsaid(row)})
    if row["launch_script"]:
        generation.notes["launched by"] = f"InferenceX, {row['launch_script']}"
    return generation


def convert():
    return rows_as_runs(lambda row: "" if row["model"] not in HELD_BACK else "in no fit: linear_attention.py has it")


def rows_as_runs(why_elsewhere):
    """All rows but those for which why_elsewhere(row) gives a reason."""
    runs, facts, measurements = Runs(), Facts(), set()
    # Of a measurement listed twice the row whose id names the sizes is the surer one.
    for row in sorted(read_csv("aiconfigurator/silicon_runs.csv"), key=lambda row: not row["label_tp"]):
        reason = why_elsewhere(row) or reason_against(row, facts, measurements)
        if reason:
            runs.leave_out(row["record_id"], reason)
        else:
            add_generation(runs, generation_of(row, facts))
    return runs
