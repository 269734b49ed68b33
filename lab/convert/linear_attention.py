"""Serving points of a model with layers of linear attention (Qwen3.5-397B-A17B), which no fit sees: a figure says how
well the model predicts an architecture that it was never fitted to. The rows are those of data/public/aiconfigurator."""

from aiconfigurator import HELD_BACK, rows_as_runs

ROUNDED = "qwen3.5-397b-gap-analysis.csv"  # each of its rows is one of the dated dumps, rounded to 10 us


def why_elsewhere(row):
    if row["model"] not in HELD_BACK:
        return "another model: aiconfigurator.py has it"
    return "a rounded copy of a row of another dump" if row["source_dump"] == ROUNDED else ""


def convert():
    return rows_as_runs(why_elsewhere)
