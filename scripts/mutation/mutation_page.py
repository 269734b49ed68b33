"""The results as JSON and as docs/mutation.md."""
from collections import Counter


def summary(seed, planted, faults, results, tests):
    ran = [results[fault.key] for fault in faults if fault.key in results]
    caught = [one for one in ran if one["outcome"] == "caught"]
    return {"seed": seed, "planted": planted, "faults": len(ran), "caught": len(caught), "tests": tests, "results": sorted(ran, key=lambda one: (one["file"], one["line"]))}


def rate(caught, total):
    return f"{100 * caught / total:.0f} %" if total else "-"


def table(title, results, name_of):
    totals = Counter(name_of(one) for one in results)
    caught = Counter(name_of(one) for one in results if one["outcome"] == "caught")
    lines = [f"| {title} | faults | caught | rate |", "| --- | ---: | ---: | ---: |"]
    lines += [f"| {name} | {total} | {caught[name]} | {rate(caught[name], total)} |" for name, total in sorted(totals.items())]
    return lines + [""]


def reason_of(result, reasons):
    found = [one for one in reasons if (one["file"], one["original"], one["changed"]) == (result["file"], result["original"], result["changed"])]
    return found[0] if found else {"reason": "No test reaches the line." if result["tests"] == 0 else "Not looked at yet.", "equivalent": False}


def only_of(record):
    return f" --only {record['only']}" if record.get("only") else ""


def page(record, reasons):
    results = record["results"]
    survivors = [(one, reason_of(one, reasons)) for one in results if one["outcome"] != "caught"]
    equal = sum(reason["equivalent"] for _, reason in survivors)
    lines = ["# Faults that the tests catch", "",
             f"`scripts/mutate --seed {record['seed']} --faults {record['planted']}{only_of(record)} --json docs/mutation.json --markdown docs/mutation.md` made this page.",
             "It plants one-line faults by chance and runs those in " + ", ".join(sorted({f"`{one['file'].split('/')[0]}`" for one in results})) + " with the tests of these folders",
             f"({record['tests']['run']} tests, without CUDA, GPUs, other hosts and slow tests).", "",
             f"**{record['caught']} of {record['faults']} faults are caught ({rate(record['caught'], record['faults'])}).** " +
             (f"Of the others, {equal} change nothing that a caller could see; without them it is {rate(record['caught'], record['faults'] - equal)}." if equal else ""), ""]
    lines += table("folder", results, lambda one: one["file"].split("/")[0])
    lines += table("kind", results, lambda one: one["kind"])
    lines += ["## Survivors", ""]
    for one, reason in survivors:
        lines += [f"- `{one['file']}:{one['line']}`, {one['kind']}: `{one['original']}` with `{one['changed']}`. {reason['reason']}"]
    return "\n".join(lines).rstrip() + "\n"
