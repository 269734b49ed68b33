"""Documents of Sextant as dictionaries: facts about GPUs and models, clusters, workflows, plans and runs.

Members and their order are those that the program writes (docs/guide/file-formats.md). Integers are int, all other
numbers float: the two are written differently.
"""

import csv
import json
import math
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
PUBLIC = DATA / "public"

PRECISIONS = {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "fp4": 0.5}  # bytes of an element

# Options of an execution that differ from these are written, in this order.
EXECUTION = {
    "context_parallel": 1, "expert_parallel": 1, "expert_tensor_parallel": 0, "virtual_stages": 1, "zero_stage": 0,
    "sharded_over": 0, "sequence_parallel": False, "packed": False, "continuous_batching": False, "micro_batch_tokens": 0,
    "micro_batches": 0, "prefill_chunk_tokens": 0, "shared_prompts": False, "fused_attention": False,
    "portable_attention": False, "fused_experts": False, "fused_dispatch": False, "overlap_dispatch": False,
    "unfused": False, "eager_layers": False, "cuda_graphs": False, "training_graphs": "none", "kv_cache_bytes": 0.0,
    "logit_chunk_tokens": 0, "fused_loss": False, "offload_optimizer": False, "offload_weights": False,
    "offload_gradients": False,
    "offload_activations": False, "offload_activation_layers": 0, "lora_rank": 0, "precision": None,
    "weight_precision": None, "expert_precision": None, "expert_weight_precision": None,
    "attention_precision": None, "cache_precision": None, "gradient_precision": None,
    "main_gradient_precision": None, "semantics": "plain",
}


def read_json(file):
    return json.loads((PUBLIC / file).read_text(encoding="utf-8"))


def read_records(file, schema):
    document = read_json(file)
    if document["schema"] != schema:
        raise ValueError(f"{file}: expected {schema}")
    if document.get("count", len(document["records"])) != len(document["records"]):
        raise ValueError(f"{file}: count is not the number of records")
    return document["records"]


def read_csv(file):
    with open(PUBLIC / file, encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def refuse_unknown(record, known, where):
    """An unknown member might change what a record means."""
    unknown = set(record) - set(known)
    if unknown:
        raise ValueError(f"{where}: unknown members {sorted(unknown)}")


def flag(cell):
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[cell.lower()]


def rounded(number):
    """To the nearest integer, halves away from zero."""
    return math.floor(number + 0.5)


# ---- writing ----


def number_text(number):
    """The shortest text that reads back as the same double, fixed or scientific, fixed if both are as long."""
    if isinstance(number, int):
        return str(number)
    mantissa, exponent = f"{number!r}", 0
    if "e" in mantissa:
        mantissa, exponent = mantissa.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent) - (len(whole + fraction) - len(digits))  # value = 0.digits * 10^point
    digits = digits.rstrip("0")
    if not digits:
        return sign + ("0" if not sign else "0.0")
    if point <= 0:
        fixed = "0." + "0" * -point + digits
    elif point >= len(digits):
        fixed = digits + "0" * (point - len(digits))
    else:
        fixed = digits[:point] + "." + digits[point:]
    power = point - 1
    scientific = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{'-' if power < 0 else '+'}{abs(power):02d}"
    return sign + (fixed if len(fixed) <= len(scientific) else scientific)


def text_of(value):
    """JSON on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text_of(item) for item in value) + "]"
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    return number_text(value)


# ---- facts ----


def quantity(value, source, note=None):
    out = {"value": float(value), "source": source}
    if note:
        out["note"] = note
    return out


def _figure(figures):
    """Of several figures for one quantity the first is taken."""
    figure = dict(figures[0])
    members = ("value", "source", "spread_fraction", "time_utc", "note")
    out = {member: figure.pop(member) for member in members if member in figure}
    refuse_unknown(figure, (), "a figure of gpus.json")
    out["value"] = float(out["value"])
    return out


class Gpu:
    def __init__(self, fact):
        def link(place):
            return {"latency_s": _figure(fact[place + "_latency_s"]),
                    "bytes_per_s": _figure(fact[place + "_bytes_per_s"])}

        self.name = fact["name"]
        self.type = {"kind": "gpu", "memory_bytes": _figure(fact["memory_bytes"]),
                     "memory_bytes_per_s": _figure(fact["memory_bytes_per_s"]),
                     "flop_per_s": {p: _figure(fact["flop_per_s"][p]) for p in PRECISIONS if p in fact["flop_per_s"]}}
        for member in ("host_bytes_per_s", "price_usd_per_hour"):
            if member in fact:
                self.type[member] = _figure(fact[member])
        self.compute_capability = _figure(fact["compute_capability"])["value"] if "compute_capability" in fact else 0
        self.per_node = int(_figure(fact["devices_per_node"])["value"])
        self.within_node = link("within_node")
        self.between_nodes = link("between_nodes")
        self.network_bytes_per_s = _figure(fact["network_bytes_per_s"])["value"]
        self.per_rack = 0
        if "devices_per_rack" in fact:
            self.per_rack = int(_figure(fact["devices_per_rack"])["value"])
            self.between_racks = link("between_racks")

    @property
    def memory_bytes(self):
        return self.type["memory_bytes"]["value"]

    def has_rate(self, precision):
        return precision in self.type["flop_per_s"]


class Facts:
    """GPUs and models by name or alias, ignoring case and a model's publisher."""

    def __init__(self):
        gpus = json.loads((DATA / "gpus.json").read_text(encoding="utf-8"))
        models = json.loads((DATA / "models.json").read_text(encoding="utf-8"))
        self._gpus, self._no_gpu = self._by_name(gpus, gpus["gpus"], Gpu)
        self._models, self._no_model = self._by_name(models, models["models"], whole_model)

    @staticmethod
    def _by_name(document, facts, make):
        known = {fact["name"].lower(): make(fact) for fact in facts}
        for alias, name in document["aliases"].items():
            known[alias.lower()] = known[name.lower()]
        return known, {name.lower(): reason for name, reason in document["left_out"].items()}

    @staticmethod
    def _find(table, name):
        return table.get(name.lower()) or table.get(name[name.find("/") + 1:].lower())

    def gpu(self, name):
        return self._gpus[name.lower()]

    def has_gpu(self, name):
        return name.lower() in self._gpus

    def model(self, name):
        return dict(self._find(self._models, name))

    def has_model(self, name):
        return self._find(self._models, name) is not None

    def why_no_gpu(self, name):
        reason = self._no_gpu.get(name.lower())
        return f'no facts about GPU "{name}"' + (f": {reason}" if reason else "")

    def why_no_model(self, name):
        reason = self._find(self._no_model, name)
        return f'the shape of model "{name}" is not known' + (f": {reason}" if reason else "")

    def why_unknown(self, gpu, model):
        """Empty if both are known."""
        if not self.has_gpu(gpu):
            return self.why_no_gpu(gpu)
        return "" if self.has_model(model) else self.why_no_model(model)


# ---- models ----


def whole_model(model):
    """The model with every member that a document has, in its order."""
    out = {member: model[member] for member in ("name", "layers", "hidden", "intermediate", "heads")}
    out["kv_heads"] = model.get("kv_heads", model["heads"])
    out["head_dim"] = model.get("head_dim", model["hidden"] // model["heads"])
    out["vocabulary"] = model["vocabulary"]
    out["tied_embeddings"] = model.get("tied_embeddings", False)
    out["value_head"] = model.get("value_head", False)
    if not model.get("gated_mlp", True):
        out["gated_mlp"] = False
    for member in ("sliding_window", "sliding_window_layers"):
        if model.get(member, 0) > 0:
            out[member] = model[member]
    if "experts" in model:
        experts = model["experts"]
        out["experts"] = {member: experts[member] for member in ("count", "active_per_token", "intermediate")}
        for member in ("shared_intermediate", "dense_layers"):
            if experts.get(member, 0) > 0:
                out["experts"][member] = experts[member]
    if "latent_attention" in model:
        latent = model["latent_attention"]
        out["latent_attention"] = {"query_rank": latent.get("query_rank", 0), "kv_rank": latent["kv_rank"],
                                   "rope_dim": latent["rope_dim"]}
    for member in ("linear_attention", "attention_gate"):
        if member in model:
            out[member] = model[member]
    if "source" in model:
        out["source"] = model["source"]
    return out


def _matrices(model):
    return 3.0 if model.get("gated_mlp", True) else 2.0


def _expert_layers(model):
    """Share of the layers that have experts."""
    return 1.0 - model["experts"].get("dense_layers", 0) / model["layers"]


def attention_parameters(model):
    h, query = float(model["hidden"]), float(model["heads"] * model["head_dim"])
    if "latent_attention" not in model:
        gate = h * query if model.get("attention_gate", False) else 0.0
        full = h * query + gate + 2 * h * (model["kv_heads"] * model["head_dim"]) + query * h
        if "linear_attention" not in model:
            return full
        linear = model["linear_attention"]
        value = float(linear["value_heads"] * linear["value_dim"])
        mixed = 2.0 * linear["key_heads"] * linear["key_dim"] + value
        of_linear = h * (mixed + value + 2.0 * linear["value_heads"]) + value * h + mixed * linear["convolution"]
        share = linear["layers"] / model["layers"]
        return share * of_linear + (1 - share) * full
    latent = model["latent_attention"]
    query_out = float(model["heads"] * (model["head_dim"] + latent["rope_dim"]))
    rank = latent["query_rank"]
    query_in = rank * (h + query_out) if rank > 0 else h * query_out
    return query_in + h * (latent["kv_rank"] + latent["rope_dim"]) + latent["kv_rank"] * 2.0 * query + query * h


def _mlp_parameters(model, experts):
    dense = _matrices(model) * model["hidden"] * model["intermediate"]
    if "experts" not in model:
        return dense
    moe = model["experts"]
    hidden = float(model["hidden"])
    of_experts = _matrices(model) * hidden * (experts * moe["intermediate"] + moe.get("shared_intermediate", 0))
    of_experts += hidden * moe["count"]
    share = _expert_layers(model)
    return share * of_experts + (1.0 - share) * dense


def layer_parameters(model):
    count = model["experts"]["count"] if "experts" in model else 1
    return attention_parameters(model) + _mlp_parameters(model, count)


def layer_expert_parameters(model):
    if "experts" not in model:
        return 0.0
    moe = model["experts"]
    return _expert_layers(model) * _matrices(model) * model["hidden"] * moe["count"] * moe["intermediate"]


def layer_touched_parameters(model, tokens):
    """Of a layer, those that so many tokens pass when routing is uniform."""
    if "experts" not in model:
        return attention_parameters(model) + _mlp_parameters(model, 1)
    moe = model["experts"]
    missed = 1.0 - moe["active_per_token"] / moe["count"]
    return attention_parameters(model) + _mlp_parameters(model, moe["count"] * (1.0 - missed ** max(1.0, tokens)))


def head_parameters(model):
    return float(model["hidden"]) * (1 if model["value_head"] else model["vocabulary"])


def parameters(model):
    is_shared = model["tied_embeddings"] and not model["value_head"]
    embedding = float(model["vocabulary"]) * model["hidden"]
    return model["layers"] * layer_parameters(model) + embedding + (0 if is_shared else head_parameters(model))


# ---- clusters ----


def uniform_cluster(gpu, gpus, per_node=0, network_bytes_per_s=None):
    """GPUs of one type, as many to a node as its type has; in as few racks as they fit where it has racks. A node has
    the adapters of its type's systems unless their rate is given."""
    in_node = min(gpus, per_node or gpu.per_node)
    all_nodes = -(-gpus // in_node)
    racks = -(-all_nodes // max(1, gpu.per_rack // in_node))
    nodes_in_rack = -(-all_nodes // racks)
    nodes = []
    for number in range(all_nodes):
        nodes.append({"name": f"node{number}", "region": "region",
                      "zone": f"rack{number // nodes_in_rack}" if gpu.per_rack else "zone",
                      "device_type": gpu.name, "devices": min(in_node, gpus - number * in_node),
                      "network_bytes_per_s": (network_bytes_per_s or
                                              gpu.network_bytes_per_s * in_node / gpu.per_node)})
    links = {"within_node": gpu.within_node, "within_zone": gpu.between_nodes}
    if gpu.per_rack:
        links["within_region"] = gpu.between_racks
    network = f", {network_bytes_per_s / 1e9:g} GB/s out of it" if network_bytes_per_s else ""
    return {"name": f"{gpus} x {gpu.name}, {in_node} a node{network}", "device_types": {gpu.name: gpu.type}, "nodes": nodes,
            "links": links}


# ---- workflows ----


def fixed_length(tokens):
    return {"kind": "fixed", "tokens": float(tokens)}


def workflow(name, models, tasks, prompts, prompt_tokens, response_tokens, precision="bf16", algorithm="custom",
             mode="synchronous", staleness=0.0, streamed_parts=1, responses_per_prompt=1, mini_batches=1,
             rule_reward_s=0.0):
    out = {"name": name, "algorithm": algorithm, "mode": mode, "staleness": float(staleness)}
    if streamed_parts > 1:
        out["streamed_parts"] = streamed_parts
    out.update({"models": models, "tasks": tasks, "prompts": prompts, "responses_per_prompt": responses_per_prompt,
                "mini_batches": mini_batches, "prompt_tokens": prompt_tokens, "response_tokens": response_tokens,
                "precision": precision, "rule_reward_s_per_sequence": rule_reward_s})
    return out


def workflow_task(name, kind, model, after=()):
    return {"name": name, "kind": kind, "model": model, "after": list(after)}


def training_step(name, model, sequences, tokens, precision):
    task = workflow_task("actor_training", "training", "actor")
    return workflow(name, {"actor": model}, [task], sequences, fixed_length(tokens), fixed_length(0), precision)


def generation_batch(name, model, sequences, prompt_tokens, response_tokens, precision):
    task = workflow_task("actor_generation", "generation", "actor")
    return workflow(name, {"actor": model}, [task], sequences, fixed_length(prompt_tokens),
                    fixed_length(response_tokens), precision)


# ---- plans ----


def expand(dp, pp, width, first, stages_outermost, layers):
    """Replicas as lists of stages (layers, devices), by the rule of compact plan documents."""
    replicas = []
    for number in range(dp):
        stages = []
        for stage in range(pp):
            group = stage * dp + number if stages_outermost else number * pp + stage
            begin = first + group * width
            stages.append((layers // pp + (1 if stage < layers % pp else 0), list(range(begin, begin + width))))
        replicas.append(stages)
    return replicas


def _layout(replicas, context_parallel):
    """The compact form if the replicas are those that it expands to."""
    first = replicas[0]
    dp, pp, width, start = len(replicas), len(first), len(first[0][1]), first[0][1][0]
    layers = sum(stage[0] for stage in first)
    for outermost in (False, True):
        if layers < pp or width % context_parallel or expand(dp, pp, width, start, outermost, layers) != replicas:
            continue
        out = {"data_parallel": dp, "pipeline_parallel": pp, "tensor_parallel": width // context_parallel,
               "devices": {"first": start, "count": dp * pp * width}, "layers": layers}
        if dp > 1 and pp > 1:
            out["outermost"] = "stages" if outermost else "replicas"
        return out
    return {"replicas": [{"batch_share": 1.0 / dp,
                          "stages": [{"layers": layers, "devices": devices} for layers, devices in stages]}
                         for stages in replicas]}


def _ranges(devices):
    out, devices = [], sorted(devices)
    for device in devices:
        if out and device == out[-1][1] + 1:
            out[-1][1] = device
        else:
            out.append([device, device])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def _degree(degrees):
    return str(min(degrees)) + ("" if min(degrees) == max(degrees) else f"-{max(degrees)}")


class TaskPlan:
    def __init__(self, replicas, execution=None, micro_batch=1, decode_batch=0, recompute="none"):
        self.replicas, self.execution = replicas, execution or {}
        self.micro_batch, self.decode_batch, self.recompute = micro_batch, decode_batch, recompute

    @property
    def devices(self):
        return {device for stages in self.replicas for _, devices in stages for device in devices}

    def describe(self):
        contexts = self.execution.get("context_parallel", 1)
        tensor = [len(devices) // contexts for stages in self.replicas for _, devices in stages]
        return (f"dp{len(self.replicas)} tp{_degree(tensor)} pp{_degree([len(s) for s in self.replicas])}"
                + (f" cp{contexts}" if contexts > 1 else "") + f" on {_ranges(self.devices)}")

    def to_json(self):
        out = _layout(self.replicas, self.execution.get("context_parallel", 1))
        out["micro_batch_sequences"] = self.micro_batch
        out["decode_batch_sequences"] = self.decode_batch
        out["recompute"] = self.recompute
        refuse_unknown(self.execution, EXECUTION, "execution")
        out["execution"] = {option: self.execution[option] for option, default in EXECUTION.items()
                            if self.execution.get(option, default) != default}
        return out


def plan_of(tasks, name=None, weight_sync="shortest", bucket_bytes=0.0):
    """A plan without a name gets its description, so that equal ones are shared."""
    names = sorted(tasks)
    out = {"name": name or "; ".join(f"{task} {tasks[task].describe()}" for task in names),
           "tasks": {task: tasks[task].to_json() for task in names}}
    if weight_sync != "shortest" or bucket_bytes > 0:
        out["weight_sync"] = {"method": weight_sync, "fraction_sent": 1.0}
        if bucket_bytes > 0:
            out["weight_sync"]["bucket_bytes"] = bucket_bytes
    return out


# ---- runs ----


def unstated(quantity_name, group, deviation):
    return {"quantity": quantity_name, "group": group, "deviation": deviation}


class Runs:
    """A runs document in the making, and the records that are left out with the reason."""

    def __init__(self):
        self.clusters, self.workflows, self.plans, self.runs, self.left_out = {}, {}, {}, [], []

    def leave_out(self, record, reason):
        self.left_out.append((record, reason))

    @staticmethod
    def _key(known, value, is_renamed):
        """The key of an equal value, or a new one: NAME, then "NAME (2)" and so on."""
        number, base = 1, value["name"]
        while True:
            key = base if number == 1 else f"{base} ({number})"
            if is_renamed:
                value["name"] = key
            if known.setdefault(key, value) == value:
                return key
            number += 1

    def add(self, name, framework, cluster, workflow_, plan, notes, iteration_s=None, tasks_s=None, waits_s=None,
            peak_memory_bytes=None, unstated_=None):
        if any(run["name"] == name for run in self.runs):
            raise ValueError(f"another run is named {name}")
        run = {"name": name, "cluster": self._key(self.clusters, cluster, False),
               "workflow": self._key(self.workflows, workflow_, True), "plan": self._key(self.plans, plan, True),
               "source": "published", "framework": framework}
        if iteration_s:
            run["iteration"] = {"samples_s": iteration_s}
        run["tasks"] = {task: {"samples_s": times} for task, times in sorted((tasks_s or {}).items())}
        if waits_s:
            run["waits"] = {task: {"samples_s": times} for task, times in sorted(waits_s.items())}
        if peak_memory_bytes is not None:
            run["peak_memory_bytes"] = peak_memory_bytes
        if unstated_:
            run["unstated"] = unstated_
        run["notes"] = dict(sorted(notes.items()))
        self.runs.append(run)

    def text(self, source):
        """The document with an entry a line. Its provenance is constant: equal sources give equal bytes."""
        out = ['"schema": "sextant.runs/1.1"',
               '"provenance": ' + text_of({"tool_version": "lab/convert", "command": f"lab/convert/convert {source}",
                                           "time_utc": "2026-01-01T00:00:00Z", "host": "any"})]
        for section in ("clusters", "workflows", "plans"):
            entries = sorted(getattr(self, section).items(), key=lambda entry: entry[0].encode())
            lines = ",\n".join(f"{text_of(key)}: {text_of(value)}" for key, value in entries)
            out.append(f'"{section}": {{\n{lines}\n}}')
        out.append('"runs": [\n' + ",\n".join(text_of(run) for run in self.runs) + "\n]")
        return "{\n" + ",\n".join(out) + "\n}\n"
