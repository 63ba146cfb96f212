"""Sample 2: the same file is read again and again; replacing the older copies saves enough, and nothing is cut."""

from __future__ import annotations

from samples.ledger_files import FILES
from samples.recorder import Model, Recorder, Style
from samples.workspace import Workspace, misses, read, replace, run

from ctxviewer.tokens import TokenCounter

TASK = (
    "The CSV import loses rows when the purpose of a payment goes over several lines: the bank puts such a purpose in "
    "quotes, with line ends inside. Make importCsv read them, keep the line numbers in messages right, and do not change "
    "how files without such rows are read. tests/csv.test.ts has a failing test for it."
)
CSV, TESTS, AMOUNT = "src/import/csv.ts", "tests/csv.test.ts", "src/import/amount.ts"

MODEL = Model("qwen3:32b", "ollama", 40_960, 20_016, caches=False)
STYLE = Style("3.17.8", "1.100.3", model_info=False, split_results=True)

FAILURE = """ FAIL  tests/csv.test.ts > importCsv > reads a purpose that goes over several lines
AssertionError: expected [ { line: 2, message: 'has 4 fields instead of 6' }, …(4) ] to deeply equal []

- Expected
+ Received

- []
+ [
+   { "line": 2, "message": "has 4 fields instead of 6" },
+   { "line": 3, "message": "has 1 fields instead of 6" },
+   { "line": 4, "message": "has 3 fields instead of 6" },
+   { "line": 5, "message": "has 4 fields instead of 6" },
+   { "line": 6, "message": "has 3 fields instead of 6" },
+ ]

 ❯ tests/csv.test.ts:38:26

 Test Files  1 failed | 3 passed (4)
      Tests  1 failed | 21 passed (22)"""

WRONG_LINES = """ FAIL  tests/csv.test.ts > importCsv > reads a purpose that goes over several lines
AssertionError: expected [ 2, 3 ] to deeply equal [ 2, 5 ]

- Expected
+ Received

  [
    2,
-   5,
+   3,
  ]

 ❯ tests/csv.test.ts:40:50

 Test Files  1 failed | 3 passed (4)
      Tests  1 failed | 21 passed (22)"""

GREEN = """ ✓ tests/amount.test.ts (7 tests) 6ms
 ✓ tests/day.test.ts (6 tests) 5ms
 ✓ tests/ledger.test.ts (2 tests) 9ms
 ✓ tests/csv.test.ts (7 tests) 11ms

 Test Files  4 passed (4)
      Tests  22 passed (22)"""

RECORDS = """/** One record of a file: the text between two line ends that are not inside quotes. */
interface RecordText {
  line: number; // of its first line, from 1
  text: string;
}

/** Cuts a file into records. A quote that is never closed ends with the file. */
export function records(text: string): RecordText[] {
  const found: RecordText[] = [];
  let start = 0;
  let line = 1;
  let first = 1;
  let quoted = false;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (c === '"') quoted = !quoted;
    if (c === undefined || (c === "\\n" && !quoted)) {
      found.push({ line: first, text: text.slice(start, i).replace(/\\r$/, "") });
      start = i + 1;
      first = line + 1;
    }
    if (c === "\\n") line++;
  }
  return found;
}

"""


def play(counter: TokenCounter) -> Recorder:
    """The whole task."""
    space = Workspace("/Users/mara/code/ledger", dict(FILES))
    task = Recorder(1749024000000, MODEL, STYLE, space, counter)
    task.begin(TASK)
    _look_around(task)
    _miss_twice(task)
    _mend(task)
    return task


def _look_around(task: Recorder) -> None:
    space = task.space
    task.turn("I start with the importer.", read(space, CSV))
    task.turn("Now the failing test.", read(space, TESTS))
    task.turn("And the data it uses.", read(space, "tests/data/multiline.csv"))
    task.turn("I run the tests to see the failure.", run("npx vitest run", FAILURE), took=12_000)
    task.turn("Amounts are parsed elsewhere; a quick look, so that I do not break them.", read(space, AMOUNT))


def _miss_twice(task: Recorder) -> None:
    """A small local model does not quote the file exactly, and reads it once more each time."""
    space = task.space
    task.turn(
        "The text is split at line ends before quotes are looked at. I make a function that splits it into records.",
        misses(space, CSV, "  const lines = text.split('\\n');", "  const lines = records(text);"),
    )
    task.turn("My search part was not exact. I read the file again.", read(space, CSV))
    task.turn(
        "Again, with the function in front of `importCsv`.",
        misses(
            space,
            CSV,
            "/** Reads the whole file. Lines that cannot be read become problems. */",
            RECORDS + "/** Reads the whole file. Lines that cannot be read become problems. */",
        ),
    )
    task.turn("The comment reads a little different. Once more.", read(space, CSV))
    task.turn(
        "Now with the exact lines.",
        replace(
            space,
            CSV,
            (
                "/** Reads a whole file. Lines that cannot be read become problems; the others are imported. */",
                RECORDS
                + "/** Reads a whole file. Lines that cannot be read become problems; the others are imported. */",
            ),
            ("  const lines = text.split(/\\r?\\n/);", "  const lines = records(text).map((record) => record.text);"),
        ),
    )
    task.turn("Tests again.", run("npx vitest run", WRONG_LINES), took=12_000)
    task.turn(
        "The rows are right, the line numbers are not. I read the file to see where they are made.", read(space, CSV)
    )
    task.turn(
        "`line: i + 1` counts records. I use the record's own line.",
        misses(space, CSV, "        line: i,", "        line: all[i].line,"),
        feedback="Please mind that problems carry line numbers too, not only rows.",
    )
    task.turn("Right, both need it. I read the file once more to have the exact text.", read(space, CSV))


def _mend(task: Recorder) -> None:
    space = task.space
    task.turn(
        "Rows and problems now take the line from the record.",
        replace(
            space,
            CSV,
            (
                "  const lines = records(text).map((record) => record.text);",
                "  const all = records(text);\n  const lines = all.map((record) => record.text);",
            ),
            (
                "      problems.push({ line: i + 1, message: `has ${fields.length} fields instead of ${names.length}` });",
                "      problems.push({ line: all[i].line, message: `has ${fields.length} fields instead of ${names.length}` });",
            ),
            (
                '      problems.push({ line: i + 1, message: `"${fields[at("day")]}" is no date` });',
                '      problems.push({ line: all[i].line, message: `"${fields[at("day")]}" is no date` });',
            ),
            (
                '      problems.push({ line: i + 1, message: `"${fields[at("amount")]}" is no amount` });',
                '      problems.push({ line: all[i].line, message: `"${fields[at("amount")]}" is no amount` });',
            ),
            ("        line: i + 1,\n        day,", "        line: all[i].line,\n        day,"),
        ),
    )
    task.turn("Tests.", run("npx vitest run", GREEN), took=12_000)
    task.turn(
        "Green. One more test, for the line number of a problem behind a long purpose.",
        replace(
            space,
            TESTS,
            (
                'describe("withoutKnown", () => {',
                (
                    'it("tells the line of a problem behind a purpose of several lines", () => {\n'
                    '  const text = `${HEADER}\\n01.06.2026;;Choir;"Trip\\ndeposit";DE02;-1,00\\nnonsense\\n`;\n'
                    "  expect(importCsv(text).problems.map((problem) => problem.line)).toEqual([4]);\n"
                    "});\n\n"
                    'describe("withoutKnown", () => {'
                ),
            ),
        ),
    )
    task.turn(
        "The last run.",
        run("npx vitest run", GREEN.replace("(7 tests) 11ms", "(8 tests) 12ms").replace("22", "23")),
        took=12_000,
    )
    task.finish(
        "All tests pass.",
        "importCsv now cuts the file into records before it splits them, so a quoted purpose may go over several lines. Rows "
        "and problems carry the line where their record starts. Files without such rows are read as before.",
    )
