"""A copy of the sources with planted faults, and its build."""
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

from faults import HEADER, planted_text

# Parts that the tests of one machine without GPU cannot run.
OPTIONS = ["-DSEXTANT_CUDA=OFF", "-DSEXTANT_PYTHON=OFF", "-DSEXTANT_BENCH=OFF"]
ERROR = re.compile(r"^([\w./+-]+\.(?:cpp|h)):(\d+):\d+: error:", re.MULTILINE)
PLACE = re.compile(r"([\w./+-]+\.(?:cpp|h)):(\d+)")


class CopyFailed(Exception):
    pass


class Processes:
    """Runs programs in groups of their own, which end with this one."""

    def __init__(self):
        self.running, self.lock = set(), threading.Lock()

    def run(self, command, limit_s=None, **options):
        """Returns (exit code, output); None as the code: it took longer than limit_s."""
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                 text=True, errors="replace", **options)
        with self.lock:
            self.running.add(child)
        try:
            text, _ = child.communicate(timeout=limit_s)
            return child.returncode, text
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            self.end(child)

    def end(self, child):
        try:
            os.killpg(child.pid, 9)
        except ProcessLookupError:
            pass
        child.wait()
        with self.lock:
            self.running.discard(child)

    def end_all(self):
        for child in list(self.running):
            self.end(child)


class Copy:
    def __init__(self, root, folder, mutated_folders, jobs):
        self.root, self.folder, self.jobs = root, folder, jobs
        self.build = folder / "build" / "dev"
        self.targets = [f"tests/{name}/all" for name in mutated_folders]
        self.processes = Processes()

    def put(self, name, text):
        """Writes only what changed, so that little is built again."""
        file = self.folder / name
        if file.exists() and file.read_bytes() == text:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)

    def copy_sources(self, faults):
        """Copies every file of the project. Files with faults have them in place of the lines."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.root, capture_output=True, text=True, check=True).stdout.split("\n")
        by_file = {}
        for number, fault in faults:
            by_file.setdefault(fault.file, []).append((number, fault))
        for name in listed:
            source = self.root / name
            if not name or not source.is_file():
                continue
            if name in by_file:
                self.put(name, planted_text(source.read_text(encoding="utf-8"), by_file[name]).encode())
            elif not (self.folder / name).exists() or (self.folder / name).read_bytes() != source.read_bytes():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, self.folder / name)
        self.put(HEADER, Path(__file__).with_name("planted_fault.h").read_bytes())

    def configure(self):
        code, text = self.processes.run(["cmake", "--preset", "dev", *OPTIONS], cwd=self.folder)
        if code != 0:
            raise CopyFailed(f"the copy cannot be configured:\n{text[-2000:]}")

    def compile(self):
        """Returns what ninja said of failures; empty: all was built."""
        code, text = self.processes.run(["ninja", "-C", str(self.build), "-j", str(self.jobs), "-k", "0", *self.targets], cwd=self.folder)
        return "" if code == 0 else text

    def faults_at(self, places, faults):
        """Those at the places (file, line) of the compiler's messages, whose files may be relative to the build."""
        found = {((self.build / name).resolve(), int(line)) for name, line in places}
        return [one for one in faults if ((self.folder / one[1].file).resolve(), one[1].line + 1) in found]

    def build_with(self, faults):
        """Builds the copy, and returns the faults that compile with their numbers."""
        taken = list(enumerate(faults, 1))
        self.copy_sources(taken)
        self.configure()
        while errors := self.compile():
            failed = self.faults_at(ERROR.findall(errors), taken) or self.faults_at(PLACE.findall(errors), taken)
            if not failed:
                raise CopyFailed(f"the copy cannot be built:\n{errors[-3000:]}")
            for _, fault in failed:
                print(f"does not compile: {fault.file}:{fault.line} {fault.kind}", flush=True)
            taken = [one for one in taken if one not in failed]
            self.copy_sources(taken)
        return taken
