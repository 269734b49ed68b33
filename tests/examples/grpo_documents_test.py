"""The documents of examples/grpo_torch, without PyTorch: usage grpo_documents_test.py ROOT

What documents.py writes must be valid by docs/schemas, for every shape and option, and be what a recorded run wrote
(tests/data/grpo_torch). Exit code 0 all well, 1 not, 77 python3-jsonschema is missing.
"""

import ast
import itertools
import pathlib
import sys
import tempfile
import types

root = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(root / "examples/grpo_torch"), str(root / "tests/schemas")]
import documents  # noqa: E402
from validate import load, make_validator  # noqa: E402  exits 77 without jsonschema

RECORDED = root / "tests/data/grpo_torch"


def shapes():
    """Those of decoder.py, which cannot be imported without PyTorch."""
    fields = ("name", "layers", "hidden", "intermediate", "heads", "kv_heads", "head_dim", "vocabulary")
    tree = ast.parse((root / "examples/grpo_torch/decoder.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Shape"]
    return [types.SimpleNamespace(**dict(zip(fields, map(ast.literal_eval, call.args)))) for call in calls]


def arguments(device, graphs, recompute):
    return types.SimpleNamespace(device=device, prompts=4, group=4, mini_batches=2, prompt_tokens=16, response_tokens=16,
                                 micro_batch=8, cuda_graphs=graphs, recompute=recompute)


def written(args, shape, name="loop"):
    with tempfile.TemporaryDirectory() as folder:
        documents.write_documents(folder, name, args, shape)
        return {kind: load(pathlib.Path(folder) / f"{kind}.json") for kind in ("workflow", "plan")}


def main():
    schemas = {path.name: load(path) for path in sorted((root / "docs/schemas").glob("*.schema.json"))}
    validators = {kind: make_validator(schemas, kind) for kind in ("workflow", "plan")}
    faults, checked = [], 0

    def check(what, found):
        nonlocal checked
        for kind, validator in validators.items():
            checked += 1
            faults.extend(f"{what}, {kind}: /{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(found[kind]))

    for shape, device, graphs, recompute in itertools.product(shapes(), ("cpu", "cuda"), (False, True), (False, True)):
        check(f"{shape.name} {device} {graphs} {recompute}", written(arguments(device, graphs, recompute), shape))
    recorded = {kind: load(RECORDED / f"{kind}.json") for kind in validators}
    check("recorded", recorded)
    tiny = next(shape for shape in shapes() if shape.name == "tiny")
    args = arguments("cpu", False, False)
    args.mini_batches = 1
    if written(args, tiny, "tiny-cpu") != recorded:
        faults.append("the recorded documents are not what documents.py writes")
    if documents.verl_setup(args, tiny, "CPU") != load(RECORDED / "metrics.log.setup.json"):
        faults.append("the recorded side file is not what documents.py makes")
    print("\n".join(faults[:50]))
    print(f"{checked} documents, {len(faults)} faults")
    return 1 if faults or checked < 100 else 0


sys.exit(main())
