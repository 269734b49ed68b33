"""Published training steps of many sources: data/public/training."""

from documents import Facts, Runs, read_records, refuse_unknown, unstated, whole_model
from steps import Step, add_step

# What a record may say about its configuration; an unknown member might change its time.
KNOBS = """activation_cpu_offload activation_offload_layers activation_recompute adapter_experts async_tp attention
compile cp cuda_graphs deterministic dp ep fp8_attention fsdp fused_grouped_mlp global_batch grad_accumulation heads
hidden intermediate kernels kv_heads layers layers_per_virtual_stage local_batch lora_rank megatron_fsdp micro_batch
micro_batches moe_a2a_overlap moe_dispatcher mp_mode nccl_algo optimizer_sharding pipeline_interleaving pp precision
recompute_modules schedule sequence_length sequence_parallel sharded_over strategy task tp vocab vp""".split()

VOCABULARY = 51200  # of GPT-2, padded, where a table does not say (Narayanan et al. 2021)
DEFAULT_RANK = 16  # of low-rank adapters; the time hardly depends on it

# ---- what the settings of a source mean; framework, recomputation and execution are set after model and degrees ----


def set_recompute(step, config):
    stated = config.get("activation_recompute")
    if stated is None:
        # Runs of one framework and model share what they do not say. Tuned runs of large GPUs: little, if any.
        step.unstated.append(unstated("recompute", f"{step.framework} {step.model['name']}", 0.2))
    elif isinstance(stated, bool):
        step.recompute = "full" if stated else "none"
    else:
        # prime-rl's "Offload" recomputes and sends what it keeps to the host.
        step.recompute = {"full": "full", "Recompute": "full", "Offload": "full", "selective": "selective",
                          "attn_only": "selective", "none": "none"}[stated]
        step.execution["offload_activations"] = stated == "Offload"


def set_nvidia_settings(step, config):
    """Settings of NVIDIA's recipes where the record has them."""
    if "recompute_modules" not in config:
        return False
    # None of these is a large product: norms, activations, a low-rank projection, the few dense layers of a mixture.
    is_small = {"layernorm": True, "moe_act": True, "mla_up_proj": True, "mlp": True, "core_attn": False}
    if not all(is_small[module] for module in config["recompute_modules"]):
        step.recompute = "selective"
    graphs = config.get("cuda_graphs", "none")
    if isinstance(graphs, list):
        # Graphs of the MLP alone leave the launches of the other half of a layer.
        reached = [{"mlp": 0, "moe_router": 1, "moe_preprocess": 1, "attn": 2}[module] for module in graphs]
        graphs = ("none", "routing", "attention")[max(reached, default=0)]
    execution = step.execution
    execution["training_graphs"] = graphs
    if "moe_dispatcher" in config:
        execution["fused_dispatch"] = {"alltoall": False, "deepep": True, "hybridep": True}[config["moe_dispatcher"]]
    execution["overlap_dispatch"] = config.get("moe_a2a_overlap", False)
    execution["fused_experts"] = config.get("fused_grouped_mlp", False)
    if config.get("fp8_attention"):
        execution["attention_precision"] = "fp8"
    if "activation_offload_layers" in config:
        execution.update(offload_activation_layers=config["activation_offload_layers"], offload_activations=True)
    if config.get("megatron_fsdp"):
        execution["zero_stage"] = 3
    return True


def set_virtual_stages(step, config):
    """Megatron can count embedding and head as layers, so that its first and last chunks have none of the decoder's
    (405B: 126 layers in 16 x 8 chunks); in a plan every chunk has one."""
    of_stage = step.model["layers"] // step.pp
    stated = 1
    if step.pp > 1 and "layers_per_virtual_stage" in config:
        stated = max(1, of_stage // config["layers_per_virtual_stage"])
    elif step.pp > 1:
        stated = max(1, config.get("vp", 1), config.get("pipeline_interleaving", 1))
    maximum = max(1, of_stage)
    step.execution["virtual_stages"] = min(stated, maximum)
    if stated > maximum:
        step.notes["assumed"] = (f"{maximum} virtual stages in place of {stated}, which count embedding and head as "
                                 "layers")


def set_megatron_core(step, config):
    """Megatron's pipeline, and experts that no tensor parallelism cuts, as its recipes for mixtures of experts."""
    step.execution["semantics"] = "megatron"
    set_virtual_stages(step, config)
    step.execution["expert_parallel"] = max(1, config.get("ep", 1))
    if step.execution["expert_parallel"] > 1:
        step.execution["expert_tensor_parallel"] = 1
    if not set_nvidia_settings(step, config):
        set_recompute(step, config)


def set_nvidia_recipe(step, config):
    """NVIDIA's tuned recipes: distributed optimizer or Megatron FSDP, sequence parallelism wherever there is tensor
    parallelism, fused attention."""
    step.execution.update(zero_stage=3 if config.get("fsdp", 0) > 1 else 1, sequence_parallel=step.tp > 1,
                          fused_attention=True)
    set_megatron_core(step, config)


def set_automodel(step, config):
    """With expert parallelism or a pipeline FSDP gathers weights once a step and reduces gradients once
    (reshard_after_forward is off there): the traffic of ZeRO stage 1."""
    set_megatron_core(step, config)
    gathers_once = step.execution["expert_parallel"] > 1 or step.pp > 1
    step.execution.update(semantics="plain", fused_attention=True,
                          zero_stage=0 if config.get("fsdp", 1) < 2 else 1 if gathers_once else 3)


def set_megatron_lm(step, config):
    """Megatron-LM of 2021 and 2022: no FlashAttention; sharding and sequence parallelism where the record has them."""
    set_megatron_core(step, config)
    step.execution["zero_stage"] = 1 if config.get("optimizer_sharding") else 0
    step.execution["sequence_parallel"] = config.get("sequence_parallel", False)


def set_prime_rl(step, config):
    """prime-rl's RL trainer computes log-probabilities by blocks of the vocabulary (its fused head); its SFT trainer
    holds all logits. A block of 8,192 columns takes about what this number of tokens does with all columns."""
    hopper, fused_head_tokens = 9, 1024
    is_newer = step.gpu.compute_capability >= hopper
    step.execution.update(
        portable_attention=is_newer and config.get("attention") == "flash_attention_2",
        unfused={"grouped": False, "loop": True}[config.get("adapter_experts", "grouped")],
        zero_stage=3 if step.dp > 1 else 0, fused_attention=True, expert_parallel=max(1, config.get("ep", 1)),
        weight_precision="fp32")  # FSDP's mixed precision casts what it gathers
    if config.get("task", "").startswith("rl"):
        step.execution["logit_chunk_tokens"] = fused_head_tokens
    set_recompute(step, config)


def set_llm_foundry(step, config):
    """Composer's mixed precision "PURE" reduces gradients in 16 bit, "DEFAULT" in 32."""
    step.execution["zero_stage"] = {"FSDP FULL_SHARD": 3, "FSDP SHARD_GRAD_OP": 2}[config["strategy"]]
    if {"DEFAULT": True, "PURE": False}[config["mp_mode"]]:
        step.execution["gradient_precision"] = "fp32"
    step.execution["fused_attention"] = True
    step.execution["offload_activations"] = config.get("activation_cpu_offload", False)
    set_recompute(step, config)


def set_fms_fsdp(step, config):
    """Foundation Model Stack's trainer: PyTorch FSDP, compiled, mixed precision "PURE". Its HSDP is PyTorch's
    HYBRID_SHARD, which shards inside a node."""
    set_llm_foundry(step, config)
    step.execution["sharded_over"] = config.get("sharded_over", 0)


# By the first word of a record's id: framework and what sets the rest.
SOURCES = {
    "automodel": ("automodel", set_automodel),
    "fms": ("fms-fsdp", set_fms_fsdp),
    "korthikanti": ("megatron-lm", set_megatron_lm),
    "llmfoundry": ("llm-foundry", set_llm_foundry),
    "mbridge": ("megatron-bridge", set_nvidia_recipe),
    "mcore": ("megatron-lm", set_megatron_lm),
    "megatron": ("megatron-lm", set_megatron_lm),
    "nemo": ("nemo", set_nvidia_recipe),
    "prime": ("prime-rl", set_prime_rl),
}
TIDY_TABLES = ("sailor", "vtrain")  # sources whose records are repeated from a table of their own

# ---- records ----


def has_shape(config):
    return all(member in config for member in ("layers", "hidden", "heads"))


def shape_of(name, config):
    """Plain GPT, as Megatron's own tables have it: only they give shapes."""
    return whole_model({
        "name": name, "layers": config["layers"], "hidden": config["hidden"], "heads": config["heads"],
        "kv_heads": config.get("kv_heads", config["heads"]),
        "intermediate": config.get("intermediate", 4 * config["hidden"]),
        "vocabulary": config.get("vocab", VOCABULARY), "tied_embeddings": True,  # Megatron's default
        "gated_mlp": False})


def name_in_facts(facts, name):
    """Without the variant that a table adds in parentheses, where the facts know the name only so."""
    plain = name.split(" (")[0]
    return name if facts.has_model(name) or not facts.has_model(plain) else plain


def gpu_name(facts, hardware):
    """A variant that the source describes where the facts have it under that description."""
    variant = hardware.get("gpu_variant")
    return variant if variant and facts.has_gpu(variant) else hardware["gpu"]


def reason_against(record, facts):
    """Why a record cannot be a run; empty if it can."""
    config, measured, source = record["config"], record["measured"], record["id"].split("-")[0]
    if source in TIDY_TABLES:
        return f"repeated from the tidy table of this source, data/public/{source}"
    refuse_unknown(config, KNOBS, record["id"])
    if not {"step_time_s", "step_time_s_derived", "tokens_per_s_per_gpu"} & set(measured):
        return "neither the time of a step nor its throughput in tokens is stated"
    if "known_defect" in record:
        return record["known_defect"]
    if config.get("deterministic"):
        return "run with deterministic kernels, slower than those of training, which a plan cannot say"
    if "w/ MTP" in record["model"]:
        return "trained with a multi-token prediction layer, which the model's shape does not have"
    gpu = gpu_name(facts, record["hardware"])
    if has_shape(config):
        return "" if facts.has_gpu(gpu) else facts.why_no_gpu(gpu)
    return facts.why_unknown(gpu, name_in_facts(facts, record["model"]))


def set_precision(step, precision):
    step.precision = "fp16" if precision == "FP16" else "bf16"
    arithmetic = ("fp8" if precision.startswith(("FP8", "MXFP8")) else
                  "fp4" if precision.startswith("NVFP4") else None)
    if arithmetic:
        step.execution.update(precision=arithmetic, weight_precision="bf16")


def set_adapters(step, config):
    if "lora" not in config.get("task", ""):
        return
    step.execution["lora_rank"] = config.get("lora_rank", DEFAULT_RANK)
    if "lora_rank" not in config:
        step.notes["assumed"] = "LoRA of rank 16"


def step_time_s(step, measured):
    for member in ("step_time_s", "step_time_s_derived"):
        if member in measured:
            return float(measured[member])
    return step.sequences * step.sequence_tokens / (measured["tokens_per_s_per_gpu"] * step.gpus)


def add_notes(step, record):
    source, config = record["source"], record["config"]
    step.notes.update({
        "source": f"{source['title']}, {source['location']}, {source['table_or_section']}",
        "model": record["model"], "grade": record["grade"], "precision": config["precision"]})
    for note, value in (("settings", record.get("config_source")), ("task", config.get("task")),
                        ("remark", record.get("notes"))):
        if value is not None:
            step.notes[note] = value
    if "missing" in record:
        step.notes["left unsaid"] = "; ".join(record["missing"])


def step_of(record, facts):
    config, measured = record["config"], record["measured"]
    step = Step(record["id"])
    step.model = (shape_of(record["model"], config) if has_shape(config) else
                  facts.model(name_in_facts(facts, record["model"])))
    step.gpu = facts.gpu(gpu_name(facts, record["hardware"]))
    step.gpus, step.gpus_per_node = record["hardware"]["gpus"], record["hardware"].get("gpus_per_node", 0)
    if "network_gbit_per_s_per_node" in record["hardware"]:
        step.network_bytes_per_s = record["hardware"]["network_gbit_per_s_per_node"] * 1e9 / 8
    step.pp, step.tp, step.cp = (max(1, config.get(name, 1)) for name in ("pp", "tp", "cp"))
    step.dp = config.get("dp", max(1, step.gpus // (step.pp * step.tp * step.cp)))
    step.sequences, step.sequence_tokens = config["global_batch"], config["sequence_length"]
    step.micro_batch = config["micro_batch"] if "micro_batch" in config else config["local_batch"]
    set_precision(step, config["precision"])
    set_adapters(step, config)
    step.framework, set_rest = SOURCES[record["id"].split("-")[0]]
    set_rest(step, config)
    step.step_s = step_time_s(step, measured)
    for member in ("memory_gib", "peak_memory_gib"):
        if member in measured:
            step.peak_memory_bytes = measured[member] * 2.0 ** 30
    add_notes(step, record)
    return step


def convert():
    runs, facts = Runs(), Facts()
    for record in read_records("training/training.json", "sextant.published.training/1"):
        refuse_unknown(record, ("id", "source", "hardware", "model", "config", "config_source", "measured", "notes",
                                "grade", "missing", "known_defect"), record["id"])
        reason = reason_against(record, facts)
        if reason:
            runs.leave_out(record["id"], reason)
        else:
            add_step(runs, step_of(record, facts))
    return runs
