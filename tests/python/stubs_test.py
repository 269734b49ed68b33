"""The stub of the compiled module agrees with it, and the package is annotated throughout."""

import ast
import dataclasses
import inspect
import json
import os
import pathlib
import typing
import unittest

import sextant
from sextant import _sextant

FOLDER = pathlib.Path(sextant.__file__).parent


def stub():
    return ast.parse((FOLDER / "_sextant.pyi").read_text(encoding="utf-8")).body


class Stub(unittest.TestCase):
    def test_has_the_names_of_the_module(self):
        functions = {node.name for node in stub() if isinstance(node, ast.FunctionDef)}
        values = {node.target.id for node in stub() if isinstance(node, ast.AnnAssign)}
        there = {name for name in vars(_sextant) if not name.startswith("__")}
        self.assertEqual(functions | values, there)
        self.assertTrue(all(callable(getattr(_sextant, name)) for name in functions))

    def test_has_the_parameters_of_the_module(self):
        for node in stub():
            if isinstance(node, ast.FunctionDef):
                # pybind11 writes the signature into the first line of the description.
                first = getattr(_sextant, node.name).__doc__.splitlines()[0]
                names = [argument.arg for argument in node.args.args]
                self.assertEqual(first, f"{node.name}({', '.join(f'{name}: dict' for name in names)}) -> dict")

    def test_has_the_members_of_the_answers(self):
        members = {
            node.name: {member.target.id: ast.unparse(member.annotation) for member in node.body}
            for node in stub()
            if isinstance(node, ast.ClassDef)
        }
        words = {"gpus": "1x8xH100", "model": "Qwen3-8B", "framework": "verl"}
        plan = sextant.plan(**words, evaluations=20, threads=1)
        runs = str(pathlib.Path(os.environ["SEXTANT_SOURCE_DIR"]) / "tests/data/runs.json")
        answers = {
            "PlanAnswer": _sextant.plan({**words, "evaluations": 20, "threads": 1}),
            "PredictAnswer": _sextant.predict({**words, "train": "fsdp=8", "rollout": "tp=1"}),
            "CheckAnswer": _sextant.check({"runs": [runs]}),
            "CalibrateAnswer": _sextant.calibrate({"runs": runs}),
            "ExportAnswer": _sextant.export_plan({"plan": json.dumps(plan.document), "to": "verl",
                                                  **{key: words[key] for key in ("gpus", "model")}}),
        }
        self.assertEqual(set(members), set(answers))
        for name, answer in answers.items():
            with self.subTest(answer=name):
                self.assertEqual(set(members[name]), set(answer))
                for member, value in answer.items():
                    self.assertEqual(type(value).__name__, members[name][member].split("[")[0])


class Annotations(unittest.TestCase):
    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue((FOLDER / "py.typed").exists())
        for name in sextant.__all__:
            self.assertTrue(hasattr(sextant, name), name)

    def test_functions_are_annotated(self):
        for function in (sextant.plan, sextant.predict, sextant.check, sextant.calibrate, sextant.export,
                         sextant.to_verl):
            hints = typing.get_type_hints(function)
            self.assertEqual(set(hints), {*inspect.signature(function).parameters, "return"})
            self.assertTrue(function.__doc__)

    def test_results_are_frozen_and_annotated(self):
        results = [value for value in vars(sextant).values() if dataclasses.is_dataclass(value)]
        self.assertGreater(len(results), 10)
        for result in results:
            self.assertTrue(result.__dataclass_params__.frozen, result)
            self.assertEqual(set(typing.get_type_hints(result)), {one.name for one in dataclasses.fields(result)})

    def test_every_option_of_a_function_reaches_the_module(self):
        # The module refuses names that it does not know.
        names = list(inspect.signature(sextant.plan).parameters)
        for name in names:
            with self.subTest(option=name), self.assertRaises((TypeError, ValueError)) as raised:
                _sextant.plan({name: object()})
            self.assertNotIn("there is no option", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
