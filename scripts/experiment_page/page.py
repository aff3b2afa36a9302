"""The page: made from the outputs of the experiments, and read back from a page. It is a function of these outputs alone."""

import difflib
import re
import textwrap

from experiment_page.experiments import EXPERIMENTS
from experiment_page.published import published_table, texts
from experiment_page.running import quoted, without_metrics, words_of
from experiment_page.tables import Missing, Output, Outputs
from experiment_page.words import SAME, share

TITLE = "# The experiments of the textbooks, on "
ON_HOST = "There was no GPU: all commands ran on the host backend, with small sizes, whose times say nothing about a GPU."
PART = "This page has only a part of the experiments."
NOT_HERE = "Not here: the host backend cannot launch kernels from the device."
INTRODUCTION = (
    "Each section asks a question that one of two books raises: the execution-model chapter of J. Cheng, M. Grossman and T. McKercher, "
    "\"Professional CUDA C Programming\" (2014), and the chapter on warp functions of Fan Zheyong, \"CUDA Programming: Basics and "
    "Practice\" (2020). A measurement that you can repeat answers it. You learn what block shapes, divergent branches, unrolled "
    "loops, shuffles, occupancy and nested launches cost on this device, and whether the answers are those that were published for "
    "other GPUs. Commands run in the folder that has `examples` in it: that of the repository, or `share/tuner` of an installation. "
    "Times are medians with a cold L2. Paragraphs that begin with \"Here\" are computed from the tables above them and from the "
    "published figures, and `scripts/experiments --check` computes them again. Times that differ by less than "
    f"{share(SAME)} are called the same. Figures are quoted from five texts about these books, A to E: [The texts](#the-texts).")
SOURCES = "The published figures, with the text and the line of each, are in `scripts/experiment_page/published.tsv`."


def wrapped(text):
    """Lines of at most 140 characters. A link is not broken."""
    text = re.sub(r"\[[^\]]*\]\(", lambda link: link[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(text, 140, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def sentences_of(experiment, outputs):
    """The sentences that follow from the numbers. A function ends where it misses a row, as on another device."""
    said = []
    for function in experiment.sentences:
        try:
            for sentence in function(outputs):
                said.append(sentence)
        except Missing:
            pass
    return said


def section(experiment, outputs):
    lines = [f"## {experiment.title}", "", *wrapped(f"{experiment.question} {experiment.how}")]
    shown = "\n\n".join(f"$ tune {output.command}\n{output.text}" for output in outputs)
    if shown:
        lines += ["", "```", *shown.split("\n"), "```"]
    if not outputs.on_gpu and any(command.needs_gpu for command in experiment.commands):
        lines += ["", NOT_HERE]
    said = sentences_of(experiment, outputs)
    if said:
        lines += ["", *wrapped("Here: " + " ".join(said))]
    if experiment.published:
        lines += ["", *published_table(experiment.published)]
    return lines


def page(device, on_gpu, sections):
    """The lines of a page: `sections` are experiments with their outputs."""
    lines = [TITLE + device, "", *wrapped(INTRODUCTION)]
    if not on_gpu:
        lines += ["", *wrapped(ON_HOST)]
    if len(sections) < len(EXPERIMENTS):
        lines += ["", PART]
    lines += ["", *wrapped("Contents: " + " · ".join(f"[{one.title}](#{anchor(one.title)})" for one, _ in sections) +
                            " · [The texts](#the-texts)."), ""]
    for experiment, outputs in sections:
        lines += section(experiment, outputs) + [""]
    lines += ["## The texts", "", SOURCES, ""]
    for letter, text in texts():
        first, *more = wrapped(f"- {letter}: {text}.")
        lines += [first] + ["  " + line for line in more]
    return lines


def read_sections(lines):
    """The titles of a page with the number of their line and the lines below them, without those in code blocks."""
    found, is_code = [("", 0, [])], False
    for number, line in enumerate(lines):
        is_code ^= line.startswith("```")
        if not is_code and line.startswith("## "):
            found.append((line[3:], number, []))
        else:
            found[-1][2].append(line)
    return found


def read_outputs(experiment, lines, on_gpu):
    """The outputs that the code block of a section shows, and the commands that are none of the experiment."""
    places = {without_metrics(quoted(words_of(one, on_gpu))): i for i, one in enumerate(experiment.commands)}
    outputs, strange = [None] * len(places), []
    shown = re.search(r"^```\n(.*?)^```$", "\n".join(lines), re.MULTILINE | re.DOTALL)
    for command, text in re.findall(r"^\$ tune (.*)\n((?:(?!\$ tune ).*\n)*)", shown[1] if shown else "", re.MULTILINE):
        place = places.get(without_metrics(command))
        if place is None:
            strange.append(command)
        else:
            outputs[place] = Output(command, text.rstrip("\n"))
    return Outputs(outputs, on_gpu), strange


def paragraphs(lines):
    """The paragraphs of lines with the numbers of their first lines. A code block is one paragraph."""
    found, is_code, start = [], False, None
    for number, line in enumerate(list(lines) + [""]):
        is_code ^= line.startswith("```")
        if line or is_code:
            start = number if start is None else start
        elif start is not None:
            found.append((start, "\n".join(lines[start:number])))
            start = None
    return found


def differences(expected, found, names):
    """The paragraphs that differ: line, section, what was expected and what was found."""
    wanted, there = paragraphs(expected), paragraphs(found)
    matcher = difflib.SequenceMatcher(None, [text for _, text in wanted], [text for _, text in there], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            line = there[min(c, len(there) - 1)][0]
            section_name = [title for title, number, _ in names if number <= line][-1] or "the beginning"
            yield (line + 1, section_name, "\n\n".join(text for _, text in wanted[a:b]) or "nothing",
                   "\n\n".join(text for _, text in there[c:d]) or "nothing")


def anew(text):
    """The lines of a page made anew from the tables of this one, and what prevents it: line, section, what was expected and what was
    found."""
    lines = text.rstrip("\n").split("\n")
    if not lines[0].startswith(TITLE):
        return [], [(1, "the beginning", TITLE + "…", lines[0])]
    names = read_sections(lines)
    on_gpu = ON_HOST not in " ".join(lines[:40])
    by_title = {one.title: one for one in EXPERIMENTS}
    found = {title for title, _, _ in names}
    missing = [title for title in by_title if title not in found]
    if missing and (PART not in lines or len(missing) == len(by_title)):
        return [], [(len(lines), "the end", f"## {title}", "no such section") for title in missing]
    sections, wrong = [], []
    for title, number, body in names:
        if title in by_title:
            outputs, strange = read_outputs(by_title[title], body, on_gpu)
            sections.append((by_title[title], outputs))
            wrong += [(number + 1, title, "a command of this experiment", f"$ tune {command}") for command in strange]
    return page(lines[0][len(TITLE):], on_gpu, sections), wrong


def check(text):
    """The mistakes of a page: line, section, the expected text and the text found."""
    expected, wrong = anew(text)
    lines = text.rstrip("\n").split("\n")
    return wrong or list(differences(expected, lines, read_sections(lines)))
