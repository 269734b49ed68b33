"""vLLM servers under a constant request rate (BLIS): data/public/blis."""

from documents import Facts, Runs, flag, read_csv, rounded
from serving import USUAL_DECODE_SEQUENCES, USUAL_MEMORY_FRACTION, USUAL_PREFILL_TOKENS, Generation, add_generation

# Where the generator's prompts were counted, the model's tokenizer made them 4 to 5 % longer than asked for.
PROMPT_EXCESS = 1.045


def run_name(row):
    return f"{row['experiment_id']}/{row['stage']}"


def reason_against(row, facts):
    """Empty where the row is a load that the server kept up with."""
    if row["stage"] == "all":
        return "a summary of the experiment's load stages"
    if row.get("notes"):
        return row["notes"]
    if flag(row["overloaded"]):
        return "overloaded: queueing, not the model, sets the time"
    unknown = facts.why_unknown(row["gpu_type"], row["model"])
    if not unknown and int(row["gpu_count"]) != int(row["tp"]) * int(row["dp"]):
        return "tp x dp is not the number of GPUs"
    return unknown


def set_engine(generation, row):
    generation.set_number_format(row["precision"])
    generation.set_serving(int(row["max_num_batched_tokens"] or USUAL_PREFILL_TOKENS),
                           float(row["gpu_memory_utilization"] or USUAL_MEMORY_FRACTION))
    generation.execution["semantics"] = "vllm"
    generation.decode_batch = int(row["max_num_seqs"] or USUAL_DECODE_SEQUENCES)
    # Runs of one repository at one commit share what it does not say of the servers.
    group = f"BLIS, {row['source'].split(' ')[0]} on {generation.gpu.name}"
    for column, setting in (("max_num_seqs", "decode_batch_sequences"), ("gpu_memory_utilization", "memory_share"),
                            ("max_num_batched_tokens", "prefill_chunk_tokens")):
        if not row[column]:
            generation.leave_unstated(setting, group)


def set_load(generation, row):
    """The prompts are a small fixed set, sent again and again to a server that caches prefixes: hardly any of a prompt
    passes the layers again. How much is not stated; one prompt for all that are in flight stands for it."""
    nominal = int(row["system_prompt_tokens_nominal"]) + int(row["question_tokens_nominal"])
    generation.prompt_tokens = float(row["prompt_tokens_mean"] or PROMPT_EXCESS * nominal)
    generation.response_tokens = float(row["output_tokens_mean"])
    generation.are_prompts_shared = True
    rate, e2e_s = float(row["request_rate_per_s"]), float(row["e2e_mean_s"])
    generation.sequences = max(1, rounded(rate * e2e_s))
    generation.batch_s = e2e_s


def generation_of(row, facts):
    generation = Generation(run_name(row))
    generation.framework = "vllm"
    generation.gpu, generation.model = facts.gpu(row["gpu_type"]), facts.model(row["model"])
    generation.dp, generation.tp = int(row["dp"]), int(row["tp"])
    set_engine(generation, row)
    set_load(generation, row)
    generation.notes.update({
        "source": f"BLIS validation data, github.com/{row['source']}", "engine": "vllm 0.15.1",
        "prefix caching":
            "on; prompts of a small fixed set, so mostly cached; hit rate not stated, one prefill a batch taken",
        "in flight": f"Little's law: request rate ({row['request_rate_source']}) x mean time in the server, rounded",
        "left unsaid": "share of prompts found in the prefix cache, length distribution, spread; dp taken as "
                       "independent replicas"})
    return generation


def convert():
    runs, facts = Runs(), Facts()
    for row in read_csv("blis/runs.csv"):
        reason = reason_against(row, facts)
        if reason:
            runs.leave_out(run_name(row), reason)
        else:
            add_generation(runs, generation_of(row, facts))
    return runs
