"""Sextant from Python: plan, predict, check and calibrate RL post-training of language models.

    import sextant

    plan = sextant.plan(gpus="4x8xH100", model="Qwen/Qwen3-14B", framework="verl")
    print(plan)
    overrides = sextant.to_verl(plan).settings

Wrong input raises ValueError with the message of the command line, a failure of the machine RuntimeError. Questions
whose answer is no raise NoPlan or CannotExport.
"""

from sextant._documents import Document, DocumentSource
from sextant._functions import (
    AnswerIsNo,
    CannotExport,
    NoPlan,
    calibrate,
    check,
    export,
    plan,
    predict,
    to_verl,
)
from sextant._results import (
    Alternative,
    CheckedRun,
    Coefficient,
    Coefficients,
    DeviceMemory,
    Explanation,
    Export,
    Gain,
    Interval,
    JudgedTime,
    Layout,
    LikelyCause,
    Plan,
    Prediction,
    Search,
    TaskTime,
)
from sextant._sextant import version as __version__

__all__ = [
    "Alternative",
    "AnswerIsNo",
    "CannotExport",
    "CheckedRun",
    "Coefficient",
    "Coefficients",
    "DeviceMemory",
    "Document",
    "DocumentSource",
    "Explanation",
    "Export",
    "Gain",
    "Interval",
    "JudgedTime",
    "Layout",
    "LikelyCause",
    "NoPlan",
    "Plan",
    "Prediction",
    "Search",
    "TaskTime",
    "__version__",
    "calibrate",
    "check",
    "export",
    "plan",
    "predict",
    "to_verl",
]
