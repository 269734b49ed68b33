"""What this loop computes and how, as the documents that `sextant trace`, `predict` and `plan` read."""

import json
import pathlib


def _write(path, kind, body):
    provenance = {"tool_version": "examples/grpo_torch", "command": "grpo.py", "time_utc": "2026-01-01T00:00:00Z", "host": "any"}
    path.write_text(json.dumps({"schema": f"sextant.{kind}/1.0", "provenance": provenance, **body}, indent=2) + "\n")


def workflow(name, args, shape):
    model = {
        "name": shape.name,
        "layers": shape.layers,
        "hidden": shape.hidden,
        "intermediate": shape.intermediate,
        "heads": shape.heads,
        "kv_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "vocabulary": shape.vocabulary,
        "tied_embeddings": True,
    }
    return {
        "name": name,
        "algorithm": "grpo",
        "mode": "synchronous",
        "orchestration": "loop",
        "models": {"actor": model, "reference": model},
        "prompts": args.prompts,
        "responses_per_prompt": args.group,
        "mini_batches": args.mini_batches,
        "prompt_tokens": {"kind": "fixed", "tokens": args.prompt_tokens},
        "response_tokens": {"kind": "fixed", "tokens": args.response_tokens},
        "precision": "bf16" if args.device == "cuda" else "fp32",
    }


def plan(name, args, shape):
    def task(**more):
        return {
            "data_parallel": 1,
            "pipeline_parallel": 1,
            "tensor_parallel": 1,
            "devices": {"first": 0, "count": 1},
            "layers": shape.layers,
            "micro_batch_sequences": args.micro_batch,
            **more,
        }

    # Weights, gradients and Adam's moments are kept in the precision of the arithmetic.
    fused = {"fused_attention": True} if args.device == "cuda" else {}
    generation = {"cuda_graphs": True, **fused} if args.cuda_graphs else dict(fused)
    return {
        "name": name,
        "tasks": {
            "actor_generation": task(execution=generation),
            "reference_inference": task(execution=dict(fused)),
            "actor_training": task(execution=dict(fused), recompute="full" if args.recompute else "none"),
        },
    }


def write_documents(folder, name, args, shape):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "workflow.json", "workflow", workflow(name, args, shape))
    _write(folder / "plan.json", "plan", plan(name, args, shape))


def verl_setup(args, shape, gpu):
    """The side file that `sextant import verl` reads beside a log: what verl's configuration would say."""
    sequences = args.prompts * args.group
    return {
        "gpu": gpu,
        "gpus": 1,
        "source": "examples/grpo_torch, which prints verl's metrics and is not verl",
        "config": {
            "actor_rollout_ref.model.path": shape.name,
            "actor_rollout_ref.model.enable_gradient_checkpointing": args.recompute,
            "actor_rollout_ref.actor.strategy": "fsdp",
            "actor_rollout_ref.actor.ppo_mini_batch_size": args.prompts // args.mini_batches,
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": args.micro_batch,
            "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": args.micro_batch,
            "actor_rollout_ref.rollout.n": args.group,
            "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
            "actor_rollout_ref.rollout.max_num_seqs": sequences,
            "actor_rollout_ref.rollout.enforce_eager": not args.cuda_graphs,
            "data.train_batch_size": args.prompts,
            "data.max_prompt_length": args.prompt_tokens,
            "data.max_response_length": args.response_tokens,
            "trainer.n_gpus_per_node": 1,
            "trainer.nnodes": 1,
        },
    }
