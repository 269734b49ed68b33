"""Published prefill and decode of many sources: data/public/generation."""

from documents import Facts, Runs, read_records, refuse_unknown
from serving import FORMATS, USUAL_MEMORY_FRACTION, USUAL_PREFILL_TOKENS, Generation, add_generation

# How a table was measured, and the member that has its number of sequences.
KINDS = {
    "prefill": "batch",
    "single sequence": "batch",
    "static batch": "batch",
    # Despite its name: the page's commands give gptSessionBenchmark a fixed batch, and caches are not paged.
    "in-flight batching, saturated": "max_batch",
    "offline throughput": "requests",
    "offline, all requests at once (unlimited concurrency)": "requests",
    "request throughput": None,
}

# What engines do by their nature, by the beginning of the record's engine; the first that fits.
#   batches_continuously; has_cuda_graphs; is_pipelined: several GPUs have a part of the layers each; is_unfused: runs
#   the model's code as it is written; shares_experts: attention data parallel, experts parallel over all GPUs;
#   quantizes_cache: to eight bits where the weights have no more; max_sequences that decode together.
# TensorRT-LLM: max_batch_size is 2048 by default. fp8_kv_cache is among the build options of the pages up to 0.9, and
# in the quantized checkpoints of later ones. enable_attention_dp is among their options for models with experts, of
# which ep_size is not printed. vLLM up to 0.6 is its first engine, TensorRT-LLM up to 0.9 built engines without CUDA
# graphs.
ENGINES = (
    ("vLLM 0.6", "vllm-0.6", {"batches_continuously", "has_cuda_graphs"}, 0),
    ("SGLang", "sglang", {"batches_continuously", "has_cuda_graphs"}, 0),
    ("TensorRT-LLM 0.", "tensorrt-llm-0.9", {"quantizes_cache"}, 0),
    ("TensorRT-LLM", "tensorrt-llm", {"batches_continuously", "has_cuda_graphs", "shares_experts", "quantizes_cache"},
     2048),
    ("LMDeploy", "lmdeploy", {"batches_continuously"}, 0),
    ("HF Transformers", "transformers", {"is_pipelined", "is_unfused"}, 0),
    ("Megatron Core", "megatron-core", {"batches_continuously"}, 0),
)

CONFIG = ("engine precision kind batch max_batch requests tp pp dp input_tokens output_tokens cuda_graph setting "
          "variant").split()


def sequences_of(record):
    return record["config"].get(KINDS[record["config"]["kind"]])


def response_tokens_of(record):
    return 1 if record["config"]["kind"] == "prefill" else record["config"].get("output_tokens")


def time_s(record):
    """Of all sequences; None where neither a time nor a throughput is stated."""
    measured = record["measured"]
    if record["config"]["kind"] == "prefill":
        return 1e-3 * measured["first_token_ms"]
    if "total_s_derived" in measured:
        return float(measured["total_s_derived"])
    if "output_tokens_per_s" not in measured:
        return None
    return sequences_of(record) * float(response_tokens_of(record)) / measured["output_tokens_per_s"]


def reason_against(record, facts):
    """Empty where the record can be a run."""
    config, gpus = record["config"], record["hardware"]["gpus"]
    if "input_tokens" not in config or not response_tokens_of(record):
        return "the lengths of the requests are not stated"
    if not sequences_of(record):
        return "the number of requests is not stated"
    if not time_s(record):
        return "neither a time nor a throughput is stated"
    if config["tp"] * config.get("dp", 1) != gpus:
        return "tp x dp is not the number of GPUs"
    return facts.why_unknown(record["hardware"]["gpu"], record["model"])


def set_layout(generation, config, gpus, does):
    generation.dp, generation.tp = config.get("dp", 1), config["tp"]
    if "is_pipelined" in does:
        generation.dp, generation.tp, generation.pp = 1, 1, gpus
    elif "shares_experts" in does and "experts" in generation.model and gpus > 1:
        generation.dp, generation.tp = gpus, 1
        generation.execution.update(expert_parallel=gpus, expert_tensor_parallel=1)


def set_engine(generation, config, does, max_sequences):
    generation.set_number_format(config["precision"])
    if "quantizes_cache" in does and FORMATS[config["precision"].lower()][0] in ("fp8", "fp4"):
        generation.execution["cache_precision"] = "fp8"
    if "batches_continuously" in does:
        generation.set_serving()
    generation.execution.update(fused_attention=True,  # all of these engines have it
                                cuda_graphs=config.get("cuda_graph", "has_cuda_graphs" in does),
                                unfused="is_unfused" in does)
    generation.decode_batch = max_sequences


def set_unstated(generation, record):
    """No page prints the share of memory or the prefill chunk. How many sequences decode together is known of a batch;
    of all requests at once the engine takes as many as it may."""
    group = f"{record['source']['title']}, {record['config']['engine']} on {generation.gpu.name}"
    generation.leave_unstated("memory_share", group)
    generation.leave_unstated("prefill_chunk_tokens", group)
    if KINDS[record["config"]["kind"]] == "requests":
        generation.leave_unstated("decode_batch_sequences", group)


def add_notes(generation, record, batches_continuously):
    source = record["source"]
    generation.notes.update({
        "source": f"{source['title']}, {source['location']}, {source['table_or_section']}", "grade": record["grade"],
        "model of the record": record["model"], "engine": record["config"]["engine"]})
    if record.get("notes"):
        generation.notes["remarks"] = record["notes"]
    unsaid = ", ".join([*record.get("missing", ()), "spread"])
    if batches_continuously:
        unsaid += (f"; prefill chunks of {USUAL_PREFILL_TOKENS} tokens and {USUAL_MEMORY_FRACTION} of the memory for "
                   "weights and KV cache to begin with")
    generation.notes["left unsaid"] = unsaid


def generation_of(record, facts):
    config = record["config"]
    _, framework, does, max_sequences = next(e for e in ENGINES if config["engine"].startswith(e[0]))
    generation = Generation(record["id"])
    generation.framework = framework
    generation.gpu, generation.model = facts.gpu(record["hardware"]["gpu"]), facts.model(record["model"])
    generation.sequences = sequences_of(record)
    generation.prompt_tokens, generation.response_tokens = config["input_tokens"], float(response_tokens_of(record))
    generation.batch_s = time_s(record)
    set_layout(generation, config, record["hardware"]["gpus"], does)
    set_engine(generation, config, does, max_sequences)
    if "batches_continuously" in does:
        set_unstated(generation, record)
    add_notes(generation, record, "batches_continuously" in does)
    return generation


def convert():
    runs, facts = Runs(), Facts()
    for record in read_records("generation/generation.json", "sextant.published.generation/1"):
        refuse_unknown(record["config"], CONFIG, record["id"])
        reason = reason_against(record, facts)
        if reason:
            runs.leave_out(record["id"], reason)
        else:
            add_generation(runs, generation_of(record, facts))
    return runs
