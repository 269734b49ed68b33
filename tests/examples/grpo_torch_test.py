"""The loop of examples/grpo_torch on a CPU: usage grpo_torch_test.py EXAMPLES/grpo_torch

Generation with a cache must sample with the probabilities that the whole forward pass gives, gradients must be those of
the objective, and the metrics must be verl's line. Exit code 0 all well, 1 not, 77 PyTorch is missing.
"""

import os
import re
import subprocess
import sys

try:
    import torch
except ImportError:
    # Debian's PyTorch belongs to Debian's Python.
    other = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(other) and os.path.exists(other):
        os.execv(other, [other, *sys.argv])
    print("skipped: PyTorch is not installed")
    sys.exit(77)

sys.path.insert(0, sys.argv[1])
import grpo  # noqa: E402
from decoder import SHAPES, Decoder  # noqa: E402
from rollout import Rollout  # noqa: E402

failed = []


def expect(condition, sentence):
    if not condition:
        failed.append(sentence)


def cached_decoding_agrees_with_the_forward_pass():
    torch.manual_seed(1)
    prompt, response = 120, 20  # crosses the edge of a bucket of the cache
    model = Decoder(SHAPES["tiny"], prompt + response)
    prompts = torch.randint(SHAPES["tiny"].vocabulary, (6, prompt))
    tokens, sampled = Rollout(model, 6, prompt, response, False).generate(prompts, 4)
    expect(tokens.shape == (6, prompt + response), f"shape {tuple(tokens.shape)}")
    expect(torch.equal(tokens[:, :prompt], prompts), "prompts are kept")
    with torch.no_grad():
        whole = model.response_log_probs(tokens, prompt)
    difference = (whole - sampled).abs().max().item()
    expect(difference < 1e-4, f"log-probabilities differ by {difference}")


def advantages_are_relative_to_the_group():
    advantages = grpo.advantages_of(torch.tensor([1.0, 3.0, 5.0, 5.0]), 2).view(2, 2)
    expect(abs(advantages[0].sum().item()) < 1e-6 and advantages[0, 1] > 0, f"advantages {advantages}")
    expect(advantages[1].abs().max().item() == 0, "equal rewards teach nothing")


def training_moves_towards_what_was_rewarded():
    torch.manual_seed(2)
    args = type("Args", (), {"prompts": 2, "group": 4, "mini_batches": 1, "micro_batch": 3, "prompt_tokens": 8})()
    model = Decoder(SHAPES["tiny"], 16)
    reference = Decoder(SHAPES["tiny"], 16)
    reference.load_state_dict(model.state_dict())
    tokens, old = Rollout(model, 8, 8, 8, False).generate(torch.randint(512, (8, 8)), 8)
    advantages = torch.tensor([1.0, -1.0] * 4)
    known = grpo.reference_log_probs(reference, tokens, args)
    grpo.train(model, torch.optim.AdamW(model.parameters(), lr=1e-3), (tokens, old, known, advantages), args)
    with torch.no_grad():
        change = (model.response_log_probs(tokens, 8) - old).mean(dim=1)
    expect((change * advantages).mean() > 0, f"changes {change.tolist()}")


def the_loop_prints_verls_line():
    command = [sys.executable, os.path.join(sys.argv[1], "grpo.py"), "--device", "cpu", "--steps", "1", "--prompts", "2",
               "--group", "2", "--prompt-tokens", "8", "--response-tokens", "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    expect(done.returncode == 0, done.stderr)
    lines = done.stdout.splitlines()
    expect(len(lines) == 2, f"{len(lines)} lines")
    for number, line in enumerate(lines):
        expect(line.startswith(f"step:{number} - "), line)
        for key in ("gen", "ref", "update_actor", "step"):
            expect(re.search(rf" - timing_s/{key}:[0-9.e-]+( - |$)", line) is not None, f"{key} in {line}")
    refused = subprocess.run([*command, "--group", "1"], capture_output=True, text=True, timeout=120, check=False)
    expect(refused.returncode == 2, "a group of one is refused")


for test in (cached_decoding_agrees_with_the_forward_pass, advantages_are_relative_to_the_group,
             training_moves_towards_what_was_rewarded, the_loop_prints_verls_line):
    before = len(failed)
    test()
    print(f"{test.__name__}: {'passed' if len(failed) == before else 'FAILED'}")
for sentence in failed:
    print(sentence)
sys.exit(1 if failed else 0)
