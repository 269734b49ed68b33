#!/usr/bin/env python3
"""What scripts/measure/gpu_proxy measures: an experiments document, and a cluster document for one GPU.

usage: gpu_proxy_experiments.py DATA_FOLDER EXPERIMENTS_OUT [CLUSTER_OUT GPU_NAME MEMORY_BYTES]

Models from 0.5B to 8B with untied embeddings (the proxy keeps two matrices), sequences of 256 to 8,064 tokens, 1
to 256 sequences; model, lengths, batch, micro-batch, CUDA graphs, recomputation and optimizer steps vary
independently enough to tell their effects apart. Every configuration is a workflow of its own, so that one kept
back from a fit is kept back whole.
"""
import datetime
import json
import os
import platform
import sys


def decoder(name, layers, hidden, intermediate, heads, kv_heads, head_dim, vocabulary):
    return dict(name=name, layers=layers, hidden=hidden, intermediate=intermediate, heads=heads,
                kv_heads=kv_heads, head_dim=head_dim, vocabulary=vocabulary, tied_embeddings=False,
                value_head=False)


def known(facts, name):
    keys = ("layers", "hidden", "intermediate", "heads", "kv_heads", "head_dim", "vocabulary")
    return decoder(name + "-untied", *[facts[name][key] for key in keys])


def models_of(folder):
    with open(folder + "/models.json") as file:
        facts = {model["name"]: model for model in json.load(file)["models"]}
    models = {short: known(facts, name) for short, name in {
        "q05": "Qwen2.5-0.5B", "q06": "Qwen3-0.6B", "q15": "Qwen2.5-1.5B", "q17": "Qwen3-1.7B",
        "q3": "Qwen2.5-3B", "q4": "Qwen3-4B", "q8": "Qwen3-8B", "l8": "Llama-3.1-8B"}.items()}
    models["c10"] = decoder("custom-1.0B", 20, 1536, 6144, 12, 4, 128, 65536)
    models["c24"] = decoder("custom-2.4B", 28, 2560, 8192, 20, 4, 128, 100352)
    return models


def fixed(tokens):
    return {"kind": "fixed", "tokens": tokens}


def mixed(*tokens):
    return {"kind": "empirical", "tokens": list(tokens), "weights": [1] * len(tokens)}


# name: model, prompts, responses a prompt, prompt tokens, response tokens, micro-batch of prefill, of inference
# and of training, then what differs: e eager decoding (else CUDA graphs), r recompute, w two waves of decoding,
# m two optimizer steps. Training micro-batch 0: generation and reference inference only.
GRPO = [
    ("q05-a", "q05", 16, 8, 256, 64, 32, 32, 16, ""),
    ("q05-b", "q05", 8, 8, 512, 128, 16, 16, 8, "e"),
    ("q05-c", "q05", 4, 4, 2048, 128, 4, 4, 2, ""),
    ("q05-d", "q05", 1, 1, 1024, 128, 1, 1, 1, ""),
    ("q06-a", "q06", 32, 8, 192, 64, 64, 32, 32, ""),
    ("q06-b", "q06", 8, 4, 1024, 128, 8, 8, 4, "e"),
    ("q06-c", "q06", 2, 2, 8000, 64, 1, 1, 1, "r"),
    ("q06-d", "q06", 16, 4, 384, mixed(32, 64, 128, 192), 16, 16, 8, ""),
    ("q06-e", "q06", 1, 2, 4096, 64, 1, 1, 1, "e"),
    ("q06-f", "q06", 8, 8, 768, 96, 16, 8, 4, "wm"),
    ("c10-a", "c10", 8, 8, 512, 64, 16, 16, 8, ""),
    ("c10-b", "c10", 4, 4, 2048, 64, 2, 2, 2, "e"),
    ("c10-c", "c10", 16, 8, 256, 96, 32, 32, 8, "m"),
    ("c10-d", "c10", 1, 1, 512, 128, 1, 1, 1, "e"),
    ("c10-e", "c10", 16, 4, 512, mixed(16, 64, 160), 16, 16, 8, "e"),
    ("q15-a", "q15", 8, 4, 768, 64, 8, 8, 4, ""),
    ("q15-b", "q15", 4, 8, 256, 128, 16, 16, 16, "e"),
    ("q15-c", "q15", 2, 4, 3072, 64, 2, 2, 1, "r"),
    ("q15-d", "q15", 16, 8, 320, 64, 32, 32, 8, "w"),
    ("q17-a", "q17", 16, 8, 256, 64, 32, 32, 16, ""),
    ("q17-b", "q17", 8, 4, 512, 128, 16, 16, 4, "e"),
    ("q17-c", "q17", 2, 4, 2048, 64, 4, 4, 2, ""),
    ("q17-d", "q17", 1, 2, 8000, 48, 1, 1, 1, "r"),
    ("q17-e", "q17", 1, 1, 1024, 128, 1, 1, 1, "e"),
    ("q17-f", "q17", 16, 4, 512, mixed(24, 48, 96, 144), 16, 16, 8, "r"),
    ("q17-g", "q17", 32, 8, 224, 32, 64, 64, 32, "r"),
    ("c24-a", "c24", 8, 4, 512, 64, 16, 16, 8, ""),
    ("c24-b", "c24", 4, 4, 1024, 64, 8, 4, 4, "e"),
    ("c24-c", "c24", 2, 2, 4096, 48, 1, 1, 1, "r"),
    ("c24-d", "c24", 16, 4, 256, 64, 32, 32, 16, "em"),
    ("c24-e", "c24", 1, 4, 2048, 64, 2, 2, 1, ""),
    ("q3-a", "q3", 8, 4, 512, 64, 16, 16, 4, ""),
    ("q3-b", "q3", 4, 4, 1024, 48, 4, 4, 4, "er"),
    ("q3-c", "q3", 8, 8, 256, 64, 32, 32, 16, "w"),
    ("q3-d", "q3", 1, 1, 2048, 64, 1, 1, 1, ""),
    ("q4-a", "q4", 4, 4, 512, 64, 8, 8, 4, ""),
    ("q4-b", "q4", 4, 8, 256, 48, 16, 16, 8, "e"),
    ("q4-c", "q4", 2, 2, 2048, 48, 2, 2, 1, "r"),
    ("q4-d", "q4", 1, 1, 8000, 32, 1, 1, 1, "r"),
    ("q4-e", "q4", 8, 4, 384, mixed(16, 32, 64), 16, 16, 4, "r"),
    ("l8-a", "l8", 8, 8, 512, 64, 16, 16, 0, ""),
    ("l8-b", "l8", 4, 4, 2048, 48, 2, 2, 0, ""),
    ("l8-c", "l8", 2, 2, 8000, 48, 1, 1, 0, "e"),
    ("l8-d", "l8", 32, 8, 256, 32, 64, 32, 0, ""),
    ("l8-e", "l8", 1, 1, 1024, 64, 1, 1, 0, "e"),
    ("q8-a", "q8", 8, 4, 1024, 48, 8, 8, 0, "e"),
    ("q8-b", "q8", 16, 8, 384, 48, 32, 32, 0, ""),
]
# Training of an actor alone: the largest model that fits with its 16 bytes a parameter.
TRAINING = [
    ("l8-f", "l8", 8, 2, 512, 64, 2, "r"),
    ("l8-g", "l8", 4, 2, 1024, 64, 1, "r"),
]


def workflow(name, model, prompts, responses, prompt, response, steps):
    return {
        "schema": "sextant.workflow/1.0", "name": name, "mode": "synchronous", "orchestration": "loop",
        "prompts": prompts, "responses_per_prompt": responses, "mini_batches": steps,
        "prompt_tokens": prompt if isinstance(prompt, dict) else fixed(prompt),
        "response_tokens": response if isinstance(response, dict) else fixed(response),
        "precision": "bf16", "rule_reward_s_per_sequence": 0}


def task(name, kind, model, after):
    return {"name": name, "kind": kind, "model": model, "after": after}


def task_plan(model, micro_batch, **more):
    plan = {"data_parallel": 1, "pipeline_parallel": 1, "tensor_parallel": 1, "devices": {"first": 0, "count": 1},
            "layers": model["layers"], "micro_batch_sequences": micro_batch, "execution": {"packed": True}}
    execution = more.pop("execution", {})
    plan.update(more)
    plan["execution"].update(execution)
    return plan


def grpo(models, row):
    name, key, prompts, responses, prompt, response, prefill, inference, training, how = row
    model = models[key]
    document = workflow(name, model, prompts, responses, prompt, response, 2 if "m" in how else 1)
    document["models"] = {"actor": model, "reference": model}
    document["algorithm"] = "grpo" if training else "custom"
    document["tasks"] = [task("actor_generation", "generation", "actor", []),
                         task("reference_inference", "inference", "reference", ["actor_generation"])]
    generation = task_plan(model, prefill)
    if "e" not in how:
        generation["execution"]["cuda_graphs"] = True
    if "w" in how:
        generation["decode_batch_sequences"] = (prompts * responses + 1) // 2
    plan = {"name": name, "tasks": {"actor_generation": generation,
                                    "reference_inference": task_plan(model, inference)}}
    if training:
        document["tasks"].append(task("actor_training", "training", "actor", ["reference_inference"]))
        plan["tasks"]["actor_training"] = task_plan(model, training,
                                                    recompute="full" if "r" in how else "none")
    return document, plan


def training_alone(models, row):
    name, key, prompts, responses, prompt, response, training, how = row
    model = models[key]
    document = workflow(name, model, prompts, responses, prompt, response, 1)
    document.update(models={"actor": model}, algorithm="custom",
                    tasks=[task("actor_training", "training", "actor", [])])
    plan = {"name": name, "tasks": {"actor_training": task_plan(
        model, training, recompute="full" if "r" in how else "none")}}
    return document, plan


def experiments(folder):
    models = models_of(folder)
    out = {"schema": "sextant.experiments/1.0", "workflows": {}, "plans": {}, "experiments": []}
    for document, plan in ([grpo(models, row) for row in GRPO] +
                           [training_alone(models, row) for row in TRAINING]):
        document.pop("schema")
        name = document["name"]
        out["workflows"][name] = document
        out["plans"][name] = plan
        out["experiments"].append({"name": name, "workflow": name, "plan": name})
    return out


def fact(values):
    best = next((value for value in values if value["source"] == "datasheet"), values[0])
    return {key: best[key] for key in ("value", "source", "note") if key in best}


def cluster(folder, gpu_name, memory_bytes):
    """One node with one GPU; rates are the datasheet's, because a fit is relative to them."""
    with open(folder + "/gpus.json") as file:
        gpus = json.load(file)["gpus"]
    words = [word for word in ("GH200", "H200", "H100", "A100", "B200", "L40S") if word in gpu_name]
    kind = "PCIe" if "PCIe" in gpu_name else "SXM"
    found = [gpu for gpu in gpus if words and gpu["name"].startswith(words[0])]
    found = [gpu for gpu in found if kind in gpu["name"]] or found
    if not found:
        raise SystemExit(f"gpu_proxy_experiments.py: data/gpus.json knows no '{gpu_name}': give a cluster document")
    best = min(found, key=lambda gpu: abs(fact(gpu["memory_bytes"])["value"] - memory_bytes))
    device = {"kind": "gpu",
              "memory_bytes": {"value": memory_bytes, "source": "measured", "note": "total, as the driver says"},
              "memory_bytes_per_s": fact(best["memory_bytes_per_s"]),
              "flop_per_s": {name: fact(best["flop_per_s"][name]) for name in ("bf16", "fp16", "tf32", "fp32")
                             if name in best["flop_per_s"]}}
    return {"schema": "sextant.cluster/1.0", "name": "local", "device_types": {best["name"]: device},
            "nodes": [{"name": "host", "region": "local", "zone": "local", "device_type": best["name"],
                       "devices": 1}], "links": {}}


def provenance():
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"tool_version": "scripts/measure/gpu_proxy", "command": " ".join(["gpu_proxy_experiments.py"] + sys.argv[1:]),
            "time_utc": now, "host": platform.node() or "unknown"}


def write(path, document):
    document = {"schema": document.pop("schema"), "provenance": provenance(), **document}
    with open(path + ".new", "w") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def main(arguments):
    if len(arguments) not in (2, 5):
        raise SystemExit(__doc__)
    write(arguments[1], experiments(arguments[0]))
    if len(arguments) == 5:
        write(arguments[2], cluster(arguments[0], arguments[3], float(arguments[4])))


if __name__ == "__main__":
    main(sys.argv[1:])
