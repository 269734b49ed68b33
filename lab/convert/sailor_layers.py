"""Sailor's profiles of layers: two runs a profile, a decoder layer, and a layer with embedding and head."""

import re

from documents import TaskPlan, attention_parameters, expand, plan_of, read_csv, training_step

SOURCE = ("Sailor (SOSP 2025) layer profiles, github.com/eth-easl/sailor sailor/Planner "
          "@cf2c8e3cc53ce178fe58a4003f46b4b6b848fc33 (MIT)")


class Row:
    def __init__(self, line, row):
        self.line, self.kind = line, row["layer_kind"]
        self.first, self.last = int(row["layer_first"]), int(row["layer_last"])
        self.forward_s, self.backward_s = float(row["forward_s"]), float(row["backward_s"])
        self.update_s = float(row["optimizer_update_s"])  # of the whole profiled model; 0: not stated
        self.digits = sum(significant_digits(row[name]) for name in ("forward_s", "backward_s"))

    @property
    def passes_s(self):
        return self.forward_s + self.backward_s


def significant_digits(text):
    return len(re.sub("[^0-9]", "", re.split("[eE]", text)[0]).lstrip("0"))


def read_profiles():
    """Rows by subject (model, GPU, tensor parallelism, micro-batch) and by the source's copy of the profile ("both":
    the two are equal)."""
    subjects = {}
    for number, row in enumerate(read_csv("sailor/layer_times.csv")):
        subject = (row["model"], row["gpu_type"], int(row["tp"]), int(row["micro_batch_sequences"]))
        copies = subjects.setdefault(subject, {})
        copies.setdefault(row["profile_set"], []).append(Row(number + 2, row))
    return subjects


def median(values):
    values = sorted(values)
    below, above = values[(len(values) - 1) // 2], values[len(values) // 2]
    return below + 0.5 * (above - below)


def name_of(subject):
    model, gpu, tp, micro_batch = subject
    return f"{model} {gpu} tp{tp} b{micro_batch}"


def better_copy(copies):
    """The copy that states the update, and of those the one printed with more digits: the other was rounded or set by
    hand."""
    def quality(name):
        rows = copies[name]
        return any(row.update_s > 0 for row in rows), sum(row.digits for row in rows) // len(rows)

    return max(sorted(copies), key=quality)


def read_sizes():
    """Parameters of each kind of layer that one device holds, by model and tensor parallelism."""
    sizes = {}
    for row in read_csv("sailor/layer_sizes.csv"):
        sizes.setdefault((row["model"], int(row["tp"])), {})[row["layer_kind"]] = float(row["params_count"])
    return sizes


def find_sizes(sizes, subject):
    """Of the largest degree up to the subject's: shares hardly depend on it."""
    return next(sizes[subject[0], tp] for tp in range(subject[2], 0, -1) if (subject[0], tp) in sizes)


def layer_forward_flop(model, tokens):
    projections = 2 * tokens * attention_parameters(model)
    attention = 2 * tokens * tokens * (model["heads"] * (2.0 * model["head_dim"]))
    matrices = 3.0 if model.get("gated_mlp", True) else 2.0
    return projections + attention + 2 * tokens * (matrices * model["hidden"] * model["intermediate"])


class Evidence:
    """Updates by model, GPU and degree: they do not depend on the micro-batch. And whether TF32 was on: a rate above
    that of the vector units proves it; where no row of a model on a GPU reaches it, fp32 was used."""

    def __init__(self, subjects, tables):
        self.updates, self._above_vectors = {}, set()
        for subject, copies in subjects.items():
            model, gpu, tp, micro_batch = subject
            flop = micro_batch * layer_forward_flop(tables.models[model], tables.shapes[model]["seq_tokens"]) / tp
            vectors_flop_per_s = tables.gpus[gpu].type["flop_per_s"]["fp32"]["value"]
            for row in (row for rows in copies.values() for row in rows):
                if row.update_s > 0:
                    self.updates.setdefault(subject[:3], []).append(row.update_s)
                if row.kind == "transformer" and row.forward_s * vectors_flop_per_s < flop:
                    self._above_vectors.add(subject[:2])

    def precision(self, subject):
        return "tf32" if subject[:2] in self._above_vectors else "fp32"


def parts_of(rows):
    """Embedding, first and second decoder layer, norm and head of a profile; absent where it has none."""
    parts = {}
    for row in rows:
        if row.kind != "transformer":
            parts[row.kind] = row
        for layer in (1, 2):
            if row.kind == "transformer" and row.first <= layer <= row.last:
                parts[layer] = row
    return parts


def cluster_of(subject, tables):
    """One node with as many devices as the group."""
    gpu, devices = tables.gpus[subject[1]], subject[2]
    node = {"name": "node0", "region": "region", "zone": "zone", "device_type": gpu.name, "devices": devices}
    if devices > 1:
        node["link"] = tables.within_node(subject[1], devices)
    return {"name": f"a node of {devices} x {gpu.name}", "device_types": {gpu.name: gpu.type}, "nodes": [node],
            "links": {}}


def add_run(runs, subject, part, model, rows, time_s, precision, tables):
    name, gpu, tp, micro_batch = subject
    workflow = training_step(f"{model['name']}, {micro_batch} sequences, {precision}", model, micro_batch,
                             tables.shapes[name]["seq_tokens"], precision)
    task = TaskPlan(expand(1, 1, tp, 0, False, 1), {"semantics": "megatron"}, micro_batch)
    notes = {"source": SOURCE, "grade": "B", "model": name, "gpu": gpu,
             "layer_times.csv lines": ", ".join(str(row.line) for row in rows),
             "composed": "parts timed one by one, with a share by parameters of the optimizer's update",
             "left unsaid": "precision (TF32 where a layer runs above the rate of fp32 vectors), repetitions"}
    runs.add(f"{name_of(subject)} {part}", "megatron-deepspeed-profile", cluster_of(subject, tables), workflow,
             plan_of({"actor_training": task}), notes, tasks_s={"actor_training": [time_s]})


def add_profile(runs, subject, parts, sizes, evidence, tables):
    size = find_sizes(sizes, subject)
    profiled = size["embedding"] + 2 * size["transformer"] + size.get("final_norm", 0) + size["head"]
    update_s = median(evidence.updates[subject[:3]])
    of_layer_s = update_s * (size["transformer"] / profiled)
    precision, model = evidence.precision(subject), tables.models[subject[0]]
    one_layer = dict(model, name=model["name"] + ", one layer", layers=1, vocabulary=0, tied_embeddings=False)
    add_run(runs, subject, "layer", one_layer, [parts[2]], parts[2].passes_s + of_layer_s, precision, tables)
    ends = dict(model, name=model["name"] + ", one layer with embedding and head", layers=1,
                tied_embeddings=size["head"] < size["embedding"] / 2)  # then the head has a norm's weights only
    rows = [parts[part] for part in ("embedding", 1, "final_norm", "head") if part in parts]
    time_s = update_s - of_layer_s
    for row in rows:
        time_s += row.passes_s
    add_run(runs, subject, "ends", ends, rows, time_s, precision, tables)


def add_layers(runs, tables):
    subjects, sizes = read_profiles(), read_sizes()
    evidence = Evidence(subjects, tables)
    for subject, copies in sorted(subjects.items()):
        best = better_copy(copies)
        for copy, rows in sorted(copies.items()):
            if copy == best:
                add_profile(runs, subject, parts_of(rows), sizes, evidence, tables)
                continue
            for row in rows:
                runs.leave_out(f"layer_times.csv line {row.line}",
                               f"another copy of the profile of {name_of(subject)} is taken: {best}")
