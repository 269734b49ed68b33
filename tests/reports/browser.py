"""A headless Chromium that opens one page after another, driven by the DevTools protocol over two pipes."""

import base64
import json
import os
import subprocess
import tempfile

# A page has settled when it has drawn each of its charts, or said why it could not, and has been laid out.
SETTLED = """new Promise(done => {
  const root = document.documentElement.dataset, end = Date.now() + 60000;
  const look = () => {
    const settled = root.chartsRendered !== undefined &&
      Number(root.chartsRendered) + JSON.parse(root.chartErrors).length >= document.querySelectorAll(SHOWN).length;
    if (settled || Date.now() > end) requestAnimationFrame(() => setTimeout(() => done(settled), 0));
    else setTimeout(look, 20);
  };
  look();
})"""
ALL = "#all"  # opens every section


class Browser:
    """No name resolves in it, and its profile is new. `console` holds what the open page wrote there."""

    def __init__(self, chromium):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.log = tempfile.TemporaryFile()
        (its_end, our_end), (our_start, its_start) = os.pipe(), os.pipe()
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
                   f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"]
        # It reads commands from file descriptor 3 and writes answers to 4.
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{its_end} 4>&{its_start}', "bash", *command],
                                        pass_fds=(its_end, its_start), stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log)
        os.close(its_end)
        os.close(its_start)
        self.commands, self.answers = our_end, os.fdopen(our_start, "rb")
        self.unread, self.count, self.loads, self.session, self.console = b"", 0, 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.commands, text):]
        while (answer := self.next_message()).get("id") != self.count:
            self.listen(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def next_message(self):
        while b"\0" not in self.unread:
            part = self.answers.read1(1 << 20)
            if not part:
                self.log.seek(0)
                raise RuntimeError(f"chromium ended:\n{self.log.read().decode(errors='replace')[-2000:]}")
            self.unread += part
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def listen(self, event):
        what = event.get("params", {})
        if event.get("method") == "Page.loadEventFired":
            self.loads += 1
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(each.get("value", each.get("description"))) for each in what["args"]))
        elif event.get("method") == "Runtime.exceptionThrown":
            self.console.append(json.dumps(what["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded":
            self.console.append(what["entry"]["text"])

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def load(self, url):
        loads = self.loads
        failed = self.call("Page.navigate", url=url).get("errorText")
        if failed:
            raise RuntimeError(f"{url}: {failed}")
        while self.loads == loads:
            self.listen(self.next_message())

    def open(self, page, width, height, fragment=ALL):
        """Opens the page in a window of this size, and waits until its charts have settled."""
        self.load("about:blank")  # else another fragment of the open page would not load it again
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.console = []
        self.load(page.resolve().as_uri() + fragment)
        shown = "'.chart'" if fragment == ALL else "'.chart:not(details:not([open]) *)'"
        self.evaluate(SETTLED.replace("SHOWN", shown))

    def screenshot(self):
        """The whole page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])
