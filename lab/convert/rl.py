"""Published RL iterations of many sources: data/public/rl."""

import json

import lengths
from documents import Facts, Runs, fixed_length, read_records, rounded, unstated
from iterations import Iteration, add_iteration
from lengths import USUAL_SIGMA
from rl_layout import set_layouts
from rl_record import Record, reason_against

# Where a page does not say how long answers are: its training times at two fifths of the GPUs' peak rate correspond to
# 900 to 1600 tokens a sequence. The fit moves it, by what its prior allows.
ASSUMED_RESPONSE_TOKENS = 1200
RESPONSE_DEVIATION = 0.3
# The prompts of the mathematical data sets have 82 to 157 tokens in the mean where records state it.
ASSUMED_PROMPT_TOKENS = 120

# By the beginning of the record's framework.
FRAMEWORKS = (("ReaL", "real"), ("NeMo RL", "nemo-rl"), ("NeMo-Aligner", "nemo-aligner"), ("RLinf", "rlinf"),
              ("OpenRLHF", "openrlhf"), ("DeepSpeed-Chat", "deepspeed-chat"), ("DSChat", "deepspeed-chat"),
              ("AReaL-Hex", "areal-hex"), ("AReaL", "areal"), ("SkyRL", "skyrl"), ("miles", "miles"),
              ("WEAVE", "weave"))


def framework_of(record):
    if not record.is_verl:
        return next(name for prefix, name in FRAMEWORKS if record.framework.startswith(prefix))
    # The engine of verl of 2024 and of the first half of 2025 is the first generation of vLLM.
    has_first_engine = record.framework.endswith(("2024)", "July 2025)"))
    trainer = "verl-fsdp" if record.shards_whole_model else "verl-megatron"
    return trainer + ("-v0" if has_first_engine else "")


# ---- workload ----


def mode_of(record):
    """NeMo RL's trajectories may be one step old (max_trajectory_age_steps: 1), but its recipes for performance keep
    generating through weight updates (grpo.async_grpo.in_flight_weight_updates: true, for instance in
    examples/configs/recipes/llm/performance/grpo-qwen3-235b-32n8g-async-1off.yaml of NVIDIA-NeMo/RL): no batch is
    waited for, as verl's one-step-off trainer does."""
    if record.synchrony == "one_step_off" and record.is_nemo_rl:
        return "asynchronous"
    return {"sync": "synchronous", "one_step_off": "one_step_off", "async": "asynchronous"}[record.synchrony]


def staleness_of(record, mode):
    """Steps that a batch may be old, or the share of a batch (threshold) that may be older by one. The age of a
    trajectory that nobody states is one."""
    if mode != "asynchronous":
        return 0.0 if mode == "synchronous" else 1.0
    if "staleness_threshold" in record.workload:
        return float(record.workload["staleness_threshold"])
    return min(max(float(record.workload.get("staleness_steps", 1)), 1.0), 1000.0)


def streamed_parts_of(record, mode):
    """verl's fully asynchronous trainer takes require_batches mini-batches at once, and syncs weights after
    trigger_parameter_sync_step of these: what its records call a step (docs/advance/fully_async.md of
    volcengine/verl)."""
    workload = record.workload
    if mode != "asynchronous":
        return 1
    if "trigger_parameter_sync_step" in workload:
        return workload["trigger_parameter_sync_step"]
    if not {"require_batches", "prompts", "minibatch_prompts"} <= set(workload):
        return 1
    return max(1, workload["prompts"] // (workload["require_batches"] * workload["minibatch_prompts"]))


def weight_sync_of(record):
    """Where generation has GPUs of its own, verl and NeMo RL (from 0.4 on, in packs of tensors) join it with the
    trainers in one NCCL group and send every tensor whole around it (verl/experimental/one_step_off_policy and
    fully_async_policy of volcengine/verl; nemo_rl/utils/packed_tensor.py of NVIDIA-NeMo/RL); OpenRLHF joins its first
    trainer with the engines."""
    broadcasts = record.is_verl or record.is_nemo_rl or record.framework.startswith("OpenRLHF")
    return "broadcast" if broadcasts else "shortest"


def bucket_bytes_of(record, gpu):
    """NeMo RL packs tensors from 0.4 on: 0.02 of a GPU's memory, at most 5 GiB (get_target_packed_tensor_size of
    nemo_rl/utils/packed_tensor.py of NVIDIA-NeMo/RL). verl's records broadcast every tensor on its own."""
    return min(0.02 * gpu.memory_bytes, 5 * 2.0 ** 30) if record.is_nemo_rl else 0.0


def set_batch(record, iteration):
    workload, sequences = record.workload, record.sequences
    prompts, responses = workload.get("prompts"), workload.get("responses_per_prompt")
    if prompts and responses and prompts * responses == sequences:
        iteration.prompts, iteration.responses_per_prompt = prompts, responses
    else:
        iteration.prompts = sequences
        iteration.note("left unsaid", "Responses per prompt: every sequence has a prompt of its own here.")
    if "global_batch_sequences_candidates" in workload:
        iteration.note("left unsaid", f"Which of two batches: the one of the weak-scaling rule, {sequences}.")
    if "minibatches" in workload:
        iteration.mini_batches = workload["minibatches"]
    elif prompts and "minibatch_prompts" in workload:
        iteration.mini_batches = max(1, prompts // workload["minibatch_prompts"])
    else:
        iteration.note("left unsaid", "Mini-batches: one.")


def longest_response(record, prompt_tokens):
    if "max_response_tokens" in record.workload:
        return record.workload["max_response_tokens"]
    if record.max_total_tokens:
        return record.max_total_tokens - prompt_tokens
    return 8 * record.workload.get("response_tokens_mean", ASSUMED_RESPONSE_TOKENS)


def response_lengths(record, mean, longest):
    """Answers' limit is set where some run into it: at least the longest of the batch does, which takes wider lengths
    the farther the limit is from the mean."""
    usual = lengths.with_mean(mean, USUAL_SIGMA, longest)
    at_limit = 0.95 * longest
    has_limit = "max_response_tokens" in record.workload or record.max_total_tokens
    if not has_limit or lengths.longest_of(usual, record.sequences) >= at_limit:
        return usual
    return lengths.with_longest(mean, at_limit, record.sequences, longest)


def assume_response(record, iteration):
    data = f", {record.workload['dataset']}" if record.workload.get("dataset") else ""
    longest = rounded(longest_response(record, ASSUMED_PROMPT_TOKENS))
    group = f"{record.models['actor']}{data}, at most {longest}"
    iteration.unstated.append(unstated("response_tokens", group, RESPONSE_DEVIATION))
    iteration.note("left unsaid", "The mean response length: 1200 tokens to begin with.")


def set_lengths(record, iteration):
    workload = record.workload
    if "prompt_tokens" in workload and "response_tokens" in workload:
        iteration.prompt_tokens = fixed_length(workload["prompt_tokens"])
        iteration.response_tokens = fixed_length(workload["response_tokens"])
        return
    if record.has_totals_only:
        mean = workload["mean_total_tokens"]
        iteration.prompt_tokens = lengths.with_mean(mean, USUAL_SIGMA, record.max_total_tokens or 4 * mean)
        iteration.response_tokens = fixed_length(0)
        iteration.note("left unsaid", "How much of a sequence is prompt: it is taken whole.")
        return
    prompt = record.prompt_tokens_mean or ASSUMED_PROMPT_TOKENS
    if not record.prompt_tokens_mean:
        iteration.note("left unsaid", "The mean prompt length: 120 tokens, as mathematical data sets have.")
    limit = workload.get("max_prompt_tokens")
    iteration.prompt_tokens = lengths.with_mean(prompt, USUAL_SIGMA, limit) if limit else fixed_length(prompt)
    response = workload.get("response_tokens_mean", ASSUMED_RESPONSE_TOKENS)
    iteration.response_tokens = response_lengths(record, response, longest_response(record, prompt))
    if "response_tokens_mean" not in workload:
        assume_response(record, iteration)
    iteration.note("left unsaid", "The distribution of response lengths: log-normal, deviation of the logarithm 0.6 or "
                                  "so much that the longest of a batch is at the limit, cut there.")


def set_recompute(record, iteration):
    if "recompute" in record.workload:
        iteration.note("remarks", f"Activations of {record.workload['recompute']} are computed again; taken as all of "
                                  "them.")
    elif "activation_recompute" not in record.workload:
        iteration.unstated.append(unstated("recompute", iteration.framework, 0.5))
        iteration.note("left unsaid", "Whether activations are computed again.")


# verl's timer of rewards by rule: 5.144 s for the 2048 answers of rlinf-compare-64gpu-7b-verl, of 10 thousand tokens.
MATH_REWARD_S = 0.0025
REWARD_DEVIATION = 0.005
LONG_ANSWERS = 8192  # tokens at most


def set_rule_reward(record, iteration):
    """What scores of long mathematical answers take. verl's logs show it: it is in their step, and small."""
    is_rule = "reward" not in record.models and (record.is_verl or record.framework.startswith("RLinf"))
    is_beside_generation = iteration.mode == "asynchronous"
    if not is_rule or is_beside_generation or record.id.startswith("verl-log"):
        return
    if longest_response(record, 0) < LONG_ANSWERS:
        return
    iteration.rule_reward_s = MATH_REWARD_S
    group = f"{iteration.framework}, {record.models['actor']}"
    iteration.unstated.append(unstated("rule_reward_s", group, REWARD_DEVIATION))
    iteration.note("left unsaid", "What the rule's rewards take: 2.5 ms an answer to begin with.")


# ---- times ----


def timer_name(entry, record, mode):
    """The timer of an entry of tasks_s as runs name it; empty for what is not the time of a task."""
    is_synchronous = mode == "synchronous"
    return {
        # verl up to 0.7: the engine wakes up and takes the weights inside the timer of generation.
        "actor_gen": "actor_generation" + ("+weight_sync" if record.is_verl and is_synchronous else ""),
        # A part of actor_gen, the mean over workers, which is all there is where generation runs beside training.
        "generate_sequences": "" if is_synchronous else "actor_generation",
        "old_logp_inf": "old_log_prob",
        "ref_inf": "reference_inference",
        "reward_inf": "reward_inference" if "reward" in record.models else "",
        "critic_inf": "critic_inference",
        "actor_train": "actor_training",
        "critic_train": "critic_training",
        "weight_sync": "weight_sync",
        "logprob_inf": "old_log_prob+reference_inference",
        "policy_and_ref_forward": "old_log_prob+reference_inference",
        "training": "actor_training+critic_training",
        "actor_gen_and_inference":
            "actor_generation+reward_inference+old_log_prob+reference_inference+critic_inference",
    }.get(entry, "")


def trainer_contradicts(record, mode):
    """What a trainer that does not wait for generation does comes one after another, so its parts cannot be more than
    the whole. 3 %: as far as the phases of synchronous logs miss their step."""
    if mode == "synchronous" or record.iteration_s is None:
        return False
    parts = [time_s for entry, time_s in sorted(record.tasks_s.items()) if entry != "generate_sequences"]
    return sum(parts) > 1.03 * record.iteration_s


def is_repetition(record, entry, time_s, seen):
    """A time that another row of the source has for the same task, layout and workload but CUDA graphs."""
    if entry not in record.plan:
        return False
    workload = {member: value for member, value in record.workload.items() if member != "cuda_graph"}
    measurement = json.dumps([record.source.split(",")[0], entry, record.plan[entry], workload, float(time_s)])
    if measurement in seen:
        return True
    seen.add(measurement)
    return False


def set_task_times(record, iteration, seen):
    if trainer_contradicts(record, iteration.mode):
        iteration.note("dropped", "The times of tasks, because the trainer's parts sum to more than its iteration.")
        return
    for entry, time_s in sorted(record.tasks_s.items()):
        timer = timer_name(entry, record, iteration.mode)
        if entry == "wait_for_samples":
            iteration.waits["actor_generation"] = [float(time_s)]
        elif not timer:
            iteration.note("other times", f"{entry} {float(time_s)} s.")
        elif is_repetition(record, entry, time_s, seen):
            iteration.note("dropped", f"The time of {timer}: printed for another row before.")
        else:
            iteration.timers[timer] = [float(time_s)]


def set_samples(record, iteration):
    """Times of single steps stand in place of their mean."""
    samples = record.measured.get("samples", [])
    if record.iteration_s is not None:
        iteration.iteration_s = [float(record.iteration_s)]
    iterations = [float(sample["iteration_s"]) for sample in samples if "iteration_s" in sample]
    iteration.iteration_s = iterations or iteration.iteration_s
    timers = {}
    for sample in samples:
        for entry, time_s in sorted(sample.get("tasks_s", {}).items()):
            timers.setdefault(timer_name(entry, record, iteration.mode), []).append(float(time_s))
    iteration.timers.update({timer: times for timer, times in timers.items() if timer in iteration.timers})


# ---- runs ----


def set_notes(record, iteration):
    iteration.notes.update({"source": record.source, "grade": record.grade, "model": record.models["actor"],
                            "gpu": record.gpu_name, "version": record.framework})
    if record.remarks:
        iteration.note("remarks", record.remarks)
    if record.missing:
        iteration.note("left unsaid", f"By the record: {', '.join(record.missing)}.")
    if "gpu" not in record.hardware:
        iteration.note("left unsaid", "The GPU: of the class by which its framework divides for the MFU.")
    iteration.note("left unsaid", "The spread.")


def iteration_of(record, facts):
    """Without layouts and times."""
    iteration = Iteration(record.id, framework_of(record), facts.gpu(record.gpu_name), record.gpus,
                          record.hardware.get("gpus_per_node", 0),
                          {role: facts.model(model) for role, model in record.models.items()})
    iteration.mode = mode_of(record)
    iteration.staleness = staleness_of(record, iteration.mode)
    iteration.streamed_parts = streamed_parts_of(record, iteration.mode)
    iteration.weight_sync = weight_sync_of(record)
    iteration.bucket_bytes = bucket_bytes_of(record, iteration.gpu)
    set_notes(record, iteration)
    set_batch(record, iteration)
    set_lengths(record, iteration)
    set_recompute(record, iteration)
    set_rule_reward(record, iteration)
    return iteration


def convert():
    runs, facts, seen = Runs(), Facts(), set()
    records = [Record(record) for record in read_records("rl/runs.json", "sextant.published.runs/1")]
    for record in records:
        reason = reason_against(record, records, facts)
        if not reason:
            iteration = iteration_of(record, facts)
            reason = set_layouts(record, iteration)
        if reason:
            runs.leave_out(record.id, reason)
            continue
        set_task_times(record, iteration, seen)
        set_samples(record, iteration)
        add_iteration(runs, iteration)
    return runs
