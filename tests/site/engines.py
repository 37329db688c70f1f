"""Firefox and WebKit as Debian has them, each driven by the protocol that it speaks itself.

Firefox speaks WebDriver BiDi to whoever connects to its port, WebKit the older WebDriver through a
program that comes with it. Both take the same actions of mouse and keys.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from playwright.sync_api import ViewportSize
from websockets.sync.client import ClientConnection, connect

from scripts.site.host import HERE
from tests.selection import give_up
from tests.site.visits import PATIENCE

USR = Path("/usr")  # where Debian has its programs
PACKAGES = "firefox-esr webkit2gtk-driver xvfb"
PATIENT = PATIENCE / 1000  # in seconds
ENTER, UP = "\ue007", "\ue013"  # as WebDriver writes the keys
# Switches off what uses the network unasked, or asks the reader something.
QUIET = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.systemAddon.update.enabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
    "ui.prefersReducedMotion": 1,
    "widget.gtk.overlay-scrollbars.enabled": False,  # scroll bars take room, as on Windows
}
MIDDLE = """selector => {
    const part = [...document.querySelectorAll(selector)].find(part => part.checkVisibility());
    part.scrollIntoView({block: "center", behavior: "instant"});
    const {x, y, width, height} = part.getBoundingClientRect();
    return [x + width / 2, y + height / 2].map(Math.round);
}"""


class Engine(ABC):
    """A browser with one tab."""

    @abstractmethod
    def open(self, url: str) -> None:
        """Open an address, and wait until it has been loaded."""

    @abstractmethod
    def evaluate(self, function: str, *given: object) -> Any:
        """Call a function in the page and return its result, awaited if it is a promise."""

    @abstractmethod
    def resize(self, size: ViewportSize) -> None:
        """Resize the window."""

    @abstractmethod
    def act(self, *sources: dict[str, Any]) -> None:
        """Perform actions of mouse and keys, given as for WebDriver's *Perform Actions*."""

    def click(self, selector: str) -> None:
        """Click the first visible element that matches, once there is one."""
        self.wait(
            "selector => [...document.querySelectorAll(selector)].some(part =>"
            " part.checkVisibility())",
            selector,
        )
        x, y = self.evaluate(MIDDLE, selector)
        moves = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.act({"type": "pointer", "id": "mouse", "actions": moves})

    def type(self, text: str) -> None:
        """Press the key of each letter."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.act({"type": "key", "id": "keyboard", "actions": keys})

    def wait(self, function: str, *given: object) -> Any:
        """Call a function in the page until its result is truthy, and return that."""
        end = time.monotonic() + PATIENT
        while not (found := self.evaluate(function, *given)):
            assert time.monotonic() < end, f"waited in vain for {function} of {given}"
            time.sleep(0.02)
        return found


class Firefox(Engine):
    """Firefox, driven directly by WebDriver BiDi."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.sent = socket, 0
        self.send("session.new", capabilities={})
        self.tab = self.send("browsingContext.getTree")["contexts"][0]["context"]

    def send(self, method: str, **given: object) -> Any:
        """Send a command and return its result."""
        self.sent += 1
        self.socket.send(json.dumps({"id": self.sent, "method": method, "params": given}))
        while (answer := json.loads(self.socket.recv(PATIENT))).get("id") != self.sent:
            pass  # an event
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, url: str) -> None:
        # Firefox may never answer if the page before, come by a click, is still loading.
        self.wait("() => document.readyState === 'complete'")
        self.send("browsingContext.navigate", context=self.tab, url=url, wait="complete")
        # Now and then Firefox answers while the page is still loading.
        self.wait(
            "url => document.readyState === 'complete' &&"
            " location.pathname === new URL(url).pathname",
            url,
        )

    def evaluate(self, function: str, *given: object) -> Any:
        told = self.send(
            "script.callFunction",
            functionDeclaration="async given =>"
            f" JSON.stringify(await ({function})(...JSON.parse(given))) ?? 'null'",
            arguments=[{"type": "string", "value": json.dumps(given)}],
            target={"context": self.tab},
            awaitPromise=True,
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        return json.loads(told["result"]["value"])

    def resize(self, size: ViewportSize) -> None:
        self.send("browsingContext.setViewport", context=self.tab, viewport=dict(size))

    def act(self, *sources: dict[str, Any]) -> None:
        self.send("input.performActions", context=self.tab, actions=list(sources))


class WebKit(Engine):
    """WebKit, driven by WebDriver through WebKitWebDriver."""

    def __init__(self, url: str) -> None:
        self.url = f"{url}/session"
        # MiniBrowser in full screen: with a toolbar, no window is as narrow as a phone.
        browser = {"binary": str(minibrowser()), "args": ["--automation", "--full-screen"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": browser}}
        self.url += "/" + self.send("", capabilities=wanted)["sessionId"]
        self.send("/timeouts", script=PATIENCE, pageLoad=PATIENCE)

    def send(self, command: str, **given: object) -> Any:
        """Send a command and return its result."""
        return self._ask(Request(self.url + command, json.dumps(given).encode()))

    def quit(self) -> None:
        """Quit the browser, not the driver."""
        self._ask(Request(self.url, method="DELETE"))

    def _ask(self, request: Request) -> Any:
        try:
            with urlopen(request, timeout=2 * PATIENT) as answer:
                return json.load(answer)["value"]
        except HTTPError as refused:
            raise AssertionError(refused.read().decode()) from None

    def open(self, url: str) -> None:
        self.send("/url", url=url)

    def evaluate(self, function: str, *given: object) -> Any:
        script = (
            "const [given, done] = arguments;"
            f"(async () => done([await ({function})(...given), '']))()"
            ".catch(error => done([null, `${error}`]))"
        )
        told, wrong = self.send("/execute/async", script=script, args=[given])
        assert not wrong, wrong
        return told

    def resize(self, size: ViewportSize) -> None:
        self.send("/window/rect", **size)
        self.wait("width => innerWidth === width", size["width"])

    def act(self, *sources: dict[str, Any]) -> None:
        self.send("/actions", actions=sources)


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Start Firefox with a fresh profile, on a port that it chooses."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(QUIET[name])});" for name in QUIET]
        Path(profile, "user.js").write_text("\n".join(lines), encoding="utf-8")
        options = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"]
        with (
            running([program("firefox-esr", "firefox"), *options]) as started,
            connect(f"{address(started, Path(profile))}/session", max_size=None) as socket,
        ):
            yield Firefox(socket)


def address(started: Popen[str], profile: Path) -> str:
    """Return the address Firefox listens at, once it has written it into its profile."""
    end = time.monotonic() + PATIENT
    while started.poll() is None and time.monotonic() < end:
        with suppress(FileNotFoundError, json.JSONDecodeError):  # not written, or not completely
            told = json.loads((profile / "WebDriverBiDiServer.json").read_text("utf-8"))
            return f"ws://{told['ws_host']}:{told['ws_port']}"
        time.sleep(0.02)
    raise AssertionError(f"Firefox named no address, and ended with {started.poll()}")


@contextmanager
def webkit() -> Iterator[WebKit]:
    """Start WebKit on a virtual screen, since it has no headless mode."""
    with screen() as display, socket.create_server((HERE, 0)) as server:
        port = server.getsockname()[1]
        server.close()  # now free; the system reuses it late
        environment = os.environ | {"DISPLAY": display, "GDK_BACKEND": "x11"}
        with running([program("WebKitWebDriver"), f"--port={port}"], env=environment):
            engine = WebKit(f"http://{HERE}:{port}")
            try:
                yield engine
            finally:
                engine.quit()


@contextmanager
def screen() -> Iterator[str]:
    """Start a virtual X server on the first free display, and give the display's name."""
    read, write = os.pipe()
    options = ["-displayfd", str(write), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    with running([program("Xvfb"), *options], pass_fds=[write]), os.fdopen(read) as told:
        os.close(write)
        yield f":{told.readline().strip()}"


@contextmanager
def running(command: list[str], **given: Any) -> Iterator[Popen[str]]:
    """Run a program while the block runs."""
    quiet = {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": DEVNULL}
    with Popen(command, text=True, **quiet | given) as started:
        try:
            yield started
        finally:
            started.terminate()


def program(*names: str) -> str:
    """Return the path of the first program that is installed; without one, give up."""
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        give_up(f"{names[0]} is not installed (on Debian: apt-get install {PACKAGES})")
    return path


def minibrowser() -> Path:
    """Return the browser that comes with WebKit's driver; without one, give up."""
    found = sorted(USR.glob("lib*/**/webkit2gtk-4.*/MiniBrowser"))
    if not found:
        give_up(f"WebKit's MiniBrowser is not installed (on Debian: apt-get install {PACKAGES})")
    return found[-1]
