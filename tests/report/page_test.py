#!/usr/bin/env python3
"""Opens reports in a real browser: page_test.py REPORT_SAMPLE_PAGES [unittest arguments].

Skips (77) where no browser is installed. $TUNER_REPORT_PICTURES names a folder for pictures of what was seen.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser, find_browser  # noqa: E402

LOOKS = [(width, dark) for width in (360, 1440) for dark in (False, True)]

# Texts of pictures that are cut off, and pairs that lie over each other; [] when all is well.
TROUBLE = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll(".picture svg")) {
    const name = svg.closest("section").id, [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const boxes = [...svg.querySelectorAll("text")].map((text) => ({text: text.textContent, box: text.getBBox()}));
    for (const {text, box} of boxes)
      if (box.x < -1 || box.y < -1 || box.x + box.width > width + 1 || box.y + box.height > height + 1)
        found.push(name + ": '" + text + "' is cut");
    boxes.forEach((one, i) => boxes.slice(i + 1).forEach((other) => {
      const wide = Math.min(one.box.x + one.box.width, other.box.x + other.box.width) - Math.max(one.box.x, other.box.x);
      const high = Math.min(one.box.y + one.box.height, other.box.y + other.box.height) - Math.max(one.box.y, other.box.y);
      if (wide > 1 && high > 4) found.push(name + ": '" + one.text + "' lies over '" + other.text + "'");
    }));
    if (/NaN|undefined|Infinity/.test(svg.outerHTML)) found.push(name + ": a number that is none");
  }
  return found;
})()"""

COLUMN = "[...document.querySelectorAll('#trials tbody tr')].map((row) => row.children[%d].textContent)"


class Page(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tuner-report-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        subprocess.run([PROGRAM, str(cls.folder)], check=True)
        cls.browser = cls.enterClassContext(Browser(find_browser()))

    def setUp(self):
        self.browser.new_page()
        self.browser.look_like(1440, False)

    def open(self, name):
        self.browser.open(self.folder / name)

    def assert_quiet(self):
        self.assertEqual(self.browser.console, [])
        self.assertEqual([one for one in self.browser.requests if not one.startswith("file://" + str(self.folder))], [])
        self.assertEqual(len(self.browser.requests), 1, self.browser.requests)

    def test_draws_everything_at_every_width_in_light_and_dark(self):
        for width, dark in LOOKS:
            with self.subTest(width=width, dark=dark):
                self.browser.look_like(width, dark)
                self.open("large.html")
                paint = self.browser.evaluate("performance.getEntriesByName('first-contentful-paint').map((e) => e.startTime)")
                print("%d px, %s: first paint after %s ms, all drawn after %d ms" % (
                    width, "dark" if dark else "light", [round(one) for one in paint],
                    self.browser.evaluate("performance.now()")))
                pictures = self.browser.evaluate("[...document.querySelectorAll('.picture')].map((one) => [one.closest('section').id, one.querySelectorAll('svg *').length])")
                self.assertEqual([name for name, _ in pictures],
                                 ["progress", "every", "importance", "finalists", "heatmap", "pareto", "roofline", "failures"])
                for name, parts in pictures:
                    self.assertGreater(parts, 12, name)
                self.assertEqual(self.browser.evaluate(TROUBLE), [])
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
                self.assert_quiet()
                if os.environ.get("TUNER_REPORT_PICTURES"):
                    self.browser.picture(os.path.join(os.environ["TUNER_REPORT_PICTURES"], "report-%d-%s.png" % (
                        width, "dark" if dark else "light")), whole=True)

    def test_reads_back_what_was_packed(self):
        self.open("large.html")
        trials = "look(data.tunings[0]).trials"
        self.assertEqual(self.browser.evaluate(trials + ".count"), 10008)
        first = self.browser.evaluate("({text: %s.configuration(0), ns: %s.median[0]})" % (trials, trials))
        self.assertRegex(first["text"], r"^block=\d+ cache=\w+ pad=\d rows=\d+ transposed=(true|false) unroll=\d+ vector=\d$")
        # The page has the winner's exact time, and a rounded one among the trials.
        self.assertLess(self.browser.evaluate(
            "(() => { const v = look(data.tunings[0]); return Math.abs(v.bestFirst / v.bestNs - 1); })()"), 1e-4)

    def test_compares_times_of_one_kind(self):
        self.open("large.html")
        # All finalists take twice as long in the end as in the search.
        claims = """((standard) => {
          const tuning = structuredClone(data.tunings[0]), all = look(tuning).trials;
          tuning.trials.states.forEach((state, row) => { if (state[1].includes("r")) tuning.trials.columns.median_ns[row] *= 2; });
          tuning.best.median_ns *= 2;
          tuning.default = all.configuration(standard(all));
          const view = look(tuning), rows = [view.best, view.trials.rowsOf(tuning.default)];
          return {text: answerPart(view).textContent,
                  times: rows.map((one) => [one.search, one.final].map((row) => (row < 0 ? null : showTime(view.trials.median[row]))))};
        })(%s)"""
        lone = self.browser.evaluate(claims % "(all) => all.first.find((row) => all.kind[row] === 'ok' && all.rowsOf(all.configuration(row)).final < 0)")
        (best_search, best_final), (default_search, _) = lone["times"]
        self.assertNotEqual(best_search, best_final)
        self.assertIn("default in the search (%s against %s)" % (best_search, default_search), lone["text"])
        self.assertIn("the median configuration in the search (%s against " % best_search, lone["text"])
        self.assertIn("samples as a finalist", lone["text"])
        finalist = self.browser.evaluate(claims % "(all) => all.finalists[1].row")
        (_, best_final), (_, default_final) = finalist["times"]
        self.assertIn("default among the finalists (%s against %s)" % (best_final, default_final), finalist["text"])

    def test_expects_of_random_draws_what_trying_all_gives(self):
        self.open("single.html")
        # Every way to draw k of five, two of which fail.
        self.assertLess(self.browser.evaluate("""(() => {
          const all = [3, 5, 9, NaN, NaN], sorted = [3, 5, 9];
          let worst = 0;
          for (let k = 1; k <= 5; ++k) {
            let sum = 0, count = 0;
            for (let set = 0; set < 32; ++set) {
              const drawn = all.filter((_, i) => set >> i & 1);
              const best = Math.min(...drawn.filter(Number.isFinite));
              if (drawn.length === k && best < Infinity) sum += best, ++count;
            }
            worst = Math.max(worst, Math.abs(sum / count - bestOfDraws(sorted, 5, k).mean));
          }
          return worst;
        })()"""), 1e-9)
        self.assertEqual(self.browser.evaluate("drawsUntil([1, 2, 3, 4], 4, 1)"), 4)
        self.assertEqual(self.browser.evaluate("Array.from(bestSoFar([NaN, 4, 5, 3, NaN])).slice(1)"), [4, 4, 3, 3])

    def test_finds_the_parameter_that_matters(self):
        self.open("large.html")
        ranking = self.browser.evaluate("look(data.tunings[0]).ranking.map((one) => [one.parameter.name, one.share])")
        self.assertEqual({name for name, share in ranking if share > 0.02}, {"block", "rows", "unroll"})
        self.assertGreater(dict(ranking)["vector"], dict(ranking)["pad"])
        self.assertLess(dict(ranking)["pad"], 0.002)

    def test_says_what_limits_the_best_beside_the_answer(self):
        self.open("several.html")
        answer = self.browser.evaluate("document.getElementById('answer').textContent")
        self.assertIn("Limited by device memory: it moves 4.1 TB/s", answer)
        self.assertIn("by the model, without counters", answer)
        part = self.browser.evaluate("document.getElementById('limit').textContent")
        self.assertIn("waves: 65536 blocks", part)
        self.assertIn("at least 128 are advised", part)

    def test_draws_the_front_of_time_and_energy(self):
        self.open("several.html")
        self.assertIn("6 configurations of 8 are not beaten in both", self.browser.evaluate("document.querySelector('#pareto .say').textContent"))
        self.assertEqual(self.browser.evaluate("frontOf([0, 1, 2, 3], [4, 1, 3, 1], [1, 3, 4, 2])"), [3, 0])
        self.assertEqual(self.browser.evaluate("[showJoules(0.0432), showJoules(2.5e-7), showJoules(3)]"),
                         ["43.2\u00a0mJ", "250\u00a0nJ", "3.00\u00a0J"])
        self.browser.evaluate("document.querySelector('#pareto details').open = true")
        self.browser.wait_for("document.querySelectorAll('#pareto tbody tr').length === 8")
        self.open("single.html")
        self.assertTrue(self.browser.evaluate("document.getElementById('pareto') === null"))

    def test_shows_the_metric_where_its_largest_wins(self):
        self.open("largest.html")
        trials = "look(data.tunings[0]).trials"
        most = self.browser.evaluate("showNumber(Math.max(...%s.numbers.get('metric achieved_occupancy').filter((x, i) => %s.kind[i] === 'ok')))" % (trials, trials))
        self.assertEqual(self.browser.evaluate("document.querySelector('#answer .big').textContent"), most)
        self.assertIn("as much as the median configuration", self.browser.evaluate("document.getElementById('answer').textContent"))
        self.assertEqual(self.browser.evaluate(COLUMN % 1)[0], most)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#trials th')[1].textContent"), "achieved_occupancy")
        self.assertEqual(self.browser.evaluate(TROUBLE), [])
        self.assert_quiet()

    def test_draws_a_metric_that_is_0_in_some_configurations(self):
        self.open("zeros.html")
        self.assertEqual(self.browser.evaluate("look(data.tunings[0]).trials.numbers.get('metric achieved_occupancy').filter((x) => x === 0).length > 9"), True)
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('.picture')].filter((one) => !one.querySelector('svg *')).length"), 0)
        self.assertEqual(self.browser.evaluate(TROUBLE), [])
        self.assert_quiet()

    def test_uses_round_ticks_and_units(self):
        self.open("large.html")
        self.assertEqual(self.browser.evaluate("roundTicks(0.1446, 12.21, 6)"), [5, 10])
        self.assertEqual(self.browser.evaluate("roundTicks(0.1446, 12.21, 8)"), [2, 4, 6, 8, 10, 12])
        self.assertEqual(self.browser.evaluate("logTicks(400, 12000, 6)"), [500, 1000, 2000, 5000, 10000])
        self.assertEqual(self.browser.evaluate("[showTime(999.6), showTime(1500), showTime(20), plain(showTime(2e6))]"),
                         ["1.00\u00a0\u00b5s", "1.50\u00a0\u00b5s", "20.0\u00a0ns", "2\u00a0ms"])

    def test_sorts_by_keyboard(self):
        self.open("large.html")
        self.browser.evaluate("document.querySelectorAll('#trials thead button')[1].focus()")
        self.browser.press("Enter")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#trials th')[1].getAttribute('aria-sort')"), "descending")
        slowest = self.browser.evaluate("Math.max(...look(data.tunings[0]).trials.median.filter((x) => x > 0))")
        self.assertEqual(self.browser.evaluate(COLUMN % 1)[0], self.browser.evaluate("showTime(%r)" % slowest))
        self.browser.press("Enter")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#trials th')[1].getAttribute('aria-sort')"), "ascending")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#trials [aria-sort]').length"), 1)

    def test_filters_by_values_numbers_and_words(self):
        self.open("large.html")
        self.browser.evaluate("document.getElementById('filter').focus()")
        text = "block=64 time<200us plain"
        for key in text:
            self.browser.press(key)
        self.browser.wait_for("state.filter === %r" % text)  # a slow machine filters by the first words before the last is typed
        self.assertEqual(set(self.browser.evaluate(COLUMN % 4)), {"64"})
        self.assertEqual(set(self.browser.evaluate(COLUMN % 5)), {"plain"})
        for text in self.browser.evaluate(COLUMN % 1):
            self.assertLess(float(text.split("\u00a0")[0]), 200.5)

    def test_can_be_walked_by_keyboard(self):
        self.open("large.html")
        self.browser.press("Tab")
        self.assertEqual(self.browser.evaluate("document.activeElement.className"), "skip")
        seen = []
        for _ in range(60):
            self.browser.press("Tab")
            seen.append(self.browser.evaluate("(document.activeElement.closest('section') || document.activeElement).id + ' ' + document.activeElement.tagName.toLowerCase()"))
        for wanted in ("theme button", "progress svg", "progress summary", "every select", "heatmap svg", "trials input"):
            self.assertIn(wanted, seen)
        self.browser.wait_for("(document.querySelector('#every svg').focus(), document.activeElement.closest('#every') !== null)")
        first = ""
        for _ in range(50):  # the page scrolls to the picture first, which hides the tip
            self.browser.press("ArrowRight")
            first = self.browser.evaluate("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
            if first:
                break
        self.browser.press("ArrowRight")
        second = self.browser.evaluate("document.getElementById('tip').textContent")
        self.assertIn("block=", first)
        self.assertNotEqual(first, second)
        self.browser.press("Escape")
        self.assertTrue(self.browser.evaluate("document.getElementById('tip').hidden"))

    def test_gives_everything_a_name(self):
        self.open("several.html")
        self.assertEqual(self.browser.evaluate("""[...document.querySelectorAll("section, svg[tabindex], [role=region], button, select, input")].filter((one) => {
          const by = one.getAttribute("aria-labelledby");
          return !(one.getAttribute("aria-label") || (by && document.getElementById(by) && document.getElementById(by).textContent) ||
                   (one.labels && one.labels.length) || (one.tagName === "BUTTON" && one.textContent));
        }).map((one) => one.outerHTML.slice(0, 80))"""), [])
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('h1').length"), 1)
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('table')].filter((one) => !one.caption || !one.querySelector('th[scope=col]')).length"), 0)

    def test_has_a_table_for_each_picture(self):
        self.open("large.html")
        self.browser.evaluate("document.querySelectorAll('.under details').forEach((one) => { one.open = true; })")
        self.browser.wait_for("[...document.querySelectorAll('.under details')].every((one) => one.querySelector('tbody tr'))")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.under details').length"), 7)
        self.assertEqual(self.browser.evaluate("document.querySelector('#every .under a').hash"), "#trials")

    def test_keeps_pictures_as_svg_that_needs_nothing(self):
        self.open("large.html")
        for name in ("progress", "every", "importance", "finalists", "heatmap", "pareto", "roofline", "failures"):
            text = self.browser.evaluate("downloadPicture(document.querySelector('#%s svg'), 'kept')" % name)
            drawing = xml.dom.minidom.parseString(text).documentElement
            self.assertEqual(drawing.tagName, "svg")
            self.assertNotIn("var(", text)
            self.assertNotIn("class=", text)
            self.assertIn("font-size=\"12px\"", text)

    def test_changes_axes_and_remembers_them(self):
        self.open("large.html")
        before = self.browser.evaluate("document.querySelector('#every svg').outerHTML.length")
        self.browser.evaluate("""(() => {
          const select = document.querySelectorAll("#every select")[0];
          select.value = "registers";
          select.dispatchEvent(new Event("change"));
        })()""")
        self.assertNotEqual(self.browser.evaluate("document.querySelector('#every svg').outerHTML.length"), before)
        self.assertEqual(self.browser.evaluate(TROUBLE), [])
        self.open("large.html")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#every select')[0].value"), "registers")

    def test_changes_colours_by_a_switch_and_remembers(self):
        self.open("several.html")
        page = "getComputedStyle(document.body).backgroundColor"
        light = self.browser.evaluate(page)
        self.browser.evaluate("document.getElementById('theme').click()")
        dark = self.browser.evaluate(page)
        self.assertNotEqual(light, dark)
        self.open("several.html")
        self.assertEqual(self.browser.evaluate(page), dark)
        self.browser.evaluate("document.getElementById('theme').click()")
        self.assertEqual(self.browser.evaluate(page), light)

    def test_shows_another_result_when_asked(self):
        self.open("several.html")
        self.assertEqual(self.browser.evaluate("document.querySelector('h1').textContent"), "sample")
        self.browser.evaluate("document.querySelectorAll('#results .link')[1].click()")
        self.browser.wait_for("document.documentElement.getAttribute('data-drawn') === 'true'")
        self.assertEqual(self.browser.evaluate("document.querySelector('h1').textContent"), "first")
        self.assertEqual(self.browser.evaluate("document.activeElement.id"), "answer")
        self.assert_quiet()

    def test_takes_stored_text_as_text(self):
        self.open("hostile.html")
        self.assertEqual(self.browser.evaluate("typeof window.hacked"), "undefined")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img, b:not(#tip b):not(li b)').length"), 0)
        self.assertIn("</script>", self.browser.evaluate("document.querySelector('h1').textContent"))
        self.browser.evaluate("document.querySelectorAll('.under details').forEach((one) => { one.open = true; })")
        self.assert_quiet()

    def test_says_when_there_is_little_or_nothing(self):
        for name in ("nothing.html", "single.html"):
            self.open(name)
            self.assert_quiet()
        self.open("nothing.html")
        self.assertEqual(self.browser.evaluate("document.querySelector('h1').textContent"), "There are no results yet")


if __name__ == "__main__":
    if not find_browser():
        print("skipped: no browser is installed (chromium, google-chrome; $TUNER_BROWSER names one)")
        sys.exit(77)
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
