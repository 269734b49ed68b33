"""A measured generation as published inference tables have it: a batch of equal sequences on GPUs of one type.

How a serving measurement becomes one: in a closed loop C requests are always in flight, so C of them finish in the
time that one spends in the server, ttft + (o - 1) tpot, including the prefill of the others: that is a batch of C
sequences. Under a constant request rate Little's law gives C. Engines that replace a finished response by the next
sequence keep their weights and fill the remaining memory with the KV cache; that limits how many sequences decode
together.
"""

import documents
from documents import (PRECISIONS, TaskPlan, expand, generation_batch, layer_expert_parameters, layer_parameters,
                       layer_touched_parameters, number_text, plan_of, uniform_cluster)

# Prompt tokens in a step of an engine whose setting is not stated: the default of vLLM's server and of SGLang.
USUAL_PREFILL_TOKENS = 8192
# The fraction of a GPU's memory for weights and cache: the default of vLLM and TensorRT-LLM.
USUAL_MEMORY_FRACTION = 0.9
# Sequences that vLLM decodes together if its setting is not stated: the smallest of its defaults, which grow with the
# GPU's memory.
USUAL_DECODE_SEQUENCES = 256

# Stored format of a name, and whether it is for arithmetic too; plans have no integers, int4 has four bits.
FORMATS = {"bf16": ("bf16", True), "fp16": ("fp16", True), "fp8": ("fp8", True), "fp4": ("fp4", True),
           "int4": ("fp4", False)}


class Generation:
    def __init__(self, name):
        self.name = name
        self.framework = self.gpu = self.model = None
        self.dp = self.pp = self.tp = 1  # each replica gets a share of the batch; idle replicas are omitted
        self.execution = {}
        self.sequences, self.prompt_tokens, self.response_tokens = 1, 1.0, 1.0
        self.are_prompts_shared = False  # all sequences have one prompt, which passes the layers once
        self.decode_batch = 0
        self.precision = "bf16"  # of activations
        self.batch_s = 0.0
        self.unstated, self.notes = [], {}

    def set_number_format(self, name):
        """The format of weights, and of arithmetic if the GPU has a rate for it; otherwise weights are unpacked to 16
        bits. Activations have 16 bits."""
        stored, is_for_arithmetic = FORMATS[name.lower()]
        if stored in ("bf16", "fp16"):
            self.precision = stored if self.gpu.has_rate(stored) else "bf16"
            return
        # Four-bit checkpoints of models with experts have them, and little else, in four bits.
        prefix = "expert_" if stored == "fp4" and "experts" in self.model else ""
        self.execution[prefix + "weight_precision"] = stored
        if is_for_arithmetic and self.gpu.has_rate(stored):
            self.execution[prefix + "precision"] = stored
        else:
            self.notes["arithmetic"] = f"16 bits: {stored} is for the weights only"

    def set_serving(self, prefill_tokens=USUAL_PREFILL_TOKENS, memory_fraction=USUAL_MEMORY_FRACTION):
        """An engine with continuous batching, fused attention and CUDA graphs, after degrees and number format:
        KV cache of a device = memory_fraction x its memory - its share of the weights, as they are stored."""
        self.execution.update(continuous_batching=True, fused_attention=True, cuda_graphs=True,
                              prefill_chunk_tokens=prefill_tokens,
                              kv_cache_bytes=memory_fraction * self.gpu.memory_bytes - self._weight_bytes())

    def leave_unstated(self, setting, group):
        """A setting of the engine that the source does not state; the value that is set is the centre of a prior as
        wide as the spread of engines' defaults and scripts' settings. Engines take 0.8 to 0.95 of the memory by
        default. Both other settings come in powers of two, and defaults lie one of them to either side: chunks of
        2048 to 16384 tokens, 256 to 2048 sequences."""
        deviation = 0.05 if setting == "memory_share" else 0.7
        self.unstated.append(documents.unstated(setting, group, deviation))

    def _on_one_device(self, parameters, experts):
        """Bytes of `parameters`, of which `experts` are in routed experts, that a device of a stage of all layers
        has."""
        execution = self.execution
        stored = PRECISIONS[execution.get("weight_precision") or execution.get("precision") or self.precision]
        of_experts = stored
        if "expert_weight_precision" in execution:
            of_experts = PRECISIONS[execution["expert_weight_precision"]]
        width = self.tp
        if execution.get("expert_parallel", 1) > 1:
            width = execution["expert_parallel"] * max(1, execution.get("expert_tensor_parallel", 0))
        return stored * (parameters - experts) / self.tp + of_experts * experts / width

    def _weight_bytes(self):
        experts = self.model["layers"] * layer_expert_parameters(self.model)
        return self._on_one_device(documents.parameters(self.model), experts) / self.pp

    def _min_s(self):
        """Of a batch whose every step reads at the datasheet's rate, and only, the weights that its tokens pass when
        routing is uniform; stages of a pipeline come one after another."""
        model = self.model
        replicas = 1 if self.execution.get("expert_parallel", 1) > 1 else self.dp
        touched = layer_touched_parameters(model, max(1, self.sequences // replicas))
        dense = layer_parameters(model) - layer_expert_parameters(model)
        read = self._on_one_device(model["layers"] * touched + documents.head_parameters(model),
                                   model["layers"] * (touched - dense))
        return self.response_tokens * read / self.gpu.type["memory_bytes_per_s"]["value"]

    def contradiction(self):
        if self.execution.get("kv_cache_bytes", 0) < 0:
            return "the weights leave no room for a KV cache on its GPUs"
        if self.batch_s < self._min_s():
            return "faster than the memory of its GPUs delivers the weights that its steps read"
        return ""

    def prompts_at_once(self, replicas):
        of_replica = max(1, self.sequences // replicas)
        tokens = self.execution.get("prefill_chunk_tokens", 0)
        return min(max(1, int(tokens / self.prompt_tokens)), of_replica) if tokens else of_replica


def six_digits(number):
    return number_text(float(f"{number:.6g}"))


def add_generation(runs, generation):
    """Adds the run, or leaves the record out with the reason."""
    reason = generation.contradiction()
    if reason:
        return runs.leave_out(generation.name, reason)
    model, execution = generation.model, dict(generation.execution)
    # Replicas without a sequence have nothing to do, unless they hold experts of the others.
    has_common_experts = execution.get("expert_parallel", 1) > 1
    dp = generation.dp if has_common_experts else min(generation.dp, generation.sequences)
    cluster = uniform_cluster(generation.gpu, dp * generation.pp * generation.tp)
    name = (f"{model['name']}, {generation.sequences} x {six_digits(generation.prompt_tokens)} + "
            f"{six_digits(generation.response_tokens)}")
    workflow = generation_batch(name, model, generation.sequences, generation.prompt_tokens,
                                generation.response_tokens, generation.precision)
    if generation.are_prompts_shared:
        workflow["prompts"], workflow["responses_per_prompt"] = 1, generation.sequences
    execution["shared_prompts"] = generation.are_prompts_shared
    replicas = expand(dp, generation.pp, generation.tp, 0, False, model["layers"])
    task = TaskPlan(replicas, execution, generation.prompts_at_once(dp), generation.decode_batch)
    notes = {"model": model["name"], "gpu": generation.gpu.name, **generation.notes}
    runs.add(generation.name, generation.framework, cluster, workflow, plan_of({"actor_generation": task}), notes,
             iteration_s=[generation.batch_s], unstated_=generation.unstated)
