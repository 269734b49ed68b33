"""Checks a document against a JSON Schema, and that the schema can refuse: usage check_schema.py SCHEMA FILE

Exit code 0 valid, 1 not, 77 python3-jsonschema is missing.
"""

import json
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def load(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def damaged(document):
    """The document with one planted fault after another."""
    entries = next(key for key, value in document.items() if isinstance(value, list))
    yield document | {"schema": "sextant.cluster/1.0"}
    yield document | {entries: []}
    yield document | {"unknown": 1}
    first = document[entries][0]
    for key in first:
        for wrong in (None, -1, [{"value": 0, "source": "datasheet", "note": "x"}], {}):
            yield document | {entries: [first | {key: wrong}]}
    yield document | {entries: [first | {"unknown": 1}]}


schema, document = load(sys.argv[1]), load(sys.argv[2])
validator = jsonschema.Draft202012Validator(schema)
validator.check_schema(schema)
faults = [f"/{'/'.join(map(str, fault.path))}: {fault.message}" for fault in validator.iter_errors(document)]
faults += [
    f"the schema accepts a damaged document: {json.dumps(wrong)[:200]}" for wrong in damaged(document) if validator.is_valid(wrong)
]
print("\n".join(faults))
sys.exit(1 if faults else 0)
