"""A measured training step as published tables have it: one model, one uniform layout, GPUs of one type."""

from documents import TaskPlan, expand, plan_of, rounded, training_step, uniform_cluster


class Step:
    def __init__(self, name):
        self.name = name
        self.framework = self.gpu = self.model = None
        self.gpus, self.gpus_per_node = 1, 0
        self.network_bytes_per_s = None  # of a node, where it is not the usual one of the GPU type
        self.dp = self.pp = self.tp = self.cp = 1
        self.execution, self.recompute = {}, "none"
        self.sequences, self.sequence_tokens, self.micro_batch = 1, 1, 1
        self.precision = "bf16"
        self.step_s, self.peak_memory_bytes = 0.0, None
        self.unstated, self.notes = [], {}


def _contradiction(step):
    if step.dp * step.pp * step.tp * step.cp != step.gpus:
        return (f"data, pipeline, tensor and context parallelism {step.dp} x {step.pp} x {step.tp} x {step.cp} are "
                f"not the {step.gpus} GPUs of the record")
    if step.model["layers"] < step.pp:
        return f"{step.pp} pipeline stages for a model of {step.model['layers']} layers"
    if step.sequences % step.dp or step.sequences // step.dp % step.micro_batch:
        return (f"a global batch of {step.sequences} sequences cannot be cut into {step.dp} replicas with "
                f"micro-batches of {step.micro_batch}")
    for precision in (step.precision, step.execution.get("precision") or step.precision):
        if not step.gpu.has_rate(precision):
            return f"the facts have no rate of {precision} arithmetic for {step.gpu.name}"
    return ""


def _repeated(runs, step, cluster, workflow, plan):
    """A table printed again in a later release; two measurements of one configuration differ in the last digit."""
    for run in runs.runs:
        if run["framework"] != step.framework or run["iteration"]["samples_s"][0] != step.step_s:
            continue
        renamed = dict(workflow, name=run["workflow"])
        if (runs.plans[run["plan"]]["tasks"] == plan["tasks"] and runs.workflows[run["workflow"]] == renamed
                and runs.clusters[run["cluster"]] == cluster):
            return f"configuration and time are those of {run['name']} to the last digit: printed again"
    return ""


def add_step(runs, step):
    """Adds the run, or leaves the record out with the reason."""
    reason = _contradiction(step)
    if reason:
        return runs.leave_out(step.name, reason)
    cluster = uniform_cluster(step.gpu, step.gpus, step.gpus_per_node, step.network_bytes_per_s)
    name = f"{step.model['name']}, {step.sequences} x {rounded(step.sequence_tokens)} tokens"
    workflow = training_step(name, step.model, step.sequences, step.sequence_tokens, step.precision)
    # Megatron, DeepSpeed and PyTorch's device meshes number the ranks with the pipeline outermost.
    replicas = expand(step.dp, step.pp, step.tp * step.cp, 0, True, step.model["layers"])
    execution = dict(step.execution, context_parallel=step.cp)
    plan = plan_of({"actor_training": TaskPlan(replicas, execution, step.micro_batch, recompute=step.recompute)})
    reason = _repeated(runs, step, cluster, workflow, plan)
    if reason:
        return runs.leave_out(step.name, reason)
    notes = {"model": step.model["name"], "gpu": step.gpu.name, **step.notes}
    runs.add(step.name, step.framework, cluster, workflow, plan, notes, iteration_s=[step.step_s],
             peak_memory_bytes=step.peak_memory_bytes, unstated_=step.unstated)
