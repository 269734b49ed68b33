#!/usr/bin/env python3
"""Starts verl with the plan that Sextant finds for this question.

    PYTHONPATH=build/release/python examples/python/verl_launcher.py --gpus 4x8xH100 --model Qwen/Qwen3-14B \
        --train-file train.parquet --val-file val.parquet --dry-run

Prints the plan and the reasons for it, writes the Hydra overrides, and starts verl.trainer.main_ppo with them. With
--dry-run it prints the command instead. Arguments that this script does not know are passed on to verl, after the
plan's, so that they replace it: trainer.total_epochs=1.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys

import sextant


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", required=True, help="nodes, GPUs of a node and their type: 4x8xH100")
    parser.add_argument("--model", required=True, help="the trained model, as verl names it")
    parser.add_argument("--train-file", required=True, help="prompts for training, a parquet file of verl's form")
    parser.add_argument("--val-file", required=True, help="prompts for validation")
    parser.add_argument("--prompts", type=int, default=512, help="prompts of an iteration")
    parser.add_argument("--responses", type=int, default=8, help="responses to each prompt")
    parser.add_argument("--prompt-tokens", default="mean=400,max=1024", help="lengths of prompts")
    parser.add_argument("--response-tokens", default="mean=1500,max=4096", help="lengths of responses")
    parser.add_argument("--coefficients", help="coefficients fitted to runs of this cluster (sextant calibrate)")
    parser.add_argument("--evaluations", type=int, help="plans to look at, in place of a search of 2 s")
    parser.add_argument("--overrides", type=pathlib.Path, default=pathlib.Path("overrides.txt"),
                        help="file for the overrides, one per line")
    parser.add_argument("--dry-run", action="store_true", help="print the command, start nothing")
    return parser.parse_known_args()


def find_plan(options):
    return sextant.plan(
        gpus=options.gpus,
        model=options.model,
        framework="verl",
        prompts=options.prompts,
        responses=options.responses,
        prompt_tokens=options.prompt_tokens,
        response_tokens=options.response_tokens,
        coefficients=options.coefficients,
        evaluations=options.evaluations,
        explain=True,
    )


def verl_overrides(plan, options):
    script = sextant.to_verl(plan)
    for difference in script.differences:
        print(f"not as planned: {difference}")
    return script.arguments(MODEL_PATH=options.model, TRAIN_FILE=options.train_file, VAL_FILE=options.val_file)


def main():
    options, more = parse_arguments()
    try:
        plan = find_plan(options)
    except (sextant.NoPlan, ValueError) as error:
        print(f"no plan: {error}", file=sys.stderr)
        return 1
    print(plan)
    for reason in plan.reasons:
        print(f"why: {reason}")
    overrides = verl_overrides(plan, options)
    options.overrides.write_text("\n".join(overrides) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "verl.trainer.main_ppo", *overrides, *more]
    if options.dry_run:
        print(shlex.join(command))
        return 0
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
