"""Checks data/frameworks/*.json against their schema, and that the schema can refuse: usage check_profiles.py ROOT

Exit code 0 valid, 1 not, 77 python3-jsonschema is missing.
"""

import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

root = pathlib.Path(sys.argv[1])
schemas = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (root / "docs/schemas").glob("*.json")}
schema = schemas["framework_profile.schema.json"]
jsonschema.Draft202012Validator.check_schema(schema)
try:
    import referencing

    resources = [(name, referencing.Resource.from_contents(content)) for name, content in schemas.items()]
    validator = jsonschema.Draft202012Validator(schema, registry=referencing.Registry().with_resources(resources))
except ImportError:  # jsonschema before 4.18
    resolver = jsonschema.RefResolver(schema.get("$id", ""), schema, store=schemas)
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)


def damaged(profile):
    """The profile with one planted fault after another."""
    for path, wrong in (
        (["schema"], "sextant.cluster/1.0"),
        (["unknown"], 1),
        (["modes"], ["sometimes"]),
        (["tasks", "training", "execution", "zero_stage"], 4),
        (["tasks", "generation", "kv_memory_fraction"], 1.5),
    ):
        other = copy.deepcopy(profile)
        target = other
        for key in path[:-1]:
            target = target.setdefault(key, {})
        target[path[-1]] = wrong
        yield other, "/".join(path)


faults = []
files = sorted((root / "data/frameworks").glob("*.json"))
for file in files:
    profile = json.loads(file.read_text(encoding="utf-8"))
    faults += [f"{file.name}: /{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(profile)]
    if profile["name"] != file.stem:
        faults.append(f"{file.name}: its name is {profile['name']}")
    faults += [f"{file.name}: accepts a fault at {where}" for wrong, where in damaged(profile) if validator.is_valid(wrong)]
print("\n".join(faults) or f"{len(files)} profiles are valid")
sys.exit(1 if faults or not files else 0)
