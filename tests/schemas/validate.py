"""Checks the documents of tests/data against docs/schemas: usage validate.py SCHEMAS DATA

Every good document must pass, those of past versions and of the newest too (DATA/versions). So must none of the damaged
ones below, and of DATA/bad those whose fault a schema can express. cases.json beside this file holds changes to good
documents, accepted and refused; the parsers are held to the same by tests/documents/schema_cases_test.cpp. Exit code 0 all
well, 1 not, 77 python3-jsonschema is missing.
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

# Files of DATA/bad whose fault lies in the shape of the text and not in how its parts fit together.
REFUSED = {
    "wrong_kind": "cluster",
    "future_major": "cluster",
    "future_minor": "cluster",
    "negative": "cluster",
    "missing_member": "cluster",
    "unknown_member": "cluster",
    "device_twice": "plan",
}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


VALIDATORS = {}


def make_validator(schemas, kind):
    if kind not in VALIDATORS:
        VALIDATORS[kind] = new_validator(schemas, kind)
    return VALIDATORS[kind]


def new_validator(schemas, kind):
    """The schemas refer to each other by file name, whichever way this jsonschema resolves that."""
    schema = schemas[f"{kind}.schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    try:
        import referencing
    except ImportError:  # jsonschema before 4.18
        resolver = jsonschema.RefResolver(schema["$id"], schema, store=schemas)
        return jsonschema.Draft202012Validator(schema, resolver=resolver)
    resources = [(name, referencing.Resource.from_contents(content)) for name, content in schemas.items()]
    registry = referencing.Registry().with_resources(resources)
    return jsonschema.Draft202012Validator(schema, registry=registry)


def places(value, path=()):
    """The path of every object inside value; of a list's, those inside its first and last item, as all have one schema."""
    if isinstance(value, dict):
        yield path
    items = value.items() if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else ()
    if isinstance(value, list) and len(items) > 2:
        items = [items[0], items[-1]]
    for key, child in items:
        yield from places(child, path + (key,))


def at(value, path):
    for key in path:
        value = value[key]
    return value


# Objects whose members have names of the user's choosing.
OPEN = {"device_types", "models", "clusters", "workflows", "plans", "tasks", "notes", "held_out_by_task"}


def damaged(document):
    """The document with one planted fault after another: a strange member, a member of the wrong type."""
    for path in places(document):
        wrong = copy.deepcopy(document)
        at(wrong, path)["surprise"] = [None]
        yield f"/{'/'.join(map(str, path))}/surprise", wrong
        if path and path[-1] in OPEN:
            continue
        for key in at(document, path):
            wrong = copy.deepcopy(document)
            at(wrong, path)[key] = [None]
            yield f"/{'/'.join(map(str, path + (key,)))}", wrong


def key_of(value, token):
    return int(token) if isinstance(value, list) else token.replace("~1", "/").replace("~0", "~")


def changed(document, case):
    """The document with the members of case["set"] (by JSON pointer) set and those of case["remove"] removed."""
    out = copy.deepcopy(document)
    for pointer, content in case.get("set", {}).items():
        *parents, last = pointer.split("/")[1:]
        place = out
        for token in parents:
            place = place[key_of(place, token)]
        place[key_of(place, last)] = content
    for pointer in case.get("remove", []):
        *parents, last = pointer.split("/")[1:]
        place = out
        for token in parents:
            place = place[key_of(place, token)]
        del place[key_of(place, last)]
    return out


def case_faults(schemas, data):
    """What the schemas say to cases.json that they should not."""
    cases = load(pathlib.Path(__file__).parent / "cases.json")
    faults = []
    for verdict, wanted in (("accepted", True), ("refused", False)):
        for case in cases[verdict]:
            document = load(data / case["document"])
            kind = document["schema"].removeprefix("sextant.").split("/")[0]
            if make_validator(schemas, kind).is_valid(changed(document, case)) != wanted:
                faults.append(f"cases.json: expected the schema to have {verdict} {case}")
    return faults


def main(schema_folder, data):
    schemas = {path.name: load(path) for path in sorted(schema_folder.glob("*.schema.json"))}
    faults, checked, refused = [], 0, 0
    usual = set(data.glob("*.json"))
    for path in sorted([*usual, *data.glob("field/*/*.json")]):
        document = load(path)
        kind = document["schema"].removeprefix("sextant.").split("/")[0]
        validator = make_validator(schemas, kind)
        faults += [f"{path.name}: /{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(document)]
        checked += 1
        if path not in usual:  # their kinds are among the usual ones
            continue
        for where, wrong in damaged(document):
            refused += 1
            if validator.is_valid(wrong):
                faults.append(f"{path.name}: the schema accepts a damaged {where}")
    for name, kind in REFUSED.items():
        if make_validator(schemas, kind).is_valid(load(data / "bad" / f"{name}.json")):
            faults.append(f"bad/{name}.json: the schema accepts it")
    for path in sorted(data.glob("versions/*.json")):
        document = load(path)
        kind = document["schema"].removeprefix("sextant.").split("/")[0]
        if f"{kind}.schema.json" in schemas and path.name != "reproduction-1.0.json":  # of an earlier major version
            errors = make_validator(schemas, kind).iter_errors(document)
            faults += [f"versions/{path.name}: /{'/'.join(map(str, e.path))}: {e.message}" for e in errors]
            checked += 1
    faults += case_faults(schemas, data)
    print("\n".join(faults[:50]))
    print(f"{checked} good documents, {refused + len(REFUSED)} bad ones, {len(faults)} faults")
    return 1 if faults or checked < 8 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
