"""The compiled part of the package: each function takes a dictionary of options and returns documents as text."""

from typing import Any, TypedDict

version: str

class PlanAnswer(TypedDict):
    is_found: bool
    message: str
    plan: str
    prediction: str
    search: str
    explanation: str
    cluster: str
    workflow: str
    layouts: dict[str, str]
    fits: bool
    notes: list[str]

class PredictAnswer(TypedDict):
    prediction: str
    plan: str
    fits: bool
    notes: list[str]

class CheckAnswer(TypedDict):
    verdicts: str
    notes: list[str]

class CalibrateAnswer(TypedDict):
    coefficients: str
    notes: list[str]

class ExportAnswer(TypedDict):
    text: str
    refusal: str
    framework: str
    version: str
    unsaid: list[str]
    notes: list[str]
    costs: list[str]
    inputs: list[str]

def plan(options: dict[str, Any]) -> PlanAnswer: ...
def predict(options: dict[str, Any]) -> PredictAnswer: ...
def check(options: dict[str, Any]) -> CheckAnswer: ...
def calibrate(options: dict[str, Any]) -> CalibrateAnswer: ...
def export_plan(options: dict[str, Any]) -> ExportAnswer: ...
