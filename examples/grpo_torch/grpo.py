#!/usr/bin/env python3
"""A small, real GRPO loop: generation, rule reward, reference inference, group-relative advantages, training.

Weights and prompts are random, so nothing is learnt that anyone needs; every operation is the real one. Phases carry
NVTX ranges and are timed with the device idle at both ends; each step prints verl's line of metrics.
"""

import argparse
import contextlib
import json
import pathlib
import time

import torch

from decoder import SHAPES, Decoder
from documents import verl_setup, write_documents
from nvtx_ranges import nvtx_range
from rollout import Rollout

CLIP, KL, LEARNING_RATE = 0.2, 1e-3, 1e-6
LEAST_STEPS = 4  # however little time there is: two warm up


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(SHAPES), default="tiny")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--prompts", type=int, default=4, help="of a step")
    parser.add_argument("--group", type=int, default=4, help="responses to each prompt")
    parser.add_argument("--prompt-tokens", type=int, default=32)
    parser.add_argument("--response-tokens", type=int, default=32)
    parser.add_argument("--micro-batch", type=int, default=8, help="sequences of a forward or backward pass")
    parser.add_argument("--mini-batches", type=int, default=1, help="optimizer steps a step")
    parser.add_argument("--steps", type=int, default=4, help="after one that warms up")
    parser.add_argument("--seconds", type=float, default=0, help="stop after the step in which these are over, and four at least")
    parser.add_argument("--cuda-graphs", action="store_true", help="replay decode steps from CUDA graphs")
    parser.add_argument("--recompute", action="store_true", help="compute activations again in the backward pass")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", default="", help="of the workflow and plan; default: made of the arguments")
    parser.add_argument("--documents", default="", help="folder for workflow.json and plan.json")
    parser.add_argument("--log", default="", help="also write the metrics here, with FILE.setup.json beside it")
    parser.add_argument("--describe-only", action="store_true", help="write the documents and stop")
    parser.add_argument("--profile-step", type=int, default=0, help="run torch.profiler in this step")
    args = parser.parse_args()
    if args.cuda_graphs and args.device == "cpu":
        parser.error("--cuda-graphs needs --device cuda")
    if args.prompts % args.mini_batches or min(args.prompts, args.group, args.micro_batch, args.mini_batches) < 1:
        parser.error("--prompts must be a multiple of --mini-batches, and all counts positive")
    if args.group < 2:
        parser.error("--group: advantages are relative to a group of at least 2")
    args.name = args.name or (
        f"{args.model} {args.prompts}x{args.group} {args.prompt_tokens}+{args.response_tokens}"
        f" mb{args.micro_batch}{' graphs' if args.cuda_graphs else ''}{' recompute' if args.recompute else ''}"
    )
    return args


class Phases:
    """Seconds by verl's name; the range has Sextant's name for the task."""

    def __init__(self, device):
        self.device, self.seconds = device, {}

    def _wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    @contextlib.contextmanager
    def measure(self, key, range_name):
        self._wait()
        begin = time.perf_counter()
        with nvtx_range(range_name):
            yield
            self._wait()
        self.seconds[key] = time.perf_counter() - begin


def rule_reward(responses, vocabulary):
    """A rule on the host, as a checker of answers would be: the share of tokens in the lower half."""
    return torch.tensor([sum(token < vocabulary // 2 for token in row) / len(row) for row in responses.tolist()])


def advantages_of(rewards, group):
    """Relative to the responses to the same prompt: [sequences]."""
    grouped = rewards.view(-1, group)
    scale = grouped.std(dim=1, keepdim=True) + 1e-6
    return ((grouped - grouped.mean(dim=1, keepdim=True)) / scale).flatten()


def reference_log_probs(reference, tokens, args):
    with torch.no_grad():
        return torch.cat(
            [reference.response_log_probs(rows, args.prompt_tokens) for rows in tokens.split(args.micro_batch)]
        )


def train(actor, optimizer, batch, args):
    """One pass over the batch; returns the mean loss, still on the device."""
    losses = []
    size = args.prompts // args.mini_batches * args.group
    for mini_batch in zip(*(tensor.split(size) for tensor in batch)):
        for tokens, old, reference, advantages in zip(*(tensor.split(args.micro_batch) for tensor in mini_batch)):
            new = actor.response_log_probs(tokens, args.prompt_tokens)
            ratio = (new - old).exp()
            weight = advantages.unsqueeze(1)
            policy = -torch.minimum(ratio * weight, ratio.clamp(1 - CLIP, 1 + CLIP) * weight)
            difference = reference - new
            penalty = difference.exp() - difference - 1
            loss = (policy + KL * penalty).mean() * tokens.shape[0] / size
            loss.backward()
            losses.append(loss.detach())
        torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return torch.stack(losses).sum() / args.mini_batches


def step(models, optimizer, rollout, args, phases):
    actor, reference = models
    device, shape = args.device, actor.shape
    prompts = torch.randint(shape.vocabulary, (args.prompts, args.prompt_tokens)).repeat_interleave(args.group, 0)
    prompts = prompts.to(device)
    with phases.measure("gen", "actor_generation"):
        tokens, old = rollout.generate(prompts, args.micro_batch)
    with phases.measure("reward", "reward"):
        rewards = rule_reward(tokens[:, args.prompt_tokens :], shape.vocabulary)
    with phases.measure("ref", "reference_inference"):
        known = reference_log_probs(reference, tokens, args)
    with phases.measure("adv", "advantage"):
        advantages = advantages_of(rewards, args.group).to(device)
    with phases.measure("update_actor", "actor_training"):
        loss = train(actor, optimizer, (tokens, old, known, advantages), args)
    return {"actor/pg_loss": loss.item(), "critic/rewards/mean": rewards.mean().item()}


def line_of(number, seconds, metrics, args):
    whole = seconds["step"]
    sequences = args.prompts * args.group
    tokens = sequences * (args.prompt_tokens + args.response_tokens)
    values = dict(metrics)
    values.update({f"timing_s/{phase}": value for phase, value in seconds.items()})
    for what, length in (("prompt", args.prompt_tokens), ("response", args.response_tokens)):
        values.update({f"{what}_length/{kind}": float(length) for kind in ("mean", "max", "min")})
    values["perf/total_num_tokens"] = tokens
    values["perf/time_per_step"] = whole
    values["perf/throughput"] = tokens / whole
    return f"step:{number} - " + " - ".join(f"{key}:{value:.6g}" for key, value in values.items())


def profiled(is_on):
    if not is_on:
        return contextlib.nullcontext()
    activities = [torch.profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=activities)


def write_setup(args, shape):
    gpu = torch.cuda.get_device_name() if args.device == "cuda" else "CPU"
    pathlib.Path(args.log + ".setup.json").write_text(json.dumps(verl_setup(args, shape, gpu), indent=2) + "\n")
    return open(args.log, "w", encoding="utf-8")


def main():
    args = parse()
    shape = SHAPES[args.model]
    if args.documents:
        write_documents(args.documents, args.name, args, shape)
    if args.describe_only:
        return
    torch.manual_seed(args.seed)
    dtype = torch.bfloat16 if args.device == "cuda" else torch.float32
    longest = args.prompt_tokens + args.response_tokens
    # Random weights are drawn where they stay; PyTorch before 2.0 has no such context and draws them on the CPU.
    place = torch.device(args.device)
    with place if hasattr(place, "__enter__") else contextlib.nullcontext():
        actor = Decoder(shape, longest, args.recompute).to(args.device, dtype)
        reference = Decoder(shape, longest).to(args.device, dtype).requires_grad_(False)
    reference.load_state_dict(actor.state_dict())
    fused = {"fused": True} if args.device == "cuda" else {}
    optimizer = torch.optim.AdamW(actor.parameters(), lr=LEARNING_RATE, **fused)
    rollout = Rollout(actor, args.prompts * args.group, args.prompt_tokens, args.response_tokens, args.cuda_graphs)
    log = write_setup(args, shape) if args.log else None
    begin = time.monotonic()
    for number in range(args.steps + 1):
        phases = Phases(args.device)
        with phases.measure("step", "iteration"), profiled(args.profile_step and number == args.profile_step):
            metrics = step((actor, reference), optimizer, rollout, args, phases)
        line = line_of(number, phases.seconds, metrics, args)
        print(line, flush=True)
        if log:
            print(line, file=log, flush=True)
        if args.seconds and number >= LEAST_STEPS and time.monotonic() - begin > args.seconds:
            break


if __name__ == "__main__":
    main()
