"""The invented project of the second sample: a household ledger that imports bank statements."""

CSV = """// Reads the CSV files that banks offer for download. Every bank has its own idea of CSV.

import { parseAmount, type Amount } from "./amount";
import { parseDay, type Day } from "./day";

export interface Row {
  line: number; // in the file, from 1
  day: Day;
  valuta: Day | null;
  amount: Amount;
  partner: string;
  purpose: string;
  account: string;
}

export interface Problem {
  line: number;
  message: string;
}

export interface Imported {
  rows: Row[];
  problems: Problem[];
  bank: string;
}

interface Dialect {
  bank: string;
  separator: "," | ";" | "\\t";
  decimal: "," | ".";
  columns: Record<"day" | "valuta" | "amount" | "partner" | "purpose" | "account", string>;
}

const DIALECTS: Dialect[] = [
  {
    bank: "Uferbank",
    separator: ";",
    decimal: ",",
    columns: {
      day: "Buchungstag",
      valuta: "Wertstellung",
      amount: "Betrag",
      partner: "Name",
      purpose: "Verwendungszweck",
      account: "IBAN",
    },
  },
  {
    bank: "Northern Mutual",
    separator: ",",
    decimal: ".",
    columns: {
      day: "Date",
      valuta: "Value date",
      amount: "Amount",
      partner: "Counterparty",
      purpose: "Reference",
      account: "Account",
    },
  },
  {
    bank: "Caixa do Cais",
    separator: "\\t",
    decimal: ",",
    columns: {
      day: "Data",
      valuta: "Data-valor",
      amount: "Montante",
      partner: "Nome",
      purpose: "Descritivo",
      account: "Conta",
    },
  },
];

/** Splits one record into its fields. Quotes may hold separators, but not line ends. */
export function splitRecord(record: string, separator: string): string[] {
  const fields: string[] = [];
  let field = "";
  let quoted = false;
  for (let i = 0; i < record.length; i++) {
    const c = record[i];
    if (quoted) {
      if (c === '"' && record[i + 1] === '"') {
        field += '"';
        i++;
      } else if (c === '"') {
        quoted = false;
      } else {
        field += c;
      }
    } else if (c === '"') {
      quoted = true;
    } else if (c === separator) {
      fields.push(field);
      field = "";
    } else {
      field += c;
    }
  }
  fields.push(field);
  return fields;
}

/** The dialect whose column names all stand in the header. */
export function detect(header: string): Dialect | null {
  for (const dialect of DIALECTS) {
    const names = splitRecord(header, dialect.separator).map((name) => name.trim());
    if (Object.values(dialect.columns).every((column) => names.includes(column))) {
      return dialect;
    }
  }
  return null;
}

/** Reads a whole file. Lines that cannot be read become problems; the others are imported. */
export function importCsv(text: string): Imported {
  const lines = text.split(/\\r?\\n/);
  const start = lines.findIndex((line) => detect(line) !== null);
  if (start < 0) {
    return { rows: [], problems: [{ line: 1, message: "no known bank's header found" }], bank: "" };
  }
  const dialect = detect(lines[start])!;
  const names = splitRecord(lines[start], dialect.separator).map((name) => name.trim());
  const at = (column: keyof Dialect["columns"]) => names.indexOf(dialect.columns[column]);
  const rows: Row[] = [];
  const problems: Problem[] = [];
  for (let i = start + 1; i < lines.length; i++) {
    if (lines[i].trim() === "") continue;
    const fields = splitRecord(lines[i], dialect.separator);
    if (fields.length < names.length) {
      problems.push({ line: i + 1, message: `has ${fields.length} fields instead of ${names.length}` });
      continue;
    }
    const day = parseDay(fields[at("day")]);
    const amount = parseAmount(fields[at("amount")], dialect.decimal);
    if (day === null) {
      problems.push({ line: i + 1, message: `"${fields[at("day")]}" is no date` });
    } else if (amount === null) {
      problems.push({ line: i + 1, message: `"${fields[at("amount")]}" is no amount` });
    } else {
      rows.push({
        line: i + 1,
        day,
        valuta: parseDay(fields[at("valuta")]),
        amount,
        partner: fields[at("partner")].trim(),
        purpose: fields[at("purpose")].replace(/\\s+/g, " ").trim(),
        account: fields[at("account")].replace(/\\s/g, ""),
      });
    }
  }
  return { rows, problems, bank: dialect.bank };
}

/** Rows that an earlier import brought already: same day, amount, partner and purpose. */
export function withoutKnown(rows: Row[], known: Row[]): Row[] {
  const key = (row: Row) => [row.day, row.amount.cents, row.partner, row.purpose].join("\\u0000");
  const left = new Map<string, number>();
  for (const row of known) left.set(key(row), (left.get(key(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(key(row)) ?? 0;
    if (count > 0) left.set(key(row), count - 1);
    return count === 0;
  });
}
"""

AMOUNT = """// Amounts as banks write them: "1.234,56", "-12.50", "12,50-", "(7.00)".

export interface Amount {
  cents: number;
}

const SHAPE = /^([+-]?)\\s*(\\d{1,3}(?:[.,' ]?\\d{3})*|\\d+)(?:[.,](\\d{1,2}))?\\s*([+-]?)$/;

/** The amount in cents, or null. `decimal` tells what the bank uses between units and cents. */
export function parseAmount(text: string, decimal: "," | "."): Amount | null {
  let trimmed = text.trim().replace(/\\s*(EUR|USD|GBP)$/i, "");
  let sign = 1;
  if (trimmed.startsWith("(") && trimmed.endsWith(")")) {
    sign = -1;
    trimmed = trimmed.slice(1, -1).trim();
  }
  const found = SHAPE.exec(trimmed);
  if (found === null) return null;
  if (found[1] === "-" || found[4] === "-") sign = -sign;
  const group = decimal === "," ? /[.' ]/g : /[,' ]/g;
  const units = Number(found[2].replace(group, ""));
  const cents = Number((found[3] ?? "0").padEnd(2, "0"));
  return Number.isFinite(units) ? { cents: sign * (units * 100 + cents) } : null;
}

/** For people: always two digits, a real minus sign. */
export function formatAmount(amount: Amount): string {
  const units = Math.trunc(Math.abs(amount.cents) / 100).toLocaleString("en");
  const cents = String(Math.abs(amount.cents) % 100).padStart(2, "0");
  return `${amount.cents < 0 ? "\\u2212" : ""}${units}.${cents}`;
}
"""

TESTS = '''import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { detect, importCsv, splitRecord, withoutKnown } from "../src/import/csv";

const HEADER = "Buchungstag;Wertstellung;Name;Verwendungszweck;IBAN;Betrag";

describe("splitRecord", () => {
  it("keeps separators inside quotes", () => {
    expect(splitRecord('a;"b;c";d', ";")).toEqual(["a", "b;c", "d"]);
  });
  it("turns doubled quotes into one", () => {
    expect(splitRecord('"say ""hi""";x', ";")).toEqual(['say "hi"', "x"]);
  });
  it("keeps empty fields at the end", () => {
    expect(splitRecord("a;;", ";")).toEqual(["a", "", ""]);
  });
});

describe("importCsv", () => {
  it("finds the header behind the bank's own lines", () => {
    const text = `Kontoauszug;\\nvom 1.6.2026;\\n\\n${HEADER}\\n01.06.2026;01.06.2026;Bakery;Bread;DE02;-4,20\\n`;
    const got = importCsv(text);
    expect(got.bank).toBe("Uferbank");
    expect(got.rows.map((row) => row.amount.cents)).toEqual([-420]);
    expect(got.rows[0].line).toBe(5);
  });
  it("tells which line cannot be read and imports the others", () => {
    const text = `${HEADER}\\n01.06.2026;01.06.2026;Bakery;Bread;DE02;-4,20\\nnonsense\\n`;
    const got = importCsv(text);
    expect(got.rows).toHaveLength(1);
    expect(got.problems).toEqual([{ line: 3, message: "has 1 fields instead of 6" }]);
  });
  it("reads a purpose that goes over several lines", () => {
    const text = readFileSync("tests/data/multiline.csv", "utf8");
    const got = importCsv(text);
    expect(got.problems).toEqual([]);
    expect(got.rows.map((row) => row.purpose)).toEqual(["Rent June flat 12", "Choir trip deposit thanks!"]);
    expect(got.rows.map((row) => row.line)).toEqual([2, 5]);
  });
});

describe("withoutKnown", () => {
  it("leaves out as many equal rows as are known", () => {
    const text = `${HEADER}\\n01.06.2026;;Tram;Ticket;DE02;-3,10\\n01.06.2026;;Tram;Ticket;DE02;-3,10\\n`;
    const { rows } = importCsv(text);
    expect(withoutKnown(rows, rows.slice(0, 1))).toHaveLength(1);
  });
  it("detects no bank in an empty text", () => {
    expect(detect("")).toBeNull();
  });
});
'''

MULTILINE = """Buchungstag;Wertstellung;Name;Verwendungszweck;IBAN;Betrag
01.06.2026;01.06.2026;Housing co-op;"Rent June
flat
12";DE02120300000000202051;-812,00
03.06.2026;03.06.2026;Choir;"Choir trip deposit
thanks!";DE02500105170137075030;-150,00
"""

FILES = {
    "src/import/csv.ts": CSV,
    "src/import/amount.ts": AMOUNT,
    "tests/csv.test.ts": TESTS,
    "tests/data/multiline.csv": MULTILINE,
}
