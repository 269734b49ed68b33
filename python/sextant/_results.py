"""Results: frozen dataclasses made of documents, which they keep in `document`.

Units are in the names: seconds, bytes, dollars, fractions.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, field
from typing import Any, Mapping

from sextant._documents import Document, save


@dataclass(frozen=True)
class Interval:
    """An interval that holds the true value in 90 % of cases."""

    low: float
    high: float


def _interval(part: Mapping[str, Any] | None) -> Interval | None:
    return Interval(part["low"], part["high"]) if part else None


def seconds_text(seconds: float) -> str:
    """Three digits with a unit: "179 s", "1.44 s", "279 ms"."""
    if seconds < 1:
        return f"{seconds * 1e3:#.3g} ms".replace(". ", " ")
    return f"{seconds:#.3g} s".replace(". ", " ") if seconds < 1000 else f"{seconds:.0f} s"


def bytes_text(count: float) -> str:
    return f"{count / 2**30:.1f} GiB"


def _memory_verdict(fits: bool, probability: float | None) -> str:
    sure = 0.95
    if probability is None:
        return "fits" if fits else "does not fit"
    if probability >= sure:
        return "fits"
    return "does not fit" if probability <= 1 - sure else f"uncertain ({100 * probability:.0f} %)"


def _with_interval(seconds: float, interval: Interval | None) -> str:
    text = seconds_text(seconds)
    if interval is None:
        return text
    return f"{text} (90 %: {seconds_text(interval.low)} to {seconds_text(interval.high)})"


@dataclass(frozen=True)
class TaskTime:
    """The time of one task of an iteration."""

    time_s: float
    interval_s: Interval | None
    exposed_s: float
    """Its contribution to the iteration: time_s without what overlaps longer tasks."""
    start_s: float
    end_s: float
    devices: tuple[int, ...]
    terms_s: dict[str, float]
    """Parts of the time: compute, decode, bubble, ..."""


@dataclass(frozen=True)
class DeviceMemory:
    """The memory that a plan needs on one device."""

    device: int
    needed_bytes: float
    needed_interval_bytes: Interval | None
    capacity_bytes: float
    fit_probability: float | None

    @property
    def fits(self) -> bool:
        """Whether the best estimate of the need is at most the capacity."""
        return self.needed_bytes <= self.capacity_bytes

    @property
    def verdict(self) -> str:
        """"fits" or "does not fit", if that is at least 95 % sure; else "uncertain (62 %)", the probability that it fits."""
        return _memory_verdict(self.fits, self.fit_probability)


@dataclass(frozen=True)
class Prediction:
    """Time and memory of one plan."""

    iteration_s: float
    interval_s: Interval | None
    sequences_per_s: float
    tasks: dict[str, TaskTime]
    weight_sync_s: float
    controller_s: float
    memory: tuple[DeviceMemory, ...]
    fits: bool
    """Whether the memory of every device and host suffices, by the best estimates of the needs; see memory_verdict."""
    bottleneck: str
    notes: tuple[str, ...]
    """What was assumed, and what the framework cannot run of the plan."""
    document: Document = field(repr=False)

    @classmethod
    def from_document(cls, document: Document, *, fits: bool, notes: list[str]) -> Prediction:
        tasks = {
            name: TaskTime(
                time_s=task["time_s"],
                interval_s=_interval(task.get("interval_s")),
                exposed_s=task["exposed_s"],
                start_s=task["start_s"],
                end_s=task["end_s"],
                devices=tuple(task["devices"]),
                terms_s=dict(task["terms_s"]),
            )
            for name, task in document["tasks"].items()
        }
        memory = tuple(
            DeviceMemory(
                device=one["device"],
                needed_bytes=one["resident_bytes"] + one["working_bytes"],
                needed_interval_bytes=_interval(one.get("needed_interval_bytes")),
                capacity_bytes=one["capacity_bytes"],
                fit_probability=one.get("fit_probability"),
            )
            for one in document["memory"]
        )
        return cls(
            iteration_s=document["iteration_s"],
            interval_s=_interval(document.get("iteration_interval_s")),
            sequences_per_s=document["sequences_per_s"],
            tasks=tasks,
            weight_sync_s=document["weight_sync_s"],
            controller_s=document.get("controller_s", 0.0),
            memory=memory,
            fits=fits,
            bottleneck=document["bottleneck"],
            notes=(*notes, *document.get("notes", ())),
            document=document,
        )

    @property
    def fullest(self) -> DeviceMemory:
        """The device that needs the largest part of its memory."""
        return max(self.memory, key=lambda one: one.needed_bytes / one.capacity_bytes)

    @property
    def memory_verdict(self) -> str:
        """The verdict of the device or host that fits least surely: "fits", "does not fit" or "uncertain (62 %)"."""
        verdicts = [(one.fits, one.fit_probability) for one in self.memory]
        for host in self.document.get("host_memory", []):
            if "capacity_bytes" in host:
                verdicts.append((host["needed_bytes"] <= host["capacity_bytes"], host.get("fit_probability")))
        return _memory_verdict(*min(verdicts, key=lambda one: float(one[0]) if one[1] is None else one[1]))

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the prediction document."""
        save(self.document, file)

    def __str__(self) -> str:
        lines = [f"iteration  {_with_interval(self.iteration_s, self.interval_s)}, "
                 f"{self.sequences_per_s:#.3g} sequences/s"]
        width = max(len(name) for name in self.tasks)
        for name, task in sorted(self.tasks.items(), key=lambda item: -item[1].time_s):
            lines.append(f"{name:{width}}  {seconds_text(task.time_s)}")
        fullest = self.fullest
        lines.append(f"memory  {bytes_text(fullest.needed_bytes)} of {bytes_text(fullest.capacity_bytes)} on the "
                     f"fullest device: {self.memory_verdict}")
        lines.append(f"bottleneck: {self.bottleneck}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Layout:
    """Where one task runs, and how it is divided."""

    data_parallel: int
    pipeline_parallel: int | None
    """None: replicas have different numbers of stages."""
    tensor_parallel: int | None
    """Devices that share a layer, those of context parallelism included. None: stages differ."""
    devices: tuple[int, ...]
    micro_batch_tokens: int | None
    """None: the micro-batch is counted in sequences."""
    micro_batch_sequences: int
    recompute: str
    execution: dict[str, Any]
    """Options as in the plan document, such as zero_stage and kv_cache_bytes."""
    text: str
    """One line: "dp16 tp2 pp1 on 0-31"."""

    @classmethod
    def from_document(cls, task: Mapping[str, Any], text: str) -> Layout:
        replicas = task.get("replicas")
        if replicas is None:
            first, count = task["devices"]["first"], task["devices"]["count"]
            data, pipeline, tensor = task["data_parallel"], task["pipeline_parallel"], task["tensor_parallel"]
            devices = tuple(range(first, first + count))
        else:
            stages = [stage for replica in replicas for stage in replica["stages"]]
            data = len(replicas)
            pipeline = _only({len(replica["stages"]) for replica in replicas})
            tensor = _only({len(stage["devices"]) for stage in stages})
            devices = tuple(sorted({device for stage in stages for device in stage["devices"]}))
        execution = dict(task.get("execution", {}))
        return cls(
            data_parallel=data,
            pipeline_parallel=pipeline,
            tensor_parallel=tensor,
            devices=devices,
            micro_batch_tokens=execution.get("micro_batch_tokens"),
            micro_batch_sequences=task["micro_batch_sequences"],
            recompute=task["recompute"],
            execution=execution,
            text=text,
        )


def _only(values: set[int]) -> int | None:
    return values.pop() if len(values) == 1 else None


@dataclass(frozen=True)
class Search:
    """How the plan was found, and how far from the best possible one it can be."""

    planner: str
    outcome: str
    message: str
    iteration_s: float | None
    lower_bound_s: float
    """No plan with the same precisions and trained weights takes less time, under this model."""
    gap_fraction: float | None
    devices: int | None
    usd_per_iteration: float | None
    """None: the cluster has no prices."""
    candidates: int
    feasible: int
    wall_s: float
    document: Document = field(repr=False)

    @classmethod
    def from_document(cls, document: Document) -> Search:
        return cls(
            planner=document["planner"],
            outcome=document["outcome"],
            message=document["message"],
            iteration_s=document.get("iteration_s"),
            lower_bound_s=document["lower_bound_s"],
            gap_fraction=document.get("gap_fraction"),
            devices=document.get("devices"),
            usd_per_iteration=document.get("usd_per_iteration"),
            candidates=document["candidates"],
            feasible=document["feasible"],
            wall_s=document["wall_s"],
            document=document,
        )


@dataclass(frozen=True)
class Alternative:
    """The best plan of another kind, compared with the answer."""

    name: str
    iteration_s: float
    ratio: float
    """Of its time to that of the answer; above 1 it is slower. For other goals, of what they count."""
    layouts: dict[str, str]
    is_same: bool


@dataclass(frozen=True)
class Explanation:
    """Why the plan is the answer."""

    bottleneck: str
    parts_s: dict[str, float]
    """The largest parts of the iteration first: "actor_generation decode"."""
    alternatives: tuple[Alternative, ...]
    document: Document = field(repr=False)

    @classmethod
    def from_document(cls, document: Document) -> Explanation:
        return cls(
            bottleneck=document["bottleneck"],
            parts_s={f"{part['task']} {part['term']}": part["seconds"] for part in document["parts"]},
            alternatives=tuple(
                Alternative(one["name"], one["iteration_s"], one["ratio"], dict(one["layouts"]), one["is_same"])
                for one in document["alternatives"]
                if one["outcome"] == "found"
            ),
            document=document,
        )


def _sentences(explanation: Explanation) -> list[str]:
    largest = list(explanation.parts_s.items())[:3]
    sentences = ["largest parts: " + ", ".join(f"{name} {seconds_text(part_s)}" for name, part_s in largest)]
    same = [other.name for other in explanation.alternatives if other.is_same]
    if same:
        sentences.append(f"{', '.join(same)}: the same plan")
    for other in explanation.alternatives:
        if not other.is_same:
            sentences.append(f"{other.name}: {seconds_text(other.iteration_s)}, {other.ratio:#.3g} times the plan's")
    return sentences


@dataclass(frozen=True)
class Plan:
    """The answer of plan(): layouts of all tasks, and what is known about them."""

    name: str
    layouts: dict[str, Layout]
    prediction: Prediction
    search: Search
    explanation: Explanation | None
    notes: tuple[str, ...]
    """What was assumed, and advice."""
    cluster: Document = field(repr=False)
    workflow: Document = field(repr=False)
    framework: str | None
    """The framework's profile, such as verl-fsdp, whose layouts the search respected."""
    coefficients: str | None = field(repr=False)
    """The file or the text that plan() was given. None: the ones that ship."""
    document: Document = field(repr=False)

    @property
    def iteration_s(self) -> float:
        return self.prediction.iteration_s

    @property
    def reasons(self) -> tuple[str, ...]:
        """Sentences for a log: the time, where it goes, how far the optimum can be, and the rivals."""
        search, prediction = self.search, self.prediction
        sentences = [
            f"an iteration takes {_with_interval(prediction.iteration_s, prediction.interval_s)}",
            prediction.bottleneck,
            f"{search.planner}: {search.message}",
        ]
        if search.lower_bound_s > 0:
            sentences.append(f"no plan with the same precisions takes less than {seconds_text(search.lower_bound_s)}")
        if self.explanation:
            sentences += _sentences(self.explanation)
        return tuple(sentences)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the plan document."""
        save(self.document, file)

    def __str__(self) -> str:
        width = max(len(task) for task in self.layouts)
        lines = [f"{task:{width}}  {layout.text}" for task, layout in self.layouts.items()]
        return "\n".join([*lines, str(self.prediction)])


@dataclass(frozen=True)
class JudgedTime:
    """A measured time next to its prediction."""

    what: str
    measured_s: float
    predicted_s: float
    interval_s: Interval | None
    is_outside: bool
    """Whether the measured time lies outside the interval."""


@dataclass(frozen=True)
class LikelyCause:
    """A change of the run's circumstances that explains the measured times better."""

    name: str
    explained_fraction: float


@dataclass(frozen=True)
class Gain:
    """A setting that would make the run faster."""

    name: str
    seconds: float


@dataclass(frozen=True)
class CheckedRun:
    """Whether one measured run is as fast as it should be."""

    run: str
    is_normal: bool
    times: tuple[JudgedTime, ...]
    causes: tuple[LikelyCause, ...]
    gains: tuple[Gain, ...]
    notes: tuple[str, ...]
    document: Document = field(repr=False)

    @classmethod
    def from_document(cls, document: Document, notes: list[str]) -> CheckedRun:
        return cls(
            run=document["run"],
            is_normal=document["is_normal"],
            times=tuple(
                JudgedTime(one["what"], one["measured_s"], one["predicted_s"], _interval(one.get("interval_s")),
                           one["is_outside"])
                for one in document["times"]
            ),
            causes=tuple(LikelyCause(one["name"], one["explained_fraction"]) for one in document["causes"]),
            gains=tuple(Gain(one["name"], one["seconds"]) for one in document["gains"]),
            notes=(*notes, *document["notes"]),
            document=document,
        )


@dataclass(frozen=True)
class Coefficient:
    """One fitted coefficient of the cost model."""

    name: str
    device_type: str
    framework: str
    value: float
    prior: float
    standard_error: float
    identified: bool
    """Whether the runs determine it; if not, it stays near its prior."""


@dataclass(frozen=True)
class Coefficients:
    """The answer of calibrate()."""

    values: tuple[Coefficient, ...]
    runs: tuple[str, ...]
    converged: bool
    message: str
    held_out_task_error_fraction: float | None
    """Mean absolute error of task times that the fit did not see. None: not cross-validated."""
    held_out_iteration_error_fraction: float | None
    notes: tuple[str, ...]
    document: Document = field(repr=False)

    @classmethod
    def from_document(cls, document: Document, notes: list[str]) -> Coefficients:
        fit = document["fit"]
        held_out = fit.get("held_out") or {}
        return cls(
            values=tuple(
                Coefficient(one["name"], one["device_type"], one["framework"], one["value"], one["prior"],
                            one["standard_error"], one["identified"])
                for one in document["values"]
            ),
            runs=tuple(fit["runs"]),
            converged=fit["converged"],
            message=fit["message"],
            held_out_task_error_fraction=held_out.get("task_mape"),
            held_out_iteration_error_fraction=held_out.get("iteration_mape"),
            notes=tuple(notes),
            document=document,
        )

    @property
    def identified(self) -> tuple[Coefficient, ...]:
        """Those that the runs determine."""
        return tuple(one for one in self.values if one.identified)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the coefficients document."""
        save(self.document, file)


_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ARGUMENTS = re.compile(r"^arguments=\(\n(.*?)^\)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Export:
    """A plan as the script of a training framework."""

    text: str
    """The Bash script."""
    framework: str
    version: str
    differences: tuple[str, ...]
    """What the framework cannot run as planned, with its cost."""
    notes: tuple[str, ...]

    @property
    def settings(self) -> tuple[str, ...]:
        """The words that the script passes to the framework: Hydra overrides of verl and AReaL, flags of others.

        NeMo RL gets only variables so: its script writes the rest into a YAML file. Variables stand as ${NAME}; see
        arguments().
        """
        found = _ARGUMENTS.search(self.text)
        return tuple(shlex.split(found.group(1), comments=True)) if found else ()

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables that a user fills in, such as MODEL_PATH."""
        names = (name for word in self.settings for name in _VARIABLE.findall(word))
        return tuple(dict.fromkeys(names))

    def arguments(self, **variables: str) -> list[str]:
        """The settings with the variables filled in. Raises ValueError if one is missing or not in the script."""
        missing = [name for name in self.variables if name not in variables]
        if missing:
            raise ValueError(f"missing: {', '.join(missing)}")
        unknown = [name for name in variables if name not in self.variables]
        if unknown:
            raise ValueError(f"the script has no {', '.join(unknown)}; it has {', '.join(self.variables)}")
        return [_VARIABLE.sub(lambda match: variables[match.group(1)], word) for word in self.settings]

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the script."""
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(self.text)
