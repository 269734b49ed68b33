"""A measured RL iteration as published tables have it: tasks with uniform layouts on GPUs of one type.

Conventions: generation comes first, inference needs its sequences, training all inference; an engine with continuous
batching uses the memory that its weights leave for the KV cache.
"""

from documents import (PRECISIONS, TaskPlan, expand, parameters, plan_of, uniform_cluster, workflow, workflow_task)

# Kind and role, in an order in which each comes after what it needs.
TASKS = {
    "actor_generation": ("generation", "actor"),
    "reward_inference": ("inference", "reward"),
    "old_log_prob": ("inference", "actor"),
    "reference_inference": ("inference", "reference"),
    "critic_inference": ("inference", "critic"),
    "actor_training": ("training", "actor"),
    "critic_training": ("training", "critic"),
}

# A model scores responses, or a rule.
PPO = set(TASKS) - {"old_log_prob"}
GRPO = {"actor_generation", "reference_inference", "actor_training"}
ALGORITHMS = (("ppo", PPO), ("ppo", PPO - {"reward_inference"}),
              ("grpo", GRPO), ("grpo", GRPO | {"reward_inference"}))


def role_of(task):
    return TASKS[task][1]


def is_training(task):
    return TASKS[task][0] == "training"


class Task:
    def __init__(self, name, dp, pp, tp, cp, first):
        self.name, self.dp, self.pp, self.tp, self.cp, self.first = name, dp, pp, tp, cp, first
        self.layers_first_stage = self.layers_last_stage = None  # if stages are uneven
        self.micro_batch, self.decode_batch, self.recompute = 1, 0, "none"
        self.execution = {}
        self.memory_fraction = 0.0  # fraction of a GPU for weights and cache of a serving engine; 0: no such engine

    @property
    def gpus(self):
        return self.dp * self.pp * self.tp * self.cp


class Iteration:
    def __init__(self, name, framework, gpu, gpus, gpus_per_node, models):
        self.name, self.framework, self.gpu = name, framework, gpu
        self.gpus, self.gpus_per_node, self.models = gpus, gpus_per_node, models
        self.tasks = {}
        self.mode, self.staleness, self.streamed_parts = "synchronous", 0.0, 1
        self.weight_sync, self.bucket_bytes, self.rule_reward_s = "shortest", 0.0, 0.0
        self.prompts = self.responses_per_prompt = self.mini_batches = 1
        self.prompt_tokens = self.response_tokens = None
        self.iteration_s, self.timers, self.waits = [], {}, {}
        self.unstated, self.notes = [], {}

    def note(self, key, sentence):
        self.notes[key] = f"{self.notes[key]} {sentence}" if key in self.notes else sentence

    @property
    def is_whole(self):
        return "actor_generation" in self.tasks and "actor_training" in self.tasks


def _needed_by(kind, earlier):
    names = {wanted: [task["name"] for task in earlier if task["kind"] == wanted]
             for wanted in ("generation", "inference")}
    if kind == "generation":
        return []
    return names["generation"] if kind == "inference" else names["inference"] or names["generation"]


def _workflow(iteration):
    tasks, models = [], {}
    for name, (kind, role) in TASKS.items():
        if name in iteration.tasks:
            tasks.append(workflow_task(name, kind, role, _needed_by(kind, tasks)))
            models[role] = dict(iteration.models[role], value_head=role in ("critic", "reward"))
    algorithm = next((name for name, graph in ALGORITHMS if graph == set(iteration.tasks)), "custom")
    return workflow(iteration.name, dict(sorted(models.items())), tasks, iteration.prompts, iteration.prompt_tokens,
                    iteration.response_tokens, algorithm=algorithm, mode=iteration.mode,
                    staleness=iteration.staleness, streamed_parts=iteration.streamed_parts,
                    responses_per_prompt=iteration.responses_per_prompt, mini_batches=iteration.mini_batches,
                    rule_reward_s=iteration.rule_reward_s)


def _stage_layers(task, layers):
    """Layers of each stage: those stated, and the rest evenly over the stages between. None if none are stated."""
    first, last = task.layers_first_stage or 0, task.layers_last_stage or 0
    between = task.pp - (first > 0) - (last > 0)
    if first + last == 0 or between < 1:
        return None
    rest = layers - first - last
    middle = [rest // between + (number < rest % between) for number in range(between)]
    return ([first] if first else []) + middle + ([last] if last else [])


def _task_plan(task, model, gpu):
    # A serving engine's replicas are neighbours; trainers number the ranks with the pipeline outermost.
    is_served = task.execution.get("continuous_batching", False)
    replicas = expand(task.dp, task.pp, task.tp * task.cp, task.first, not is_served, model["layers"])
    layers = _stage_layers(task, model["layers"])
    if layers:
        replicas = [[(layers[j], devices) for j, (_, devices) in enumerate(stages)] for stages in replicas]
    execution = dict(task.execution, context_parallel=task.cp)
    if task.memory_fraction > 0:
        stored = PRECISIONS[execution.get("weight_precision") or execution.get("precision") or "bf16"]
        weights = stored * parameters(model) / float(task.tp * task.pp)
        execution["kv_cache_bytes"] = max(0.0, task.memory_fraction * gpu.memory_bytes - weights)
    return TaskPlan(replicas, execution, task.micro_batch, task.decode_batch, task.recompute)


def _measured(iteration):
    """Times of the iteration and of tasks, without those of parts whose layout is not stated."""
    iteration_s, tasks_s = None, {}
    if iteration.is_whole:
        iteration_s = iteration.iteration_s
    elif iteration.iteration_s:
        iteration.note("dropped", "The iteration's time, because the layout of some tasks is not stated.")
    for timer, samples in sorted(iteration.timers.items()):
        if all(iteration.is_whole if part == "weight_sync" else part in iteration.tasks for part in timer.split("+")):
            tasks_s[timer] = samples
        else:
            iteration.note("dropped", f"The time of {timer}, because the layout of some of its tasks is not stated.")
    return iteration_s, tasks_s


def add_iteration(runs, iteration):
    """Adds the run, or leaves the record out with the reason."""
    iteration_s, tasks_s = _measured(iteration)
    if not iteration_s and not tasks_s:
        return runs.leave_out(iteration.name, "no time of a task with a known layout is stated")
    tasks = {name: _task_plan(task, iteration.models[role_of(name)], iteration.gpu)
             for name, task in iteration.tasks.items()}
    generates_apart = iteration.is_whole and not tasks["actor_generation"].devices <= tasks["actor_training"].devices
    plan = plan_of(tasks, weight_sync=iteration.weight_sync if generates_apart else "shortest",
                   bucket_bytes=iteration.bucket_bytes if iteration.is_whole else 0.0)
    cluster = uniform_cluster(iteration.gpu, iteration.gpus, iteration.gpus_per_node)
    waits_s = {task: samples for task, samples in iteration.waits.items() if iteration.is_whole}
    runs.add(iteration.name, iteration.framework, cluster, _workflow(iteration), plan, iteration.notes,
             iteration_s=iteration_s, tasks_s=tasks_s, waits_s=waits_s, unstated_=iteration.unstated)
