"""One-line faults: finds where one can be planted, chooses some by a seed, and plants them in a copy of the sources.

A planted line holds both the original and the fault, and a number of the environment decides which of them runs, so
that one build serves all faults and nothing must be undone:

    return a < b;    ->    return sextant::planted(17) ? (a <= b) : (a < b);
"""
import hashlib
import random
import re
from dataclasses import asdict, dataclass

HEADER = "core/planted_fault.h"
INCLUDE = f'#include "{HEADER}"'
STRING = re.compile(r'"(?:\\.|[^"\\])*"' r"|'(?:\\.|[^'\\])*'")
# Functions of these files need CUDA, other hosts or a traced program, which the tests of a build without them lack.
SKIPPED = re.compile(r"^probes/(cuda|trace/(injection|recording)|comm/mpi)|/mpi_|_mpi\.cpp$")
OPENERS, CLOSERS = "([{", ")]}"


@dataclass(frozen=True)
class Fault:
    file: str
    line: int          # counted from 1
    kind: str
    original: str      # the line
    changed: str       # the expression or statement, with the fault
    planted: str       # the line with both; @ stands for the fault's number

    @property
    def key(self):
        return hashlib.sha256("\n".join([self.file, str(self.line), self.original, self.planted]).encode()).hexdigest()[:16]

    def to_json(self):
        return asdict(self)


# ---- expressions ----------------------------------------------------------------------------------------------------

def swapped(text, pairs):
    """Each text in which one token of the pairs was replaced. Operators stand between spaces, as clang-format sets them."""
    for old, new in pairs:
        for found in re.finditer(re.escape(old), text):
            yield text[:found.start()] + new + text[found.end():]


def parts_after(text, operators):
    """The places (start, end) of " + term" at one depth; the term ends with the next operator of its rank or a bracket."""
    for found in re.finditer("|".join(re.escape(one) for one in operators), text):
        depth, end = 0, found.end()
        while end < len(text):
            if text[end] in OPENERS:
                depth += 1
            elif text[end] in CLOSERS:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and (text[end] in ",;" or re.match(r" (\+|-|<|>|<=|>=|==|!=|&&|\|\||\*|/|\?|:) ", text[end:])):
                break
            end += 1
        yield found.start(), end


def dropped(text, operators):
    for start, end in parts_after(text, operators):
        yield text[:start] + text[end:]


def literals(text, pattern, change):
    for found in re.finditer(pattern, text):
        yield text[:found.start()] + change(found.group()) + text[found.end():]


def changed_expressions(text):
    """Each (kind, text) with one fault in the expression."""
    table = [
        ("swapped comparison", swapped(text, [(" < ", " > "), (" > ", " < "), (" <= ", " >= "), (" >= ", " <= "), (" == ", " != "), (" != ", " == ")])),
        ("moved boundary", swapped(text, [(" < ", " <= "), (" > ", " >= "), (" <= ", " < "), (" >= ", " > ")])),
        ("changed sign", swapped(text, [(" + ", " - "), (" - ", " + ")])),
        ("product for quotient", swapped(text, [(" * ", " / "), (" / ", " * ")])),
        ("dropped term", dropped(text, [" + ", " - "])),
        ("dropped factor", dropped(text, [" * ", " / "])),
        ("max for min", swapped(text, [("std::max(", "std::min("), ("std::min(", "std::max("), ("std::max<", "std::min<"), ("std::min<", "std::max<"),
                                       ("max_element(", "min_element("), ("min_element(", "max_element(")])),
        ("off by one", literals(text, r"(?<![\w.\"])\d{1,4}(?![\w.'])", lambda number: str(int(number) + 1))),
        ("changed constant", literals(text, r"(?<![\w.])\d+\.\d+(?![\w.])", lambda number: f"(2 * {number})")),
        ("and for or", swapped(text, [(" && ", " || "), (" || ", " && ")])),
        ("changed result", literals(text, r"\b(true|false)\b", lambda word: "false" if word == "true" else "true")),
    ]
    for kind, texts in table:
        for changed in texts:
            yield kind, changed


# ---- lines ----------------------------------------------------------------------------------------------------------

def is_balanced(text):
    depth = 0
    for character in text:
        depth += (character in OPENERS) - (character in CLOSERS)
        if depth < 0:
            return False
    return depth == 0


def closing(text, start):
    """The place of the bracket that closes the one at start; -1: not on this line."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in OPENERS) - (text[at] in CLOSERS)
        if depth == 0:
            return at
    return -1


def is_plain(expression):
    """No lambda, no braces, no text: what may stand twice on one line with one type."""
    return expression.strip() != "" and not re.search(r"[{}\"']|\[[&=\]]|\[this|;", expression) and is_balanced(expression)


def choices(before, expression, after):
    """Faults of an expression whose line has something before and after it."""
    if not is_plain(expression):
        return
    for kind, changed in changed_expressions(expression):
        yield kind, changed, f"{before}sextant::planted(@) ? ({changed}) : ({expression}){after}"


def of_condition(line):
    found = re.match(r"\s*(\} else )?(if|while) \(", line)
    if not found:
        return
    end = closing(line, found.end() - 1)
    if end < 0 or not re.search(r"[;{]$", line):
        return
    condition = line[found.end():end]
    if re.match(r"(const )?(auto|std::|[A-Z]\w+)[\w:<>*& ]* \*?&?\w+ = ", condition) or " = " in condition:
        return
    yield from choices(line[:found.end()], condition, line[end:])
    if is_plain(condition):
        yield "negated condition", f"!({condition})", f"{line[:found.end()]}sextant::planted(@) ? !({condition}) : bool({condition}){line[end:]}"


def of_loop(line):
    found = re.match(r"(\s*for \([^;]*; )([^;]*)(; [^;]*\) ?.*[;{])$", line)
    if found:
        yield from choices(*found.groups())


def of_return(line):
    found = re.match(r"(\s*return )([^;]*)(;)$", line)
    if found:
        yield from choices(*found.groups())


def of_value(line):
    found = re.match(r"(\s*(?:const )?[\w:<>*&, ]*?[\w\]\)>.-]+ [+*/-]?= )([^;]*)(;)$", line)
    if found and not re.match(r"\s*(using|return|constexpr|static|inline|typedef|namespace|friend)\b", line) and "operator" not in line and "==" not in found.group(1):
        yield from choices(*found.groups())


def of_statement(line):
    """A statement that has an effect: a call, or a value that replaces another."""
    call = re.match(r"\s+[\w.:>-]+(\[[\w.]+\])?[\w.>-]*\([^;]*\);$", line)
    assignment = re.match(r"\s+[\w.>\[\]()-]+ [+*/-]?= [^;]*;$|\s+(\+\+|--)[\w.>-]+;$", line)
    excluded = re.match(r"\s*(return|throw|if|for|while|else|do|switch|case|static_assert|SEXTANT_CHECK|delete|goto|break|using|sextant_)\b", line)
    if (call or assignment) and not excluded and is_balanced(line) and "[&" not in line and "{" not in line and "throw_" not in line:
        statement = line.strip()
        yield "removed statement", f"no {statement}", line[:len(line) - len(line.lstrip())] + "{ if (!sextant::planted(@)) " + statement + " }"


def is_start(previous):
    """Whether a statement may begin after this line."""
    text = previous.strip()
    if text == "" or text.endswith((";", "{", "}", ":")) or text.startswith("#"):
        return True
    return bool(re.match(r"(\} )?(else )?(if|for|while) \(.*\)$|else$", text)) and is_balanced(text)


def faults_of_line(file, number, line, previous, is_in_function):
    if not is_in_function or not is_start(previous) or line.strip().startswith(("//", "#", "*")):
        return
    for form in (of_condition, of_loop, of_return, of_value, of_statement):
        for kind, changed, planted in form(line):
            yield Fault(file, number, kind, line.strip(), changed.strip(), planted)


def code_of(line):
    """The line without a comment at its end, empty if a text could be taken for one."""
    hidden = STRING.sub(lambda found: "_" * len(found.group()), line)
    at = hidden.find("//")
    return (line if at < 0 else line[:at]).rstrip()


def faults_of_file(file, text):
    depth_of_namespaces, depth, previous = 0, 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        code = code_of(line)
        if code.strip() == "":
            continue
        if re.match(r"(inline )?namespace\b.*\{$", code):
            depth_of_namespaces += 1
        is_type_or_table = re.match(r"\s*(struct|class|enum|union)\b.*\{$", code)
        inside = depth > depth_of_namespaces and not is_type_or_table and code.startswith(" ")
        yield from faults_of_line(file, number, code, previous, inside)
        bare = STRING.sub("", code)
        depth += bare.count("{") - bare.count("}")
        depth_of_namespaces = min(depth_of_namespaces, depth)
        previous = code


# ---- choice and planting --------------------------------------------------------------------------------------------

def chosen(candidates, count, seed):
    """As even as possible over folders and kinds, at most one of a line; the same for the same seed."""
    draw = random.Random(seed)
    buckets = {}
    for fault in candidates:
        buckets.setdefault((fault.file.split("/")[0], fault.kind), []).append(fault)
    order = sorted(buckets)
    for bucket in order:
        draw.shuffle(buckets[bucket])
    taken, lines = [], set()
    while len(taken) < count and any(buckets.values()):
        draw.shuffle(order)
        for bucket in order:
            while buckets[bucket]:
                fault = buckets[bucket].pop()
                if (fault.file, fault.line) not in lines:
                    lines.add((fault.file, fault.line))
                    taken.append(fault)
                    break
            if len(taken) == count:
                break
    return taken


def planted_text(text, faults):
    """The file's text with its faults, given with their numbers. The header comes first and moves lines by one."""
    lines = text.split("\n")
    for number, fault in faults:
        lines[fault.line - 1] = fault.planted.replace("@", str(number))
    return "\n".join([INCLUDE, *lines])
