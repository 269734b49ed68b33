"""Documents: files or dictionaries in, dictionaries out."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Union

Document = dict[str, Any]
"""A document of docs/schemas, as json.load returns it."""

DocumentSource = Union[str, os.PathLike[str], Mapping[str, Any]]
"""A document, or the file that holds it."""


def source_text(source: DocumentSource) -> str:
    """What the compiled module takes: the name of a file, or the text of a document."""
    if isinstance(source, Mapping):
        return json.dumps(source, allow_nan=False)
    name = os.fspath(source)
    if not isinstance(name, str):
        raise TypeError(f"expected a document or the name of its file, got {type(source).__name__}")
    return name


def parse(text: str) -> Document:
    document: Document = json.loads(text)
    return document


def save(document: Document, file: str | os.PathLike[str]) -> None:
    """Writes the document in the form of the command line's files."""
    with open(file, "w", encoding="utf-8") as stream:
        json.dump(document, stream, indent=2, ensure_ascii=False)
        stream.write("\n")
