"""Sailor's measured plans: stages and replicas of different GPU types, with time and memory."""

from documents import TaskPlan, plan_of, read_json, refuse_unknown, training_step

SOURCE = ("Sailor (SOSP 2025) validation plans, github.com/eth-easl/sailor sailor/Planner/simulations/validation "
          "@cf2c8e3cc53ce178fe58a4003f46b4b6b848fc33 (MIT)")
LEFT_UNSAID = ("precision (TF32 where there is any: a layer runs above the rate of fp32 vectors), overlap, which "
               "replicas share a node where they are more than the nodes")
MEMBERS = """plan_id cluster model node_count gpu_count gpu_types global_batch_sequences micro_batch_sequences
seq_tokens layer_count_in_plan pp dp micro_batches_per_replica stages iteration_time_s gradient_sync_s max_memory_bytes
notes""".split()



def copied_from(plan, plans):
    """The reason to leave a plan out, empty if there is none. Of copies the one with the most replicas stays: only
    replicas have gradients to synchronise, for a time that both state."""
    def times(other):
        return other["iteration_time_s"], other["gradient_sync_s"], other["max_memory_bytes"]

    number = plans.index(plan)
    for i, other in enumerate(plans):
        if i != number and times(other) == times(plan) and (-other["dp"], i) < (-plan["dp"], number):
            return f"time, synchronization and memory are those of {other['plan_id']} to the last digit: a copy"
    return ""


def check(plan, shape):
    """Every stage has all replicas, stages follow each other from the embedding to the head, and micro-batches make
    up the global batch."""
    refuse_unknown(plan, MEMBERS, plan["plan_id"])
    begins = [stage["layer_first"] for stage in plan["stages"]] + [shape["profiled_layer_count"]]
    assert begins == [0] + [stage["layer_last"] + 1 for stage in plan["stages"]], plan["plan_id"]
    assert all(len(stage["replicas"]) == plan["dp"] for stage in plan["stages"]), plan["plan_id"]
    sequences = plan["dp"] * plan["micro_batches_per_replica"] * plan["micro_batch_sequences"]
    assert sequences == plan["global_batch_sequences"], plan["plan_id"]


# ---- the cluster ----


class Node:
    def __init__(self, number, gpu_type, devices, first):
        self.name, self.gpu_type, self.devices, self.first = f"node{number}", gpu_type, devices, first
        self.used, self.widest = 0, 1

    def take(self, degree):
        begin = self.first + self.used
        self.used += degree
        self.widest = max(self.widest, degree)
        return list(range(begin, begin + degree))


def place(plan, tables):
    """The nodes, and the devices of each group by stage and replica: a node a group where the plan has as many nodes as
    groups, else groups fill nodes in the order of the plan."""
    nodes, devices = [], []
    are_shared = len(plan["stages"]) * plan["dp"] != plan["node_count"]
    for stage in plan["stages"]:
        devices.append([])
        for group in stage["replicas"]:
            gpu_type, degree = group["gpu_type"], group["tp"]
            node = next((node for node in nodes if are_shared and node.gpu_type == gpu_type
                         and node.devices - node.used >= degree), None)
            if node is None:
                first = nodes[-1].first + nodes[-1].devices if nodes else 0
                node = Node(len(nodes), gpu_type, max(tables.gpus[gpu_type].per_node, degree), first)
                nodes.append(node)
            devices[-1].append(node.take(degree))
    return nodes, devices


def node_of(node, nodes, tables):
    out = {"name": node.name, "region": "region", "zone": "zone", "device_type": tables.gpus[node.gpu_type].name,
           "devices": node.devices}
    if node.devices > 1:
        out["link"] = tables.within_node(node.gpu_type, max(2, node.widest))
    # The most that it exchanges with another node of the plan.
    rates = [tables.network_bytes_per_s(node.gpu_type, other.gpu_type, min(node.devices, other.devices))
             for other in nodes if other is not node]
    if rates:
        out["network_bytes_per_s"] = max(rates)
    return out


def links_of(nodes, tables):
    """Rates between nodes: the first pair's for all, and exceptions for those that differ."""
    levels, exceptions = {}, []

    def add(a, b, rate, both_ways):
        if rate != levels["within_zone"]:
            exceptions.append({"scope": "node", "from": a.name, "to": b.name, **rate, "both_ways": both_ways})

    for i, a in enumerate(nodes):
        for b in nodes[i + 1:]:
            there = tables.between_nodes(a.gpu_type, b.gpu_type)
            back = tables.between_nodes(b.gpu_type, a.gpu_type)
            levels.setdefault("within_zone", there)
            add(a, b, there, there == back)
            if there != back:
                add(b, a, back, False)
    return levels, exceptions


def cluster_of(plan, nodes, tables):
    """Named such as "GH200 (CSCS Alps Clariden), 4 x GH-96"."""
    types = sorted({node.gpu_type for node in nodes})
    name = plan["cluster"]
    for gpu_type in types:
        name += f", {sum(node.gpu_type == gpu_type for node in nodes)} x {gpu_type}"
    levels, exceptions = links_of(nodes, tables)
    gpus = {tables.gpus[gpu_type].name: tables.gpus[gpu_type].type for gpu_type in types}
    out = {"name": name, "device_types": dict(sorted(gpus.items())),
           "nodes": [node_of(node, nodes, tables) for node in nodes], "links": levels}
    if exceptions:
        out["link_exceptions"] = exceptions
    return out


# ---- runs ----


def add_plan(runs, plan, tables):
    model = tables.models[plan["model"]]
    nodes, devices = place(plan, tables)
    assert len(nodes) == plan["node_count"], plan["plan_id"]
    # Embedding and head, the first and last of the source's layers, belong to whoever is first and last.
    layers = [min(stage["layer_last"], model["layers"]) - max(stage["layer_first"], 1) + 1 for stage in plan["stages"]]
    replicas = [[(layers[j], devices[j][k]) for j in range(len(layers))] for k in range(plan["dp"])]
    task = TaskPlan(replicas, {"semantics": "megatron"}, plan["micro_batch_sequences"])
    workflow = training_step(f"{plan['model']}, {plan['global_batch_sequences']} sequences", model,
                             plan["global_batch_sequences"], plan["seq_tokens"], "tf32")
    notes = {"source": SOURCE, "grade": "A", "model": plan["model"], "gpu": plan["cluster"],
             "left unsaid": LEFT_UNSAID,
             "gradient synchronization within it (s)": repr(float(plan["gradient_sync_s"]))}
    if plan["notes"]:
        notes["remark"] = plan["notes"]
    runs.add(plan["plan_id"], "megatron-deepspeed", cluster_of(plan, nodes, tables), workflow,
             plan_of({"actor_training": task}, plan["plan_id"]), notes, iteration_s=[plan["iteration_time_s"]],
             peak_memory_bytes=float(plan["max_memory_bytes"]))


def add_plans(runs, tables):
    plans = read_json("sailor/plans.json")["plans"]
    for plan in plans:
        check(plan, tables.shapes[plan["model"]])
        reason = copied_from(plan, plans)
        if reason:
            runs.leave_out(plan["plan_id"], reason)
        else:
            add_plan(runs, plan, tables)
