"""How scripts/experiments reads tables, checks pages, and ends. Usage: experiments_test.py SOURCE"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "scripts"))
sys.dont_write_bytecode = True
from experiment_page import page, words  # noqa: E402
from experiment_page.experiments import EXPERIMENTS, Command  # noqa: E402
from experiment_page.published import PUBLISHED, published_table  # noqa: E402
from experiment_page.running import Failed, Machine, labelled_lines, rows_of  # noqa: E402
from experiment_page.sentences import LOADS  # noqa: E402
from experiment_page.tables import Missing, Output, Outputs, number, read_tables  # noqa: E402

PAGE = (SOURCE / "docs" / "experiments.md").read_text(encoding="utf-8")

TABLE = """\
   #  registers      variant  grid       block     median  registers  spill  why not
   1         64      by_warp  (65536,1)  (256,1)   577 us          9
   2          0    by_thread  (65536,1)  (256,1)  1.08 ms          8   92 B
   3          0  predicated   (1,1)      (1,1)                               wrong: y[0] is 1, expected 2
"""


class Tables(unittest.TestCase):
    def test_cells_belong_to_the_column_that_they_end_or_begin_with(self):
        rows = read_tables(TABLE)[0]
        self.assertEqual(rows[0]["median"], "577 us")
        self.assertEqual(rows[1]["spill"], "92 B")
        self.assertEqual(rows[2]["why not"], "wrong: y[0] is 1, expected 2")

    def test_an_empty_cell_is_missing(self):
        with self.assertRaises(Missing):
            read_tables(TABLE)[0][2]["median"]

    def test_a_parameter_may_have_the_name_of_a_result(self):
        row = read_tables(TABLE)[0][0]
        self.assertEqual((row["registers"], row["registers (2)"]), ("64", "9"))

    def test_rows_are_chosen_by_their_cells(self):
        kept = rows_of(TABLE.rstrip("\n"), {"variant": ("by_warp", "predicated"), "median": ("577 us",)})
        self.assertEqual([row["variant"] for row in read_tables(kept)[0]], ["by_warp"])

    def test_lines_are_chosen_by_their_labels(self):
        text = "time      1 ms\n          noise\nlimit     latency\n          launch"
        self.assertEqual(labelled_lines(text, ("time", "first limit")), "time      1 ms\n          noise\nlimit     latency")

    def test_numbers_have_their_basic_unit(self):
        for text, expected in (("1.5 ms", 1.5e-3), ("2,641,920", 2641920), ("97.9%", 97.9), ("3.12 TB/s", 3.12e12), ("none", None)):
            self.assertEqual(number(text), expected)


class Words(unittest.TestCase):
    def test_the_longer_time_is_the_subject(self):
        self.assertEqual(words.compare("a", 1.0, "b", 2.0), "B takes 2.0 times as long as a.")
        self.assertEqual(words.compare("a", 1.08, "b", 1.0), "A takes 8% longer than b.")
        self.assertEqual(words.compare("a", 1.0, "b", 1.01), "A takes as long as b, within 3%.")

    def test_an_order_is_judged_by_pairs_that_differ(self):
        here, there = {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "b": 3.0, "c": 2.0}
        self.assertIn("2 of the 3 pairs", words.same_order("abc", here, there))
        self.assertIn("All 3 pairs", words.same_order("abc", here, here))
        self.assertIn("no order to compare", words.same_order("ab", here, {"a": 1.0, "b": 1.001}))

    def test_pairs_in_another_order_are_counted_and_one_is_named(self):
        here, there = {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 3.0, "b": 2.0, "c": 1.0}
        self.assertIn("`a` and `b`, for example, are not", words.same_order("abc", here, there))

    def test_a_half_percent_is_rounded_up(self):
        self.assertEqual([words.share(part) for part in (0.625, 0.624, 0.004)], ["63%", "62%", "0.4%"])


class Published(unittest.TestCase):
    def test_each_figure_names_its_text_and_line(self):
        letters = {letter for letter, _ in page.texts()}
        for row in PUBLISHED:
            self.assertIn(row["text"], letters)
            self.assertGreater(int(row["line"]), 0)
            self.assertTrue(row["value"])

    def test_no_figure_is_there_twice(self):
        keys = [(row["experiment"], row["subject"], row["what"], row["gpu"]) for row in PUBLISHED]
        self.assertEqual([key for key in keys if keys.count(key) > 1], [])

    def test_a_table_has_a_column_for_each_quantity_and_gpu(self):
        for one in EXPERIMENTS:
            if one.published:
                rows = [row for row in PUBLISHED if row["experiment"] == one.published]
                lines = published_table(one.published)
                self.assertEqual(lines[0].count(" | "), len({(row["gpu"], row["what"]) for row in rows}), one.title)
                shown = [cell for line in lines[2:] for cell in line.split(" | ")[1:] if cell.strip(" |")]
                self.assertEqual(len(shown), len(rows), one.title)

    def test_each_shown_experiment_has_figures(self):
        for one in EXPERIMENTS:
            if one.published:
                self.assertTrue([row for row in PUBLISHED if row["experiment"] == one.published], one.title)


class Check(unittest.TestCase):
    def test_the_page_is_what_its_tables_say(self):
        self.assertEqual(page.check(PAGE), [])

    def test_a_page_is_made_anew_from_its_tables(self):
        changed = re.sub(r"^Here: [^|]*?(?=\n\n)", "Here: Nothing.", PAGE, flags=re.MULTILINE)
        self.assertNotEqual(changed, PAGE)
        self.assertEqual(page.anew(changed), (PAGE.rstrip("\n").split("\n"), []))

    def test_the_loads_in_flight_are_those_of_the_kernel_file(self):
        kernel = (SOURCE / "templates" / "warpReduce.cu").read_text(encoding="utf-8")
        self.assertRegex(kernel, rf"#pragma tuner in_flight .*T == float .*min\(unroll, {LOADS}\)")

    def test_the_page_is_short(self):
        self.assertLessEqual(PAGE.count("\n"), 900)

    def test_nothing_is_said_about_what_did_not_run(self):
        for one in EXPERIMENTS:
            for nothing in (None, Output("", "")):
                for on_gpu in (True, False):
                    said = page.sentences_of(one, Outputs([nothing] * len(one.commands), on_gpu))
                    if one.title != "Hiding latency":  # the text's own example
                        self.assertEqual(said, [], one.title)

    def test_a_changed_number_of_any_sentence_is_found(self):
        for paragraph in re.finditer(r"^Here: .*?(?=\n\n)", PAGE, re.MULTILINE | re.DOTALL):
            digits = [place.start() for place in re.finditer(r"\d", paragraph[0])]
            for place in {digits[0], digits[len(digits) // 2], digits[-1]} if digits else ():
                at = paragraph.start() + place
                changed = PAGE[:at] + str((int(PAGE[at]) + 1) % 10) + PAGE[at + 1:]
                found = page.check(changed)
                self.assertEqual(len(found), 1, paragraph[0])
                self.assertEqual(found[0][0], PAGE[:paragraph.start()].count("\n") + 1)

    def test_a_changed_explanation_is_found(self):
        changed = re.sub(r"^(## .*\n\n)\S+", r"\1Strange", PAGE, flags=re.MULTILINE)
        self.assertEqual([section for _, section, _, _ in page.check(changed)], [one.title for one in EXPERIMENTS] + ["The texts"])

    def test_a_section_that_is_not_there_is_found(self):
        bare = "\n".join(page.page("A GPU", True, [])) + "\n"
        self.assertEqual([found for *_, found in page.check(bare)], ["no such section"] * len(EXPERIMENTS))
        first, *others = EXPERIMENTS
        self.assertEqual([expected for _, _, expected, _ in page.check(self.page_of(others).replace(page.PART, ""))],
                         [f"## {first.title}"])
        self.assertEqual(page.check(self.page_of(others)), [])

    @staticmethod
    def page_of(experiments):
        return "\n".join(page.page("A GPU", True, [(one, Outputs([None] * len(one.commands), True)) for one in experiments])) + "\n"

    def test_a_changed_time_of_a_table_is_found(self):
        """The last time of each table becomes very long, in one section after the other. Not every sentence depends on it."""
        unseen = []
        for title, _, body in page.read_sections(PAGE.split("\n")):
            text = "\n".join(body)
            changed = re.sub(r"(\n +\d+ [^\n]* )[0-9.]+ [num]s( +\+-[^\n]*)(?=\n(?! +\d))", r"\1 900 s\2", text)
            if changed != text and "Here: " in text and not page.check(PAGE.replace(text, changed)):
                unseen.append(title)
        self.assertLessEqual(len(unseen), 5, unseen)

    def test_a_command_of_another_version_is_found(self):
        changed = PAGE.replace("$ tune devices --measure", "$ tune devices --all", 1)
        self.assertEqual([(section, found) for _, section, _, found in page.check(changed)],
                         [("The device", "$ tune devices --all")])

    def test_a_section_that_is_none_is_found(self):
        self.assertTrue(page.check(PAGE.replace("## Races", "## Racing", 1)))


class Ending(unittest.TestCase):
    def test_ctrl_c_ends_with_130_and_leaves_the_old_page(self):
        with tempfile.TemporaryDirectory() as folder:
            tune, out = pathlib.Path(folder) / "tune", pathlib.Path(folder) / "page.md"
            tune.write_text("#!/bin/sh\n[ \"$1\" = devices ] && { echo '0  A GPU'; exit; }\necho started >&2\nexec sleep 100\n")
            tune.chmod(0o755)
            out.write_text("old")
            process = subprocess.Popen([sys.executable, str(SOURCE / "scripts" / "experiments"), str(out), str(tune)],
                                       stderr=subprocess.PIPE, start_new_session=True, text=True)
            self.assertTrue(process.stderr.readline().startswith("[1/"))
            os.killpg(process.pid, signal.SIGINT)
            process.communicate()
            self.assertEqual(process.returncode, 130)
            self.assertEqual(out.read_text(), "old")

    def test_a_command_with_a_mistake_is_no_result(self):
        command = Command("run --kernel some", ("failed",), expected_to_fail=True)
        with tempfile.TemporaryDirectory() as folder:
            tune = pathlib.Path(folder) / "tune"
            for status, reason in ((1, "a reason"), (1, "step=foo is not one of: flat"), (2, "a reason"), (134, "a reason")):
                tune.write_text("#!/bin/sh\n[ \"$1\" = devices ] && { echo '0  A GPU'; exit; }\n"
                                f"echo 'tune: {reason}' >&2\nexit {status}\n")
                tune.chmod(0o755)
                machine = Machine(tune, folder, folder)
                if (status, reason) == (1, "a reason"):
                    self.assertEqual(machine.output(command), ("run --kernel some", "tune: a reason"))
                else:
                    with self.assertRaisesRegex(Failed, f"ended with {status}"):
                        machine.output(command)

    def test_a_command_that_fails_is_named_with_its_output(self):
        with tempfile.TemporaryDirectory() as folder:
            tune = pathlib.Path(folder) / "tune"
            tune.write_text("#!/bin/sh\n[ \"$1\" = devices ] && { echo '0  A GPU'; exit; }\necho 'tune: a reason' >&2\nexit 1\n")
            tune.chmod(0o755)
            done = subprocess.run([sys.executable, str(SOURCE / "scripts" / "experiments"), f"{folder}/page.md", str(tune), "Trip"],
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("tune --kernel warpDivergence", done.stderr)
            self.assertIn("tune: a reason", done.stderr)


if __name__ == "__main__":
    unittest.main()
