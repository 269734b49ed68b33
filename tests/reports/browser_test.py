#!/usr/bin/env python3
"""Opens pages of the report in headless Chromium and checks what a person would see.

    browser_test.py --writer build/.../write_fixture_report --out build/.../browser

Every chart must be drawn with a mark for each row of its data, the console must stay silent, and the page must refer to
nothing outside itself. The same checks must find fault with pages that are broken on purpose. Screenshots are left in
--out. Installs Chromium when it is missing and may; exits 77 (skipped) with the reason when it cannot.
"""
import argparse
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from browser import Browser

SKIPPED = 77
PAGES = {"one": 6, "two": 10, "sixteen": 11, "many": 10, "empty": 0}  # fixture: least number of charts
VOID = {"meta", "link", "br", "img", "input", "hr", "image", "base", "source", "wbr"}


def is_usable(program):
    """Ubuntu's chromium-browser is a script that asks for a snap, and the snap cannot open the pages."""
    try:
        done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and "snap" not in done.stdout


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (path := shutil.which(name)) and is_usable(path):
            return path
    return None


def is_snap_only():
    """Whether apt-get has lists of packages, and chromium is only another name of one that installs snapd (Ubuntu)."""
    if not any("Packages" in name for name in os.listdir("/var/lib/apt/lists")):
        return False
    policy = subprocess.run(["apt-cache", "policy", "chromium"], env=dict(os.environ, LC_ALL="C"), capture_output=True,
                            text=True)
    return re.search(r"Candidate: \d", policy.stdout) is None


def apt_get(*arguments):
    done = subprocess.run(["apt-get", *arguments], env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        skip(f"Chromium is missing and 'apt-get {' '.join(arguments)}' failed: {last}")


def install_chromium():
    """The path of Chromium, installed with apt-get when it is missing; exits when there is no way to get it."""
    if path := find_chromium():
        return path
    if not shutil.which("apt-get") or os.geteuid() != 0:
        skip("Chromium is missing, and only root with apt-get could install it (apt-get install chromium)")
    for command in (["update", "-qq"],
                    ["install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"]):
        if is_snap_only():
            skip("Chromium is missing, and Ubuntu has it as a snap only, which cannot open pages of the build folder. "
                 "Chrome (google-chrome) works too.")
        apt_get(*command)
    return find_chromium() or skip("apt-get installed no chromium program that runs")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Page(html.parser.HTMLParser):
    """The root's data attributes, the drawn marks of each chart, and every reference to something else."""

    def __init__(self, dom):
        super().__init__()
        self.root, self.marks, self.svgs, self.specs, self.references, self.broken = {}, {}, {}, {}, [], []
        self.open = []  # (tag, kind) of the elements around
        self.chart = self.spec = None
        self.feed(dom)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        classes = (attributes.get("class") or "").split()
        kind = ""
        if tag == "html":
            self.root = {name: value for name, value in attributes.items() if name.startswith("data-")}
        if tag == "div" and "chart" in classes:
            kind, self.chart = "chart", attributes.get("data-spec", "?")
            self.marks[self.chart], self.svgs[self.chart] = 0, 0
        if tag == "script" and (attributes.get("id") or "").startswith("spec-"):
            kind, self.spec = "spec", attributes["id"]
        if "role-mark" in classes:
            kind = "marks"
        self.look_at(tag, attributes)
        if tag not in VOID:
            self.open.append((tag, kind))

    def handle_startendtag(self, tag, attributes):
        self.look_at(tag, dict(attributes))

    def look_at(self, tag, attributes):
        if self.chart and tag == "svg":
            self.svgs[self.chart] += 1
        if self.chart and tag in ("path", "text", "line", "rect") and any(kind == "marks" for _, kind in self.open):
            self.marks[self.chart] += 1
        for name, value in attributes.items():
            value = value or ""
            if name in ("src", "href", "xlink:href", "srcset", "action", "data", "poster") and \
                    not value.startswith(("#", "data:")):
                self.references.append(f"<{tag} {name}={value[:80]!r}>")
            if self.chart and re.search(r"\b(NaN|Infinity|undefined)\b", value) and name in ("d", "transform", "x", "y"):
                self.broken.append(f"{self.chart}: <{tag} {name}={value[:80]!r}>")

    def handle_endtag(self, tag):
        while self.open:
            opened, kind = self.open.pop()
            if kind == "chart":
                self.chart = None
            if kind == "spec":
                self.spec = None
            if opened == tag:
                break

    def handle_data(self, text):
        if self.spec:
            self.specs[self.spec] = json.loads(text)


def least_marks(spec):
    """As many marks as the longest inline data of the specification has rows."""
    data = [spec] + spec.get("layer", [])
    return max([1] + [len(each["data"]["values"]) for each in data if "data" in each])


def faults_of(page, console, least_charts):
    faults = [f"console: {line[:300]}" for line in console]
    expected, rendered = page.root.get("data-charts-expected"), page.root.get("data-charts-rendered")
    if rendered is None:
        faults.append("charts: the page never said that its charts have settled")
    elif rendered != expected:
        faults.append(f"charts: {rendered} of {expected} were rendered: {page.root.get('data-chart-errors')}")
    if len(page.marks) < least_charts:
        faults.append(f"charts: {len(page.marks)} places, expected {least_charts} or more")
    if str(len(page.marks)) != expected:
        faults.append(f"charts: {len(page.marks)} places, the page says {expected}")
    for chart, marks in page.marks.items():
        wanted = least_marks(page.specs[chart])
        if page.svgs[chart] != 1 or marks < wanted:
            faults.append(f"marks: {chart} has {page.svgs[chart]} drawings with {marks} marks, expected 1 with {wanted}")
    faults += [f"not a number: {each}" for each in page.broken]
    faults += [f"outside: {each}" for each in page.references]
    return faults


# What is wider than the window, or cut. Wide tables fit if they scroll in their own box.
LAYOUT = """(() => {
  const width = document.documentElement.clientWidth, wide = [];
  const fits = each => { const box = each.getBoundingClientRect(); return box.left >= 0 && box.right <= width + 1; };
  if (document.documentElement.scrollWidth > width) wide.push('the page');
  document.querySelectorAll('main table').forEach(table => {
    const box = table.parentElement;
    const scrolls = ['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
    if (!fits(box) || !(scrolls || fits(table))) wide.push(table.id);
    const caption = table.querySelector('caption span');
    if (caption && !fits(caption)) wide.push('caption of ' + table.id);
  });
  document.querySelectorAll('main p, main figure, .fact, .machine, .track, .chart svg').forEach(each => {
    if (!fits(each)) wide.push(each.tagName + ' ' + each.textContent.slice(0, 40));
  });
  return wide;
})()"""
WIDTHS = (1400, 700)


def examine(browser, page, width, least_charts):
    """The page in a window of this width, and what is wrong with it."""
    browser.open(page, width, 1000)
    drawn = Page(browser.evaluate("document.documentElement.outerHTML"))
    wide = [f"layout: wider than {width} px: {each}" for each in browser.evaluate(LAYOUT)]
    return drawn, faults_of(drawn, browser.console, least_charts) + wide


# Where the answer ends, and how many folded sections are open.
FIRST_SCREEN = """(() => {
  const verdict = document.querySelector('.verdict');
  return [verdict ? verdict.getBoundingClientRect().bottom : -1, document.querySelectorAll('details.fold[open]').length];
})()"""
SCREENS = ((1280, 720), (390, 844))


def first_screen_faults(browser, page, width, height, fragment="", open_folds=0):
    """The answer must be on the first screen of a computer and of a phone, with what follows from it folded."""
    browser.open(page, width, height, fragment)
    end, opened = browser.evaluate(FIRST_SCREEN)
    faults = []
    if not fragment and not 0 < end <= height:  # a fragment scrolls to its section
        faults.append(f"first screen: the answer ends at {end:.0f} of {height} px")
    if opened != open_folds:
        faults.append(f"first screen: {opened} folded sections are open, expected {open_folds}")
    return faults


# Sorts every table by its last column, twice, and returns which of them are not sorted then.
SORTED = """(() => {
  const wrong = [];
  document.querySelectorAll('main table').forEach(table => {
    const headings = table.tHead.rows[0].cells, column = headings.length - 1;
    const values = () => Array.from(table.tBodies[0].rows, row => row.cells[column].dataset.value).filter(v => v).map(Number);
    for (const sign of [1, -1]) {
      headings[column].click();
      const now = values();
      if (now.some((value, i) => i > 0 && sign * (value - now[i - 1]) < 0)) wrong.push(table.id);
    }
    if (table.parentElement.nextElementSibling.querySelectorAll('button').length !== 2) wrong.push('tools of ' + table.id);
  });
  return wrong;
})()"""


def check_good_pages(browser, writer, out):
    bad = 0
    for name, least_charts in PAGES.items():
        page = out / f"{name}.html"
        subprocess.run([writer, name, page], check=True)
        faults = []
        for width in WIDTHS:
            drawn, found = examine(browser, page, width, least_charts)
            faults += found
        if name == "sixteen":
            faults += [f"sorting: {each}" for each in browser.evaluate(SORTED)]
            for width, height in SCREENS:
                faults += first_screen_faults(browser, page, width, height)
            faults += first_screen_faults(browser, page, *SCREENS[0], fragment="#memory", open_folds=1)
        print(f"{'FAILED' if faults else 'ok':6} {name}: {len(drawn.marks)} charts")
        for fault in faults:
            print(f"       {fault}")
        bad += bool(faults)
    return bad


def broken_pages(text):
    """(name, page, beginning of the fault that must be found)"""
    def change(old, new):
        assert old in text, f"the page no longer holds {old!r}"
        return new.join(text.rsplit(old, 1))
    yield "unknown_mark", change('"mark":{"type":"bar"', '"mark":{"type":"nonsense"'), "charts:"
    yield "no_rows", re.sub(r'("data":\{"values":)\[.*?\]\}', r"\1[]}", text, count=0, flags=re.S), "marks:"
    yield "console", change("</body>", "<script>console.warn('from the test')</script></body>"), "console:"
    yield "outside", change("</main>", "<img src='https://example.invalid/a.png'></main>"), "outside:"
    yield "no_scrolling", change("overflow-x: auto; margin", "margin"), "layout:"
    yield "no_library", change("<script>!function", "<script>0&&function"), "charts:"


def check_broken_pages(browser, out):
    """A test that cannot fail is no test."""
    bad = 0
    for name, text, wanted in broken_pages((out / "two.html").read_text()):
        page = out / f"broken_{name}.html"
        page.write_text(text)
        _, faults = examine(browser, page, min(WIDTHS), 0)
        found = [fault for fault in faults if fault.startswith(wanted)]
        print(f"{'ok' if found else 'FAILED':6} broken page {name}: "
              f"{found[0][:110] if found else 'no fault of kind ' + wanted}")
        bad += not found
    return bad


def take_screenshots(browser, out):
    pictures = [("two", 1400), ("sixteen", 1400), ("sixteen", 700), ("two", 420)]
    for name, width in pictures if "SEXTANT_THOROUGH" in os.environ else pictures[:1]:
        picture = out / f"{name}_{width}.png"
        browser.open(out / f"{name}.html", width, 1000)
        picture.write_bytes(browser.screenshot())
        assert picture.stat().st_size > 20000, f"{picture} is empty"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--writer", required=True, type=pathlib.Path)
    arguments.add_argument("--out", required=True, type=pathlib.Path)
    options = arguments.parse_args()
    chromium = install_chromium()
    options.out.mkdir(parents=True, exist_ok=True)
    with Browser(chromium) as browser:
        bad = check_good_pages(browser, options.writer, options.out) + check_broken_pages(browser, options.out)
        take_screenshots(browser, options.out)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
