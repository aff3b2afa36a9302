"""A headless Chromium, driven through the DevTools protocol over a pipe: the standard library is all it takes.

Only pages of this machine are opened. Everything that a page says on its console, throws, or asks for is kept.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser():
    """The path of a browser, or None. $TUNER_BROWSER names another one."""
    for name in (os.environ.get("TUNER_BROWSER"),) + NAMES:
        path = name and shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One browser with one page at a time. Use it in a `with`."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="tuner-browser-")
        to_browser, from_us = os.pipe()
        from_browser, to_us = os.pipe()

        def places():  # the protocol's descriptors are 3 and 4
            a, b = os.dup(to_browser), os.dup(to_us)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             "--force-device-scale-factor=1", "--remote-debugging-pipe", "--user-data-dir=" + self.folder,
             "about:blank"],
            preexec_fn=places, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(to_us)
        self.out, self.into = os.fdopen(from_us, "wb", 0), os.fdopen(from_browser, "rb", 0)
        self.rest, self.number, self.session = b"", 0, None
        self.new_page()

    def new_page(self):
        """A page that remembers nothing."""
        self.session = None
        self.console, self.requests, self.loads = [], [], 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            session, self.session = self.session, None
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        while b"\0" not in self.rest:
            more = self.into.read(1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        mine = self.number
        request = {"id": mine, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        self.out.write(json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == mine:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.note(answer.get("method"), answer.get("params", {}))

    def note(self, event, what):
        if event == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.console.append(" ".join(str(one.get("value", one.get("description"))) for one in what["args"]))
        elif event == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.console.append(what["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif event == "Page.loadEventFired":
            self.loads += 1

    def look_like(self, width, dark, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, file):
        """Opens a file and waits until all of it is drawn."""
        self.console, self.requests, self.loads = [], [], 0
        self.call("Page.navigate", url=pathlib.Path(file).resolve().as_uri())
        self.wait_for("document.documentElement.getAttribute('data-drawn') === 'true'")

    def wait_for(self, expression, limit=1200):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                if self.evaluate(expression):
                    return
            except RuntimeError:
                pass  # between two pages
            time.sleep(0.02)
        raise RuntimeError("it never came to " + expression + "; console: " + "; ".join(self.console))

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def press(self, key):
        """One key, as a keyboard sends it."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "End": 35, "Home": 36}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes.get(key, 0),
                      **({"text": text} if text and kind == "keyDown" else {}))

    def picture(self, file, whole=False, clip=None):
        """A PNG of what is seen, or of the whole page."""
        options = {"format": "png"}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"]}
        if clip:
            options.update(clip={**clip, "scale": 1}, captureBeyondViewport=True)
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))
