#!/usr/bin/env python3
"""Makes the README's pictures of a report: picture.py TUNE SOURCE_FOLDER FOLDER

They show the recorded space of nbody on an H200 (cache/recordings), report.png light and report-dark.png dark. Each says
in itself of which page it is: those of docs/ have to be of the page that TUNE writes now, unless FOLDER is docs/ and they
are being made anew (scripts/make_first_sight). 77 where no browser is installed, and those of docs/ are up to date.
"""

import base64
import collections
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser, find_browser  # noqa: E402

MOST_BYTES = 100_000
STAMP = b"Source\0SHA-256 of the page "  # a text chunk (PNG specification, 11.3.4.3)


def stamp_of(page):
    """The checksum of what a page shows of the tuning and how it draws it, apart from when and where it was made."""
    packed = re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1)
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    for tuning in data["tunings"]:
        for name in ("served", "database", "environment", "sessions"):
            tuning.pop(name, None)
    parts = re.findall(r"<style>.*?</style>|<script>.*?</script>", page, re.DOTALL)
    parts.append(json.dumps(data["tunings"], sort_keys=True))
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def is_of(picture, stamp):
    return picture.is_file() and STAMP + stamp.encode() in picture.read_bytes()


def rows_of(data, width, height, depth):
    """The rows of inflated PNG data, their filters undone (PNG specification, 9.2)."""
    step, above, at = width * depth, bytearray(width * depth), 0
    for _ in range(height):
        how, row = data[at], bytearray(data[at + 1:at + 1 + step])
        at += step + 1
        for i in range(step if how else 0):
            left, up = row[i - depth] if i >= depth else 0, above[i]
            if how == 4:
                corner = above[i - depth] if i >= depth else 0
                a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                add = left if a <= b and a <= c else up if b <= c else corner
            else:
                add = (0, left, up, (left + up) // 2)[how]
            row[i] = (row[i] + add) & 255
        yield row
        above = row


def with_few_colours(file, stamp, count=64):
    """Rewrites a PNG of 8 bits a channel with a palette and its stamp: flat drawings need a third of the room."""
    data = pathlib.Path(file).read_bytes()
    chunks, at = collections.defaultdict(bytes), 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunks[kind] += data[at + 8:at + 8 + length]
        at += length + 12
    width, height, _, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    depth = {2: 3, 6: 4}[colour]
    pixels = [bytes(row[i:i + 3]) for row in rows_of(zlib.decompress(chunks[b"IDAT"]), width, height, depth)
              for i in range(0, len(row), depth)]
    often = collections.Counter(pixels)
    palette = [one for one, _ in often.most_common(count)]
    place = {one: min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], one)))
             for one in often}
    rows = b"".join(b"\0" + bytes(place[one] for one in pixels[i:i + width]) for i in range(0, len(pixels), width))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    pathlib.Path(file).write_bytes(
        data[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
        chunk(b"tEXt", STAMP + stamp.encode()) +
        chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def take(browser, page, picture, dark):
    browser.look_like(1000, dark)
    browser.open(page)
    # The answer, every trial and what matters; the rest is further down.
    browser.evaluate("document.getElementById('progress').remove()")
    bottom = browser.evaluate("document.querySelector('#every .under').getBoundingClientRect().top + scrollY")
    browser.picture(picture, clip={"x": 0, "y": 0, "width": 1000, "height": bottom})
    if browser.console:
        sys.exit("the page complains: " + "; ".join(browser.console))


def main(tune, source, folder):
    with tempfile.TemporaryDirectory(prefix="tuner-picture-") as scratch:
        database, page = os.path.join(scratch, "nbody.db"), os.path.join(scratch, "report.html")
        recording = source / "cache/recordings/nbody_float_16384_h200.jsonl.gz"
        subprocess.run([tune, "db", "import", "--db", database, str(recording)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([tune, "report", "--db", database, "--kernel", str(source / "examples/gallery/nbody.cu"),
                        "-o", page], check=True, stderr=subprocess.DEVNULL)
        stamp = stamp_of(pathlib.Path(page).read_text())
        docs, names = source / "docs", {"report.png": False, "report-dark.png": True}
        if folder.resolve() != docs.resolve():
            old = [name for name in names if not is_of(docs / name, stamp)]
            if old:
                sys.exit("docs/%s: of another page than `tune report` writes now; scripts/make_first_sight makes it "
                         "anew" % ", docs/".join(old))
        if not find_browser():
            print("skipped: no browser is installed (chromium, google-chrome; $TUNER_BROWSER names one)")
            sys.exit(77)
        folder.mkdir(parents=True, exist_ok=True)
        with Browser(find_browser()) as browser:
            for name, dark in names.items():
                take(browser, page, folder / name, dark)
    for name in names:
        with_few_colours(folder / name, stamp)
        size = os.path.getsize(folder / name)
        print("%s written, %d bytes" % (folder / name, size))
        if not 10_000 < size <= MOST_BYTES:
            sys.exit("a picture of the README has between 10,000 and %d bytes" % MOST_BYTES)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
