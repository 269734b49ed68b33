"""Records of published RL iterations: the members that are read, and what they say together."""

from documents import refuse_unknown

HARDWARE = """gpu gpus nodes gpus_per_node system gpu_memory_gb peak_tflops_inferred_from_logged_mfu intra_node_link
inter_node_link intra_cluster cross_cluster cross_type_gb_per_s types usd_per_h train_gpu train_gpus rollout_gpu
rollout_gpus""".split()
WORKLOAD = """algorithm synchrony framework train_backend rollout_backend dataset actor_model critic_model
reference_model reward_model prompts responses_per_prompt global_batch_sequences global_batch_sequences_candidates
minibatches minibatch_prompts train_global_batch_sequences batch_per_dp_sequences max_global_batch_sequences
sequences_per_epoch tokens_per_epoch prompt_tokens response_tokens total_context_tokens response_length_is
prompt_tokens_mean mean_prompt_tokens_derived response_tokens_mean mean_total_tokens max_prompt_tokens
max_response_tokens max_total_tokens max_input_tokens context staleness_steps staleness_threshold
trigger_parameter_sync_step require_batches partial_rollout precision sequence_packing activation_recompute recompute
cuda_graph lora_rank param_offload optimizer_offload padding generation_and_training_gpus jobs kl max_turns ppo_epochs
prefix_grouper reward rollout_micro_batch_size speculative task""".split()
PLAN = """actor_gen actor_train critic_train critic_inf reward_inf ref_inf old_logp_inf
policy_and_ref_forward""".split()
TASK = """gpus tp pp dp cp ep etp ulysses_sp fsdp_size strategy layers_first_stage layers_last_stage micro_batch_size
micro_batch_size_global micro_batches max_tokens_per_micro_batch max_tokens_per_micro_batch_per_gpu max_num_seqs
max_batched_tokens gpu_memory_utilization device_mesh param_offload optimizer_offload optimizer_offload_fraction
distributed_optimizer sequence_parallel""".split()

# verl divides by these peaks for its MFU; a peak names a class of GPU, of which the usual one is taken.
GPU_OF_PEAK_TFLOPS = {312: "A100", 989: "H100", 119.5: "L20"}


class Record:
    def __init__(self, record):
        self.id, self.grade, self.remarks, self.missing = (record[m] for m in ("id", "grade", "notes", "missing"))
        self.hardware, self.workload, self.measured = (record[m] for m in ("hardware", "workload", "measured"))
        self.plan, self.repeated_in = record.get("plan") or {}, record.get("repeated_in", "")
        refuse_unknown(self.hardware, HARDWARE, self.id)
        refuse_unknown(self.workload, WORKLOAD, self.id)
        refuse_unknown(self.plan, PLAN, self.id)
        for task in self.plan.values():
            refuse_unknown(task, TASK, self.id)
        source = record["source"]
        self.source = f"{source['title']}, {source['location']}, {source['table_or_section']}"
        for member in ("recipes", "scripts"):
            if member in source:
                self.source += f"; {member} {source[member]}"
        self.framework, self.synchrony = self.workload["framework"], self.workload["synchrony"]
        self.train_backend = self.workload.get("train_backend", "")
        self.rollout_backend = self.workload.get("rollout_backend", "")
        self.gpus = self.hardware.get("gpus")
        self.models = {role: self.workload[f"{role}_model"] for role in ("actor", "critic", "reference", "reward")
                       if f"{role}_model" in self.workload}
        self.iteration_s, self.tasks_s = self.measured.get("iteration_s"), self.measured.get("tasks_s", {})

    def first_of(self, *members):
        """The first of these members of the workload that it has."""
        return next((self.workload[member] for member in members if member in self.workload), None)

    @property
    def gpu_name(self):
        return self.hardware.get("gpu") or GPU_OF_PEAK_TFLOPS.get(
            self.hardware.get("peak_tflops_inferred_from_logged_mfu"), "")

    @property
    def prompt_tokens_mean(self):
        return self.first_of("prompt_tokens_mean", "mean_prompt_tokens_derived")

    @property
    def max_total_tokens(self):
        return self.first_of("max_total_tokens", "total_context_tokens", "max_input_tokens")

    @property
    def has_totals_only(self):
        """A record of training alone may state only the mean of whole sequences."""
        return "mean_total_tokens" in self.workload and self.first_of("response_tokens_mean", "response_tokens") is None

    @property
    def sequences(self):
        """None if not stated. ReaL's base setting says 512 sequences for 16 GPUs, its rule of weak scaling 4096 for
        128; with 512 there training would run at 3 % of the GPUs' rate. Elsewhere several batches are a page that
        contradicts its recipe."""
        workload = self.workload
        if "global_batch_sequences" in workload:
            return workload["global_batch_sequences"]
        if "prompts" in workload and "responses_per_prompt" in workload:
            return workload["prompts"] * workload["responses_per_prompt"]
        candidates = workload.get("global_batch_sequences_candidates")
        return max(candidates) if candidates and self.is_real else None

    @property
    def packing(self):
        """None if not stated; true, false or the name of how it is done."""
        packing = self.workload.get("sequence_packing")
        return packing == "remove_padding" if isinstance(packing, str) else packing

    # ---- frameworks ----

    @property
    def is_deepspeed(self):
        return self.train_backend.startswith("DeepSpeed")

    @property
    def is_real(self):
        return self.framework == "ReaL"

    @property
    def is_nemo_rl(self):
        return self.framework.startswith("NeMo RL")

    @property
    def is_verl(self):
        return self.framework.startswith("verl")

    @property
    def generates_without_engine(self):
        return self.rollout_backend == "HF generate"

    @property
    def is_serving(self):
        return not self.is_real and not self.generates_without_engine

    @property
    def shards_whole_model(self):
        """FSDP, DeepSpeed and DTensor: every GPU is a replica of weights that are sharded over all."""
        strategy = self.plan.get("actor_train", {}).get("strategy", "")
        return (self.is_deepspeed or "DTensor" in self.train_backend or self.train_backend.startswith("FSDP")
                or strategy.startswith("FSDP"))

    @property
    def has_training_layout(self):
        """The degrees of actor training are stated, or follow from the framework."""
        return ("actor_train" in self.plan and self.gpus is not None
                and ("tp" in self.plan["actor_train"] or self.shards_whole_model))


# ---- reasons to leave a record out, empty if there is none ----


def _missing(record):
    missing = []
    if not record.gpu_name:
        missing.append("the GPU")
    if record.gpus is None:
        missing.append("the number of GPUs")
    if "actor" not in record.models:
        missing.append("the model")
    if record.sequences is None:
        is_ambiguous = "global_batch_sequences_candidates" in record.workload
        missing.append("which of two batches" if is_ambiguous else "the batch")
    says_plan_is_missing = any(what == "plan" or what.startswith("plan ") for what in record.missing)
    if says_plan_is_missing or not record.has_training_layout:
        missing.append("the plan")
    if record.iteration_s is None and not record.tasks_s:
        missing.append("the time of an iteration")
    return "not stated: " + ", ".join(missing) if missing else ""


def _same_run(record, records):
    """A table that averages another window of one run prints the same wall times for its first steps."""
    beginning = list(record.measured.get("cumulative_s", {}).values())
    for earlier in records[:records.index(record)]:
        times = list(earlier.measured.get("cumulative_s", {}).values())
        if beginning and times[:len(beginning)] == beginning:
            return f"the same run as {earlier.id}: their wall times after the same steps are equal"
    return ""


def reason_against(record, records, facts):
    if record.repeated_in:
        return f"the whole log of this run is in {record.repeated_in}"
    if "speculative" in record.workload:
        return (f"decodes with draft tokens ({record.workload['speculative']}), which a plan cannot say and no term "
                "counts")
    if record.gpu_name and not facts.has_gpu(record.gpu_name):
        return facts.why_no_gpu(record.gpu_name)
    for _, model in sorted(record.models.items()):
        if not facts.has_model(model):
            return facts.why_no_model(model)
    return _missing(record) or _same_run(record, records)
