"""Devices, layouts and executions of the tasks of a published iteration: those that the record states, and the
framework's usual ones if the record states none."""

import re

from documents import parameters
from iterations import Task, is_training, role_of
from serving import USUAL_MEMORY_FRACTION, USUAL_PREFILL_TOKENS

# Tasks of the workflow, and their entries in the record's plan.
ENTRIES = {"actor_generation": "actor_gen", "reward_inference": "reward_inf", "old_log_prob": "old_logp_inf",
           "reference_inference": "ref_inf", "critic_inference": "critic_inf", "actor_training": "actor_train",
           "critic_training": "critic_train"}

# The share of a GPU's memory for a serving engine that takes turns with training on it; the recipes and examples of
# NeMo RL and verl that state it have 0.6.
SHARED_MEMORY_FRACTION = 0.6


def entry_of(record, name):
    """The log-probabilities of actor and reference may share one entry."""
    is_shared = name in ("old_log_prob", "reference_inference")
    return record.plan.get(ENTRIES[name], record.plan.get("policy_and_ref_forward") if is_shared else None)


def computes_old_log_prob(record):
    """DeepSpeed-Chat and OpenRLHF compute them while they make experience; verl too, unless the rollout engine's are
    taken, as its asynchronous trainers do. ReaL has them from generation."""
    if "old_logp_inf" in record.plan or {"old_logp_inf", "policy_and_ref_forward", "logprob_inf"} & set(record.tasks_s):
        return True
    return record.is_deepspeed or (record.is_verl and record.synchrony != "async")


def has_generation_layout(record):
    entry = record.plan.get("actor_gen")
    return (entry is not None and not record.has_totals_only
            and ("tp" in entry or record.generates_without_engine))


def is_present(record, name):
    if name == "actor_generation":
        return has_generation_layout(record)
    return computes_old_log_prob(record) if name == "old_log_prob" else role_of(name) in record.models


# ---- degrees ----


def inherit(own, other, *members):
    for member in members:
        if member in other:
            own.setdefault(member, other[member])


def with_trainer(task, trainer):
    """Inference runs on the model as its trainer holds it, where both have the same GPUs."""
    inherit(task, trainer, "gpus")
    if task.get("gpus") != trainer.get("gpus"):
        return
    inherit(task, trainer, "tp", "pp", "cp", "ep", "etp", "ulysses_sp", "micro_batch_size", "micro_batch_size_global",
            "max_tokens_per_micro_batch")
    if task.get("pp") == trainer.get("pp"):
        inherit(task, trainer, "layers_first_stage", "layers_last_stage")


def inherit_deepspeed_sizes(record, name, task):
    """DeepSpeed-Chat and OpenRLHF have one size for all passes of experience and one for all training."""
    like = record.plan.get("actor_train" if is_training(name) else "actor_gen")
    if like is None or name == "actor_generation":
        return
    if not is_training(name):
        task.pop("micro_batch_size", None)  # not its trainer's
    inherit(task, like, "micro_batch_size")


def layout_of(record, name):
    def with_one_budget(entry):
        entry = dict(entry)
        if "max_tokens_per_micro_batch_per_gpu" in entry:
            entry["max_tokens_per_micro_batch"] = entry["max_tokens_per_micro_batch_per_gpu"]
        return entry

    task = with_one_budget(entry_of(record, name) or {})
    if name != "actor_generation" and not record.is_real:
        trainer = record.plan.get("critic_train" if role_of(name) == "critic" else "actor_train")
        if trainer is not None:
            with_trainer(task, with_one_budget(trainer))
    if record.is_deepspeed:
        inherit_deepspeed_sizes(record, name, task)
    task.setdefault("gpus", record.gpus)
    return task


def degrees_of(record, name, layout):
    is_generation = name == "actor_generation"
    cp = layout.get("cp", 1 if is_generation else layout.get("ulysses_sp", 1))
    tp = pp = 1
    if not record.shards_whole_model or (is_generation and record.is_serving):
        tp, pp = layout.get("tp", 1), layout.get("pp", 1)
    return layout.get("dp", max(1, layout["gpus"] // (tp * pp * cp))), pp, tp, cp


# ---- places ----


def gpus_of_role(record, role):
    """Where roles have GPUs of their own: the most that one of its tasks has."""
    return max((record.plan[entry].get("gpus", 0) for name, entry in ENTRIES.items()
                if entry in record.plan and role_of(name) == role), default=0)


def first_device(record, name, layout):
    """Trainers come first; generation, where it has its own GPUs, after them."""
    if "device_mesh" in layout:  # ReaL: "trainer02" or "trainer[01-16]", nodes counted from one
        node = int(re.search("[0-9]+", layout["device_mesh"]).group())
        return record.hardware.get("gpus_per_node", 8) * (node - 1)
    if layout["gpus"] >= record.gpus:
        return 0
    if record.synchrony != "sync":
        return record.plan["actor_train"].get("gpus", 0) if name == "actor_generation" else 0
    roles = ("actor", "critic", "reference", "reward")
    return sum(gpus_of_role(record, role) for role in roles[:roles.index(role_of(name))])


# ---- execution ----


def set_generation(record, layout, iteration, task):
    execution = task.execution
    execution["cuda_graphs"] = record.workload.get("cuda_graph",
                                                   record.is_serving and "eager" not in record.rollout_backend)
    # ReaL generates every micro-batch to its end before the next, cut into as many parts as stages.
    if record.is_real:
        return
    if record.generates_without_engine:
        task.decode_batch = layout.get("micro_batch_size", 0)
        return
    execution.update(packed=True, continuous_batching=True,
                     shared_prompts=iteration.responses_per_prompt > 1,  # prefix caches are on in these frameworks
                     prefill_chunk_tokens=layout.get("max_batched_tokens", USUAL_PREFILL_TOKENS))
    task.decode_batch = layout.get("max_num_seqs", 0)
    takes_turns = record.synchrony == "sync"
    task.memory_fraction = layout.get("gpu_memory_utilization",
                                      SHARED_MEMORY_FRACTION if takes_turns else USUAL_MEMORY_FRACTION)
    if "gpu_memory_utilization" not in layout:
        iteration.note("left unsaid", f"The engine's part of the GPU memory: {task.memory_fraction}.")
    if record.workload.get("precision", {}).get("generation") == "fp8":
        execution.update(precision="fp8", weight_precision="fp8")


def waits_on_host(record, name):
    """NeMo RL on Megatron keeps the reference's weights on the host, and there too the trainer's states while the same
    GPUs generate (use_reference_model, offload_before_refit and offload_after_refit of its policy worker)."""
    if not record.is_nemo_rl or "Megatron" not in record.train_backend:
        return False
    return name == "reference_inference" or (is_training(name) and record.synchrony == "sync")


def set_passes(record, layout, task):
    execution, workload, trains = task.execution, record.workload, is_training(task.name)
    packing = record.packing
    execution["packed"] = "padding" not in workload and not record.is_deepspeed if packing is None else packing
    if trains or record.shards_whole_model:
        # Megatron keeps its optimizer's state sharded over replicas in all of these frameworks; DeepSpeed: below.
        execution["zero_stage"] = 0 if record.is_deepspeed else 3 if record.shards_whole_model else 1
    # The pass old_log_prob runs on the trainer's engine.
    trainer = record.plan["actor_train"] if task.name == "old_log_prob" else layout
    holders, group = task.dp * task.cp, trainer.get("fsdp_size", 0)
    if execution.get("zero_stage") == 3 and 0 < group < holders and holders % group == 0:
        execution["sharded_over"] = group
    execution["sequence_parallel"] = task.tp > 1 and not record.is_real
    if workload.get("precision", {}).get("train") == "fp8":
        execution["precision"] = "fp8"
        if trains:
            execution["weight_precision"] = "bf16"
    if trains:
        task.recompute = "full" if workload.get("activation_recompute") or "recompute" in workload else "none"
        if record.is_verl:
            # Both trainers: reduce_dtype of verl's FSDP, grad_reduce_in_fp32 of its Megatron.
            execution["gradient_precision"] = "fp32"
        execution["offload_optimizer"] = layout.get("optimizer_offload_fraction", 0) > 0
    is_own_model = role_of(task.name) == "actor"
    execution["offload_weights"] = any(
        (layout.get(member, False) or (is_own_model and workload.get(member, False)))
        for member in ("param_offload", "optimizer_offload")) or waits_on_host(record, task.name)


def set_micro_batch(record, layout, iteration, task):
    is_binned = record.is_nemo_rl and record.packing and "micro_batch_size" in layout and record.max_total_tokens
    if record.is_real and "micro_batches" in layout:
        task.execution["micro_batches"] = layout["micro_batches"]
    elif is_binned:
        # NeMo RL packs sequences into bins of the longest sequence times the micro-batch size.
        task.execution["micro_batch_tokens"] = max(1, int(record.max_total_tokens * layout["micro_batch_size"]))
    elif "max_tokens_per_micro_batch" in layout:
        task.execution["micro_batch_tokens"] = layout["max_tokens_per_micro_batch"]
    elif "micro_batch_size" in layout:
        task.micro_batch = layout["micro_batch_size"]
    elif "micro_batch_size_global" in layout:
        task.micro_batch = max(1, layout["micro_batch_size_global"] // task.dp)
    else:
        iteration.note("left unsaid", f"Sequences of a micro-batch of {task.name}: one.")


def set_experts(record, layout, iteration, task):
    if task.name == "actor_generation":
        return
    ranks, stated = task.dp * task.cp * task.tp, layout.get("ep", 1)
    task.execution["expert_parallel"] = min(stated, ranks)
    if stated > ranks:
        iteration.note("remarks", f"Expert parallelism {stated} of {task.name} cannot be on {ranks} GPUs of a stage: "
                                  f"taken as {ranks}.")
    if stated > 1 and ("etp" in layout or record.is_nemo_rl):
        task.execution["expert_tensor_parallel"] = layout.get("etp", 1)  # NeMo RL's recipes do not split experts


def set_execution(record, layout, iteration, task):
    task.execution["fused_attention"] = record.is_serving or record.is_real
    task.execution["semantics"] = ("real" if record.is_real else "nemo-rl" if record.is_nemo_rl else
                                   "verl" if record.is_verl else "plain")
    if task.name == "actor_generation":
        set_generation(record, layout, iteration, task)
        if record.is_serving:
            return
    else:
        set_passes(record, layout, task)
    set_micro_batch(record, layout, iteration, task)
    set_experts(record, layout, iteration, task)


# ---- DeepSpeed ----


def held_bytes(task, of_model, zero_stage):
    """Bytes that a GPU holds of a model in mixed precision with Adam."""
    shards = float(task.dp)
    if not is_training(task.name):
        return 2.0 * of_model / (shards if zero_stage == 3 else 1.0)
    return of_model * (12.0 / shards + (4.0 / shards if zero_stage == 3 else 4.0))


def held_in_all(iteration, task, zero_stage):
    """Of all models on the GPUs where a task begins; each once."""
    by_role = {}
    for other in iteration.tasks.values():
        if other.first == task.first:
            role = role_of(other.name)
            held = held_bytes(other, parameters(iteration.models[role]), zero_stage)
            by_role[role] = max(by_role.get(role, 0.0), held)
    return sum(held for _, held in sorted(by_role.items()))


def set_deepspeed_stages(iteration):
    """The tables do not print the ZeRO stage: the least sharding that the memory allows, on the host what is over."""
    for name, task in iteration.tasks.items():
        fits_whole = held_in_all(iteration, task, 2) <= iteration.gpu.memory_bytes
        fits_sharded = held_in_all(iteration, task, 3) <= iteration.gpu.memory_bytes
        if is_training(name):
            task.execution.update(zero_stage=2 if fits_whole else 3,
                                  offload_optimizer=not fits_whole and not fits_sharded)
        elif name != "actor_generation":
            task.execution["zero_stage"] = 0 if fits_whole else 3
    iteration.note("left unsaid", "The ZeRO stage: 2 where the states fit the GPUs then, else 3, with Adam on the host "
                                  "where these do not.")


# ---- all ----


def set_layouts(record, iteration):
    """Adds the tasks whose layout is stated; returns why the layouts are impossible, empty if they are possible."""
    for name in ENTRIES:
        if not is_present(record, name):
            continue
        layout = layout_of(record, name)
        task = Task(name, *degrees_of(record, name, layout), first_device(record, name, layout))
        task.layers_first_stage, task.layers_last_stage = (layout.get(f"layers_{end}_stage") for end in
                                                           ("first", "last"))
        set_execution(record, layout, iteration, task)
        if task.gpus != layout["gpus"]:
            return f"the degrees of {name} make up {task.gpus} GPUs, not {layout['gpus']}"
        if task.first + task.gpus > record.gpus:
            return f"its tasks have more GPUs than the {record.gpus} there are"
        if role_of(name) == "actor":
            task.execution["lora_rank"] = record.workload.get("lora_rank", 0)
        iteration.tasks[name] = task
    if record.is_deepspeed:
        set_deepspeed_stages(iteration)
    if not has_generation_layout(record):
        iteration.note("left unsaid", "The layout of generation: it is not among the tasks here.")
    return ""
