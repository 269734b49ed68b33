"""The functions of the package. Options of questions are those of the command line, see docs/guide/python.md."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Literal, Mapping, Union

from sextant import _sextant
from sextant._documents import DocumentSource, parse, source_text
from sextant._results import CheckedRun, Coefficients, Explanation, Export, Layout, Plan, Prediction, Search

Algorithm = Literal["grpo", "ppo"]
Precision = Literal["bf16", "fp16", "fp32", "fp8"]
Mode = Literal["synchronous", "one_step_off", "asynchronous"]
Goal = Literal["time", "cost", "devices", "mean", "p50", "p75", "p90", "p95", "p99"]
PlanSource = Union[Plan, DocumentSource]
CoefficientSource = Union[Coefficients, DocumentSource]
"""Coefficients, a document or its file, or "none" for neutral ones."""
TokenCounts = Union[int, str]
"""Lengths: 512, or words such as "mean=400,max=1024"."""

_DOCUMENTS = ("cluster", "workflow", "coefficients", "warm_start", "start")


class AnswerIsNo(Exception):
    """The question was understood, and its answer is no."""


class NoPlan(AnswerIsNo):
    """No plan was found; the message says what may help."""

    def __init__(self, message: str, search: Search) -> None:
        super().__init__(message)
        self.search = search


class CannotExport(AnswerIsNo):
    """The framework cannot run anything near the plan."""


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not None, with documents as text."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in _DOCUMENTS:
        if name in given:
            source = given[name]
            given[name] = source_text(source.document if isinstance(source, (Plan, Coefficients)) else source)
    for name in ("prompt_tokens", "response_tokens"):
        if isinstance(given.get(name), int):
            given[name] = str(given[name])
    if "plan" in given and not isinstance(given["plan"], Plan):
        given["plan"] = source_text(given["plan"])
    return given


def _with_plan(given: dict[str, Any], *, takes_framework: bool) -> dict[str, Any]:
    """Takes what is missing from a Plan: its cluster, workflow, coefficients and framework."""
    plan = given.get("plan")
    if not isinstance(plan, Plan):
        return given
    given = {**given, "plan": json.dumps(plan.document)}
    if "cluster" not in given and "gpus" not in given:
        given["cluster"] = json.dumps(plan.cluster)
    if "workflow" not in given and "model" not in given:
        given["workflow"] = json.dumps(plan.workflow)
    if "coefficients" not in given and plan.coefficients is not None:
        given["coefficients"] = plan.coefficients
    if takes_framework and "framework" not in given and plan.framework is not None:
        given["framework"] = plan.framework
    return given


def plan(
    *,
    gpus: str | None = None,
    network: str | None = None,
    network_between: str | None = None,
    cluster: DocumentSource | None = None,
    model: str | None = None,
    algorithm: Algorithm | None = None,
    mode: Mode | None = None,
    staleness: float | None = None,
    streamed_parts: int | None = None,
    prompts: int | None = None,
    responses: int | None = None,
    mini_batches: int | None = None,
    prompt_tokens: TokenCounts | None = None,
    response_tokens: TokenCounts | None = None,
    lengths: str | None = None,
    reward_model: str | None = None,
    critic: str | None = None,
    precision: Precision | None = None,
    workflow: DocumentSource | None = None,
    framework: str | None = None,
    coefficients: CoefficientSource | None = None,
    planner: str | None = None,
    budget_s: float | None = None,
    evaluations: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    goal: Goal | None = None,
    deadline_s: float | None = None,
    max_usd_per_hour: float | None = None,
    max_usd_per_iteration: float | None = None,
    pins: Mapping[str, str] | None = None,
    exclude: Iterable[str] | None = None,
    warm_start: PlanSource | None = None,
    any_layout: bool | None = None,
    max_memory_risk: float | None = None,
    explain: bool | None = None,
) -> Plan:
    """Searches for the fastest plan that fits in memory, or the best one for another goal.

    The cluster is a document, or words such as gpus="4x8xH100"; the workflow is a document, or a model and options.
    Options that are None have the defaults of `sextant plan`: the planner "portfolio" for 2 s. With `evaluations`
    in place of `budget_s` the same question has the same answer on any machine. pins={"actor_training": "node0,node1"}
    places tasks. explain=True adds rival plans, which takes a few more searches.

    Other Python threads run during the search. Ctrl-C ends it and raises KeyboardInterrupt.

    Raises NoPlan if no plan was found, ValueError for wrong input.
    """
    given = _given(locals())
    if "pins" in given:
        given["pins"] = dict(given["pins"])
    answer = _sextant.plan(given)
    search = Search.from_document(parse(answer["search"]))
    if not answer["is_found"]:
        raise NoPlan(answer["message"], search)
    document = parse(answer["plan"])
    explanation = answer["explanation"]
    return Plan(
        name=document["name"],
        layouts={
            task: Layout.from_document(document["tasks"][task], text) for task, text in answer["layouts"].items()
        },
        prediction=Prediction.from_document(parse(answer["prediction"]), fits=answer["fits"], notes=[]),
        search=search,
        explanation=Explanation.from_document(parse(explanation)) if explanation else None,
        notes=tuple(answer["notes"]),
        cluster=parse(answer["cluster"]),
        workflow=parse(answer["workflow"]),
        framework=search.document.get("framework"),
        coefficients=given.get("coefficients"),
        document=document,
    )


def predict(
    plan: PlanSource | None = None,
    *,
    train: str | None = None,
    rollout: str | None = None,
    inference: str | None = None,
    gpus: str | None = None,
    network: str | None = None,
    network_between: str | None = None,
    cluster: DocumentSource | None = None,
    model: str | None = None,
    algorithm: Algorithm | None = None,
    mode: Mode | None = None,
    staleness: float | None = None,
    streamed_parts: int | None = None,
    prompts: int | None = None,
    responses: int | None = None,
    mini_batches: int | None = None,
    prompt_tokens: TokenCounts | None = None,
    response_tokens: TokenCounts | None = None,
    lengths: str | None = None,
    reward_model: str | None = None,
    critic: str | None = None,
    precision: Precision | None = None,
    workflow: DocumentSource | None = None,
    framework: str | None = None,
    coefficients: CoefficientSource | None = None,
    sensitivities: bool | None = None,
) -> Prediction:
    """Predicts time and memory of one plan, with 90 % intervals.

    The plan is a Plan, a document, or layouts in words: train="fsdp=32", rollout="tp=2". A Plan brings its cluster,
    workflow, coefficients and framework, as far as the other options do not replace them; so
    predict(plan, response_tokens=...) needs a model too, because words make a new workflow.

    A plan that does not fit is predicted too: see Prediction.fits. Raises ValueError for wrong input.
    """
    answer = _sextant.predict(_with_plan(_given(locals()), takes_framework=True))
    return Prediction.from_document(parse(answer["prediction"]), fits=answer["fits"], notes=answer["notes"])


def check(
    runs: DocumentSource | Iterable[str],
    *,
    logs_of: str | None = None,
    config: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    gpus: str | None = None,
    coefficients: CoefficientSource | None = None,
    run: str | None = None,
) -> tuple[CheckedRun, ...]:
    """Compares measured runs with their predictions: whether each is as fast as it should be, and why not.

    `runs` is a runs document, or the file of a log, or several, whose framework is recognised or named by
    logs_of="verl". `config` is the launch script or configuration of the logged run, or several files; without it the
    log has the command that started it, or a side file. `gpus` are those of the logged run: "2x8xH100", or the type
    alone, whose number the configuration has. Each run has the changes that could explain a difference, and the
    settings that would make it faster.

    Raises ValueError for wrong input, and if no run has the name `run`.
    """
    files = [config] if isinstance(config, (str, os.PathLike)) else config
    given = _given({"logs_of": logs_of, "config": None if files is None else [os.fspath(file) for file in files],
                    "gpus": gpus, "coefficients": coefficients, "run": run})
    if isinstance(runs, Mapping) or not isinstance(runs, Iterable) or isinstance(runs, str):
        given["runs"] = [source_text(runs)]
    else:
        given["runs"] = [source_text(one) for one in runs]
    answer = _sextant.check(given)
    return tuple(CheckedRun.from_document(one, answer["notes"]) for one in json.loads(answer["verdicts"]))


def calibrate(
    runs: DocumentSource,
    *,
    start: CoefficientSource | None = None,
    cross_validate: str = "auto",
    folds: int = 10,
    seed: int = 1,
) -> Coefficients:
    """Fits the coefficients of the cost model to measured runs.

    `start` are coefficients whose values replace the priors. Cross-validation makes the intervals of predictions hold
    on new runs; cross_validate="none" saves its time, and names such as "workflow" say what each fold leaves out.

    A fit cannot be ended before it is done: Ctrl-C raises KeyboardInterrupt afterwards. Raises ValueError for wrong
    input. A fit that did not converge is returned with converged=False.
    """
    answer = _sextant.calibrate(_given({"runs": source_text(runs), "start": start, "cross_validate": cross_validate,
                                        "folds": folds, "seed": seed}))
    return Coefficients.from_document(parse(answer["coefficients"]), answer["notes"])


def export(
    plan: PlanSource,
    to: str = "verl",
    *,
    cluster: DocumentSource | None = None,
    workflow: DocumentSource | None = None,
    coefficients: CoefficientSource | None = None,
) -> Export:
    """Writes a plan as the script of a training framework: verl, nemo-rl, openrlhf, areal or slime.

    A Plan brings its cluster and workflow; a plan document needs both. `coefficients` cost what the framework cannot
    run as planned.

    Raises CannotExport if the framework can run nothing near the plan, ValueError for wrong input.
    """
    given = _with_plan(_given({"plan": plan, "to": to, "cluster": cluster, "workflow": workflow,
                               "coefficients": coefficients}), takes_framework=False)
    answer = _sextant.export_plan(given)
    if not answer["text"]:
        raise CannotExport(answer["refusal"])
    return Export(
        text=answer["text"],
        framework=answer["framework"],
        version=answer["version"],
        differences=tuple(answer["unsaid"]),
        notes=(*answer["inputs"], *answer["notes"], *answer["costs"]),
    )


def to_verl(
    plan: PlanSource,
    *,
    cluster: DocumentSource | None = None,
    workflow: DocumentSource | None = None,
    coefficients: CoefficientSource | None = None,
) -> Export:
    """Writes a plan as Hydra overrides of verl: export(plan, to="verl")."""
    return export(plan, "verl", cluster=cluster, workflow=workflow, coefficients=coefficients)
